"""The experiments on search below samples, in a game of seconds."""

from __future__ import annotations

import json

import pyspiel
import pytest

from experiments.paper import PAPERS
from experiments.particle_search import matches
from experiments.particle_search.opponents import AGAINST_NETWORK, OPPONENTS
from experiments.particle_search.study import Settings, budget_of, compiled
from experiments.study import run
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.factored.families import factored_game
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play import registry
from spiel_dl.play.presets import PRESETS
from spiel_dl.play.registry import load_array_policy, load_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs import head_to_head
from spiel_dl.runs.workspace import Workspace

GAME = "goofspiel_4_descending"
HEX = "abrupt_dark_hex_2x2"
GAME_TREE = compiled(GAME)


def test_reports_are_written(tmp_path):
    settings = Settings(
        games=(GAME,),
        blueprints=("uniform",),
        shares=(1.0,),
        methods=("klss", "mmds", "klss_growing", "klss_updated"),
        iterations=20,
        num_rollouts=2,
        num_places=1,
        num_samples=2,
    )
    paper = PAPERS["particle_search"]
    study = paper.study(settings, Workspace(tmp_path / "work"))
    chosen = {name: paper.experiments[name] for name in ("beliefs", "curves")}
    assert len(run(chosen, study, tmp_path / "reports")) == 2
    before = exploitability.exploitability(GAME_TREE, load_array_policy("uniform", GAME_TREE))
    curves = (tmp_path / "reports" / "curves.md").read_text()
    content = json.loads((tmp_path / "reports" / "curves.json").read_text())
    limited = content["tables"]["By game, method and budget"][0]
    assert limited["after"] < limited["before"], "a uniform blueprint is easily bettered"
    assert content["headline"].startswith(f"{limited['method']} {limited['after']:.3g}, worse in 0")
    assert f"{before:.3g}" in curves
    assert "knowledge-limited, growing: num_expansions=100." in curves
    beliefs = (tmp_path / "reports" / "beliefs.md").read_text()
    assert f"| {GAME} | 1 | 0 | " in beliefs


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """The run directory of an untrained network with a critic."""
    folder = tmp_path_factory.mktemp("network")
    learner = RNaDSolver(
        PRESETS[HEX].game,
        RNaDConfig(batch_size=4, hidden_sizes=(8,)),
        critic=CriticConfig(hidden_sizes=(8,)),
        transformations=transformations_by_name("pure", pyspiel.load_game(PRESETS[HEX].game)),
    )
    learner.run(2)
    learner.save(folder / "checkpoint.safetensors")
    return folder


def test_matches_and_first_moves(network, tmp_path):
    settings = Settings(
        methods=("klss", "mmds", "klss_growing"),
        large_games=(HEX,),
        network=str(network),
        budget=20,
        iterations=20,
        num_rollouts=200,
        num_games=8,
        num_first_moves=1,
    )
    paper = PAPERS["particle_search"]
    study = paper.study(settings, Workspace(tmp_path / "work"))
    chosen = {name: paper.experiments[name] for name in ("matches", "first_moves")}
    assert len(run(chosen, study, tmp_path / "reports")) == 2
    played = json.loads((tmp_path / "reports" / "matches.json").read_text())
    rows = played["tables"]["Matches"]
    assert [row["games"] for row in rows] == [8] * 3
    for row in rows:
        assert row["points"] == pytest.approx(0.5 + row["mean"] / 2)
        assert row["share_searched"] == 1.0
        tree = compiled(HEX)
        table = load_array_policy(str(network), tree)
        assert row["most"] == pytest.approx(
            0.5 + exploitability.exploitability(tree, table) / 2, abs=1e-6
        )
    judged = json.loads((tmp_path / "reports" / "first_moves.json").read_text())
    for row in judged["tables"]["By game and method"]:
        assert row["num_infosets"] == 2
        tree = compiled(HEX)
        expected = exploitability.exploitability(tree, load_array_policy(str(network), tree))
        assert row["before"] == pytest.approx(expected, abs=1e-6)
        assert row["after"] != row["before"]


def test_two_opponents(network, tmp_path):
    """Against the network and against SePoT, the luck being taken off; SePoT searches little."""
    settings = Settings(
        methods=("klss",),
        large_games=(HEX,),
        network=str(network),
        budget=20,
        iterations=20,
        max_histories=100,
        num_games=20,
    )
    study = PAPERS["particle_search"].study(settings, Workspace(tmp_path / "work"))
    found = OPPONENTS.report(study)
    rows = found.tables["Matches"].rows
    assert [row["opponent"] for row in rows] == ["the network", "SePoT"]
    assert [row["games"] for row in rows] == [20, 20]
    against_network, against_sepot = rows
    for row in rows:
        assert row["share_searched"] == 1
        assert row["half_width_without_luck"] > 0
        direct = head_to_head.measure(
            HEX,
            f"klss:{network}",
            row["second"],
            num_games=20,
            seed=1,
            pairs_at_once=10,
            options=registry.taken(
                {"effort": 20, "budget": 20, "max_histories": 100}, f"klss:{network}", row["second"]
            ),
        )
        assert row["mean"] == direct["mean"]
    assert against_network["share_searched_of_second"] is None
    assert 0 < against_sepot["share_searched_of_second"] < 1
    holds = against_sepot["without_luck"] > against_sepot["half_width_without_luck"]
    assert found.verdict.startswith("met" if holds else "not met")

    # The same games, played once.
    alone = AGAINST_NETWORK.report(study)
    assert alone.tables["Matches"].rows == [against_network]
    assert "SePoT" not in " ".join(alone.notes)


def test_first_moves_of_search_and_others_of_the_network(network):
    """Judged like the same policy in the compiled game."""
    game, tree = factored_game(PRESETS[HEX].game), compiled(HEX)
    blueprint = load_policy(str(network), game.game)
    search = load_policy(f"mmds:{network}", game.game, num_rollouts=50, budget=20)
    table = ArrayPolicy.from_policy(game, blueprint)
    found = matches.with_first_moves(game, table, search, 2)
    assert [len(matches.first_infosets(game, player, 2)) for player in (0, 1)] == [5, 9]
    expected = ArrayPolicy.from_policy(tree, blueprint)
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            state = tree.state(int(tree.first_history[player][infoset]))
            if len(state.history()) < 4:
                answer = search.action_probabilities(state, player)
                row = [answer[action] for action in state.legal_actions()]
                expected.strategies[player][tree.treeplexes[player].sequences(infoset)] = row
    assert exploitability.exploitability(game, found) == pytest.approx(
        exploitability.exploitability(tree, expected), abs=1e-6
    )


def test_settings():
    assert budget_of(GAME_TREE, 0.0001) == 2
    assert budget_of(GAME_TREE, 1.0) == 56
    with pytest.raises(ValueError, match="method 'x'"):
        Settings(methods=("x",))
    with pytest.raises(ValueError, match="game 'x'"):
        Settings(games=("x",))
    with pytest.raises(ValueError, match="game 'x'"):
        Settings(large_games=("x",))
