"""The lazily made record classes behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from parsers.lazy_dataclass import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    """Two numbers and a word."""

    x: int
    y: int = 2
    words: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Of both."""
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Named(Point):
    """With a name."""

    name: str = ""


@dataclass(slots=True)
class Heap:
    """May be changed."""

    items: list[int] = field(default_factory=list)
    count: int = 0
    doubled: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.doubled = 2 * self.count


@dataclass(frozen=True, slots=True)
class Odd:
    """Compares in its own way."""

    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd)

    def __hash__(self) -> int:
        return 7


def test_objects_are_made_compared_shown_and_hashed_as_ever() -> None:
    assert Point(1) == Point(1, 2, ()) != Point(2)
    assert repr(Point(1, words=("a",))) == "Point(x=1, y=2, words=('a',))"
    assert len({Point(1), Point(1), Point(3)}) == 2
    assert Point(1).total == 3
    assert Named(1, name="n").name == "n"
    assert Named(1) != Point(1)
    assert Odd(1) == Odd(2)
    assert hash(Odd(1)) == 7


@pytest.mark.parametrize("values", [(), (1, 2, (), 4)])
def test_wrong_arguments_are_refused(values: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__"):
        Point(*values)  # type: ignore[arg-type]


def test_the_first_objects_of_a_class_are_as_the_later_ones() -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        left: int
        right: int = 2

    pairs = [(Pair(1), Pair(1, 3), Pair(right=4, left=0)) for _ in range(4)]

    assert {tuple((one.left, one.right) for one in three) for three in pairs} == {((1, 2), (1, 3), (0, 4))}
    assert len(set(pairs)) == 1


def test_a_field_may_come_from_the_standard_library() -> None:
    @dataclass(frozen=True, slots=True)
    class Mixed:
        own: list[int] = field(default_factory=list)
        theirs: list[int] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=1, repr=False)

    assert Mixed() == Mixed([], [], 1)
    assert Mixed().own is not Mixed().own
    assert repr(Mixed()).endswith("Mixed(own=[], theirs=[])")
    assert [one.default for one in dataclasses.fields(Mixed)][2] == 1


def test_frozen_objects_cannot_be_changed_and_have_no_room_for_more() -> None:
    point = Point(1)

    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_objects_that_may_change_have_own_defaults_and_no_hash() -> None:
    heap = Heap(count=2)
    heap.items.append(1)

    assert heap.doubled == 4
    assert Heap().items == []
    assert not hasattr(heap, "__dict__")
    with pytest.raises(TypeError, match="unhashable"):
        hash(heap)


def test_the_first_thing_done_with_a_class_may_be_any() -> None:
    """Each class is fresh: what makes its methods is not always its first object."""

    def fresh() -> type:
        @dataclass(frozen=True, slots=True)
        class One:
            a: int
            b: str = "b"

        return One

    assert [one.name for one in dataclasses.fields(fresh())] == ["a", "b"]
    assert dataclasses.is_dataclass(fresh())
    kind: Any = fresh()
    empty: Any = object.__new__(kind)
    empty.__setstate__([1, "c"])
    assert replace(empty, b="d") == kind(1, "d")
    assert dataclasses.asdict(kind(1)) == {"a": 1, "b": "b"}


@pytest.mark.parametrize("value", [Point(1, 5), Named(1, name="n"), Heap([1], 2)])
def test_objects_survive_copying_and_pickling(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value) == copy.copy(value)


def test_objects_can_be_matched_by_their_order() -> None:
    match Named(1, 5, (), "n"):
        case Named(x, _, _, name):
            assert (x, name) == (1, "n")
