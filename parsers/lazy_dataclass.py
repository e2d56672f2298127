"""`dataclass` of the standard library, whose methods are made when the first of them is needed.

A short command loads some hundred record classes and makes objects of a third of them. The standard
library compiles six methods for each class at once (0.5 ms); here that waits for the first object.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[type], type]:
        """As `dataclasses.dataclass`, for classes with slots; all annotations of the class are fields."""
        if not slots:
            return dataclasses.dataclass(frozen=frozen)
        return lambda cls: _lazy(cls, frozen)


_MADE = ("__init__", "__repr__", "__eq__", "__hash__")
_FIELDS = "__dataclass_fields__"
_PARAMS = "__dataclass_params__"


def _lazy(cls: type, frozen: bool) -> type:
    """`cls` with slots for its annotations, and methods that make the real ones when they are called."""
    body = dict(cls.__dict__)
    annotations = body.get("__annotations__", {})
    names = tuple(annotations)
    defaults = {name: body.pop(name) for name in names if name in body}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    own = [name for name in _MADE if name not in body and (name != "__hash__" or "__eq__" not in body)]
    body["__slots__"] = names
    body["__match_args__"] = (*getattr(cls, "__match_args__", ()), *names)
    body[_FIELDS], body[_PARAMS] = _Later(_FIELDS), _Later(_PARAMS)
    if frozen:
        body["__setattr__"] = body["__delattr__"] = _refuse
        body.setdefault("__getstate__", _getstate)
        body.setdefault("__setstate__", _setstate)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__

    def build() -> None:
        _build(made, own, {**defaults, "__annotations__": annotations}, frozen)

    for name in own:
        setattr(made, name, None if name == "__hash__" and not frozen else _stand_in(made, name, build))
    body[_FIELDS].build = body[_PARAMS].build = build
    return made


class _Later:
    """An attribute of a class that is there once the class is built."""

    build: Callable[[], None]

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> object:
        self.build()
        return getattr(owner, self._name)


def _stand_in(made: type, name: str, build: Callable[[], None]) -> Callable[..., Any]:
    """A method that gives `made` its real methods and calls the one of its name."""

    def method(self: object, *values: object, **named: object) -> Any:
        build()
        return getattr(made, name)(self, *values, **named)

    method.__name__, method.__qualname__ = name, f"{made.__qualname__}.{name}"
    return method


def _build(made: type, own: list[str], fields: dict[str, object], frozen: bool) -> None:
    """Lets the standard library make the methods of a twin without slots, and gives them to `made`."""
    body = {name: made.__dict__[name] for name in ("__post_init__",) if name in made.__dict__}
    body |= {**fields, "__module__": made.__module__}
    twin = type(made)(made.__name__, made.__bases__, body)
    twin.__qualname__ = made.__qualname__
    twin = dataclasses.dataclass(frozen=frozen)(twin)
    for name in own:
        setattr(made, name, twin.__dict__[name])
    setattr(made, _PARAMS, twin.__dict__[_PARAMS])
    setattr(made, _FIELDS, twin.__dict__[_FIELDS])


def _refuse(self: object, name: str, *_: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _getstate(self: Any) -> list[object]:
    return [getattr(self, name) for name in type(self).__match_args__]


def _setstate(self: Any, state: list[object]) -> None:
    for name, value in zip(cast("tuple[str, ...]", type(self).__match_args__), state, strict=False):
        object.__setattr__(self, name, value)
