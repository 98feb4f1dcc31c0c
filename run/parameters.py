"""What a dataclass or a function takes: names, types, defaults, texts of its parameters."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any


class Bounds(typing.NamedTuple):
    """Bounds of a number that nothing else checks, as in `Annotated[int, Bounds(1)]`."""

    low: float
    high: float = math.inf


Positive = Annotated[int, Bounds(1)]


class Kind(enum.Enum):
    """How a flag looks on the command line."""

    ONE = 1
    BOOL = 2
    LIST = 3


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter whose value can be typed.

    Attributes:
      name: its name.
      kind: how it looks on the command line.
      element: bool, int, float or str; of a list, the type of its elements.
      choices: what a str may be; empty: anything.
      bounds: of a number.
      default: what it is if it is not given; None if there is no default.
      is_required: whether there is none.
      is_tuple: whether a list is to be a tuple.
      text: its description, as one line.
    """

    name: str
    kind: Kind
    element: type
    choices: tuple[str, ...]
    bounds: Bounds
    default: Any
    is_required: bool
    is_tuple: bool
    text: str


def parameters_of(
    target: Callable[..., Any], leave_out: Collection[str] = (), only: Collection[str] = ()
) -> list[Parameter]:
    """The parameters of a dataclass, NamedTuple, class or function.

    Types are bool, int, float, str, a Literal of str, a tuple or sequence of one of them, and any
    of these or None. Descriptions come from the `Attributes:` or `Args:` of the docstring, those of
    inherited fields from the docstrings of the bases. A field's metadata may have its own `help`,
    and the `choices` of a str.

    Args:
      target: what takes them.
      leave_out: names of those that are not wanted; nor are those given by position only.
      only: names of those that are wanted; empty: all the others.

    Raises:
      TypeError: if one is of another type, or is not described.
    """
    return [
        _parameter(target, parameter)
        for parameter in inspect.signature(target).parameters.values()
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.VAR_KEYWORD)
        and (not only or parameter.name in only)
        and parameter.name not in leave_out
    ]


def _parameter(target: Callable[..., Any], parameter: inspect.Parameter) -> Parameter:
    name, default = parameter.name, parameter.default
    field = getattr(target, "__dataclass_fields__", {}).get(name)
    metadata = field.metadata if field else {}
    if field and field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    hint, bounds = _without_bounds(_hints(target)[name])
    kind, element, choices, is_tuple = _type_of(hint, name)
    text = metadata.get("help") or _texts(target).get(name)
    if text is None:
        raise TypeError(f"{target} does not describe {name}; add it to the docstring")
    is_required = default is inspect.Parameter.empty
    return Parameter(
        name,
        kind,
        element,
        tuple(metadata.get("choices", choices)),
        bounds,
        None if is_required else default,
        is_required,
        is_tuple,
        text,
    )


def _hints(target: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(_maker(target), include_extras=True)


def _maker(target: Callable[..., Any]) -> Any:
    """What has the annotations of the parameters: a function, or a class with fields."""
    is_plain_class = isinstance(target, type) and not _says_attributes(target)
    return getattr(target, "__init__") if is_plain_class else target  # noqa: B009


def _without_bounds(hint: Any) -> tuple[Any, Bounds]:
    for each in (hint, *typing.get_args(hint)):
        for extra in getattr(each, "__metadata__", ()):
            if isinstance(extra, Bounds):
                return (each.__origin__ if each is hint else hint), extra
    return hint, Bounds(-math.inf)


def _says_attributes(target: type) -> bool:
    """Whether parameters are described as attributes of the class."""
    return dataclasses.is_dataclass(target) or hasattr(target, "_fields")


def _type_of(hint: Any, name: str) -> tuple[Kind, type, tuple[str, ...], bool]:
    """Kind, type of an element, choices, and whether it is a tuple."""
    members = list(typing.get_args(hint)) if _is_union(hint) else [hint]
    members = [getattr(m, "__origin__", m) if hasattr(m, "__metadata__") else m for m in members]
    members = [member for member in members if member is not type(None)]
    # A path, or a device of torch, may also be a str.
    hint = str if str in members else members[0]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return Kind.ONE, str, arguments, False
    if origin is not None and issubclass(origin, Sequence) and arguments:
        return Kind.LIST, arguments[0], (), origin is tuple
    if hint is bool:
        return Kind.BOOL, bool, (), False
    if hint in (int, float, str):
        return Kind.ONE, hint, (), False
    raise TypeError(f"{name} is of the type {hint}, which no flag can have; leave it out")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _texts(target: Callable[..., Any]) -> dict[str, str]:
    """Descriptions of parameters, from docstrings; those of a subclass come before its bases'."""
    if not isinstance(target, type) or not _says_attributes(target):
        return _section(_maker(target), "Args")
    found: dict[str, str] = {}
    for each in reversed(target.__mro__):
        found |= _section(each, "Attributes")
    return found


def _section(documented: Any, title: str) -> dict[str, str]:
    """The entries of a section of a docstring, each as one line."""
    text = inspect.cleandoc(documented.__doc__ or "")
    section = re.search(rf"^{title}:\n((?:  .*\n|\n)*)", text + "\n", re.MULTILINE)
    entries = re.split(r"^  (?=\w+: )", section[1], flags=re.MULTILINE) if section else []
    pairs = (entry.partition(": ") for entry in entries if entry.strip())
    return {name: " ".join(body.replace("`", "").split()) for name, _, body in pairs}
