"""The experiments with responses at tiny sizes: right numbers, made once, written down."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import best_response as openspiel_best_response
from open_spiel.python.algorithms import cfr as openspiel_cfr
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms import exploitability as openspiel_exploitability

from papers.responses import frontiers as response_frontiers
from papers.responses import local as response_local
from papers.responses import networks as response_networks
from papers.responses import responders as response_responders
from papers.responses import small_games
from papers.responses import study as response_study
from papers.responses import sweeps as response_sweeps
from papers.responses import table as response_table
from papers.responses.experiments import EXPERIMENTS
from papers.responses.responders import Responder, compile_named, game_value, games
from papers.responses.study import Settings, Study
from papers.responses.times import play, whole_policies
from papers.study import MET, NOT_MET, PARTLY, run
from spiel_dl.algorithms.best_response import best_response_policy
from spiel_dl.algorithms.sequence_form_lp import solve_zero_sum_game
from spiel_dl.policies.array_policy import ArrayPolicy, read_plan
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.runs.run_directory import read_run
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.training import TrainingConfig

SETTINGS = Settings(
    ("kuhn",),
    ("uniform", "random:0"),
    (0,),
    gadgets=("joint", "max_margin"),
    parameters=(0.0, 0.5, 1.0),
    bounds=(0.0, 1.0),
    cfr_iterations=(5,),
)
TRAININGS = ("network", "round-1", "round-2", "round-3", "round-4")


def study(path: Path, **changes: object) -> Study:
    return Study(dataclasses.replace(SETTINGS, **changes), Workspace(path))


def responder(name: str, model: ArrayPolicy | None = None, player: int = 0) -> Responder:
    tree = compile_named(name)
    return Responder(
        tree, model or ArrayPolicy.uniform(tree), player, game_value(name, tree, player)
    )


@pytest.mark.parametrize("player", [0, 1])
def test_a_responder_is_judged_as_openspiel_does(player: int) -> None:
    """Kuhn's value is -1/18."""
    found = responder("kuhn", player=player)
    game = pyspiel.load_game("kuhn_poker")
    uniform = ArrayPolicy.uniform(found.tree)
    judged = found.judge(uniform)
    value = (-1 / 18, 1 / 18)[player]
    returns = expected_game_score.policy_value(game.new_initial_state(), [uniform, uniform])
    assert judged["gain"] == pytest.approx(returns[player] - value)
    parts = openspiel_exploitability.nash_conv(game, uniform, return_only_nash_conv=False)
    worst = parts.player_improvements[1 - player] + returns[1 - player]
    assert judged["exploitability"] == pytest.approx(worst + value)
    best = found.judge(best_response_policy(found.tree, found.model, player))
    assert best["percent"] == pytest.approx(100.0)
    assert best["gain"] == pytest.approx(found.best_gain)


@pytest.mark.parametrize("player", [0, 1])
def test_a_model_that_nothing_is_gained_against_is_refused(player: int, tmp_path: Path) -> None:
    changes = {"models": ("equilibrium",), "players": (player,)}
    message = f"player {player}'s best response gains nothing against model equilibrium in kuhn"
    for name in ("table_1", "frontier"):
        with pytest.raises(ValueError, match=f"{message}.*give another --model"):
            run(EXPERIMENTS, study(tmp_path, **changes), tmp_path, [name])
    assert list(tmp_path.iterdir()) == []


def test_goofspiel_is_symmetric() -> None:
    for name in ("goofspiel_3", "goofspiel_4"):
        tree = compile_named(name)
        assert solve_zero_sum_game(tree)[0] == pytest.approx(0.0, abs=1e-9)
        assert game_value(name, tree, 1) == 0.0


def test_all_games_compile() -> None:
    for name in games():
        if name not in ("goofspiel_5", "goofspiel_6"):
            assert compile_named(name).num_histories > 10


def test_biased_rps_is_two_games_in_a_row() -> None:
    """Its value is twice that of a round; a round's equilibrium is solved by hand below.

    Player 1's mixture y makes player 0 indifferent: -y_p + 2 y_s = y_r - y_s = -y_r + y_p = v gives
    y = (1/3, 5/12, 1/4) and v = 1/12.
    """
    mixture = np.array([4, 5, 3]) / 12
    payoffs = np.array(small_games.BIASED_RPS) @ mixture
    np.testing.assert_allclose(payoffs, 1 / 12)
    tree = compile_named("biased_rps")
    assert game_value("biased_rps", tree, 0) == pytest.approx(2 / 12)
    assert tree.num_terminals == 81
    assert [tree.num_infosets(player) for player in (0, 1)] == [10, 10]


