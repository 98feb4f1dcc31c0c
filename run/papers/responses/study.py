"""What the experiments with responses share: what is asked for, and what is finished already."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from papers.responses.contests import Contest, compile_named, game_value, load_model
from papers.responses.networks import NetworkChoices
from papers.responses.sweeps import Sweep
from spiel_dl.runs.parts import Parts
from spiel_dl.tree.game_tree import GameTree


@dataclasses.dataclass(frozen=True)
class Choices:
    """What the experiments vary.

    Attributes:
      games: names of `contests.games`; empty: those of the paper that take minutes.
      models: names of `contests.load_model`; empty: those that the experiment names.
      players: who responds.
      sweep: over parameters of methods.
      networks: how networks are made.
      abr_episodes: of training an approximate best response to each model; 0: leave it out.
    """

    games: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    players: tuple[int, ...] = (0, 1)
    sweep: Sweep = dataclasses.field(default_factory=Sweep)
    networks: NetworkChoices = dataclasses.field(default_factory=NetworkChoices)
    abr_episodes: int = 0

    def __post_init__(self) -> None:
        if not self.players or not set(self.players) <= {0, 1}:
            raise ValueError(f"players={self.players} must be 0, 1 or both")
        if self.abr_episodes < 0:
            raise ValueError(f"abr_episodes={self.abr_episodes} must not be negative")

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        nested = {"sweep": self.sweep.to_json(), "networks": self.networks.to_json()}
        return {**dataclasses.asdict(self), **nested}


class Study:
    """Makes what experiments ask for, once.

    Attributes:
      choices: what is varied.
      directory: where everything is that is made only once.
      parts: what is finished.
    """

    def __init__(self, choices: Choices, directory: str | os.PathLike[str]):
        """Describes a study; nothing is made before it is asked for.

        Args:
          choices: what is varied.
          directory: where finished parts are; those of an earlier start are not made again.
        """
        self.choices = choices
        self.directory = Path(directory)
        self.parts = Parts(self.directory / "parts")
        self._value = functools.cache(
            lambda name, player: game_value(name, self.tree(name), player)
        )
        self.tree: Callable[[str], GameTree] = functools.cache(compile_named)

    def contest(self, game: str, model: str, player: int) -> Contest:
        """A player against a model in a named game.

        Raises:
          ValueError: if there is no game or no model of this name.
        """
        tree = self.tree(game)
        return Contest(tree, load_model(model, tree), player, self._value(game, player), model)

    def describe(self, games: Iterable[str]) -> str:
        """The complete game strings of some games, as a sentence."""
        strings = [f"{name} is `{self.tree(name).game}`" for name in dict.fromkeys(games)]
        return f"Games: {'; '.join(strings)}."

    def games(self, otherwise: Sequence[str]) -> Sequence[str]:
        """The games that were chosen, or else these."""
        return self.choices.games or otherwise

    def models(self, otherwise: Sequence[str]) -> Sequence[str]:
        """The models that were chosen, or else these."""
        return self.choices.models or otherwise
