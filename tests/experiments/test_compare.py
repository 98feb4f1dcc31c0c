"""The comparison: every algorithm learns on a small game, and its steps are counted right."""

import json
import math
import shutil
import sys

import numpy as np
import pyspiel
import pytest
import torch

from experiments.compare import openspiel as theirs
from experiments.compare import own as ours
from experiments.compare import study as compare_study
from experiments.compare.algorithm import compared_game, num_moves
from experiments.compare.experiments import EXPERIMENTS
from experiments.compare.study import KINDS, PROBES, Settings, Study
from experiments.study import run
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.rnad import RNaDConfig
from spiel_dl.algorithms.sepot import SearchConfig
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.positional import PositionalNetwork

KUHN_MOVES = 6 * 8  # six deals, and eight moves in each
SMALL = RNaDConfig(batch_size=8, hidden_sizes=(8,))
QUICK = SearchConfig(effort=Effort(iterations=20))
FAST = RNaDConfig(seed=1, batch_size=64, hidden_sizes=(32,), learning_rate=1e-2)
FEW = {"strategies_per_step": 2, "updates_per_step": 2, "iterations": 10}
ESCHER = {
    "value_traversals": 8, "value_batch_size": 4, "value_batch_steps": 2,
    "regret_traversals": 8, "regret_batch_size": 4, "regret_batch_steps": 2,
    "avg_policy_batch_size": 4, "avg_policy_batch_steps": 2,
}  # fmt: skip
NFSP = {
    "reservoir_buffer_capacity": 100, "replay_buffer_capacity": 100, "batch_size": 4,
    "min_buffer_size_to_learn": 4, "learn_every": 4,
}  # fmt: skip
DEEP = {"num_traversals": 4, "batch_size": 4, "advantage_steps": 2, "policy_steps": 2}
MAKERS = {
    "cfr_plus": ours.CFRPlus,
    "dl_cfr": lambda game, seed: ours.DLCFR(game, seed, **FEW),
    "particle": lambda game, seed: ours.Particle(game, seed, **FEW),
    "rnad": lambda game, seed: ours.RNaD(game, seed, SMALL),
    "sepot": lambda game, seed: ours.SePoT(game, seed, SMALL, QUICK),
    "openspiel_cfr_plus": theirs.CppCFRPlus,
    "openspiel_outcome_sampling": lambda game, seed: theirs.PythonMCCFR(game, seed, "outcome"),
    "openspiel_external_sampling": lambda game, seed: theirs.PythonMCCFR(game, seed, "external"),
    "openspiel_outcome_sampling_cpp": lambda game, seed: theirs.CppMCCFR(game, seed, "outcome"),
    "openspiel_external_sampling_cpp": lambda game, seed: theirs.CppMCCFR(game, seed, "external"),
    "openspiel_deep_cfr": lambda game, seed: theirs.DeepCFR(game, seed, **DEEP),
    "openspiel_nfsp": lambda game, seed: theirs.NFSP(game, seed, **NFSP),
    "openspiel_escher": lambda game, seed: theirs.Escher(game, seed, **ESCHER),
}


class NetworkOfSePoT(ours.SePoT):
    """SePoT's learner, judged without search."""

    def policy(self):
        return ours.RNaD.policy(self)


@pytest.fixture
def one_thread():
    """As in a comparison; more would wait for each other."""
    number = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(number)


@pytest.fixture(scope="module")
def kuhn():
    return compared_game("kuhn_poker")


@pytest.mark.parametrize("name", KINDS)
def test_everybody_goes_on_and_has_a_policy(name, kuhn):
    algorithm = MAKERS[name](kuhn, 1)
    steps = []
    for _ in range(2):
        algorithm.advance(0.01)
        steps.append(algorithm.environment_steps)
        # Reading a policy checks that it is a distribution over legal actions everywhere.
        assert 0 <= nash_conv(kuhn.ours, algorithm.policy()) + 1e-9 < math.inf
        assert algorithm.environment_steps == steps[-1]
    if name.endswith("_cpp"):
        assert steps == [None, None]
    else:
        assert 0 < steps[0] < steps[1]


@pytest.mark.parametrize("name", KINDS)
def test_all_play_goofspiel(name):
    """It has more rounds than our depth limits; OpenSpiel's algorithms play a converted game."""
    game = compared_game("goofspiel_4")
    algorithm = MAKERS[name](game, 1)
    algorithm.step()
    tree = game.theirs if name.startswith("openspiel") else game.ours
    assert np.isfinite(nash_conv(tree, algorithm.policy()))


@pytest.mark.parametrize(
    ("name", "num_steps", "bound"),
    [
        ("cfr_plus", 5, 0.1),
        ("openspiel_cfr_plus", 50, 0.1),
        ("openspiel_outcome_sampling", 1000, 0.5),
        ("openspiel_external_sampling", 300, 0.3),
        ("openspiel_outcome_sampling_cpp", 50, 0.3),
        ("openspiel_external_sampling_cpp", 10, 0.3),
    ],
)
def test_tabular_algorithms_come_close_to_equilibrium(name, num_steps, bound, kuhn):
    algorithm = MAKERS[name](kuhn, 1)
    for _ in range(num_steps):
        algorithm.step()
    assert nash_conv(kuhn.ours, algorithm.policy()) < bound


