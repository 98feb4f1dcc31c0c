"""Self-play judged exactly, in a game of seconds."""

import json

import pytest

from experiments.experiment import run
from experiments.particle import self_play
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions.network_files import load_network
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.training import NETWORK_FILE

GAME = "python_goofspiel_ii(num_cards=3,points_order=descending)"


def test_networks_of_self_play_are_judged_exactly(tmp_path):
    settings = self_play.Settings(
        GAME,
        DepthLimit(rounds=1),
        ParticleSizes(base=4, basis_layers=1, regression_layers=2, regression_width=1.0),
        ParticleSelfPlayConfig(iterations=5, batch_size=4, steps_per_game=1),
        num_games=2,
        more_games=(3,),
        seeds=(1,),
        iterations=20,
    )
    study = self_play.Study(settings, Workspace(tmp_path / "work"))
    run(self_play.SELF_PLAY, study, tmp_path)
    rows = json.loads((tmp_path / "self_play.json").read_text())["tables"]["All networks"]
    assert [row.get("games") for row in rows] == [None] * 2 + [2] * 6 + [3] * 2
    assert max(row["nash_conv"] for row in rows[:2]) < 0.3, "optimal values"
    tree = GameTree.from_game(GAME)
    name = "network-conditional-with-positions-3-1"
    policy = ContinualResolvingPolicy(
        tree,
        load_network(tmp_path / "work" / name / NETWORK_FILE),
        settings.depth_limit,
        gadget="resolving",
        effort=Effort(settings.iterations),
    )
    found = nash_conv(tree, policy.to_array_policy())
    assert rows[-1]["nash_conv"] == pytest.approx(found, abs=1e-6)
