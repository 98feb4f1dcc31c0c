"""What the experiments with responses share: their settings, and who responds to whom."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from experiments import study as papers_study
from experiments.responses.responders import Responder, compile_named, game_value, load_model
from experiments.settings import check_least
from spiel_dl.algorithms.cdrnr import GADGETS
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

CHOICES = ("games", "models", "players")
"""Settings that say who responds to whom."""
SWEEP = ("depth_limit", "scheme", "gadgets", "parameters", "bounds", "cfr_iterations")
"""Settings that say what methods are swept over."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the experiments vary.

    Attributes:
      games: names of `responders.games`; empty: those of the paper that take minutes.
      models: names of `responders.load_model`; empty: those that the experiment names.
      players: who responds.
      abr_episodes: table_1: of training an approximate best response to each model; 0: leave it
        out.
      depth_limit: frontier: of CDRNR, CDBR and SES.
      scheme: frontier: of CDRNR; CDBR in the mix slides, SES goes in blocks.
      gadgets: of CDRNR.
      parameters: frontier: p, alpha, and the weight of CDBR in the mix.
      bounds: of exploitability in the Pareto set, as parts of a best response's.
      cfr_iterations: of the strategies that know no model.
    """

    games: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    players: tuple[int, ...] = (0, 1)
    abr_episodes: int = 0
    depth_limit: DepthLimit = dataclasses.field(default_factory=lambda: DepthLimit(plies=2))
    scheme: str = "block"
    gadgets: tuple[str, ...] = GADGETS
    parameters: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
    bounds: tuple[float, ...] = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
    cfr_iterations: tuple[int, ...] = (10, 100, 1000)

    def __post_init__(self) -> None:
        if not self.players or not set(self.players) <= {0, 1}:
            raise ValueError(f"players={self.players} must be 0, 1 or both")
        for name in ("parameters", "bounds"):
            values = getattr(self, name)
            if not values or not all(0 <= value <= 1 for value in values):
                raise ValueError(f"{name}={values} must be numbers between 0 and 1, one or more")
        unknown = [gadget for gadget in self.gadgets if gadget not in GADGETS]
        if unknown:
            raise ValueError(f"gadgets={unknown} must be some of {GADGETS}")
        check_least(self, abr_episodes=0)


Labels = dict[str, Any]
"""Who responds to whom: `game`, `model` and `player`."""


class Study(papers_study.Study[Settings]):
    """Makes what experiments ask for, once."""

    def __init__(self, settings: Settings, workspace: Workspace):
        """Describes a study; nothing is made before it is asked for."""
        super().__init__(settings, workspace)
        self._value = functools.cache(
            lambda name, player: game_value(name, self.tree(name), player)
        )
        self.tree: Callable[[str], GameTree] = functools.cache(compile_named)

    def responder(self, game: str, model: str, player: int) -> Responder:
        """A player who responds to a model in a named game.

        Raises:
          ValueError: if there is no game or no model of this name.
        """
        return self.responder_to(game, model, load_model(model, self.tree(game)), player)

    def responder_to(self, game: str, name: str, model: ArrayPolicy, player: int) -> Responder:
        """A player who responds to a given model, whose name is for messages."""
        return Responder(self.tree(game), model, player, self._value(game, player), name)

    def responders(self, games: Sequence[str], models: Sequence[str]) -> Iterator[Labels]:
        """All that were chosen, or else those of these games and models."""
        for game in self.settings.games or games:
            for model in self.settings.models or models:
                for player in self.settings.players:
                    yield {"game": game, "model": model, "player": player}

    def describe(self, games: Iterable[str]) -> str:
        """The complete game strings of some games, as a sentence."""
        strings = [f"{name} is `{self.tree(name).game}`" for name in dict.fromkeys(games)]
        return f"Games: {'; '.join(strings)}."