@pytest.mark.parametrize(
    ("make", "num_steps", "bound"),
    [
        (
            lambda game: ours.DLCFR(game, 1, PositionalNetwork(2, 32, seed=1), iterations=200),
            5,
            0.1,
        ),
        (lambda game: ours.Particle(game, 1, iterations=200), 5, 0.1),
        (lambda game: ours.RNaD(game, 1, FAST), 400, 0.6),
        # Search of two moves plays kuhn_poker well on top of any network, so that one is judged.
        (lambda game: NetworkOfSePoT(game, 1, FAST), 400, 0.6),
    ],
    ids=["dl_cfr", "particle", "rnad", "sepot"],
)
@pytest.mark.usefixtures("one_thread")
def test_learners_with_networks_learn(make, num_steps, bound, kuhn):
    algorithm = make(kuhn)
    before = nash_conv(kuhn.ours, algorithm.policy())
    for _ in range(num_steps):
        algorithm.step()
    # That of the uniform policy is 11/12.
    assert nash_conv(kuhn.ours, algorithm.policy()) < bound < before < 1


def test_a_policy_of_escher_does_not_depend_on_how_often_it_was_asked_for(kuhn):
    algorithm = MAKERS["openspiel_escher"](kuhn, 1)
    algorithm.step()
    root = kuhn.theirs.game.new_initial_state().child(0).child(1)
    told = []
    for _ in range(2):
        theirs._seed_everything(0)
        told.append(algorithm.policy().action_probabilities(root))
    assert told[0] == told[1]
    agent = algorithm._agent
    assert agent.t == 2
    before = agent.action_probabilities(root)
    assert before[0] != pytest.approx(told[0][0], abs=1e-6), "training did something"


def test_steps_of_traversals_are_those_counted_by_hand(kuhn):
    assert num_moves(kuhn.ours) == KUHN_MOVES
    cpp = theirs.CppCFRPlus(kuhn, 0)
    cpp.step()
    assert cpp.environment_steps == 2 * KUHN_MOVES
    plus = ours.CFRPlus(kuhn, 0)
    plus.step()
    assert plus.environment_steps == 2 * KUHN_MOVES
    # Below two moves, the first player answers a bet after its pass: two moves in each deal.
    limited = ours.DLCFR(kuhn, 0, **FEW)
    limited.step()
    assert limited.environment_steps == FEW["strategies_per_step"] * 100 * 2 * 6 * 2


def test_steps_of_games_are_as_many_as_games_have_moves(kuhn):
    sampled = MAKERS["openspiel_outcome_sampling"](kuhn, 1)
    for _ in range(100):
        sampled.step()
    assert 2 * 200 < sampled.environment_steps < 3 * 200  # 200 games of two or three moves
    learner = MAKERS["rnad"](kuhn, 1)
    for _ in range(10):
        learner.step()
    assert 2 * 80 < learner.environment_steps < 3 * 80
    agents = MAKERS["openspiel_nfsp"](kuhn, 1)
    for _ in range(50):
        agents.step()
    assert 2 * 50 < agents.environment_steps < 3 * 50


def test_external_sampling_makes_all_own_moves_and_one_of_the_opponent():
    # Nothing is random in this game: one player chooses among two actions, and so does the other.
    game = compared_game("matrix_mp")
    algorithm = MAKERS["openspiel_external_sampling"](game, 1)
    algorithm.step()
    # Player 0 updates: 2 own moves, each with 1 answer. Player 1: 1 move, then 2 own ones.
    assert algorithm.environment_steps == (2 + 2) + (1 + 2)


def test_counting_states_count_moves_and_not_chance():
    game = theirs.CountingGame(pyspiel.load_game("leduc_poker"))
    state = game.new_initial_state()
    for action in (0, 2):
        state.apply_action(action)  # the deals
    assert game.moves == 0
    child = state.child(1)
    copy = child.clone()
    copy.apply_action(1)
    assert game.moves == 2
    copy.apply_action(3)  # the public card
    assert game.moves == 2
    assert str(state.child(1)) == str(child)
    assert game.moves == 3


@pytest.mark.parametrize("name", ["leduc_poker", "goofspiel_4"])
def test_both_play_the_same_game(name):
    game = compared_game(name)
    assert game.ours.game.get_type().short_name.startswith("python_")
    # tests/games hold them against each other history by history.
    assert game.ours.num_histories == game.theirs.num_histories
    values = []
    for tree in (game.ours, game.theirs):
        values.append([tree.num_infosets(0), tree.num_infosets(1)])
        values[-1].append(pytest.approx(nash_conv(tree, ArrayPolicy.uniform(tree))))
    assert values[0] == values[1]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    names = ("cfr_plus", "openspiel_cfr_plus", "openspiel_outcome_sampling_cpp", *PROBES)
    study = Study(Settings("kuhn_poker", 0.2, names), Workspace(folder))
    [path] = run(EXPERIMENTS, study, folder / "out")
    return folder, study, path


