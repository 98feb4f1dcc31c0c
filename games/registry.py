"""Registers games with OpenSpiel."""

from __future__ import annotations

from collections.abc import Mapping

import pyspiel

from spiel_dl.games.registration import Parameter, Registration, game_type

_registered: set[str] = set()


def register(registration: Registration) -> None:
    """Registers a game, so that `pyspiel.load_game` finds it.

    Raises:
      ValueError: if OpenSpiel has another game of this name. One that was registered here may be
        registered anew.
    """
    name = registration.short_name
    if name in pyspiel.registered_names() and name not in _registered:
        raise ValueError(
            f"short_name={name!r} is a game of OpenSpiel, which would be lost; choose another "
            f"name, such as 'python_{name}'"
        )
    _registered.add(name)

    def make(_: type, params: Mapping[str, Parameter] | None = None) -> pyspiel.Game:
        from spiel_dl.games.openspiel import RulesGame  # With torch, which takes a second.

        return RulesGame(registration, params)

    # A class rather than a function: OpenSpiel's registry is destroyed after the interpreter, and
    # would abort the process if it held the last reference to a game's maker. A class is
    # part of reference cycles and so survives.
    maker = type(registration.short_name, (), {"__new__": make})
    pyspiel.register_game(game_type(registration, registration.has_chance), maker)
