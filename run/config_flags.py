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
import math
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from absl import flags

from spiel_dl.commands.parameters import Kind, Parameter, parameters_of

T = TypeVar("T")

WIDTH = 100
_COLUMN = 34
_NUMBERS = {int: "an integer", float: "a number"}
# The flags belong to the script that asks for them.
flags.disclaim_key_flags()


@dataclasses.dataclass(frozen=True)
class _Option(Parameter):
    """A parameter, and its flag."""

    flag: str
    is_split: bool

    def label(self) -> str:
        """How --help writes the flag and its default."""
        if self.kind is Kind.BOOL:
            return f"--[no]{self.flag}"
        if self.default is None:
            return f"--{self.flag}=..."
        if self.kind is Kind.LIST:
            return f"--{self.flag}={','.join(map(str, self.default))}"
        return f"--{self.flag}={self.default}"

    def description(self) -> str:
        """What --help says of it."""
        text, *others = re.split(r"(?<=\.) ", self.text)
        if self.choices and not all(choice in text for choice in self.choices):
            text = f"{text.rstrip('.')}: {', '.join(self.choices)}."
        text = " ".join([text, *(each for each in others if each.startswith("Default"))])
        if self.kind is Kind.BOOL:
            known = {True: " (on)", False: " (off)", None: ""}
            return f"{text}{known[self.default]}"
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
        if value != value:
            raise ValueError("must be a number")
        if self._element is not str and not low <= value <= high:
            limits = f"at least {low}" if high == math.inf else f"between {low} and {high}"
            raise ValueError(f"must be {limits}")
        return value

    def flag_type(self) -> str:
        """What absl's own help calls the type."""
        return "string enum" if self._choices else self._element.__name__


class _ListFlag(flags.MultiFlag):
    """Values separated by commas if it is split there, or a flag that is repeated, or both."""

    def __init__(self, *arguments: Any, is_split: bool):
        super().__init__(*arguments)
        self._is_split = is_split

    def parse(self, arguments: Any) -> None:
        """Adds to the values given before, or replaces the default; nothing is a value, too."""
        super().parse(arguments)
        self.present = max(self.present, 1)

    def _parse(self, arguments: Any) -> list[Any]:
        if isinstance(arguments, str):
            values = arguments.split(",") if self._is_split else [arguments]
            arguments = values if arguments.strip() else []
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
        self._options = {option.name: option for option in options}
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

    def build_over(self, settings: Mapping[str, Any]) -> T:
        """The same with other defaults than the flags have: flags that were given win."""
        return self.build(**{n: value for n, value in settings.items() if n not in self.given})

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
            elif len(line := f"  {label}  {text}") <= WIDTH:
                told = [line.rstrip()]
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
    unsplit: Collection[str] = (),
    is_first: bool = False,
    flag_values: flags.FlagValues = flags.FLAGS,
) -> Flags[T]:
    """Defines a flag for every parameter of a dataclass or a function.

    See `parameters.parameters_of` for their types and texts. A parameter without a default must be
    given on the command line. Parameters that can only be given by position get no flags: `build`
    takes them.

    Args:
      target: the dataclass, NamedTuple, class or function.
      title: the headline in --help; flags of a group without one come first.
      only: the parameters that get flags; empty: all of them.
      leave_out: parameters that get none.
      names: of flags, by parameter, where they are not the parameter's.
      prefix: what the other flags' names begin with, before the parameter's.
      defaults: other defaults than the target's, by parameter.
      choices: the values that a str may have, by parameter.
      texts: other help texts than the docstring's, by parameter.
      required: parameters that must be given on the command line, although they have a default.
      unsplit: lists whose values may have commas, so that their flags can only be repeated.
      is_first: show the group before all others.
      flag_values: where the flags go.

    Raises:
      TypeError: if a parameter is of no type that a flag may have, or is not described.
    """
    names, defaults, texts, choices = names or {}, defaults or {}, texts or {}, choices or {}
    options = []
    for each in parameters_of(target, leave_out, only):
        default, is_required = each.default, each.is_required
        if each.name in required:
            default, is_required = None, True
        elif each.name in defaults:
            default, is_required = defaults[each.name], False
        found = dataclasses.replace(
            each,
            default=default,
            is_required=is_required,
            text=texts.get(each.name, each.text),
            choices=tuple(choices.get(each.name, each.choices)),
        )
        flag, is_split = names.get(each.name, prefix + each.name), each.name not in unsplit
        options.append(_Option(**vars(found), flag=flag, is_split=is_split))
    group = Flags(target, title, options, flag_values)
    _GROUPS.insert(0 if is_first else len(_GROUPS), group)
    return group


def read_early(name: str, default: str) -> str:
    """The value of a flag on which it depends what other flags there are, before any is parsed.

    Whatever is wrong with the command line is told when all of it is parsed.

    Args:
      name: the flag's name. It is still to be defined beside the others.
      default: its value if it is not given.
    """
    early = flags.FlagValues()
    flags.DEFINE_string(name, default, "", early)
    try:
        early(sys.argv, known_only=True)
    except flags.Error:
        return default
    return str(early[name].value).strip()


def _define_one(option: _Option, flag_values: flags.FlagValues) -> None:
    name, text, required = option.flag, option.text, option.is_required
    if option.kind is Kind.BOOL:
        flags.DEFINE_bool(name, option.default, text, flag_values, required=required)
        return
    parser = _Parser(option)
    if option.kind is Kind.ONE:
        flags.DEFINE(parser, name, option.default, text, flag_values, required=required)
        return
    default = None if option.default is None else list(option.default)
    flags.DEFINE_flag(
        _ListFlag(
            parser, flags.ArgumentSerializer(), name, default, text, is_split=option.is_split
        ),
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