def test_report_has_a_row_per_algorithm_and_names_who_did_not_run(report):
    _, _, path = report
    content = json.loads(path.with_suffix(".json").read_text())
    [rows] = content["tables"].values()
    titles = [row["algorithm"] for row in rows]
    assert titles == ["CFR+", "OpenSpiel CFR+, C++", "OpenSpiel outcome sampling, C++"]
    text = path.read_text()
    assert all(f"| {title} |" in text for title in titles)
    assert "OpenSpiel PPO: `The expanded size of the tensor (2)" in text
    assert "OpenSpiel NeuRD: `14 weights for 12 sequences of player 0`" in text
    assert path.with_suffix(".png").stat().st_size > 10_000
    for [points] in content["curves"].values():
        assert points[-1]["learning_seconds"] >= 0.2
        assert points[-1]["nash_conv"] == 2 * points[-1]["exploitability"]
        times = [point["learning_seconds"] for point in points]
        assert times == sorted(times)


def test_seeds_are_told_apart_and_averaged(report, tmp_path):
    settings = Settings("kuhn_poker", 0.1, ("openspiel_outcome_sampling",), (0, 1))
    study = Study(settings, Workspace(tmp_path))
    [path] = run(EXPERIMENTS, study, tmp_path / "report")
    content = json.loads(path.with_suffix(".json").read_text())
    [curves] = content["curves"].values()
    ends = [points[-1]["exploitability"] for points in curves]
    assert len(set(ends)) == 2
    [[row]] = content["tables"].values()
    assert row["exploitability"] == pytest.approx(sum(ends) / 2)
    assert (row["least"], row["largest"]) == (min(ends), max(ends))


def test_finished_algorithms_are_not_measured_again(report):
    folder, before, path = report
    again = Study(before.settings, Workspace(folder))
    curves = json.loads(path.with_suffix(".json").read_text())["curves"]
    assert compare_study.compare(again).curves == curves
    assert again.workspace.reused == {
        f"{name}-0" for name in set(before.settings.names) - set(PROBES)
    }
    longer = Settings("kuhn_poker", 0.3, ("cfr_plus",))
    with pytest.raises(ValueError, match="use the same settings or another directory"):
        compare_study.compare(Study(longer, Workspace(folder)))


def test_measurements_with_other_hyperparameters_are_not_reused(report, tmp_path, monkeypatch):
    folder, before, _ = report
    shutil.copytree(folder / "parts", tmp_path / "parts")
    kind = KINDS["cfr_plus"]._replace(settings="others")
    monkeypatch.setitem(KINDS, "cfr_plus", kind)
    with pytest.raises(ValueError, match=r"its hyperparameters is 'defaults', not 'others'"):
        compare_study.compare(Study(before.settings, Workspace(tmp_path)))
    monkeypatch.undo()
    deeper = before.game._replace(depth_limit=DepthLimit(moves=3))
    monkeypatch.setattr(compare_study, "compared_game", lambda name: deeper)
    with pytest.raises(ValueError, match=r"its depth_limit is '2 moves', not '3 moves'"):
        compare_study.compare(Study(before.settings, Workspace(tmp_path)))


def test_a_probe_that_runs_is_told_before_anybody_is_measured(tmp_path, monkeypatch):
    probe = PROBES["openspiel_ppo"]._replace(refusal=lambda game: None)
    monkeypatch.setitem(PROBES, "openspiel_ppo", probe)
    settings = Settings("kuhn_poker", 0.1, ("cfr_plus", "openspiel_ppo"))
    with pytest.raises(ValueError, match=r"openspiel_ppo runs .* no algorithm for it yet"):
        compare_study.compare(Study(settings, Workspace(tmp_path)))
    assert list(tmp_path.iterdir()) == []


def test_neurd_is_refused_where_it_stops():
    reason = compare_study.refusal("openspiel_neurd", compared_game("goofspiel_4"))
    assert reason is not None
    assert reason.startswith("Invalid policy")


def test_algorithm_whose_packages_are_missing_is_refused(kuhn, monkeypatch):
    assert compare_study.refusal("openspiel_deep_cfr", kuhn) is None
    monkeypatch.setitem(sys.modules, "open_spiel.python.pytorch.deep_cfr", None)
    reason = compare_study.refusal("openspiel_deep_cfr", kuhn)
    assert reason is not None
    assert "deep_cfr" in reason


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seconds": 0.01}, "seconds=0.01 must be at least 0.1"),
        ({"seconds": math.nan}, "seconds=nan"),
        ({"seeds": (-1,)}, r"seeds=\(-1,\)"),
        ({"names": ("nobody",)}, "algorithm 'nobody' must be one of"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Settings("kuhn_poker", **settings)