@pytest.mark.parametrize("name", ["lost_by_resolving", "lost_by_max_margin"])
def test_lost_actions_have_the_gains_and_exploitabilities_they_are_made_for(name: str) -> None:
    tree = compile_named(name)
    found = responder(name, small_games.fool(tree))
    assert found.value == pytest.approx(0.0, abs=1e-9)
    for action, expected in enumerate(((0, 0), (4, 1), (7, 2), (9, 3), (10, 4))):
        policy = ArrayPolicy.uniform(tree)
        policy.strategies[0][1:] = np.arange(5) == action
        judged = found.judge(policy)
        assert (judged["gain"], judged["exploitability"]) == pytest.approx(expected)


def test_gadgets_lose_what_they_are_said_to(tmp_path: Path) -> None:
    """The full set without gadget and with `joint`; its two ends with a wrong gadget."""
    changed = study(tmp_path, gadgets=("joint", "resolving", "max_margin"))
    [path] = run(EXPERIMENTS, changed, tmp_path, ["gadgets"])
    content = json.loads(path.with_suffix(".json").read_text())
    assert content["verdict"].startswith("met. The paper: the resolving and the max-margin gadgets")
    [rows] = content["tables"].values()
    number = {}
    for row in rows:
        assert abs(row["below_pareto"]) < 1e-5
        assert row["of_rnr"] == "yes"
        key = row["game"].removeprefix("lost_by_"), row["method"].removeprefix("CDRNR, ")
        number[key] = number.get(key, 0) + 1
    for method in ("RNR", "joint"):
        assert number["resolving", method] == number["max_margin", method] == 5
    assert number["resolving", "resolving"] == 2
    assert number["resolving", "max_margin"] == 5
    assert number["max_margin", "resolving"] == 5
    assert number["max_margin", "max_margin"] == 2


def test_only_responses_of_rnr_count_as_recovered(tmp_path: Path) -> None:
    """RNR has two responses; the resolving gadget has one of them and a dominated one."""

    def points(*pairs: tuple[float, float]) -> list[dict[str, float]]:
        return [
            {"parameter": 0.1 * number, "gain": gain, "exploitability": exploitability}
            for number, (gain, exploitability) in enumerate(pairs, start=1)
        ]

    methods = {
        "CDRNR, resolving": points((4.0, 1.0), (3.0, 3.0)),
        "CDRNR, full": points((4.0, 1.0), (7.0, 2.0), (7.0, 2.5)),
        "RNR": points((4.0, 1.0), (7.0, 2.0), (7.0, 2.0)),
    }

    def told(*chosen: str) -> tuple[str, str, list[str]]:
        labels = {"game": "lost_by_resolving", "model": "fool", "player": 0}
        found = [(labels, {name: methods[name] for name in chosen})]
        report = response_frontiers.GADGET_SETS.render(study(tmp_path), found)
        [table] = report.tables.values()
        return report.verdict, report.headline, [row["of_rnr"] for row in table.rows]

    headline = "of RNR's 2 responses are recovered: CDRNR, resolving 1, CDRNR, full 2"
    assert told("CDRNR, resolving", "CDRNR, full", "RNR") == (
        MET,
        headline,
        ["yes", "yes", "yes", "no", "yes", "yes", "no"],
    )
    methods["CDRNR, full"].pop(1)
    assert told("CDRNR, resolving", "CDRNR, full", "RNR")[0] == PARTLY
    methods["CDRNR, resolving"].append(methods["RNR"][1])
    assert told("CDRNR, resolving", "RNR")[0] == NOT_MET
    assert told("RNR")[0] == ""


def test_table_1_of_goofspiel_4_by_both_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = responder("goofspiel_4")
    exact = response_table.gains(found)
    monkeypatch.setattr(response_responders, "MAX_LP_PAYOFFS", 0)
    nearly = response_table.gains(found)
    for row in (exact, nearly):
        assert row["cdbr_1"] == pytest.approx(98.5, abs=0.06 + row["gap"])
        assert row["cdbr_3"] == row["cdbr_5"] == pytest.approx(100.0, abs=0.1)
    assert exact["gap"] == 0.0 < nearly["gap"] < 0.1
    assert exact["best_nash"] == pytest.approx(77.1, abs=0.06)


