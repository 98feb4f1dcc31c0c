"""Runs a learner to a number of steps in a run directory: metrics, checkpoints, pictures.

A run that was killed and resumed ends, on a CPU, with the same parameters to the last bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
from spiel_dl.learning.batch_learner import BatchLearner
from spiel_dl.learning.critics import ExactCritic, mean_absolute_error
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.runs import plots
from spiel_dl.runs.dl_cfr_run import measure_trunk
from spiel_dl.runs.loop import every, run_job
from spiel_dl.system.json_files import write_json
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import compile_game, compile_if_small
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.training import NETWORK_FILE

POLICY_FILE = "policy.safetensors"
PLOT_FILE = "curves.png"
LOSSES_FILE = "losses.png"
_STEP, _SECONDS = "learner steps", "seconds of learning, evaluation not counted"
_STRENGTH = [
    plots.Panel("step", "nash_conv", _STEP, "NashConv (utility)"),
    plots.Panel("seconds", "nash_conv", _SECONDS, ""),
    plots.Panel("step", "trunk_nash_conv", _STEP, "trunk NashConv of DL-CFR+ (utility)"),
    plots.Panel("step", "critic_error", _STEP, "mean error of the critic (utility range)"),
]
"""Panels of the strength over training; those without metrics are left out."""
_LOSSES = [
    plots.Panel("step", "critic_loss", _STEP, "squared error of the critic"),
    plots.Panel("step", "loss", _STEP, "squared error of values"),
    plots.Panel("step", "value_loss", _STEP, "squared error of values"),
    plots.Panel("step", "entropy", _STEP, "entropy of the policy (nats)", y_scale="linear"),
]
"""Panels of losses and entropy, in a second picture; the only one if strength is not measured."""
FINISHED_FILE = "finished.json"
"""The number of steps when a run last ended; there is no such file before."""
_SECONDS_PER_PICTURE = 30.0
_SECONDS_PER_CHECKPOINT = 300.0
_TRUNK_ITERATIONS = 100


def run_learner(
    learner: BatchLearner | ParticleSelfPlay,
    directory: RunDirectory,
    num_steps: int,
    *,
    steps_per_evaluation: int = 1000,
    fine_tuning: FineTuning | None = None,
    show_progress: bool = True,
) -> dict[str, Any]:
    """Trains a learner, from the directory's checkpoint if it has one.

    Writes to the directory: a line of metrics and then a checkpoint at every evaluation and at the
    end, and the curves so far as a picture; in the end the policy if the game is compiled, or a
    particle network, and the number of steps, in `FINISHED_FILE`. A line holds the learner's
    `metrics` of the steps since the last line, seconds of learning so far and, if the game is
    compiled:

      * nash_conv, of the policy as it is at that step; with fine-tuning, also nash_conv_fine_tuned;
        with a critic, also critic_error, its `mean_absolute_error` in units of the utility range;
      * of particle networks, the metrics `measure_trunk` of DL-CFR+ with the network.

    Args:
      learner: a fresh learner.
      directory: the run directory.
      num_steps: number of learner steps at the end.
      steps_per_evaluation: learner steps between two lines of metrics.
      fine_tuning: fine-tuning of the policy to evaluate, too; None: none.
      show_progress: show a progress bar on standard error.

    Returns:
      The last line of metrics.

    Raises:
      ValueError: if a count is not positive, if the learner's policy cannot be fine-tuned and
        measured, if the checkpoint is of another learner or has done more steps already, if the
        learner had done all steps before the run began, or if a term of the loss becomes NaN or
        infinite.
    """
    if num_steps < 1 or steps_per_evaluation < 1:
        raise ValueError(
            f"num_steps={num_steps} and steps_per_evaluation={steps_per_evaluation} must be "
            "positive"
        )
    if learner.num_steps >= num_steps and not directory.read_metrics():
        raise ValueError(
            f"the learner has done {learner.num_steps} steps, and {directory.path} has none; "
            f"give a fresh learner, or more steps than num_steps={num_steps}"
        )
    check_fine_tuning(learner, fine_tuning)
    job = _LearnerJob(learner, directory, _evaluation_of(learner, fine_tuning))
    run_job(
        job,
        directory,
        num_steps,
        every(steps_per_evaluation),
        seconds_per_checkpoint=_SECONDS_PER_CHECKPOINT,
        show_progress=show_progress,
    )
    if isinstance(learner, ParticleSelfPlay):
        learner.network.save(directory.path / NETWORK_FILE)
    elif isinstance(policy := learner.policy(), ArrayPolicy):
        policy.save(directory.path / POLICY_FILE)
    job.draw()
    write_json(directory.path / FINISHED_FILE, {"num_steps": learner.num_steps})
    return directory.read_metrics()[-1]


def check_fine_tuning(
    learner: BatchLearner | ParticleSelfPlay, fine_tuning: FineTuning | None
) -> None:
    """Raises a ValueError if a learner's policy cannot be fine-tuned and measured."""
    if fine_tuning is None:
        return
    if isinstance(learner, ParticleSelfPlay):
        raise ValueError(f"{fine_tuning} is for policy networks; a particle network has values")
    if not isinstance(learner.policy(fine_tuning), ArrayPolicy):
        raise ValueError(
            f"what fine-tuning does is told by NashConv, and {learner.game} is not compiled; raise "
            "max_tree_histories, or leave fine-tuning out"
        )


