"""Absl flags from the parameters of dataclasses and functions.

Names, types, defaults and help texts of flags are taken from the configuration: from its fields,
and from the `Attributes:` or `Args:` of its docstring. `define` makes absl flags of them:

  _TRAINING = config_flags.define(TrainingConfig, leave_out=["mass_share"])
  config = _TRAINING.build()  # after the flags are parsed; see `script.run`

A list may be separated by commas, or its flag repeated. Two groups may share a flag of the same
name.
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
# The flags belong to the script that defines them.
flags.disclaim_key_flags()


class _Parser(flags.ArgumentParser):
    """Parses one value; errors are one line."""

    def __init__(self, parameter: Parameter):
        self._parameter = parameter
        self.syntactic_help = f"<{'|'.join(parameter.choices)}>" if parameter.choices else ""

    def parse(self, argument: Any) -> Any:
        """Parses text; other values, such as defaults, are returned unchanged."""
        return self._parameter.read(argument) if isinstance(argument, str) else argument

    def flag_type(self) -> str:
        """The type's name in --help."""
        return str(self._parameter.element.__name__)


class _ListFlag(flags.MultiFlag):
    """A flag of several values: repeated and, if `is_split`, separated by commas."""

    def __init__(self, *arguments: Any, is_split: bool, **others: Any):
        super().__init__(*arguments, **others)
        self._is_split = is_split

    def parse(self, arguments: Any) -> None:
        """Adds values to those given before, or replaces the default; an empty list counts, too."""
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
        """Defines the flags that are not defined yet.

        Args:
          target: the configuration or function.
          parameters: its parameters, by the names of flags.
          flag_values: absl's object for the flags.
          unsplit: names of lists whose values may contain commas.
        """
        self._target, self._values = target, flag_values
        self._flags = {parameter.name: flag for flag, parameter in parameters.items()}
        self._tuples = {p.name for p in parameters.values() if p.is_tuple}
        for flag, parameter in parameters.items():
            if flag not in flag_values:
                is_split = parameter.name not in unsplit
                _define_one(flag, parameter, flag_values, is_split)

    @property
    def values(self) -> dict[str, Any]:
        """The values of the parsed flags, by the names of parameters."""
        values: dict[str, Any] = {n: self._values[flag].value for n, flag in self._flags.items()}
        lists = [name for name in self._tuples if values[name] is not None]
        return values | {name: tuple(values[name]) for name in lists}

    @property
    def given(self) -> dict[str, Any]:
        """The values of the flags that were given on the command line, by parameter."""
        return {n: v for n, v in self.values.items() if self._values[self._flags[n]].present}

    def build(self, *arguments: Any, **others: Any) -> T:
        """Calls the function or makes the configuration, with the values of the flags.

        Args:
          *arguments: positional arguments.
          **others: arguments without flags, or in place of their flags.

        Raises:
          ValueError: of the function or configuration; NAME=VALUE of a parameter in its message
            becomes --FLAG=VALUE.
        """
        try:
            return self._target(*arguments, **{**self.values, **others})
        except ValueError as error:
            text = str(error)
            for name, flag in self._flags.items():
                # Not inside a repr or a game string.
                text = re.sub(rf"(?<![\w(,-])(?<!, ){name}=", f"--{flag}=", text)
            raise ValueError(text) from error

    def build_over(self, settings: Mapping[str, Any]) -> T:
        """Calls `build` with settings instead of defaults; given flags have precedence."""
        return self.build(**{**settings, **self.given})

    def refuse(self, reason: str, only: Collection[str] = (), but: Collection[str] = ()) -> None:
        """Raises a ValueError if flags were given that would be ignored.

        Args:
          reason: why they are not used, as the end of a sentence that begins with their names.
          only: the unused parameters; empty: all of them.
          but: exceptions, which are used.
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
      names: of flags, by parameter, if they differ from the parameter's.
      prefix: of the names of all flags that are not in `names`.
      defaults: by parameter, instead of the target's.
      choices: allowed values of a str, by parameter.
      texts: help texts by parameter, instead of the docstring's.
      required: parameters that must be given on the command line, although they have a default.
      unsplit: lists whose values may contain commas, so that their flags can only be repeated.
      flag_values: absl's object for the flags.

    Raises:
      TypeError: if a parameter's type cannot be a flag's, or it is not described.
    """
    names, defaults, texts, choices = names or {}, defaults or {}, texts or {}, choices or {}
    parameters = {}
    for parameter in parameters_of(target, leave_out, only):
        name = parameter.name
        changes: dict[str, Any] = {
            "text": texts.get(name, parameter.text),
            "choices": tuple(choices.get(name, parameter.choices)),
        }
        if name in required:
            changes |= {"default": None, "is_required": True}
        elif name in defaults:
            changes |= {"default": defaults[name], "is_required": False}
        parameters[names.get(name, prefix + name)] = dataclasses.replace(parameter, **changes)
    return Flags(target, parameters, flag_values, unsplit)


def read_early(name: str, default: str) -> str:
    """Reads a flag that determines which other flags there are, before all flags are parsed.

    Errors of the command line are left to the later parsing.

    Args:
      name: the flag's name. The script defines it later, with the others.
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
