"""Settings and study that the experiments with responses share."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, TypeVar

from experiments import experiment
from experiments.responses.responders import Responder, compile_named, game_value, load_model
from experiments.settings import Checked
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.parameters import Bounds
from spiel_dl.tree.game_tree import GameTree


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """The responders: all combinations of games, models and players.

    Attributes:
      games: names of `responders.games`.
      models: names of `responders.load_model`.
      players: the responding players.
    """

    not_empty = ("players",)
    games: tuple[str, ...]
    models: tuple[str, ...]
    players: tuple[Annotated[int, Bounds(0, 1)], ...] = (0, 1)


AnySettings = TypeVar("AnySettings", bound=Settings)
Labels = dict[str, Any]
"""The `game`, `model` and `player` of a responder."""


class Study(experiment.Study[AnySettings]):
    """Compiles games and makes responders, on first use."""

    def __init__(self, settings: AnySettings, workspace: Workspace):
        """Makes a study; everything is computed on first use."""
        super().__init__(settings, workspace)
        self.tree: Callable[[str], GameTree] = functools.cache(compile_named)

    def responder(self, game: str, model: str, player: int) -> Responder:
        """A player who responds to a model in a named game.

        Raises:
          ValueError: if there is no game or no model of this name.
        """
        return self.responder_to(game, model, load_model(model, self.tree(game)), player)

    def responder_to(self, game: str, name: str, model: ArrayPolicy, player: int) -> Responder:
        """A player who responds to a given model, whose name is for messages."""
        tree = self.tree(game)
        return Responder(tree, model, player, game_value(tree, player), name)

    def responders(self) -> Iterator[Labels]:
        """The labels of all responders in the settings."""
        settings = self.settings
        for game, model, player in itertools.product(
            settings.games, settings.models, settings.players
        ):
            yield {"game": game, "model": model, "player": player}

    def measured(
        self, name: str, measure: Callable[[Any, Labels], Any], **settings: Any
    ) -> list[tuple[Labels, Any]]:
        """Measures each responder, as a part of the workspace.

        Args:
          name: the beginning of the parts' names.
          measure: measures one responder; takes the study and the labels.
          **settings: what the measurement depends on besides the labels.
        """
        return [
            (
                labels,
                self.workspace.part(
                    file_name(name, *labels.values()),
                    {**labels, **settings},
                    functools.partial(measure, self, labels),
                ),
            )
            for labels in self.responders()
        ]

    def describe(self, games: Iterable[str]) -> str:
        """The complete game strings of some games, as a sentence."""
        strings = [f"{name} is `{self.tree(name).game}`" for name in dict.fromkeys(games)]
        return f"Games: {'; '.join(strings)}."
