"""Flags from configurations: what a dataclass or a function takes, as absl flags, and back.

Names, types, defaults and texts of flags are said once, where the configuration is defined: in its
fields, and in the `Attributes:` or `Args:` of its docstring. `define` makes absl flags of them:

  _TRAINING = config_flags.define(TrainingConfig, "Training", leave_out=["split_seed"])
  config = _TRAINING.build()  # once the flags are parsed; see `script.run`

A list may be separated by commas, or its flag repeated. Two groups may have a flag of the same
name: it then serves both, and --help shows it in the first of them. --help gives the first sentence
of each text, to fit on a screen; --helpfull gives all.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
import re
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

from absl import flags

T = TypeVar("T")

WIDTH = 100
_COLUMN = 34
_NUMBERS = {int: "an integer", float: "a number"}
# The flags belong to the script that asks for them.
flags.disclaim_key_flags()


class Bounds(typing.NamedTuple):
    """Bounds of a number that nothing else checks, as in `Annotated[int, Bounds(1)]`."""

    low: float
    high: float = math.inf


Positive = Annotated[int, Bounds(1)]
NotNegative = Annotated[int, Bounds(0)]


class _Kind(enum.Enum):
    """How a flag looks on the command line."""

    ONE = 1
    BOOL = 2
    LIST = 3


@dataclasses.dataclass(frozen=True)
class _Option:
    """One parameter, and its flag."""

    parameter: str
    flag: str
    kind: _Kind
    element: type
    choices: tuple[str, ...]
    bounds: Bounds
    default: Any
    is_required: bool
    is_tuple: bool
    text: str

    def label(self) -> str:
        """How --help writes the flag and its default."""
        if self.kind is _Kind.BOOL:
            return f"--[no]{self.flag}"
        if self.default is None:
            return f"--{self.flag}=..."
        if self.kind is _Kind.LIST:
            return f"--{self.flag}={','.join(map(str, self.default))}"
        return f"--{self.flag}={self.default}"

    def description(self) -> str:
        """What --help says of it."""
        text, *others = re.split(r"(?<=\.) ", self.text)
        if self.choices and not all(choice in text for choice in self.choices):
            text = f"{text.rstrip('.')}: {', '.join(self.choices)}."
        text = " ".join([text, *(each for each in others if each.startswith("Default"))])
        if self.kind is _Kind.BOOL:
            return f"{text} ({'on' if self.default else 'off'})"
        return f"{text} Required." if self.is_required else text


class _Parser(flags.ArgumentParser):
    """Reads one value; says what is wrong with it in one line."""

    def __init__(self, option: _Option):
        self._element, self._choices = option.element, option.choices
        self._bounds = option.bounds
        self.syntactic_help = ""

    def parse(self, argument: Any) -> Any:
        """The value of what a person typed, without spaces around it."""
        if not isinstance(argument, str):
            return argument
        text = argument.strip()
        if self._choices and text not in self._choices:
            raise ValueError(f"value should be one of <{'|'.join(self._choices)}>")
        try:
            value = self._element(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {_NUMBERS[self._element]}") from None
        low, high = self._bounds
        if self._element is not str and not low <= value <= high:
            limits = f"at least {low}" if high == math.inf else f"between {low} and {high}"
            raise ValueError(f"must be {limits}")
        return value

    def flag_type(self) -> str:
        """What absl's own help calls the type."""
        return "string enum" if self._choices else self._element.__name__


class _ListFlag(flags.MultiFlag):
    """Values separated by commas, or a flag that is repeated, or both."""

    def parse(self, arguments: Any) -> None:
        """Adds to the values given before, or replaces the default; nothing is a value, too."""
        super().parse(arguments)
        self.present = max(self.present, 1)

    def _parse(self, arguments: Any) -> list[Any]:
        if isinstance(arguments, str):
            arguments = arguments.split(",") if arguments.strip() else []
        return super()._parse(list(arguments))