def test_sweeps_end_where_theory_says() -> None:
    """In Kuhn poker against the uniform policy: p = 0 is an equilibrium, p = 1 a best response."""
    found = responder("kuhn")
    points = {
        name: response_sweeps.measure(found, respond, parameters)
        for name, (respond, parameters) in response_sweeps.methods(found, SETTINGS).items()
    }
    nash = points["best Nash"][0]["gain"]
    for name in ("RNR", "CDRNR, joint", "mix"):
        assert points[name][0]["exploitability"] == pytest.approx(0.0, abs=1e-8)
        assert points[name][0]["gain"] <= nash + 1e-8
    assert points["mix"][0]["gain"] == pytest.approx(nash)
    assert points["RNR"][2]["percent"] == pytest.approx(100.0)
    assert points["Pareto set"][0]["gain"] == pytest.approx(nash)
    assert points["Pareto set"][1]["percent"] == pytest.approx(100.0)
    assert points["LBR"][0]["percent"] <= 100.0 + 1e-9
    assert len(points["CFR average"]) == 1
    assert "LBR" not in response_sweeps.methods(responder("goofspiel_3"), SETTINGS)


def test_claims_by_hand() -> None:
    def points(*triples: tuple[float, float, float]) -> list[dict[str, float]]:
        names = ("parameter", "gain", "exploitability")
        return [dict(zip(names, triple, strict=True)) for triple in triples]

    claims = response_frontiers.check_claims(
        {
            "best Nash": points((0, 1.0, 0.0)),
            # The first point is safe but too little, the last one too exploitable.
            "CDRNR, joint": points((0.3, 1.9, 0.1), (0.5, 3.0, 1.0)),
            "RNR": points((0.3, 2.1, 0.2), (0.4, 2.2, 1.5)),
            "SES": points((0.0, 0.5, 0.0), (1.0, 1.2, 2.0)),
        }
    )
    assert [(claim["ours"], claim["holds"]) for claim in claims] == [
        (1.9, "no"),
        (2.1, "yes"),
        (1.2, "no"),
        (pytest.approx(0.3 * 1.9 - 0.7 * 0.1), "yes"),
        (pytest.approx(0.4 * 2.2 - 0.6 * 1.5), "no"),
    ]


def test_local_responses_by_hand() -> None:
    gains = {
        (1, "LBR"): 0.5, (1, "CDBR1"): 0.4, (1, "CDBR2"): 0.6, (1, "CDBR3"): 0.6,
        (1, "CDBR4"): 0.7, (1, "CDBR5"): 0.8,
        (34, "LBR"): -0.1, (34, "CDBR1"): 0.0, (34, "CDBR2"): 0.1, (34, "CDBR3"): 0.1,
        (34, "CDBR4"): 0.1, (34, "CDBR5"): 0.1,
    }  # fmt: skip
    rows = [
        {"game": "leduc", "player": 0, "iterations": number, "method": method, "gain": gain}
        for (number, method), gain in gains.items()
    ]
    judge = response_local.LOCAL_RESPONSES.judge
    assert judge is not None
    assert judge({"Gain, by model and responder": rows}).verdict == MET
    rows[0]["gain"] = 0.9
    assert judge({"Gain, by model and responder": rows}) == (
        PARTLY,
        "CDBR5 gains more than LBR in 1 of 2; LBR gains nothing at 34 iterations in 1 of 1; CDBR "
        "never loses in 2 of 2",
    )


def test_local_responses_are_openspiels_games_own(tmp_path: Path) -> None:
    study = Study(Settings(games=("kuhn",), models=("cfr:5",)), Workspace(tmp_path))
    rows = response_local.LOCAL_RESPONSES.compute(study)
    assert [row["method"] for row in rows[:7]] == [
        "best response", "CDBR1", "CDBR2", "CDBR3", "CDBR4", "CDBR5", "LBR",
    ]  # fmt: skip
    for player in (0, 1):
        own = {row["method"]: row["gain"] for row in rows if row["player"] == player}
        game = pyspiel.load_game("kuhn_poker")
        solver = openspiel_cfr.CFRSolver(game)
        for _ in range(5):
            solver.evaluate_and_update_policy()
        best = openspiel_best_response.BestResponsePolicy(game, player, solver.average_policy())
        value = best.value(game.new_initial_state())
        assert own["best response"] == pytest.approx(value - (-1 / 18, 1 / 18)[player], abs=1e-9)
        # The whole game lies within the depth limit.
        assert own["CDBR5"] == pytest.approx(own["best response"], abs=1e-9)
        assert own["LBR"] <= own["best response"] + 1e-9


def test_local_responses_are_to_averages_of_cfr(tmp_path: Path) -> None:
    changed = study(tmp_path, models=("uniform",))
    with pytest.raises(ValueError, match=r"no models \['uniform'\]; give averages of CFR"):
        run(EXPERIMENTS, changed, tmp_path, ["local"])


