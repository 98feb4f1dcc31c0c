"""The registration of a game with OpenSpiel, before it is loaded.

A game's rules may be named by their module and class: that module, and torch with it, is imported
when `pyspiel.load_game` first makes the game.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyspiel

if TYPE_CHECKING:
    from spiel_dl.games.rules import Rules

Parameter = bool | int | float | str


@dataclasses.dataclass(frozen=True)
class Registration:
    """A game's name, parameters and rules, as registered with OpenSpiel.

    Attributes:
      short_name: the name in game strings, such as "python_leduc".
      long_name: the name for people.
      defaults: every parameter with its default, which also determines its type.
      make_rules: a function of all parameters as keyword arguments, which raises ValueError if one
        of them is out of range; or its import path, as "package.module:Name".
      has_chance: whether the game with default parameters has chance events.
    """

    short_name: str
    long_name: str
    defaults: Mapping[str, Parameter]
    make_rules: Callable[..., Rules] | str
    has_chance: bool

    @property
    def maker(self) -> Callable[..., Rules]:
        """The function that makes the rules; imports its module."""
        if not isinstance(self.make_rules, str):
            return self.make_rules
        module, name = self.make_rules.split(":")
        maker: Callable[..., Rules] = getattr(importlib.import_module(module), name)
        return maker


def game_type(registration: Registration, has_chance: bool) -> pyspiel.GameType:
    """The type of a game, with parameters that give it chance events or none."""
    chance_modes = pyspiel.GameType.ChanceMode
    return pyspiel.GameType(
        short_name=registration.short_name,
        long_name=registration.long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=(
            chance_modes.EXPLICIT_STOCHASTIC if has_chance else chance_modes.DETERMINISTIC
        ),
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=dict(registration.defaults),
        default_loadable=True,
        provides_factored_observation_string=True,
    )


def complete_parameters(
    registration: Registration, params: Mapping[str, Any]
) -> dict[str, Parameter]:
    """The given parameters and the defaults of all others.

    Raises:
      ValueError: if a parameter is unknown or of another type than its default.
    """
    complete = dict(registration.defaults)
    for name, value in params.items():
        if name not in complete:
            raise ValueError(
                f"{registration.short_name} has no parameter {name!r}; "
                f"use some of {sorted(complete)}"
            )
        expected = type(complete[name])
        if type(value) is not expected:
            raise ValueError(
                f"{name}={value!r} of {registration.short_name} is of type "
                f"{type(value).__name__}; give a value of type {expected.__name__}, "
                f"such as {complete[name]!r}"
            )
        complete[name] = value
    return complete
