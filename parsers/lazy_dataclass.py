"""`dataclass` of the standard library for classes with slots, made at little cost.

A short command loads some hundred record classes and makes objects of half of them. The standard library
compiles six methods for each class at once (1 ms); here all classes share them, and only `__init__`, which
must be fast, is compiled, when the first object is made.
"""

from __future__ import annotations

from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_NONE: Any = object()
"""No default is given."""


class _Field:
    """What `field` tells of one field; as `dataclasses.Field`, which takes 9 ms to import."""

    __slots__ = ("default", "default_factory", "init", "repr")

    def __init__(self, default: Any, default_factory: Any, init: bool, shown: bool) -> None:
        self.default, self.default_factory, self.init, self.repr = default, default_factory, init, shown

    def real(self) -> Any:
        """The same as the standard library has it."""
        import dataclasses

        names = ("default", "default_factory")
        told = {name: getattr(self, name) for name in names if getattr(self, name) is not _NONE}
        return dataclasses.field(**told, init=self.init, repr=self.repr)


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:

    def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[type], type]:
        """As `dataclasses.dataclass`; all annotations of a class are fields, and all of them are compared."""
        if not slots:
            import dataclasses

            return dataclasses.dataclass(frozen=frozen)
        return lambda cls: _made(cls, frozen)

    def field(
        *, default: Any = _NONE, default_factory: Any = _NONE, init: bool = True, repr: bool = True
    ) -> Any:
        """As `dataclasses.field`."""
        return _Field(default, default_factory, init, repr)

    def replace(one: Any, **changes: object) -> Any:
        """As `dataclasses.replace`, without asking the standard library about the class (1 ms each)."""
        kept = {name: getattr(one, name) for name in type(one).__match_args__ if name not in changes}
        return type(one)(**kept, **changes)


_FIELDS = "__dataclass_fields__"
_PARAMS = "__dataclass_params__"
_DEFAULTS = "__dataclass_defaults__"


def _made(cls: type, frozen: bool) -> type:
    """`cls` with slots for its annotations and the methods of a dataclass."""
    body = dict(cls.__dict__)
    annotations = body.get("__annotations__", {})
    own = {name: _known(body.pop(name)) for name in annotations if name in body}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    inherited = getattr(cls, "__match_args__", ())
    every = tuple(dict.fromkeys((*inherited, *annotations)))
    body |= {"__slots__": tuple(name for name in annotations if name not in inherited)}
    body |= {"__match_args__": every, _DEFAULTS: {**getattr(cls, _DEFAULTS, {}), **own}}
    own = {**own, "__annotations__": annotations}
    body |= {_FIELDS: _Later(_FIELDS, own, frozen), _PARAMS: _Later(_PARAMS, own, frozen)}
    if "__eq__" not in body:
        values = _values_of(every)
        body["__eq__"] = _equality(values)
        body.setdefault("__hash__", _hashing(values) if frozen else None)
    body.setdefault("__repr__", _shown)
    if frozen:
        body |= {"__setattr__": _refuse, "__delattr__": _refuse}
        body |= {"__getstate__": _getstate, "__setstate__": _setstate}
    made: Any = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    if "__init__" not in body:
        made.__init__ = _first_init(made)
    return made  # type: ignore[no-any-return]


def _known(default: Any) -> Any:
    """A default; a field of the standard library's becomes one of ours."""
    if type(default).__module__ != "dataclasses":
        return default
    import dataclasses

    both = (default.default, default.default_factory)
    given = [_NONE if one is dataclasses.MISSING else one for one in both]
    return _Field(given[0], given[1], default.init, default.repr)


