"""Settings of experiments: dataclasses, changed by the command line and written as JSON."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Collection
from typing import Any, ClassVar, NamedTuple, TypeVar

from spiel_dl.tree.depth_limit import DepthLimit

T = TypeVar("T")
_TRUTH = {"true": True, "false": False}


def as_json(value: Any) -> Any:
    """Settings, or an entry of them, as JSON; depth limits become strings."""
    if isinstance(value, DepthLimit):
        return str(value)
    if hasattr(value, "to_json"):
        return value.to_json()
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return {field.name: as_json(getattr(value, field.name)) for field in fields}
    return [as_json(each) for each in value] if isinstance(value, list | tuple) else value


def declared(settings: Any) -> Any:
    """The declared settings as JSON, for `Row.inputs`.

    The experiments' own dataclasses give all entries, the library's configurations only entries
    that differ from their defaults, so that a new option of the library makes no report old. A
    change of a default that matters is declared by the experiments' versions.
    """
    if isinstance(settings, list | tuple):
        return [declared(each) for each in settings]
    if not dataclasses.is_dataclass(settings) or isinstance(settings, DepthLimit):
        return as_json(settings)
    is_own = type(settings).__module__.startswith(__package__)
    entries = {
        field.name: getattr(settings, field.name)
        for field in dataclasses.fields(settings)
        if is_own or getattr(settings, field.name) != _default(field)
    }
    return {name: declared(value) for name, value in entries.items()}


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


class OneOf(NamedTuple):
    """The allowed values of a string, as in `Annotated[str, OneOf(PRESETS)]`."""

    allowed: Collection[str]

    def hold(self, value: str) -> bool:
        """Whether a value is allowed."""
        return value in self.allowed

    def __str__(self) -> str:
        return f"one of {', '.join(self.allowed)}"


class Checked:
    """A dataclass of settings whose values are checked against `Bounds` and `OneOf` annotations.

    Attributes:
      not_empty: names of tuples that must not be empty.
    """

    not_empty: ClassVar[tuple[str, ...]] = ()

    @property
    def networks(self) -> tuple[str, ...]:
        """Names in `play.registry` of the networks that the experiment finds trained."""
        return ()

    def __post_init__(self) -> None:
        """Raises a ValueError if a value, or one in a tuple, is not allowed or a seed repeats."""
        for name in self.not_empty:
            if not getattr(self, name):
                raise ValueError(f"{name}=() must not be empty; give one or more")
        for name, hint in typing.get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name)
            if name == "seeds" and not 0 < len(value) == len(set(value)):
                raise ValueError(f"seeds={value} must be different numbers, one or more")
            # A tuple's rules are those of its elements.
            for each in (hint, *typing.get_args(hint)):
                for rule in getattr(each, "__metadata__", ()):
                    values = value if isinstance(value, tuple) else (value,)
                    if not all(map(rule.hold, values)):
                        raise ValueError(f"{name}={value} must be {rule}")


def changed(settings: T, change: str) -> T:
    """Settings with one entry changed.

    Args:
      settings: a dataclass; its entries may be dataclasses.
      change: `name=value`, such as "training.num_epochs=5", "seeds=0,1", "limits=1 rounds,2 rounds"
        or "network=none". Entries of a tuple are separated by commas.

    Raises:
      ValueError: if there is no such entry, or the value is not allowed.
    """
    name, equals, text = change.partition("=")
    if not equals:
        raise ValueError(f"{change!r} must be name=value")
    return _changed(settings, name.split("."), text, name)


def _changed(settings: Any, path: list[str], text: str, whole: str) -> Any:
    hints = typing.get_type_hints(type(settings))
    names = [field.name for field in dataclasses.fields(settings)]
    if path[0] not in names:
        raise ValueError(f"there is no setting {whole!r}; there are {', '.join(names)}")
    if path[1:]:
        inner = getattr(settings, path[0])
        if not dataclasses.is_dataclass(inner):
            raise ValueError(f"there is no setting {whole!r}; {path[0]} has no entries")
        value = _changed(inner, path[1:], text, whole)
    else:
        value = _read(hints[path[0]], text, whole)
    return dataclasses.replace(settings, **{path[0]: value})


def _read(kind: Any, text: str, name: str) -> Any:
    """Parses a value of a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if text.lower() == "none":
            return None
        return _read(next(each for each in arguments if each is not type(None)), text, name)
    if origin is tuple:
        return tuple(_read(arguments[0], each.strip(), name) for each in text.split(",") if each)
    try:
        if kind is DepthLimit:
            return DepthLimit.parse(text)
        return _TRUTH[text.lower()] if kind is bool else kind(text)
    except (ValueError, TypeError, KeyError) as error:
        expected = "a depth limit such as '2 rounds'" if kind is DepthLimit else kind.__name__
        raise ValueError(f"{name}={text!r} must be of the kind {expected}") from error
