"""Runs a learner to a number of steps in a run directory: metrics, checkpoints, picture.

Killed at any moment, a resumed run ends, on a CPU, with the same parameters to the last bit.
"""

from __future__ import annotations

from typing import Any

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.jobs.loop import every, run_job
from spiel_dl.learning.critics import ExactCritic, mean_absolute_error
from spiel_dl.learning.learner import Learner
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.runs import plots
from spiel_dl.runs.run_directory import RunDirectory

POLICY_FILE = "policy.safetensors"
PLOT_FILE = "nash_conv.png"
_PANELS = [
    plots.Panel("step", "nash_conv", "learner steps", "NashConv of the last iterate (utility)"),
    plots.Panel("seconds", "nash_conv", "seconds of learning, evaluation not counted", ""),
]
_CRITIC_PANEL = plots.Panel(
    "step", "critic_error", "learner steps", "mean absolute error of the critic (utility range)"
)


def run_learner(
    learner: Learner,
    directory: RunDirectory,
    num_steps: int,
    *,
    steps_per_evaluation: int = 1000,
    fine_tuning: FineTuning | None = None,
    show_progress: bool = True,
) -> dict[str, Any]:
    """Learns, from the directory's checkpoint if it has one.

    Writes to the directory: a line of metrics and then a checkpoint every so many steps and at the
    end; if the game is compiled, in the end the policy and a picture. A line says what
    `Learner.metrics` says of the steps since the last one, seconds of learning so far and,
    if the game is compiled, nash_conv, of the policy as it is at that step; with fine-tuning, also
    nash_conv_fine_tuned; with a critic, also critic_error, its `mean_absolute_error` in units of
    the utility range.

    Args:
      learner: a fresh learner.
      directory: where the run lives.
      num_steps: how many learner steps to have done at the end.
      steps_per_evaluation: learner steps between two lines of metrics.
      fine_tuning: what to try on the policy at every evaluation; None: nothing.
      show_progress: show a progress bar on standard error.

    Returns:
      The last line of metrics.

    Raises:
      ValueError: if a count is not positive, if the learner's policy cannot be fine-tuned and
        measured, if the checkpoint is of another learner or has done more steps already, or if a
        term of the loss becomes NaN or infinite.
    """
    if num_steps < 1 or steps_per_evaluation < 1:
        raise ValueError(
            f"num_steps={num_steps} and steps_per_evaluation={steps_per_evaluation} must be "
            "positive"
        )
    check_fine_tuning(learner, fine_tuning)
    run_job(
        _LearnerJob(learner, directory, fine_tuning),
        directory,
        num_steps,
        every(steps_per_evaluation),
        show_progress=show_progress,
    )
    policy = learner.policy()
    if isinstance(policy, ArrayPolicy):
        policy.save(directory.path / POLICY_FILE)
        curves = {learner.name: directory.read_metrics()}
        panels = [*_PANELS, _CRITIC_PANEL] if learner.transformations else _PANELS
        plots.plot_panels(directory.path / PLOT_FILE, panels, curves, str(learner.game))
    return directory.read_metrics()[-1]


def check_fine_tuning(learner: Learner, fine_tuning: FineTuning | None) -> None:
    """Raises a ValueError if a learner's policy cannot be fine-tuned, or not be measured then."""
    if fine_tuning is not None and not isinstance(learner.policy(fine_tuning), ArrayPolicy):
        raise ValueError(
            f"what fine-tuning does is told by NashConv, and {learner.game} is not compiled; raise "
            "max_tree_histories, or leave fine-tuning out"
        )


class _LearnerJob:
    """A learner as the loop of all runs takes it."""

    unit = step_name = "step"
    headline = "nash_conv"

    def __init__(self, learner: Learner, directory: RunDirectory, fine_tuning: FineTuning | None):
        self._learner, self._directory, self._fine_tuning = learner, directory, fine_tuning

    @property
    def done(self) -> int:
        return self._learner.num_steps

    def run(self, count: int) -> None:
        for _ in range(count):
            self._learner.step()

    def measure(self) -> dict[str, Any]:
        learner, earlier = self._learner, self._directory.read_metrics()
        line: dict[str, Any] = learner.metrics()
        before = float(earlier[-1]["seconds"]) if earlier else 0.0
        line["seconds"] = before + line.pop("seconds", 0.0)
        policy = learner.policy()
        if isinstance(policy, ArrayPolicy):
            line["nash_conv"] = nash_conv(policy.tree, policy)
            if self._fine_tuning is not None:
                tuned = learner.policy(self._fine_tuning)
                line["nash_conv_fine_tuned"] = nash_conv(policy.tree, tuned)
            if learner.transformations is not None:
                exact = ExactCritic(policy.tree, policy.strategies, learner.transformations)
                line["critic_error"] = mean_absolute_error(learner.critic(), exact)
        return line

    def save(self, directory: RunDirectory) -> None:
        self._learner.save(directory.checkpoint_path)

    def restore(self, directory: RunDirectory) -> None:
        if directory.checkpoint_path.exists():
            self._learner.load(directory.checkpoint_path)
