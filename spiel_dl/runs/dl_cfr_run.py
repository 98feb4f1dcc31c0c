"""Runs DL-CFR in a run directory, evaluates its trunk, and compares CFR+ of the whole game.

*Normalised trunk exploitability* is the trunk's NashConv / 2, divided by the largest absolute
utility of the game: the unit of the figures of Kovařík et al. (2021).
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.runs.solver_run import Evaluation, run_solver
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.trunk import Trunk

if TYPE_CHECKING:
    from spiel_dl.factored.holdem_trunk import HoldemTrunk

METRIC = "normalised_trunk_exploitability"
METRIC_TITLE = "trunk NashConv / 2 / largest utility"
REFERENCE = "CFR+ of the whole game"
_REFERENCE_DIRECTORY = "cfr_plus"


def file_checksum(path: str | os.PathLike[str]) -> int:
    """CRC-32 of a file's contents; 0 if there is no such file."""
    return zlib.crc32(Path(path).read_bytes()) if Path(path).is_file() else 0


def measure_trunk(trunk: Trunk | HoldemTrunk, policy: openspiel_policy.Policy) -> dict[str, float]:
    """A policy's trunk_nash_conv, in utility units, and normalised_trunk_exploitability."""
    nash_conv = trunk_losses(trunk, policy).nash_conv
    tree = trunk.tree
    if isinstance(tree, FactoredGame):
        largest_utility = tree.sequence_form.utility_range / 2
    else:
        # If all utilities are 0, so is the NashConv.
        largest_utility = float(np.abs(tree.utility).max()) or 1.0
    return {"trunk_nash_conv": nash_conv, METRIC: nash_conv / 2 / largest_utility}


def run_dl_cfr(
    solver: DLCFRSolver,
    directory: RunDirectory,
    num_iterations: int,
    *,
    label: str,
    with_reference: bool = True,
    points_per_decade: int = 4,
    show_progress: bool = True,
) -> dict[str, list[dict[str, Any]]]:
    """Solves a trunk, and the whole game by CFR+ for comparison; both runs can be resumed.

    The directory gets the files of `run_solver`, with the metrics of `measure_trunk`; the
    comparison has a run directory of its own inside it.

    Args:
      solver: a fresh solver.
      directory: the run directory.
      num_iterations: number of iterations at the end, of each solver.
      label: the solver's name in the picture.
      with_reference: run CFR+ too.
      points_per_decade: lines of metrics per factor of 10 in iterations.
      show_progress: show progress bars on standard error.

    Returns:
      The lines of metrics by `label` and, of the comparison, by `REFERENCE`.

    Raises:
      ValueError: as `run_solver` does.
    """
    trunk = solver.trunk
    evaluation = Evaluation(lambda policy: measure_trunk(trunk, policy), METRIC, METRIC_TITLE)
    curves = {}
    if with_reference:
        reference = RunDirectory(
            directory.path / _REFERENCE_DIRECTORY,
            {"game": str(trunk.tree.game), "depth_limit": str(trunk.depth_limit)},
            resume=True,
        )
        run_solver(
            CFRPlusSolver(trunk.tree),
            reference,
            num_iterations,
            label=REFERENCE,
            evaluation=evaluation,
            points_per_decade=points_per_decade,
            show_progress=show_progress,
        )
        curves[REFERENCE] = reference.read_metrics()
    run_solver(
        solver,
        directory,
        num_iterations,
        label=label,
        evaluation=evaluation,
        other_curves=curves,
        points_per_decade=points_per_decade,
        show_progress=show_progress,
    )
    return {label: directory.read_metrics(), **curves}
