"""Makes games known to OpenSpiel."""

from __future__ import annotations

from collections.abc import Mapping

import pyspiel

from spiel_dl.games.registration import Parameter, Registration, game_type


def register(registration: Registration) -> None:
    """Makes a game known to `pyspiel.load_game`."""

    def make(_: type, params: Mapping[str, Parameter] | None = None) -> pyspiel.Game:
        from spiel_dl.games.openspiel import RulesGame  # With torch, which takes a second.

        return RulesGame(registration, params)

    # A class rather than a function: OpenSpiel's registry is destroyed after the interpreter, and
    # would abort the process if it held the last reference to what creates the games. A class is
    # part of reference cycles and so survives.
    maker = type(registration.short_name, (), {"__new__": make})
    pyspiel.register_game(game_type(registration, registration.has_chance), maker)
