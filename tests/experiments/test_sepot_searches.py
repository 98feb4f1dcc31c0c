"""The SePoT paper's experiments with searches on top of given policies, on kuhn_poker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from open_spiel.python.algorithms import exploitability as peer

from experiments.sepot import ablation
from experiments.sepot.blueprints import blueprint_of
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree import DepthLimit, GameTree
from tests.tiny_sepot import TINY, report, study


def test_ablation_changes_one_reading_at_a_time(tmp_path: Path) -> None:
    changes = {
        "blueprints": ("cfr:3~0.5~1",),
        "critics": ("exact", "trained"),
        "critic_steps": 2,
        "limits": (DepthLimit(moves=1), DepthLimit(moves=2)),
        "own_ranges": ("played",),
        "gadgets": ("resolving", "refined", "max_margin"),
    }
    found = report("ablation", tmp_path, **changes)
    often, after = (list(table.rows) for table in found.tables.values())
    assert len(often) == 2 * 18  # kinds of critics, readings
    assert {row["worse"][-4:] for row in often} == {"of 2", "of 4"}  # limits, by critics
    assert len(after) == 3 * 18
    tree = GameTree.from_game("kuhn_poker")
    blueprint = blueprint_of(str(tree.game), "cfr:3~0.5~1")
    plain = blueprint_of(str(tree.game), "cfr:3")
    assert 0 < np.abs(blueprint.strategies[0] - plain.strategies[0]).max() < 0.5
    values = {
        (row["critic"], row["own_range"], row["given"], row["scheme"], row["gadget"]): row["after"]
        for row in after
    }
    assert {row["before"] for row in after} == {peer.nash_conv(tree.game, blueprint)}
    critic = ExactCritic(tree, blueprint.strategies, pure_transformations(2))
    effort = Effort(TINY.iterations, variant=PREDICTIVE_CFR_PLUS)
    for reading, config in (
        (ablation.DEFAULTS, SearchConfig(effort=effort)),
        (("played", "critic", "block", "resolving"), SearchConfig.as_printed(effort=effort)),
        ((*ablation.DEFAULTS[:3], "refined"), SearchConfig(refinement="ones", effort=effort)),
        ((*ablation.DEFAULTS[:3], "max_margin"), SearchConfig(gadget="max_margin", effort=effort)),
    ):
        expected = [
            peer.nash_conv(
                tree.game,
                SePoTPolicy(tree, blueprint, critic, limit, config=config).to_array_policy(),
            )
            for limit in changes["limits"]
        ]
        assert values["exact", *reading] == ", ".join(f"{value:.3g}" for value in expected)
    assert len(set(values.values())) > 6
    assert found.verdict
    assert "2 steps of 4 games, 50% of decisions at random" in found.notes[-1]
    for wrong in ({"critics": ("none",)}, {"critics": ("trained",)}):
        with pytest.raises(ValueError, match="critics="):
            study(tmp_path, **wrong)