class _LearnerJob:
    """The `Job` of a learner."""

    unit = step_name = "step"

    def __init__(
        self,
        learner: BatchLearner | ParticleSelfPlay,
        directory: RunDirectory,
        evaluate: Callable[[], dict[str, Any]],
    ):
        self._learner, self._directory, self._evaluate = learner, directory, evaluate
        is_policy = isinstance(learner, BatchLearner)
        self.headline = "nash_conv" if is_policy else "trunk_nash_conv"
        self._last_picture = time.perf_counter()

    @property
    def done(self) -> int:
        return self._learner.num_steps

    def run(self, count: int) -> None:
        for _ in range(count):
            self._learner.step()

    def measure(self) -> dict[str, Any]:
        earlier = self._directory.read_metrics()
        line: dict[str, Any] = self._learner.metrics()
        before = float(earlier[-1]["seconds"]) if earlier else 0.0
        line["seconds"] = before + line.pop("seconds", 0.0)
        return line | self._evaluate()

    def save(self, directory: RunDirectory) -> None:
        self._learner.save(directory.checkpoint_path, directory.header_entries())
        if time.perf_counter() - self._last_picture > _SECONDS_PER_PICTURE:
            self.draw()

    def restore(self, directory: RunDirectory) -> None:
        if directory.checkpoint_path.exists():
            self._learner.load(directory.checkpoint_path)

    def draw(self) -> None:
        """Draws the curves so far."""
        lines, learner = self._directory.read_metrics(), self._learner
        if not lines:
            return  # A checkpoint may come before the first evaluation.
        pictures = [[p for p in panels if p.y in lines[-1]] for panels in (_STRENGTH, _LOSSES)]
        for name, panels in zip((PLOT_FILE, LOSSES_FILE), filter(None, pictures), strict=False):
            path = self._directory.path / name
            plots.plot_panels(path, panels, {learner.name: lines}, str(learner.game))
        self._last_picture = time.perf_counter()


def _evaluation_of(
    learner: BatchLearner | ParticleSelfPlay, fine_tuning: FineTuning | None
) -> Callable[[], dict[str, Any]]:
    """A function that evaluates the learner exactly; no metrics if its game is not compiled."""
    if not isinstance(learner, ParticleSelfPlay):
        return lambda: _measure_policy(learner, fine_tuning)
    tree = compile_if_small(learner.game, learner.config.max_tree_histories)
    if tree is None:
        return dict
    return lambda: measure_network(tree, learner.network, learner.depth_limit)


def _measure_policy(learner: BatchLearner, fine_tuning: FineTuning | None) -> dict[str, Any]:
    policy = learner.policy()
    if not isinstance(policy, ArrayPolicy):
        return {}
    line: dict[str, Any] = {"nash_conv": nash_conv(policy.tree, policy)}
    if fine_tuning is not None:
        line["nash_conv_fine_tuned"] = nash_conv(policy.tree, learner.policy(fine_tuning))
    if learner.transformations is not None:
        critic = ExactCritic(compile_game(policy.tree), policy.strategies, learner.transformations)
        line["critic_error"] = mean_absolute_error(learner.critic(), critic)
    return line


def measure_network(
    tree: GameTree, network: ParticleNetwork, depth_limit: DepthLimit
) -> dict[str, float]:
    """The metrics `measure_trunk` of 100 iterations of DL-CFR+ with a network."""
    solver = DLCFRSolver(tree, network, depth_limit)
    solver.run(_TRUNK_ITERATIONS)
    return measure_trunk(solver.trunk, solver.average_policy())