def test_times_are_of_policies_that_respond() -> None:
    found = responder("kuhn")
    rows = whole_policies(found, DepthLimit(plies=2))
    assert [row["solver"] for row in rows] == ["CFR+", "predictive CFR+", "LP"]
    for row in rows:
        assert row["seconds"] > 0
        assert row["percent"] == pytest.approx(rows[-1]["percent"], abs=1.0)
    played = play(found, DepthLimit(plies=2), num_episodes=5)
    assert 5 <= played["decisions"] <= 10
    assert 0 < played["mean"] <= played["slowest"]


def networks(num_strategies: int, training: TrainingConfig, **changes: int) -> Settings:
    return Settings(
        num_strategies=num_strategies,
        num_layers=2,
        num_units=32,
        training=training,
        iterations=100,
        **changes,
    )


def test_networks_replace_the_optimal_values(tmp_path: Path) -> None:
    """Kuhn poker, 2 plies: only the first step looks at leaves. Trained ones come close."""
    found = responder("kuhn")
    limit = DepthLimit(plies=2)
    assert response_networks.horizons(found, limit) == [limit]
    settings = networks(100, TrainingConfig(num_epochs=60, batch_size=64, networks_per_decade=0))
    result = response_networks.compare(found, limit, tmp_path, settings, show_progress=False)
    assert result["networks"] == 1
    assert abs(result["apart"]) < 10.0
    assert result["apart"] == pytest.approx(result["percent"] - result["exact_percent"])
    folder = tmp_path / "2-plies"
    trained = [read_run(folder / run).metrics[-1]["seconds"] for run in TRAININGS]
    assert result["training_seconds"] == pytest.approx(sum(trained))
    again = response_networks.compare(found, limit, tmp_path, settings, show_progress=False)
    assert again == result, "also the seconds, which an earlier start took"


def test_networks_that_have_learned_nothing_are_far_apart(tmp_path: Path) -> None:
    found = responder("kuhn")
    rates = {"learning_rate": 1e-9, "final_learning_rate": 1e-9}
    settings = networks(
        10, TrainingConfig(num_epochs=1, networks_per_decade=0, **rates), num_rounds=0
    )
    limit = DepthLimit(plies=2)
    result = response_networks.compare(found, limit, tmp_path, settings, show_progress=False)
    assert abs(result["apart"]) > 10.0


def test_half_of_the_data_has_the_model_as_opponent() -> None:
    """Kuhn poker after one move of each: player 1's range is its policy's, whatever player 0's."""
    tree = compile_named("kuhn")
    found = responder("kuhn", random_policy(tree, seed=1))
    limit = DepthLimit(plies=2)
    config = DatasetConfig("kuhn_poker", limit, shard_size=5)
    ranges = response_networks.ranges_against_model(found, cut(tree, limit), config)
    leaves = cut(tree, limit).leaves
    assert ranges[0].shape == (5, leaves.num_infosets(0))
    assert len(np.unique(ranges[0], axis=0)) == 5
    histories = leaves.histories
    plan = read_plan(tree, found.model, 1)[tree.sequence[1, histories]]
    for row in ranges[1]:
        np.testing.assert_allclose(row[leaves.infoset_of_history[1]], plan)


def test_rounds_learn_from_strategies_near_the_response() -> None:
    """Kuhn poker, 2 plies: the model's ranges are its own, the player's come near and go far."""
    tree = compile_named("kuhn")
    found = responder("kuhn", random_policy(tree, seed=1))
    limit = DepthLimit(plies=2)
    config = DatasetConfig("kuhn_poker", limit, shard_size=40)
    trunk = cut(tree, limit)
    response = random_policy(tree, seed=2)
    ranges = response_networks.ranges_near(found, trunk, config, response, 1)
    histories, leaves = trunk.leaves.histories, trunk.leaves
    for player, policy in ((0, response), (1, found.model)):
        plan = read_plan(tree, policy, player)[tree.sequence[player, histories]]
        distance = np.abs(ranges[player][:, leaves.infoset_of_history[player]] - plan).max(axis=1)
        if player == 0:
            assert 0 < distance.min() < 0.01
            assert distance.max() > 0.2
        else:
            assert distance.max() < 1e-12
    other = response_networks.ranges_near(found, trunk, config, response, 2)
    assert not np.isclose(other[0], ranges[0]).all()


