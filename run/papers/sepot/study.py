"""What the experiments with SePoT share: training, kept checkpoints, and what is finished already.

A study is about one game. In its working directory, what is finished is not done again:

seed-0/                            run directory of R-NaD and its critic; one for every seed
seed-0/step-00010000.safetensors   its checkpoint after so many learner steps
seed-0/critic-00010000/            run directory of that step's critic, if it is trained by itself
parts/                             one JSON file per smaller result
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from papers.sepot.evaluation import Evaluation, Search, evaluate
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.jobs import learner_run
from spiel_dl.learning.checkpoints import load_blueprint
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs import distributed, tensor_files
from spiel_dl.runs.distributed import IN_PROCESS, Engine
from spiel_dl.runs.parts import Parts, file_name
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.tree.depth_limit import DepthLimit, default_depth_limit, has_rounds
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = PRESETS
"""Game strings by name."""

_SMALL = (128, 128)
_MAX_PURE = 3


@dataclasses.dataclass(frozen=True)
class StudyConfig:
    """The sizes of a study.

    Attributes:
      game: one of `GAMES`, or a game string.
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
      iterations: of CFR+ in each search.
      device: where networks learn.
    """

    game: str
    seeds: tuple[int, ...] = (0, 1, 2)
    num_steps: int = 100_000
    steps_per_evaluation: int = 10_000
    learner: RNaDConfig = dataclasses.field(
        default_factory=lambda: RNaDConfig(batch_size=64, hidden_sizes=_SMALL)
    )
    critic: CriticConfig = dataclasses.field(
        default_factory=lambda: CriticConfig(hidden_sizes=_SMALL)
    )
    critic_steps: int = 0
    exploration: float = 0.2
    transformations: str | None = None
    limits: tuple[DepthLimit, ...] = ()
    iterations: int = 1500
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds={self.seeds} must be different numbers from 0 on, one or more")
        for name in ("num_steps", "steps_per_evaluation", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be positive")
        if self.critic_steps < 0:
            raise ValueError(f"critic_steps={self.critic_steps} must not be negative")

    @property
    def game_string(self) -> str:
        """The complete game string."""
        return str(load_turn_based(GAMES.get(self.game, self.game)))

    @property
    def steps(self) -> list[int]:
        """The learner steps whose checkpoints are kept, the last one included."""
        inner = range(self.steps_per_evaluation, self.num_steps, self.steps_per_evaluation)
        return [*inner, self.num_steps]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        nested = {"learner": self.learner.to_json(), "critic": self.critic.to_json()}
        limits = [str(limit) for limit in self.limits]
        return {**dataclasses.asdict(self), **nested, "limits": limits}


class Study:
    """Makes what experiments ask for, once.

    Attributes:
      config: its sizes.
      game: the complete game string.
      limits: depth limits of searches.
      transformations: the name of the policy transformations.
      directory: its working directory.
      parts: what is finished.
      engine: who trains and evaluates. No result depends on it.
    """

    def __init__(
        self,
        config: StudyConfig,
        directory: str | os.PathLike[str],
        *,
        engine: Engine = IN_PROCESS,
        show_progress: bool = True,
    ):
        """Describes a study; nothing is made before it is asked for.

        Args:
          config: its sizes.
          directory: where studies work; this one does in a folder with the game's name.
          engine: who works.
          show_progress: show progress bars on standard error.

        Raises:
          ValueError: if there is no such game, or if it has no rounds and a limit is in rounds.
        """
        self.config = config
        self.game = config.game_string
        self.limits = config.limits or default_limits(self.game)
        game = load_turn_based(self.game)
        if any(limit.rounds for limit in self.limits) and not has_rounds(game):
            raise ValueError(f"{self.game} has no rounds; give depth limits in moves")
        self.transformations = config.transformations or _default_transformations(self.game)
        self.directory = Path(directory) / file_name(config.game)
        self.parts = Parts(self.directory / "parts")
        self.engine = engine
        self.show_progress = show_progress

    def train(self) -> None:
        """Trains the networks of all seeds, as far as that is not done.

        Raises:
          ValueError: if the working directory holds runs with other settings, or learning fails.
        """
        steps = self.config.steps
        missing = []
        for seed in self.config.seeds:
            path = self.run_path(seed)
            # Also where nothing is missing: it might have been trained with other settings.
            RunDirectory(path, _identity(self.config, self.transformations, seed), resume=True)
            if not all(self.checkpoint(seed, step).exists() for step in steps):
                missing.append((self.config, self.transformations, seed, str(path), steps))
        distributed.for_each(_train, missing, _ignore, self.engine, description=self._say("train"))

    def run_path(self, seed: int) -> Path:
        """The run directory of a seed."""
        return self.directory / f"seed-{seed}"

    def checkpoint(self, seed: int, step: int) -> Path:
        """Where the checkpoint after so many steps is, once it was trained."""
        return _checkpoint(self.run_path(seed), step)

    def evaluation(self, seed: int, step: int, search: Search | None) -> Evaluation:
        """What `measure` takes."""
        return Evaluation(self.game, str(self.checkpoint(seed, step)), search)

    def measure(self, evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
        """What `evaluation.evaluate` says of each; each is a part."""
        named = [(_name(each), _settings(each)) for each in evaluations]
        return self.results(named, evaluate, evaluations, "evaluate")

    def results(
        self,
        named: Sequence[tuple[str, dict[str, Any]]],
        function: Callable[[Any], Any],
        items: Sequence[Any],
        what: str,
    ) -> list[Any]:
        """Results of a function of items, each a part of its own, kept as soon as it is there.

        Args:
          named: name and settings of each part.
          function: for `distributed.map`; its results must be ones that JSON can hold.
          items: what it is applied to.
          what: what is done, for the progress bar.

        Raises:
          ValueError: if a part was made with other settings, or as the function does.
        """
        parts = self.parts
        missing = [
            number
            for number, (name, _) in enumerate(named)
            if not (parts.directory / f"{name}.json").exists()
        ]

        def keep(number: int, result: Any) -> None:
            parts.get(*named[missing[number]], lambda: result)

        wanted = [items[number] for number in missing]
        distributed.for_each(function, wanted, keep, self.engine, description=self._say(what))
        found = [parts.get(name, settings, _nothing) for name, settings in named]
        parts.reused.difference_update(named[number][0] for number in missing)
        return found

    def _say(self, what: str) -> str | None:
        return f"{self.config.game}: {what}" if self.show_progress else None


def default_limits(game: str) -> tuple[DepthLimit, ...]:
    """The paper's depth limits in Goofspiel, 1, 2 and 3 rounds; in other games 1 and 2.

    In Leduc, whose betting rounds are two, one round is the paper's split at the public card, and
    two look to the end of the game. In games without rounds, moves are counted.
    """
    loaded = load_turn_based(game)
    numbers = (1, 2, 3) if "goofspiel" in str(loaded) else (1, 2)
    unit = default_depth_limit(loaded)
    return tuple(unit.with_value(number) for number in numbers)


def _default_transformations(game: str) -> str:
    return "pure" if load_turn_based(game).num_distinct_actions() <= _MAX_PURE else "paper"


def _train(item: tuple[StudyConfig, str, int, str, list[int]]) -> None:
    """Trains the network of one seed, and keeps its checkpoints."""
    config, transformations, seed, path, steps = item
    torch.set_num_threads(1)
    game = load_turn_based(config.game_string)
    also: dict[str, Any] = {}
    if not config.critic_steps:
        also["transformations"] = transformations_by_name(transformations, game)
        also["critic"] = dataclasses.replace(config.critic, seed=seed)
    learner = RNaDSolver(
        game,
        dataclasses.replace(config.learner, seed=seed),
        device=config.device,
        **also,
    )
    directory = RunDirectory(path, _identity(config, transformations, seed), resume=True)
    for step in steps:
        kept = _checkpoint(directory.path, step)
        if kept.exists():
            continue
        learner_run.run_learner(
            learner, directory, step, steps_per_evaluation=step, show_progress=False
        )
        done = directory
        if config.critic_steps:
            done = _train_critic(config, transformations, seed, directory, step)
        with tensor_files.atomic_path(kept) as temporary:
            shutil.copyfile(done.checkpoint_path, temporary)


def _train_critic(
    config: StudyConfig, transformations: str, seed: int, trained: RunDirectory, step: int
) -> RunDirectory:
    """Trains a critic of the network as it is now, in a run directory of its own."""
    game = load_turn_based(config.game_string)
    learner = CriticLearner(
        game,
        load_blueprint(trained.checkpoint_path, game, config.device),
        transformations_by_name(transformations, game),
        dataclasses.replace(config.critic, seed=seed),
        device=config.device,
        batch_size=config.learner.batch_size,
        max_tree_histories=config.learner.max_tree_histories,
        exploration=config.exploration,
    )
    identity = {**_identity(config, transformations, seed), "step": step}
    directory = RunDirectory(trained.path / f"critic-{step:08d}", identity, resume=True)
    num_steps = config.critic_steps
    learner_run.run_learner(
        learner, directory, num_steps, steps_per_evaluation=num_steps, show_progress=False
    )
    return directory


def _identity(config: StudyConfig, transformations: str, seed: int) -> dict[str, Any]:
    """What a run directory is of."""
    return {
        "game": config.game_string,
        "learner": dataclasses.replace(config.learner, seed=seed).to_json(),
        "critic": dataclasses.replace(config.critic, seed=seed).to_json(),
        "critic_steps": config.critic_steps,
        "exploration": config.exploration,
        "transformations": transformations,
        "device": config.device,
    }


def _checkpoint(run_path: Path, step: int) -> Path:
    return run_path / f"step-{step:08d}.safetensors"


def _name(evaluation: Evaluation) -> str:
    checkpoint, search = Path(evaluation.checkpoint), evaluation.search
    place = f"{checkpoint.parent.name}-{checkpoint.stem}"
    if search is None:
        return f"network-{place}"
    return f"search-{place}-{file_name(search.depth_limit, search.cfvs, search.iterations)}"


def _settings(evaluation: Evaluation) -> dict[str, Any]:
    search = evaluation.search
    if search is None:
        return {"game": evaluation.game}
    described = {**search._asdict(), "depth_limit": str(search.depth_limit)}
    return {"game": evaluation.game, "search": described}


def _nothing() -> Any:
    raise AssertionError("this part was finished before")


def _ignore(number: int, result: Any) -> None:
    del number, result
