"""What the experiments with SePoT share: training, kept checkpoints, and what is finished already.

Each game has a folder of its own in the workspace:

seed-0/                            run directory of R-NaD and its critic; one for every seed
seed-0/step-00010000.safetensors   its checkpoint after so many learner steps
seed-0/critic-00010000/            run directory of that step's critic, if it is trained by itself
parts/                             one JSON file per smaller result
"""

from __future__ import annotations

import dataclasses
import functools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyspiel

from experiments import study as papers_study
from experiments.sepot.evaluation import Evaluation, Search, compiled, evaluate
from experiments.settings import check_least, check_seeds
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning.checkpoints import load_blueprint
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.presets import game_string
from spiel_dl.runs import learner_run
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree.depth_limit import DepthLimit, default_depth_limit, has_rounds
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.training import TrainingConfig

TRAINED = (
    "games", "seeds", "num_steps", "steps_per_evaluation", "learner", "critic", "critic_steps",
    "exploration", "transformations", "limits", "iterations", "device",
)  # fmt: skip
"""Settings that every number depends on."""

_SMALL = (128, 128)
_MAX_PURE = 3


@dataclasses.dataclass(frozen=True)
class Settings:
    """Sizes of a study, and what its experiments vary.

    Attributes:
      games: names of presets, or game strings; empty: the experiment's.
      seeds: of the networks.
      num_steps: learner steps of each.
      steps_per_evaluation: learner steps between two checkpoints that are kept.
      learner: how networks learn; the study's seeds take the place of its seed. Networks and
        batches are smaller than the paper's, so that two cores do.
      critic: how critics learn; likewise.
      critic_steps: 0: critics learn from the games of the networks' training, as in the paper.
        Otherwise each kept checkpoint gets a critic of its own, of so many learner steps, on games
        of the network as it was then.
      exploration: share of random decisions in such games.
      transformations: "paper", "pure", or None: pure in Leduc, as in the paper, and in other games
        of at most three actions; the paper's 22 elsewhere.
      limits: depth limits of searches; none: `default_limits`.
      iterations: of predictive CFR+ in each search.
      device: where networks learn.
      blueprints: ablation: names of policies; none: those that the experiment has for the game.
      critics: ablation, and distilled with `network`: "exact", "trained" (`critic_steps` each, one
        for every seed), or both.
      own_ranges, given_cfvs, schemes, gadgets: ablation: which readings.
      network: table_1, distilled: where networks are that were trained before, see
        `sepot.networks`.
      bounds: table_1: the most unique histories of a search; late_rounds: the most that it starts
        from.
      num_games: table_1: games of each match.
      num_histories: residuals: histories of each round.
      num_strategies: distilled: random trunk strategies; each leaf public state is a sample.
      num_layers: distilled: hidden layers of a value network.
      num_units: distilled: units in each.
      training: distilled: how it is trained; the study's seeds take the place of its seed.
    """

    games: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0, 1, 2)
    num_steps: int = 100_000
    steps_per_evaluation: int = 10_000
    learner: RNaDConfig = dataclasses.field(
        default_factory=lambda: RNaDConfig(batch_size=64, hidden_sizes=_SMALL)
    )
    critic: CriticConfig = dataclasses.field(default_factory=CriticConfig)
    critic_steps: int = 0
    exploration: float = 0.5
    transformations: str | None = None
    limits: tuple[DepthLimit, ...] = ()
    iterations: int = 1500
    device: str = "cpu"
    blueprints: tuple[str, ...] = ()
    critics: tuple[str, ...] = ("exact",)
    own_ranges: tuple[str, ...] = ("played", "blueprint")
    given_cfvs: tuple[str, ...] = ("transformations", "critic", "previous")
    schemes: tuple[str, ...] = ("block", "sliding")
    gadgets: tuple[str, ...] = ("resolving",)
    network: str | None = None
    bounds: tuple[int, ...] = (25_000, 100_000)
    num_games: int = 1000
    num_histories: int = 100
    num_strategies: int = 2000
    num_layers: int = 3
    num_units: int = 200
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(num_epochs=50, networks_per_decade=0)
    )

    def __post_init__(self) -> None:
        check_seeds(self.seeds)
        if set(self.critics) - {"exact", "trained"} or not self.critics:
            raise ValueError(f"critics={self.critics} must be of 'exact' and 'trained'")
        if "trained" in self.critics and not self.critic_steps:
            raise ValueError("critics=trained needs critic_steps: blueprints have no critic beside")
        positive = {"num_steps": 1, "steps_per_evaluation": 1, "iterations": 1}
        check_least(self, **positive, critic_steps=0, num_strategies=2, num_histories=1)

    def critic_of(self, seed: int) -> CriticConfig:
        """How the critic of a seed learns; its learning rate falls until its last step."""
        steps = self.critic_steps or self.num_steps
        return dataclasses.replace(self.critic, seed=seed, decay_steps=steps)

    @property
    def steps(self) -> list[int]:
        """The learner steps whose checkpoints are kept, the last one included."""
        inner = range(self.steps_per_evaluation, self.num_steps, self.steps_per_evaluation)
        return [*inner, self.num_steps]