class Flags(Generic[T]):
    """The flags of a configuration or a function; see `define`.

    Attributes:
      title: the headline of the group in --help.
    """

    def __init__(
        self,
        target: Callable[..., T],
        title: str,
        options: Sequence[_Option],
        flag_values: flags.FlagValues,
    ):
        """Defines the flags that no other group has defined."""
        self.title = title
        self._target = target
        self._options = {option.parameter: option for option in options}
        self._values = flag_values
        self._shown = [option for option in options if option.flag not in flag_values]
        for option in self._shown:
            _define_one(option, flag_values)

    @property
    def values(self) -> dict[str, Any]:
        """The values of the parsed flags, by the names of parameters."""
        found = {}
        for name, option in self._options.items():
            value = self._values[option.flag].value
            found[name] = tuple(value) if option.is_tuple and value is not None else value
        return found

    @property
    def given(self) -> list[str]:
        """The parameters whose flags the person gave."""
        return [name for name, option in self._options.items() if self._is_given(option)]

    def build(self, *arguments: Any, **others: Any) -> T:
        """Calls the function, or makes the configuration.

        Args:
          *arguments: what comes before that of the flags.
          **others: for parameters without flags, or instead of their flags.

        Raises:
          ValueError: that of the function or configuration; where it names a parameter and its
            value, it names the flag instead.
        """
        try:
            return self._target(*arguments, **{**self.values, **others})
        except ValueError as error:
            text = str(error)
            for name, option in self._options.items():
                # Not in the middle of a repr.
                text = re.sub(rf"(?<![\w(-])(?<!, ){name}=", f"--{option.flag}=", text)
            raise ValueError(text) from error

    def call(self) -> T:
        """Calls the function with the parsed flags, and leaves its errors as they are."""
        return self._target(**self.values)

    def refuse(self, reason: str, only: Collection[str] = (), but: Collection[str] = ()) -> None:
        """Raises a ValueError if flags were given that would be accepted and then ignored.

        Args:
          reason: why they are of no use, as the end of a sentence that begins with them.
          only: the parameters that are of no use; empty: all of them.
          but: those that are of use, after all.
        """
        names = [n for n in self.given if (not only or n in only) and n not in but]
        if names:
            raise ValueError(f"{', '.join(f'--{self._options[n].flag}' for n in names)}: {reason}")

    def help(self) -> list[str]:
        """The lines of --help."""
        lines = [f"{self.title}:"] if self.title and self._shown else []
        for option in self._shown:
            label, text = option.label(), option.description()
            space = " " * (_COLUMN + 2)
            told = textwrap.wrap(text, WIDTH, initial_indent=space, subsequent_indent=space)
            if len(label) < _COLUMN and told:
                told[0] = f"  {label:<{_COLUMN}}{told[0].lstrip()}"
            else:
                told.insert(0, f"  {label}")
            lines += told
        return lines

    def missing(self) -> list[str]:
        """What to say of flags that must be given and were not."""
        return [
            f"give --{option.flag}: {option.text}"
            for option in self._options.values()
            if option.is_required and self._values[option.flag].value is None
        ]

    def belongs_to(self, flag_values: flags.FlagValues) -> bool:
        """Whether its flags are among these."""
        return self._values is flag_values

    def _is_given(self, option: _Option) -> bool:
        return self._values[option.flag].present > 0


_GROUPS: list[Flags[Any]] = []


def define(
    target: Callable[..., T],
    title: str = "",
    *,
    only: Collection[str] = (),
    leave_out: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    prefix: str = "",
    defaults: Mapping[str, Any] | None = None,
    choices: Mapping[str, Iterable[str]] | None = None,
    texts: Mapping[str, str] | None = None,
    required: Collection[str] = (),
    is_first: bool = False,
    flag_values: flags.FlagValues = flags.FLAGS,
) -> Flags[T]:
    """Defines a flag for every parameter of a dataclass or a function.

    Types are bool, int, float, str, a Literal of str, a tuple or sequence of one of them, and any
    of these or None. A parameter without a default must be given on the command line. Parameters
    that can only be given by position get no flags: `build` takes them.

    Args:
      target: the dataclass, NamedTuple, class or function.
      title: the headline in --help; flags of a group without one come first.
      only: the parameters that get flags; empty: all of them.
      leave_out: parameters that get none.
      names: of flags, by parameter, where they are not the parameter's.
      prefix: what the other flags' names begin with, before the parameter's.
      defaults: other defaults than the target's, by parameter.
      choices: the values that a str may have, by parameter; also told by a field's
        `metadata["choices"]`.
      texts: other help texts than the docstring's, by parameter; also told by `metadata["help"]`.
      required: parameters that must be given on the command line, although they have a default.
      is_first: show the group before all others.
      flag_values: where the flags go.

    Raises:
      TypeError: if a parameter is of no type that a flag may have, or is not described.
    """
    said = _Said(names or {}, prefix, defaults or {}, choices or {}, texts or {}, required)
    options = [
        _option(target, parameter, said)
        for parameter in inspect.signature(target).parameters.values()
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.VAR_KEYWORD)
        and (not only or parameter.name in only)
        and parameter.name not in leave_out
    ]
    group = Flags(target, title, options, flag_values)
    _GROUPS.insert(0 if is_first else len(_GROUPS), group)
    return group


