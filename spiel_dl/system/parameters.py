"""Names, types, defaults and descriptions of the parameters of configurations and functions.

Flags of scripts, options of policies and the page's form are generated from them, so that each
parameter is declared once, where it is used.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import numbers
import re
import types
import typing
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any

import numpy as np


class Bounds(typing.NamedTuple):
    """Inclusive bounds of a number, as in `Annotated[int, Bounds(1)]`."""

    low: float
    high: float = math.inf

    def hold(self, value: float) -> bool:
        """Whether a number lies within the bounds; NaN does not."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"at least {self.low}"
        return f"between {self.low} and {self.high}"


Positive = Annotated[int, Bounds(1)]
MAX_SEED = 2**63 - 1
Seed = Annotated[int, Bounds(0, MAX_SEED)]
_TYPE_NAMES = {int: "an integer", float: "a number"}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter whose value can be entered as text.

    Attributes:
      name: its name.
      element: type of the value, or of a list's elements: bool, int, float, str, or a class with a
        `parse`.
      is_list: whether it has several values.
      is_tuple: whether its values form a tuple.
      choices: allowed values of a str; empty: any.
      bounds: of a number.
      default: the default value; None if there is none.
      is_required: whether there is no default.
      text: its description, as one line.
    """

    name: str
    element: Any
    is_list: bool
    is_tuple: bool
    choices: tuple[str, ...]
    bounds: Bounds
    default: Any
    is_required: bool
    text: str

    def read(self, text: str) -> Any:
        """Parses a value from text; of a list, one of its values.

        Raises:
          ValueError: that says what it must be.
        """
        text = text.strip()
        if self.choices and text not in self.choices:
            raise ValueError(f"value should be one of <{'|'.join(self.choices)}>")
        if hasattr(self.element, "parse"):
            return self.element.parse(text)
        if self.element is bool:
            if text.lower() not in ("true", "false"):
                raise ValueError("must be true or false")
            return text.lower() == "true"
        try:
            value = self.element(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {_TYPE_NAMES[self.element]}") from None
        if value != value:
            raise ValueError("must be a number")
        if self.element is not str and not self.bounds.hold(value):
            raise ValueError(f"must be {self.bounds}")
        return value


def parameters_of(
    target: Callable[..., Any], leave_out: Collection[str] = (), only: Collection[str] = ()
) -> list[Parameter]:
    """The parameters of a dataclass, NamedTuple, class or function.

    Types are bool, int, float, str, a Literal of str, a class with a `parse`, a tuple or sequence
    of one of them, and any of these or None. Descriptions come from the `Attributes:` or `Args:` of
    the docstring, those of inherited fields from the docstrings of the bases.

    Args:
      target: the dataclass, NamedTuple, class or function.
      leave_out: names of parameters to leave out; positional-only ones are always left out.
      only: names of parameters to keep; empty: all the others.

    Raises:
      TypeError: if a parameter is of another type, or is not described.
    """
    return [
        _parameter(target, parameter)
        for parameter in inspect.signature(target).parameters.values()
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.VAR_KEYWORD)
        and (not only or parameter.name in only)
        and parameter.name not in leave_out
    ]


def check_types(config: Any) -> None:
    """Raises a ValueError if a field of a dataclass has a value of another type than declared.

    Numbers of NumPy become Python's, and lists, as read from JSON, tuples: in place, so that the
    fields can be written as JSON.
    """
    hints = typing.get_type_hints(type(config))
    for field in dataclasses.fields(config):
        value = _as_python(getattr(config, field.name))
        object.__setattr__(config, field.name, value)
        if not _fits(value, hints[field.name]):
            declared = field.type if isinstance(field.type, str) else str(field.type)
            raise ValueError(
                f"{field.name}={value!r} must be {declared}, not of the type {type(value).__name__}"
            )


def _as_python(value: Any) -> Any:
    """A value with Python's numbers instead of NumPy's, and tuples instead of lists."""
    if type(value) in (list, tuple):
        return tuple(map(_as_python, value))
    return value.item() if isinstance(value, np.generic) else value


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is tuple and arguments[-1] is Ellipsis:
        return isinstance(value, tuple) and all(_fits(v, arguments[0]) for v in value)
    if hint in (int, float):
        number = numbers.Integral if hint is int else numbers.Real
        return isinstance(value, number) and not isinstance(value, bool)
    if hint in (bool, str, types.NoneType):
        return isinstance(value, hint)
    return True


def _parameter(target: Callable[..., Any], parameter: inspect.Parameter) -> Parameter:
    name, default = parameter.name, parameter.default
    field = getattr(target, "__dataclass_fields__", {}).get(name)
    if field and field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    hints = typing.get_type_hints(_annotated(target), include_extras=True)
    value_type = _value_type(hints[name], name)
    text = _texts(target).get(name)
    if text is None:
        raise TypeError(f"{target} does not describe {name}; add it to the docstring")
    is_required = default is inspect.Parameter.empty
    return Parameter(name, *value_type, None if is_required else default, is_required, text)


def _annotated(target: Callable[..., Any]) -> Any:
    """The object with the parameters' annotations: the target, or a plain class's `__init__`."""
    is_plain_class = isinstance(target, type) and not _has_fields(target)
    return getattr(target, "__init__") if is_plain_class else target  # noqa: B009


def _has_fields(target: type) -> bool:
    return dataclasses.is_dataclass(target) or hasattr(target, "_fields")


def _value_type(hint: Any, name: str) -> tuple[Any, bool, bool, tuple[str, ...], Bounds]:
    """`element`, `is_list`, `is_tuple`, `choices` and `bounds` of `Parameter`, from a type hint."""
    bounds = Bounds(-math.inf)
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    members = []
    for member in typing.get_args(hint) if is_union else (hint,):
        bounds = next(iter(getattr(member, "__metadata__", ())), bounds)
        if member is not types.NoneType:
            members.append(member.__origin__ if hasattr(member, "__metadata__") else member)
    # In unions such as `Path | str`, `torch.device | str` or `Effort | int`, str or int is typed.
    hint = next((member for member in members if member in (str, int)), members[0])
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return str, False, False, arguments, bounds
    if origin is not None and issubclass(origin, Sequence) and arguments:
        return arguments[0], True, origin is tuple, (), bounds
    if hint in (bool, int, float, str) or hasattr(hint, "parse"):
        return hint, False, False, (), bounds
    raise TypeError(f"{name} is of the type {hint}, which nobody can type; leave it out")


def _texts(target: Callable[..., Any]) -> dict[str, str]:
    """Descriptions of parameters, from docstrings; a subclass's override those of its bases."""
    if not isinstance(target, type) or not _has_fields(target):
        return _section(_annotated(target), "Args")
    descriptions: dict[str, str] = {}
    for base in reversed(target.__mro__):
        descriptions |= _section(base, "Attributes")
    return descriptions


def _section(documented: Any, title: str) -> dict[str, str]:
    """The entries of a section of a docstring, each as one line."""
    text = inspect.cleandoc(documented.__doc__ or "")
    section = re.search(rf"^{title}:\n((?:  .*\n|\n)*)", text + "\n", re.MULTILINE)
    entries = re.split(r"^  (?=\w+: )", section[1], flags=re.MULTILINE) if section else []
    pairs = (entry.partition(": ") for entry in entries if entry.strip())
    return {name: " ".join(body.replace("`", "").split()) for name, _, body in pairs}
