"""Variants of CFR: against the authors' own code, and by hand."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from spiel_dl import GameTree, exploitability
from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import VARIANTS

PEER = json.loads((Path(__file__).parents[1] / "data" / "pdcfr_plus.json").read_text())
CASES = [(game, name) for game, of_game in PEER["numbers"].items() for name in of_game]


def fingerprint(solver: CFRSolver, strategies) -> float:
    """The peer's: probabilities, in order of infosets and actions, times cosines of 1, 2, ."""
    tree = solver.tree
    rows = {}
    for player in (0, 1):
        for i in range(tree.num_infosets(player)):
            key = f"{tree.infoset_string(player, i)}/{player}"
            rows[key] = strategies[player][tree.treeplexes[player].sequences(i)]
    probabilities = np.concatenate([rows[key] for key in sorted(rows)])
    return float(probabilities @ np.cos(np.arange(1, len(probabilities) + 1)))


@pytest.mark.parametrize(("game", "name"), CASES)
def test_equals_the_authors_code_in_every_iteration(game, name):
    solver = CFRSolver(game, variant=name)
    for expected in PEER["numbers"][game][name]:
        solver.run(1)
        current, mean = solver.current_policy(), solver.average_policy()
        found = [
            exploitability(solver.tree, mean),
            fingerprint(solver, current.strategies),
            fingerprint(solver, mean.strategies),
        ]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_schedule_multiplies_the_average_as_in_its_paper():
    variant = dataclasses.replace(VARIANTS["hs-pcfr+(30)"], horizon=20.0)
    expected = [1.0]
    for t in range(2, 40):
        gamma = 30 - 5 * min(t / 20, 1.0)
        expected.append(expected[-1] * (t / (t - 1)) ** gamma)
    found = [variant.weight(t) for t in range(1, 40)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_schedule_without_changes_is_none():
    plain, with_horizon = VARIANTS["dcfr"], dataclasses.replace(VARIANTS["dcfr"], horizon=50.0)
    tree = GameTree.from_game("kuhn_poker")
    first, second = (RegretMinimizer(tree.sequence_form, each) for each in (plain, with_horizon))
    first.run(100)
    second.run(100)
    np.testing.assert_array_equal(first.learned[0].average, second.learned[0].average)