class Study(papers_study.Study[Settings]):
    """Makes what experiments ask for, once."""

    num_threads = 1

    def games(self, *otherwise: str) -> list[GameStudy]:
        """The games that were chosen, or else these.

        Raises:
          ValueError: if there is no such game, or if it has no rounds and a limit is in rounds.
        """
        names = self.settings.games or otherwise
        return [GameStudy(name, self.settings, self.workspace) for name in names]


def default_transformations(game: pyspiel.Game) -> str:
    """The set that critics know where none was named; see `Settings.transformations`."""
    return "pure" if game.num_distinct_actions() <= _MAX_PURE else "paper"


class GameStudy:
    """What is made in one game; worker processes get it as it is.

    Attributes:
      name: of a preset, or a game string.
      settings: of the study.
      game: the complete game string.
      limits: depth limits of searches.
      transformations: the name of the policy transformations.
      workspace: the game's own, within the study's.
    """

    def __init__(self, name: str, settings: Settings, workspace: Workspace):
        """Describes a study of one game; nothing is made before it is asked for.

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

    def train(self) -> None:
        """Trains the networks of all seeds, as far as that is not done.

        Raises:
          ValueError: if the workspace holds runs with other settings, or learning fails.
        """
        missing = []
        for seed in self.settings.seeds:
            # Also where nothing is missing: it might have been trained with other settings.
            self.run_directory(seed)
            if not all(self.checkpoint(seed, step).exists() for step in self.settings.steps):
                missing.append(seed)
        train = functools.partial(_train, self)
        self.workspace.for_each(train, missing, description=f"{self.name}: train")

    def run_directory(self, seed: int) -> RunDirectory:
        """The run directory of a seed."""
        return self.workspace.run_directory(f"seed-{seed}", self.identity(seed))

    def identity(self, seed: int) -> dict[str, Any]:
        """What the run directory of a seed is of."""
        settings = self.settings
        return {
            "game": self.game,
            "learner": dataclasses.replace(settings.learner, seed=seed).to_json(),
            "critic": settings.critic_of(seed).to_json(),
            "critic_steps": settings.critic_steps,
            "exploration": settings.exploration,
            "transformations": self.transformations,
            "device": settings.device,
        }

    def checkpoint(self, seed: int, step: int | None = None) -> Path:
        """Where the checkpoint after so many steps, or after the last, is once it was trained."""
        number = self.settings.num_steps if step is None else step
        return self.workspace.directory / f"seed-{seed}" / f"step-{number:08d}.safetensors"

    def evaluation(self, seed: int, step: int, search: Search | None) -> Evaluation:
        """What `measure` takes."""
        return Evaluation(self.game, str(self.checkpoint(seed, step)), search)

    def measure(self, evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
        """What `evaluation.evaluate` says of each; each is a part."""
        named = [(each.name, each.settings) for each in evaluations]
        return self.workspace.parts(named, evaluate, evaluations, f"{self.name}: evaluate")

    def searching(
        self, act: ActingPolicy, critic: Critic, most: int, **config: Any
    ) -> SePoTPlayPolicy:
        """SePoT at the first depth limit, in searches of so many histories.

        By the defaults, but for the iterations and what else is said of `SearchConfig`.
        """
        effort = dataclasses.replace(DEFAULT_EFFORT, iterations=self.settings.iterations)
        search = SearchConfig(max_histories=most, effort=effort, **config)
        return SePoTPlayPolicy(self.game, act, critic, self.limits[0], config=search)

    def looks_to_the_end(self, depth_limit: DepthLimit) -> bool:
        """Whether a search from the root leaves nothing to a critic."""
        return not cut(compiled(self.game), depth_limit).leaves.num_public_states

    def describe(self) -> str:
        """The complete game string, as the beginning of a sentence."""
        return f"{self.name} is `{self.game}`"


def default_limits(game: str) -> tuple[DepthLimit, ...]:
    """The paper's depth limits in Goofspiel, 1, 2 and 3 rounds; in other games 1 and 2.

    In Leduc, whose betting rounds are two, one round is the paper's split at the public card, and
    two look to the end of the game. In games without rounds, moves are counted.
    """
    loaded = load_turn_based(game)
    numbers = (1, 2, 3) if "goofspiel" in str(loaded) else (1, 2)
    unit = default_depth_limit(loaded)
    return tuple(unit.with_value(number) for number in numbers)


def _train(study: GameStudy, seed: int) -> None:
    """Trains the network of one seed, and keeps its checkpoints."""
    settings, game = study.settings, load_turn_based(study.game)
    also: dict[str, Any] = {}
    if not settings.critic_steps:
        also["transformations"] = transformations_by_name(study.transformations, game)
        also["critic"] = settings.critic_of(seed)
    config = dataclasses.replace(settings.learner, seed=seed)
    learner = RNaDSolver(game, config, device=settings.device, **also)
    directory = study.run_directory(seed)
    for step in settings.steps:
        kept = study.checkpoint(seed, step)
        if kept.exists():
            continue
        learner_run.run_learner(
            learner, directory, step, steps_per_evaluation=step, show_progress=False
        )
        done = _train_critic(study, seed, directory, step) if settings.critic_steps else directory
        with tensor_files.atomic_path(kept) as temporary:
            shutil.copyfile(done.checkpoint_path, temporary)


def _train_critic(study: GameStudy, seed: int, trained: RunDirectory, step: int) -> RunDirectory:
    """Trains a critic of the network as it is now, in a run directory of its own."""
    settings, game = study.settings, load_turn_based(study.game)
    learner = CriticLearner(
        game,
        load_blueprint(trained.checkpoint_path, game, settings.device),
        transformations_by_name(study.transformations, game),
        settings.critic_of(seed),
        device=settings.device,
        batch_size=settings.learner.batch_size,
        max_tree_histories=settings.learner.max_tree_histories,
        exploration=settings.exploration,
    )
    identity = {**study.identity(seed), "step": step}
    directory = RunDirectory(trained.path / f"critic-{step:08d}", identity, resume=True)
    num_steps = settings.critic_steps
    learner_run.run_learner(
        learner, directory, num_steps, steps_per_evaluation=num_steps, show_progress=False
    )
    return directory


def is_whole_game(game: str, depth_limit: str) -> bool:
    """Whether searches from a preset's root solve the game, so that nothing is left to a critic.

    Of reports that do not tell it in their rows, see `within`.
    """
    return (game, depth_limit) == ("leduc", "2 rounds")


def within(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of searches that leave something to a critic, as `to_the_end` of them says."""
    return [row for row in rows if not row["to_the_end"]]


TO_THE_END = (
    "Searches in blocks that look to the end of the game from its root solve it, whatever "
    "blueprint and critic are; they are shown, and left out of all counts and means."
)
"""What a report says of `within`."""
