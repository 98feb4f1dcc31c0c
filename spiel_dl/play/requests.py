"""Requests for policies by name, passed to the loading functions of `play.kinds`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.tree.load import AnyGame, compile_game, turn_based_game


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for a policy by its name.

    Attributes:
      name: the whole name.
      source: the part of the name after the first colon.
      given_game: the game; None: the source's game, if it has one, which `of_game` fills in.
      options: the kind's configuration, see `play.options`.
      device: torch device of networks.
      load_model: loads another policy by its name, in all infosets of a compiled game.
    """

    name: str
    source: str
    given_game: AnyGame | None
    options: Any
    device: str
    load_model: Callable[[str, GameTree], ArrayPolicy]

    @property
    def game(self) -> AnyGame:
        """The game; a ValueError if none was given."""
        if self.given_game is None:
            raise ValueError(f"{self.name} does not say of which game it is; pass game=")
        return self.given_game

    def of_game(self, game: AnyGame | None) -> Request:
        """The request for a policy of the source's game, unless another one was given."""
        return dataclasses.replace(self, given_game=self.given_game or game)

    def compiled(self) -> GameTree:
        """The compiled game."""
        try:
            return compile_game(self.game)
        except TooManyHistoriesError as error:
            raise TooManyHistoriesError(
                f"{self.name} needs a compiled game, and this one is too large to compile: {error}"
            ) from error

    @property
    def depth_limit(self) -> DepthLimit:
        """The depth limit of each search."""
        limit: DepthLimit = self.options.depth_limit_in(turn_based_game(self.game))
        return limit

    def number(self) -> int:
        """The source as an integer."""
        if not self.source.isdecimal():
            raise ValueError(
                f"no policy {self.name!r}: {self.source!r} is not a whole number; give one, as "
                "in cfr:100"
            )
        return int(self.source)
