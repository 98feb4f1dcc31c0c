"""A learner with a budget of environment steps, judged exactly along the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from experiments.learners.strength import SOLVERS
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.runs.loop import run_job
from spiel_dl.system.run_directory import RunDirectory


def make_learner(algorithm: str, game: str, **config: Any) -> SelfPlayLearner:
    """A fresh learner with its defaults but for the entries that are given."""
    solver = SOLVERS[algorithm]
    # No exact quantity of the learner's own is used, so small games are learned as large ones.
    return solver(game, solver.default_config(max_tree_histories=0, **config))


def train(
    learner: SelfPlayLearner,
    directory: RunDirectory,
    num_steps: int,
    evaluations: Sequence[int],
    steps_per_checkpoint: int,
    judge: Callable[[SelfPlayLearner], dict[str, float]],
) -> list[dict[str, Any]]:
    """Learns from the directory's checkpoint, if it has one, until the budget is spent.

    Args:
      learner: a fresh learner.
      directory: where metrics lines and checkpoints are written.
      num_steps: the budget in environment steps, moves of players; the learner step that reaches it
        is finished.
      evaluations: the environment steps at which to evaluate.
      steps_per_checkpoint: environment steps between two checkpoints.
      judge: evaluates the learner.

    Returns:
      The lines of evaluations: environment_steps, learner_steps, seconds of learning, and the
      entries of `judge`.
    """
    lines = _evaluations(directory, num_steps)
    if lines and lines[-1]["evaluation"] == num_steps:
        return lines
    job = _Budgeted(learner, num_steps, evaluations, judge)

    def following(done: int) -> int:
        later = [step for step in evaluations if step > done]
        return min([(done // steps_per_checkpoint + 1) * steps_per_checkpoint, *later])

    run_job(
        job,
        directory,
        num_steps,
        following,
        seconds_per_checkpoint=math.inf,
        keeps_on_interrupt=False,
        show_progress=False,
    )
    return _evaluations(directory, num_steps)


def _evaluations(directory: RunDirectory, num_steps: int) -> list[dict[str, Any]]:
    """The lines of evaluations within a budget; its last may be in the middle of a longer run."""
    lines = directory.read_metrics()
    return [line for line in lines if line.get("evaluation", math.inf) <= num_steps]


class _Budgeted:
    """Adapts a learner to `run_job`, with environment steps as its steps."""

    unit, step_name, headline = "environment step", "environment_steps", "exploitability"

    def __init__(
        self,
        learner: SelfPlayLearner,
        end: int,
        evaluations: Sequence[int],
        judge: Callable[[SelfPlayLearner], dict[str, float]],
    ):
        self._learner, self._end, self._evaluations, self._judge = learner, end, evaluations, judge
        self._moves, self._judged_at, self._seconds = 0, 0, 0.0

    @property
    def done(self) -> int:
        return min(self._moves, self._end)

    def run(self, count: int) -> None:
        goal = self._moves + count
        while self._moves < goal:
            self._learner.step()
            metrics = self._learner.metrics()
            self._moves += round(metrics["environment_steps_per_second"] * metrics["seconds"])
            self._seconds += metrics["seconds"]

    def measure(self) -> dict[str, Any]:
        line: dict[str, Any] = {
            "environment_steps": self.done,
            "moves": self._moves,
            "learner_steps": self._learner.num_steps,
            "seconds": self._seconds,
        }
        due = [step for step in self._evaluations if self._judged_at < step <= self.done]
        if due:
            line |= {"evaluation": due[-1], **self._judge(self._learner)}
        self._judged_at = self.done
        return line

    def save(self, directory: RunDirectory) -> None:
        self._learner.save(directory.checkpoint_path, directory.header_entries())

    def restore(self, directory: RunDirectory) -> None:
        if not directory.checkpoint_path.exists():
            return
        self._learner.load(directory.checkpoint_path)
        # A line is written before its checkpoint, so the last line may have none.
        lines = directory.read_metrics()
        [line] = [each for each in lines if each["learner_steps"] == self._learner.num_steps]
        self._moves, self._seconds = line["moves"], line["seconds"]
        self._judged_at = line["environment_steps"]
