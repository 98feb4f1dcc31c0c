"""Runs a learner to a number of steps in a run directory: metrics, checkpoints, picture.

Killed at any moment, a resumed run ends, on a CPU, with the same parameters to the last bit.
"""

from __future__ import annotations

from typing import Any

import tqdm

from spiel_dl.algorithms.exploitability import nash_conv
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
    seconds = _restore(learner, directory, num_steps)
    with tqdm.tqdm(
        total=num_steps, initial=learner.num_steps, unit="step", disable=not show_progress
    ) as progress:
        while learner.num_steps < num_steps:
            learner.step()
            progress.update()
            if learner.num_steps % steps_per_evaluation == 0 or learner.num_steps == num_steps:
                line = _evaluate(learner, seconds, fine_tuning)
                seconds = line["seconds"]
                directory.append_metrics(line)
                learner.save(directory.checkpoint_path)
                if "nash_conv" in line:
                    progress.set_postfix(nash_conv=f"{line['nash_conv']:.3f}")
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


def _evaluate(learner: Learner, seconds: float, fine_tuning: FineTuning | None) -> dict[str, Any]:
    """A line of metrics; `seconds` of learning went before."""
    line: dict[str, Any] = learner.metrics()
    line["seconds"] = seconds + line.pop("seconds", 0.0)
    policy = learner.policy()
    if isinstance(policy, ArrayPolicy):
        line["nash_conv"] = nash_conv(policy.tree, policy)
        if fine_tuning is not None:
            tuned = learner.policy(fine_tuning)
            line["nash_conv_fine_tuned"] = nash_conv(policy.tree, tuned)
        if learner.transformations is not None:
            exact = ExactCritic(policy.tree, policy.strategies, learner.transformations)
            line["critic_error"] = mean_absolute_error(learner.critic(), exact)
    return line


def _restore(learner: Learner, directory: RunDirectory, num_steps: int) -> float:
    """Goes back to the newest checkpoint; returns seconds of learning up to there."""
    if directory.checkpoint_path.exists():
        learner.load(directory.checkpoint_path)
    if learner.num_steps > num_steps:
        raise ValueError(
            f"{directory.path} has done {learner.num_steps} steps already, more than the "
            f"{num_steps} asked for"
        )
    directory.truncate_metrics("step", learner.num_steps)
    lines = directory.read_metrics()
    return float(lines[-1]["seconds"]) if lines else 0.0
