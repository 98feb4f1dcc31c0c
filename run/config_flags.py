"""Flags from configurations: what a dataclass or a function takes, as absl flags, and back.

Names, types, defaults and texts of flags are said once, where the configuration is defined: in its
fields, and in the `Attributes:` or `Args:` of its docstring. `define` makes absl flags of them:

  _TRAINING = config_flags.define(TrainingConfig, leave_out=["mass_share"])
  config = _TRAINING.build()  # once the flags are parsed; see `script.run`

A list may be separated by commas, or its flag repeated. Two groups may have a flag of the same
name: it then serves both.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from absl import flags

from spiel_dl.system.parameters import Parameter, parameters_of

T = TypeVar("T")
# The flags belong to the script that asks for them.
flags.disclaim_key_flags()


class _Parser(flags.ArgumentParser):
    """Reads one value; says what is wrong with it in one line."""

    def __init__(self, parameter: Parameter):
        self._parameter = parameter
        self.syntactic_help = f"<{'|'.join(parameter.choices)}>" if parameter.choices else ""

    def parse(self, argument: Any) -> Any:
        """The value of what a person typed; a default is one already."""
        return self._parameter.read(argument) if isinstance(argument, str) else argument

    def flag_type(self) -> str:
        """What --help calls the type."""
        return str(self._parameter.element.__name__)


class _ListFlag(flags.MultiFlag):
    """Values separated by commas if it is split there, or a flag that is repeated, or both."""

    def __init__(self, *arguments: Any, is_split: bool, **others: Any):
        super().__init__(*arguments, **others)
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
    """The flags of a configuration or a function; see `define`."""

    def __init__(
        self,
        target: Callable[..., T],
        parameters: Mapping[str, Parameter],
        flag_values: flags.FlagValues = flags.FLAGS,
        unsplit: Collection[str] = (),
    ):
        """Defines the flags that nobody has defined yet.

        Args:
          target: the configuration or function.
          parameters: its parameters, by the names of flags.
          flag_values: where the flags go.
          unsplit: names of those lists whose values may have commas.
        """
        self._target, self._values = target, flag_values
        self._flags = {parameter.name: flag for flag, parameter in parameters.items()}
        self._tuples = {each.name for each in parameters.values() if each.is_tuple}
        for flag, parameter in parameters.items():
            if flag not in flag_values:
                is_split = parameter.name not in unsplit
                _define_one(flag, parameter, flag_values, is_split)

    @property
    def values(self) -> dict[str, Any]:
        """The values of the parsed flags, by the names of parameters."""
        found: dict[str, Any] = {n: self._values[flag].value for n, flag in self._flags.items()}
        lists = [name for name in self._tuples if found[name] is not None]
        return found | {name: tuple(found[name]) for name in lists}

    @property
    def given(self) -> dict[str, Any]:
        """The values of those flags that the person gave."""
        return {n: each for n, each in self.values.items() if self._values[self._flags[n]].present}

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
            for name, flag in self._flags.items():
                # Not in the middle of a repr or a game string.
                text = re.sub(rf"(?<![\w(,-])(?<!, ){name}=", f"--{flag}=", text)
            raise ValueError(text) from error

    def build_over(self, settings: Mapping[str, Any]) -> T:
        """The same with other defaults than the flags have: flags that were given win."""
        return self.build(**{**settings, **self.given})

    def refuse(self, reason: str, only: Collection[str] = (), but: Collection[str] = ()) -> None:
        """Raises a ValueError if flags were given that would be accepted and then ignored.

        Args:
          reason: why they are of no use, as the end of a sentence that begins with them.
          only: the parameters that are of no use; empty: all of them.
          but: those that are of use, after all.
        """
        names = [n for n in self.given if (not only or n in only) and n not in but]
        if names:
            raise ValueError(f"{', '.join(f'--{self._flags[n]}' for n in names)}: {reason}")


def define(
    target: Callable[..., T],
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
    flag_values: flags.FlagValues = flags.FLAGS,
) -> Flags[T]:
    """Defines a flag for every parameter of a dataclass or a function.

    See `parameters.parameters_of` for their types and texts. A parameter without a default must be
    given on the command line. Parameters that can only be given by position get no flags: `build`
    takes them.

    Args:
      target: the dataclass, NamedTuple, class or function.
      only: the parameters that get flags; empty: all of them.
      leave_out: parameters that get none.
      names: of flags, by parameter, where they are not the parameter's.
      prefix: what the other flags' names begin with, before the parameter's.
      defaults: other defaults than the target's, by parameter.
      choices: the values that a str may have, by parameter.
      texts: other help texts than the docstring's, by parameter.
      required: parameters that must be given on the command line, although they have a default.
      unsplit: lists whose values may have commas, so that their flags can only be repeated.
      flag_values: where the flags go.

    Raises:
      TypeError: if a parameter is of no type that a flag may have, or is not described.
    """
    names, defaults, texts, choices = names or {}, defaults or {}, texts or {}, choices or {}
    found = {}
    for each in parameters_of(target, leave_out, only):
        changed: dict[str, Any] = {
            "text": texts.get(each.name, each.text),
            "choices": tuple(choices.get(each.name, each.choices)),
        }
        if each.name in required:
            changed |= {"default": None, "is_required": True}
        elif each.name in defaults:
            changed |= {"default": defaults[each.name], "is_required": False}
        flag = names.get(each.name, prefix + each.name)
        found[flag] = dataclasses.replace(each, **changed)
    return Flags(target, found, flag_values, unsplit)


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


def _define_one(
    name: str, parameter: Parameter, flag_values: flags.FlagValues, is_split: bool
) -> None:
    text, default, required = parameter.text, parameter.default, parameter.is_required
    if parameter.element is bool:
        flags.DEFINE_bool(name, default, text, flag_values, required=required)
        return
    parser = _Parser(parameter)
    if not parameter.is_list:
        flags.DEFINE(parser, name, default, text, flag_values, required=required)
        return
    values: Sequence[Any] | None = None if default is None else list(default)
    serializer: flags.ArgumentSerializer[Any] = flags.ArgumentSerializer()
    flag = _ListFlag(parser, serializer, name, values, text, is_split=is_split)
    flags.DEFINE_flag(flag, flag_values, required=required)
