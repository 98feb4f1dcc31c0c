"""Games, trained networks and kept checkpoints that the experiments with SePoT share.

Each game has its own folder in the workspace:

seed-0/                            run directory of R-NaD and its critic; one for every seed
seed-0/step-00010000.safetensors   its checkpoint after so many learner steps
parts/                             one JSON file per smaller result
"""

from __future__ import annotations

import dataclasses
import functools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyspiel

from experiments import experiment
from experiments.sepot.evaluation import Evaluation, Search, compiled, evaluate
from experiments.settings import Checked
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.config import CriticConfig, RNaDConfig
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.presets import game_string
from spiel_dl.runs import learner_run
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system import tensor_files
from spiel_dl.system.parameters import Positive, Seed
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree.depth_limit import DepthLimit, has_rounds
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.trunk import cut

PRINTED: dict[str, Any] = {"given_cfvs": "critic", "refinement": "none"}
"""Options of a search of SePoT as in the paper: given cfvs are those of the critic's identity
(sections 4.2 and 5.3), and gadgets are not refined."""
_SMALL = (128, 128)
_MAX_PURE = 3


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Games and searches.

    Attributes:
      games: names of presets, or game strings.
      seeds: of the networks.
      transformations: "paper", "pure", or None: pure in Leduc, as in the paper, and in other games
        of at most three actions; the paper's 22 elsewhere.
      limits: depth limits of searches; none: `default_limits`.
      iterations: of predictive CFR+ in each search.
      device: where networks learn.
    """

    games: tuple[str, ...]
    seeds: tuple[Seed, ...] = (0, 1, 2)
    transformations: str | None = None
    limits: tuple[DepthLimit, ...] = ()
    iterations: Positive = 1500
    device: str = "cpu"


@dataclasses.dataclass(frozen=True)
class Trained(Settings):
    """Networks that are trained with a critic beside them, as in the paper.

    Attributes:
      num_steps: learner steps of each.
      steps_per_evaluation: learner steps between two checkpoints that are kept.
      learner: how networks learn; the seeds take the place of its seed. Networks and batches are
        smaller than the paper's, so that two cores do.
      critic: how critics learn; likewise.
    """

    num_steps: Positive = 20_000
    steps_per_evaluation: Positive = 20_000
    learner: RNaDConfig = dataclasses.field(
        default_factory=lambda: RNaDConfig(batch_size=64, hidden_sizes=_SMALL)
    )
    critic: CriticConfig = dataclasses.field(default_factory=CriticConfig)

    @property
    def steps(self) -> list[int]:
        """The learner steps whose checkpoints are kept, the last one included."""
        inner = range(self.steps_per_evaluation, self.num_steps, self.steps_per_evaluation)
        return [*inner, self.num_steps]

    @property
    def seeds_with_critics(self) -> tuple[Seed, ...]:
        """The seeds of networks beside which a critic learns."""
        return self.seeds


AnyTrained = TypeVar("AnyTrained", bound=Trained)


def default_transformations(game: pyspiel.Game) -> str:
    """The default set of policy transformations of a game, see `Settings.transformations`."""
    return "pure" if game.num_distinct_actions() <= _MAX_PURE else "paper"


class TrainedGame(Generic[AnyTrained]):
    """A game in which networks are trained; it is sent to worker processes.

    Attributes:
      name: a preset's name, or a game string.
      settings: the study's.
      game: the complete game string.
      limits: depth limits of searches.
      transformations: the name of the policy transformations.
      workspace: the game's own, within the study's.
    """

    def __init__(self, name: str, settings: AnyTrained, workspace: Workspace):
        """Names a game of a study; everything is computed on first use.

        Raises:
          ValueError: if there is no such game, or if it has no rounds and a limit is in rounds.
        """
        loaded = load_turn_based(game_string(name))
        self.name, self.settings, self.game = name, settings, str(loaded)
        self.limits = settings.limits or default_limits(self.game)
        if any(limit.rounds for limit in self.limits) and not has_rounds(loaded):
            raise ValueError(f"{self.game} has no rounds; give depth limits in moves")
        self.transformations = settings.transformations or default_transformations(loaded)
        self.workspace = workspace.within(file_name(name))

    def looks_to_the_end(self, depth_limit: DepthLimit) -> bool:
        """Whether a search from the root solves the whole game and needs no critic."""
        return not cut(compiled(self.game), depth_limit).leaves.num_public_states

    def describe(self) -> str:
        """The complete game string, as the beginning of a sentence."""
        return f"{self.name} is `{self.game}`"

    def train(self) -> None:
        """Trains the networks of all seeds that are not yet trained.

        Raises:
          ValueError: if the workspace holds runs with other settings, or learning fails.
        """
        missing = []
        for seed in self.settings.seeds:
            # Raises if the seed was trained with other settings.
            self.run_directory(seed)
            if not all(self.checkpoint(seed, step).exists() for step in self.settings.steps):
                missing.append(seed)
        train = functools.partial(_train, self)
        self.workspace.for_each(train, missing, description=f"{self.name}: train")

    def run_directory(self, seed: int) -> RunDirectory:
        """The run directory of a seed."""
        critic = self.critic_of(seed)
        identity = {
            "game": self.game,
            "learner": dataclasses.replace(self.settings.learner, seed=seed).to_json(),
            "critic": None if critic is None else critic.to_json(),
            "transformations": self.transformations,
            "device": self.settings.device,
        }
        return self.workspace.run_directory(f"seed-{seed}", identity)

    def critic_of(self, seed: int) -> CriticConfig | None:
        """The critic's configuration; its learning rate falls until the last step."""
        if seed not in self.settings.seeds_with_critics:
            return None
        steps = self.settings.num_steps
        return dataclasses.replace(self.settings.critic, seed=seed, decay_steps=steps)

    def checkpoint(self, seed: int, step: int | None = None) -> Path:
        """The path of the checkpoint after so many steps, by default the last."""
        number = self.settings.num_steps if step is None else step
        return self.workspace.directory / f"seed-{seed}" / f"step-{number:08d}.safetensors"

    def evaluation(self, seed: int, step: int, search: Search | None) -> Evaluation:
        """An evaluation for `measure`."""
        return Evaluation(self.game, str(self.checkpoint(seed, step)), search)

    def measure(self, evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
        """Runs `evaluation.evaluate` on each; each is a part."""
        named = [(each.name, each.settings) for each in evaluations]
        return self.workspace.parts(named, evaluate, evaluations, f"{self.name}: evaluate")


class TrainedStudy(experiment.Study[AnyTrained]):
    """A study of networks that it trains."""

    def games(self) -> list[TrainedGame[AnyTrained]]:
        """The games.

        Raises:
          ValueError: if there is no such game, or if it has no rounds and a limit is in rounds.
        """
        return [TrainedGame(name, self.settings, self.workspace) for name in self.settings.games]


def default_limits(game: str) -> tuple[DepthLimit, ...]:
    """The paper's depth limits in Goofspiel, 1, 2 and 3 rounds; in other games 1 and 2.

    In Leduc, which has two betting rounds, one round is the paper's split at the public card, and
    two reach the end of the game. In games without rounds the limits count moves.
    """
    loaded = load_turn_based(game)
    numbers = (1, 2, 3) if "goofspiel" in str(loaded) else (1, 2)
    unit = DepthLimit(rounds=1) if has_rounds(loaded) else DepthLimit(moves=1)
    return tuple(unit.with_value(number) for number in numbers)


def _train(study: TrainedGame[Any], seed: int) -> None:
    """Trains the network of one seed and keeps its checkpoints."""
    settings, game, critic = study.settings, load_turn_based(study.game), study.critic_of(seed)
    named = None if critic is None else transformations_by_name(study.transformations, game)
    learner = RNaDSolver(
        game,
        dataclasses.replace(settings.learner, seed=seed),
        device=settings.device,
        transformations=named,
        critic=critic,
    )
    directory = study.run_directory(seed)
    for step in settings.steps:
        checkpoint = study.checkpoint(seed, step)
        if checkpoint.exists():
            continue
        learner_run.run_learner(
            learner, directory, step, steps_per_evaluation=step, show_progress=False
        )
        with tensor_files.atomic_path(checkpoint) as temporary:
            shutil.copyfile(directory.checkpoint_path, temporary)


def is_whole_game(game: str, depth_limit: str) -> bool:
    """Whether searches from a preset's root solve the whole game, without a critic."""
    return (game, depth_limit) == ("leduc", "2 rounds")