class _Said(typing.NamedTuple):
    """What `define` is told about single parameters."""

    names: Mapping[str, str]
    prefix: str
    defaults: Mapping[str, Any]
    choices: Mapping[str, Iterable[str]]
    texts: Mapping[str, str]
    required: Collection[str]


def _option(target: Callable[..., Any], parameter: inspect.Parameter, said: _Said) -> _Option:
    name = parameter.name
    fields: dict[str, Any] = getattr(target, "__dataclass_fields__", {})
    metadata = fields[name].metadata if name in fields else {}
    hint, bounds = _without_bounds(_hints(target)[name])
    kind, element, choices, is_tuple = _type_of(hint, name)
    choices = tuple(said.choices.get(name, metadata.get("choices", choices)))
    default = said.defaults.get(name, parameter.default)
    if name in fields and fields[name].default_factory is not dataclasses.MISSING:
        default = said.defaults.get(name, fields[name].default_factory())
    is_required = default is inspect.Parameter.empty or name in said.required
    text = said.texts.get(name) or metadata.get("help") or _texts(target).get(name)
    if text is None:
        raise TypeError(f"{target} does not describe {name}; add it to the docstring")
    flag = said.names.get(name, said.prefix + name)
    default = None if is_required else default
    return _Option(name, flag, kind, element, choices, bounds, default, is_required, is_tuple, text)


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


def _type_of(hint: Any, name: str) -> tuple[_Kind, type, tuple[str, ...], bool]:
    """Kind, type of an element, choices, and whether it is a tuple."""
    members = list(typing.get_args(hint)) if _is_union(hint) else [hint]
    members = [getattr(m, "__origin__", m) if hasattr(m, "__metadata__") else m for m in members]
    members = [member for member in members if member is not type(None)]
    # A path, or a device of torch, may also be a str.
    hint = str if str in members else members[0]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return _Kind.ONE, str, arguments, False
    if origin is not None and issubclass(origin, Sequence) and arguments:
        return _Kind.LIST, arguments[0], (), origin is tuple
    if hint is bool:
        return _Kind.BOOL, bool, (), False
    if hint in (int, float, str):
        return _Kind.ONE, hint, (), False
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


def _define_one(option: _Option, flag_values: flags.FlagValues) -> None:
    name, text, required = option.flag, option.text, option.is_required
    if option.kind is _Kind.BOOL:
        flags.DEFINE_bool(name, option.default, text, flag_values, required=required)
        return
    parser = _Parser(option)
    if option.kind is _Kind.ONE:
        flags.DEFINE(parser, name, option.default, text, flag_values, required=required)
        return
    default = None if option.default is None else list(option.default)
    flags.DEFINE_flag(
        _ListFlag(parser, flags.ArgumentSerializer(), name, default, text),
        flag_values,
        required=required,
    )


def help_text(description: str, flag_values: flags.FlagValues = flags.FLAGS) -> str:
    """What --help prints: the script's description, and all flags with their defaults by group."""
    groups = [group for group in _GROUPS if group.belongs_to(flag_values)]
    lines = [line for group in groups for line in group.help()]
    return "\n".join([description.strip(), "", *lines])


def missing(flag_values: flags.FlagValues = flags.FLAGS) -> list[str]:
    """What to say of all flags that must be given and were not."""
    groups = [group for group in _GROUPS if group.belongs_to(flag_values)]
    return [line for group in groups for line in group.missing()]