class _Later:
    """What `dataclasses` knows of a class; told by the standard library when it is asked for."""

    def __init__(self, name: str, own: Mapping[str, object], frozen: bool) -> None:
        self._name, self._own, self._frozen = name, own, frozen

    def __get__(self, instance: object, owner: type) -> object:
        import dataclasses

        cls = next(one for one in owner.__mro__ if one.__dict__.get(self._name) is self)
        own = {name: one.real() if isinstance(one, _Field) else one for name, one in self._own.items()}
        own |= {"__module__": cls.__module__, "__doc__": cls.__doc__ or cls.__name__}  # no text costs 1 ms
        twin = type(cls)(cls.__name__, cls.__bases__, own)
        asks_how = self._name == _PARAMS  # the fields are the same without methods, and cost less
        twin = dataclasses.dataclass(init=asks_how, repr=asks_how, eq=asks_how, frozen=self._frozen)(twin)
        told: object = getattr(twin, self._name)
        setattr(cls, self._name, told)
        return told


_FEW = 4
"""Objects of a class that are filled name by name; from then on an `__init__` is compiled, at 0.1 ms."""


def _first_init(made: Any) -> Callable[..., None]:
    """An `__init__` that puts the real one in its place."""
    left = _FEW

    def __init__(self: object, *values: object, **named: object) -> None:
        nonlocal left
        left -= 1
        if left < 0 or not _fill(self, made, values, named):
            made.__init__ = _init(made)
            made.__init__(self, *values, **named)

    return __init__


def _fill(new: Any, made: Any, values: tuple[object, ...], named: dict[str, object]) -> bool:
    """Sets the fields of an object; False where the call is wrong or special, so that `_init` must say so."""
    names, defaults = made.__match_args__, made.__dataclass_defaults__
    given = dict(zip(names, values, strict=False)) | named
    missing = [name for name in names if name not in given]
    is_odd = len(given) != len(values) + len(named) or len(given) + len(missing) != len(names)
    special = hasattr(made, "__post_init__") or any(isinstance(one, _Field) for one in defaults.values())
    if is_odd or special or any(name not in defaults for name in missing):
        return False
    for name in names:
        object.__setattr__(new, name, given[name] if name in given else defaults[name])
    return True


def _init(made: Any) -> Callable[..., None]:
    parts, lines, space = ["self"], [], {"_MISSING": _NONE}
    for name in made.__match_args__:
        default: Any = made.__dataclass_defaults__.get(name, _NONE)
        factory: Any = _NONE
        is_given = True
        if isinstance(default, _Field):
            default, factory, is_given = default.default, default.default_factory, default.init
        space |= {
            f"_set_{name}": getattr(made, name).__set__,
            f"_default_{name}": default,
            f"_new_{name}": factory,
        }
        if is_given:
            has_none = default is _NONE and factory is _NONE
            fallback = "_MISSING" if default is _NONE else f"_default_{name}"
            parts.append(name if has_none else f"{name}={fallback}")
        value = name if is_given else f"_default_{name}"
        if factory is not _NONE:
            value = f"_new_{name}() if {name} is _MISSING else {name}" if is_given else f"_new_{name}()"
        if is_given or default is not _NONE or factory is not _NONE:
            lines.append(f"  _set_{name}(self, {value})")
    if hasattr(made, "__post_init__"):
        lines.append("  self.__post_init__()")
    exec(f"def __init__({', '.join(parts)}):\n" + "\n".join(lines or ["  pass"]), space)
    init: Any = space["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init  # type: ignore[no-any-return]


def _values_of(names: tuple[str, ...]) -> Callable[[Any], object]:
    """The values of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _equality(values: Callable[[Any], object]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hashing(values: Callable[[Any], object]) -> Callable[[object], int]:
    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__


@recursive_repr()
def _shown(self: Any) -> str:
    hidden = {name for name, one in type(self).__dataclass_fields__.items() if not one.repr}
    words = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__ if name not in hidden)
    return f"{type(self).__qualname__}({', '.join(words)})"


def _refuse(self: object, name: str, *_: object) -> None:
    import dataclasses

    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _getstate(self: Any) -> list[object]:
    return [getattr(self, name) for name in type(self).__match_args__]


def _setstate(self: Any, state: list[object]) -> None:
    for name, value in zip(type(self).__match_args__, state, strict=False):
        object.__setattr__(self, name, value)