def test_every_report_is_complete_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["table_1", "frontier", "biased_rps", "times"]
    first = run(EXPERIMENTS, study(tmp_path / "work"), tmp_path / "first", names)
    assert [path.name for path in first] == [f"{name}.md" for name in names]
    for path in first:
        content = json.loads(path.with_suffix(".json").read_text())
        text = path.read_text()
        assert content["environment"]["command"] in text
        assert "Wall-clock" in text
        assert all(heading in text for heading in content["tables"])
        assert all(content["tables"].values())
        assert content["reused"] == []
        [commit] = content["commits_of_parts"]
        assert f"made by commit {commit}" in text
    parts = sorted(path.name for path in (tmp_path / "work" / "parts").glob("*-best-Nash.json"))
    assert [name.partition("-")[0] for name in parts] == ["biased_rps"] * 2 + ["frontier"] * 2
    assert (tmp_path / "first" / "frontier-kuhn-random-0-0.png").stat().st_size > 10_000

    def refuse(*_args: object, **_keywords: object) -> None:
        raise AssertionError("done again")

    monkeypatch.setattr(response_sweeps, "measure", refuse)
    monkeypatch.setattr(response_table, "gains", refuse)
    monkeypatch.setattr(response_study.Responder, "judge", refuse)
    again = run(EXPERIMENTS, study(tmp_path / "work"), tmp_path / "again", names[:3])
    for old, new in zip(first, again, strict=False):
        before, after = (json.loads(path.with_suffix(".json").read_text()) for path in (old, new))
        assert after["tables"] == before["tables"]
        assert after["reused"]


def test_a_game_may_be_that_of_two_experiments(tmp_path: Path) -> None:
    """Each with a depth limit of its own, and with parts of its own."""
    changed = study(
        tmp_path,
        games=("biased_rps",),
        models=("random:0",),
        parameters=(0.5,),
        gadgets=("joint",),
        depth_limit=DepthLimit(plies=1),
    )
    run(EXPERIMENTS, changed, tmp_path / "results", ["frontier", "biased_rps"])
    limits = {}
    for name in ("frontier", "biased_rps"):
        content = json.loads((tmp_path / "results" / f"{name}.json").read_text())
        [point] = [r for r in content["tables"]["All points"] if r["method"] == "CDRNR, joint"]
        assert (point["game"], point["parameter"]) == ("biased_rps", 0.5)
        assert content["reused"] == []
        part = tmp_path / "parts" / f"{name}-biased_rps-random-0-0-CDRNR-joint.json"
        found = json.loads(part.read_text())
        limits[name] = found["settings"]["depth_limit"]
        assert content["settings"]["depth_limit"] == limits[name], "not that of the settings"
        assert content["settings"]["players"] == [0]
        assert found["result"][0]["gain"] == point["gain"]
    assert limits == {"frontier": "1 plies", "biased_rps": "2 moves"}


def test_other_settings_are_refused(tmp_path: Path) -> None:
    run(EXPERIMENTS, study(tmp_path), tmp_path, ["frontier"])
    with pytest.raises(ValueError, match="use the same settings"):
        run(EXPERIMENTS, study(tmp_path, parameters=(0.25,)), tmp_path, ["frontier"])


def test_wrong_settings(tmp_path: Path) -> None:
    for wrong, message in (
        ({"parameters": (1.5,)}, r"parameters=\(1\.5,\)"),
        ({"gadgets": ("open",)}, "must be some of"),
        ({"players": (2,)}, r"players=\(2,\)"),
        ({"abr_episodes": -1}, "abr_episodes=-1"),
        ({"num_strategies": 0}, "num_strategies=0"),
        ({"iterations": 0}, "iterations=0"),
        ({"num_rounds": -1}, "num_rounds=-1"),
        ({"num_games": 2}, "num_games=2 must be an even number of at least 4"),
        ({"num_games": 7}, "num_games=7 must be an even number of at least 4"),
    ):
        with pytest.raises(ValueError, match=message):
            Settings(**wrong)
    with pytest.raises(ValueError, match="experiment 'figure' must be one of table_1"):
        run(EXPERIMENTS, study(tmp_path), tmp_path, ["table_1", "figure"])
    with pytest.raises(ValueError, match="game 'chess' must be one of"):
        compile_named("chess")
    with pytest.raises(ValueError, match="no policy 'nobody'"):
        run(EXPERIMENTS, study(tmp_path, models=("nobody",)), tmp_path, ["table_1"])
    assert set(EXPERIMENTS) >= {"table_1", "frontier", "gadgets", "biased_rps", "times"}
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="fool"):
        small_games.fool(GameTree.from_game("kuhn_poker"))
