"""Head to head: every kind of policy, and results that do not depend on who works."""

import functools
import json
import shutil

import pytest

from spiel_dl.play import matches, registry
from spiel_dl.runs import head_to_head
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.distributed import LocalProcesses
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.value_functions import ZeroValue, network_files
from tests.small_learners import CRITIC, small_learner

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending,returns_type=win_loss)"
QUICK = {"depth_limit": DepthLimit(moves=2), "max_histories": 100, "effort": 20}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Run directories of hardly trained learners, by game."""
    found = {}
    for name in ("kuhn_poker", GOOFSPIEL):
        learner = small_learner("rnad", name, critic=CRITIC)
        learner.step()
        found[name] = tmp_path_factory.mktemp("run")
        learner.save(found[name] / "checkpoint.safetensors")
    return found


def test_a_match_that_was_stopped_goes_on(checkpoints, tmp_path, monkeypatch):
    run = tmp_path / "run"
    shutil.copytree(checkpoints["kuhn_poker"], run)
    names, numbers = ("kuhn_poker", str(run), "uniform"), {"num_games": 12, "pairs_at_once": 2}
    played = []
    play_pairs = matches.play_pairs

    def failing(game, policies, pairs, seed, values):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(pairs)
        return play_pairs(game, policies, pairs, seed, values)

    monkeypatch.setattr(matches, "play_pairs", failing)
    with pytest.raises(KeyboardInterrupt):
        head_to_head.play(*names, **numbers, workspace=Workspace(tmp_path / "match"))
    monkeypatch.undo()
    workspace = Workspace(tmp_path / "match")
    found = head_to_head.measure(*names, **numbers, workspace=workspace)
    assert workspace.reused == {"pairs-000000-000002", "pairs-000002-000004"}
    expected = head_to_head.measure(*names, **numbers)
    times = {name for name in found if "seconds" in name or "slowest" in name}
    for name in found.keys() - times - {"wall_clock"}:
        assert found[name] == expected[name]
    head_to_head.write(str(tmp_path / "found"), [found], describe_environment(), workspace)
    assert "Parts were made by commit" in (tmp_path / "found.md").read_text()
    # Another network of the same name, and another match.
    shutil.copy(checkpoints[GOOFSPIEL] / "checkpoint.safetensors", run / "another.safetensors")
    for seed in (0, 1):
        with pytest.raises(ValueError, match=r"pairs-000000-000002\.json has other settings: its "):
            head_to_head.play(*names, **numbers, seed=seed, workspace=Workspace(tmp_path / "match"))


def test_a_policy_whose_file_changes_is_loaded_again(tmp_path):
    path, numbers = tmp_path / AVERAGE_POLICY_FILE, {"num_games": 20, "pairs_at_once": 10}
    for seed in (1, 2):
        registry.load_array_policy(f"random:{seed}", "kuhn_poker").save(path)
        found = head_to_head.play("kuhn_poker", str(path), "uniform", **numbers)
        game = load_turn_based("kuhn_poker")
        policies = [registry.load_policy(name, game) for name in (f"random:{seed}", "uniform")]
        assert found.pairs == matches.play_match(*policies, 20).pairs


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("rnr:0.9:late:random:1", {}, {"depth_limit": DepthLimit(moves=2)}),
        ("cdbr:random:1", {"player": 0}, {"player": 1}),
        ("cdbr:random:1", {}, {"player": 1}),
    ],
)
def test_parts_are_of_all_that_was_used(name, first, second, tmp_path):
    play = functools.partial(
        head_to_head.play, "kuhn_poker", name, "uniform", num_games=2,
        workspace=Workspace(tmp_path),
    )  # fmt: skip
    search = {"depth_limit": DepthLimit(moves=1), "effort": 20}
    play(options=registry.select_options(search | first, name))
    with pytest.raises(ValueError, match=r"000001\.json has other settings: its search"):
        play(options=registry.select_options(search | second, name))


def test_processes_find_what_one_process_finds(checkpoints):
    play = functools.partial(
        head_to_head.play,
        GOOFSPIEL,
        f"sepot:{checkpoints[GOOFSPIEL]}",
        str(checkpoints[GOOFSPIEL]),
        num_games=24,
        options=QUICK,
        pairs_at_once=3,
    )
    alone, together = play(), play(engine=LocalProcesses(2))
    assert alone.pairs == together.pairs
    assert alone.seats == together.seats
    other = play(seed=1)
    assert other.seats != alone.seats


def test_reports(tmp_path):
    names = ("kuhn_poker", "highest", "uniform")
    row = head_to_head.measure(*names, num_games=100)
    head_to_head.write(str(tmp_path / "report"), [row], describe_environment())
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["tables"]["Matches"][0]["mean"] == row["mean"]
    assert {"command", "git_commit", "processor", "started"} <= found["environment"].keys()
    assert found["tables"]["Matches"][0]["wall_clock"] > 0
    text = (tmp_path / "report.md").read_text()
    assert f"| {row['mean']:.3g} |" in text
    assert "one process with the threads" in text
    # One pair gives no interval, and JSON has no NaN.
    row = head_to_head.measure(*names, num_games=2)
    assert row["half_width"] is None


def test_reports_name_what_searches_use(checkpoints):
    names = ("resolving:zero", f"sepot:{checkpoints['kuhn_poker']}")
    row = head_to_head.measure("kuhn_poker", *names, num_games=2, options=QUICK)
    options = {"max_histories": 100, "iterations": 20, "depth_limit": "2 moves"}
    assert {name: row[name] for name in options} == options
    assert row["threads"] == "one process with the threads that its libraries start"
    assert "depth limit" in head_to_head.report([row]).tables["Searches"].to_markdown()
    row = head_to_head.measure("kuhn_poker", "uniform", "cfr+:5", num_games=2)
    assert list(head_to_head.report([row]).tables) == ["Matches"]


def test_networks_of_resolving_live_on_the_device(monkeypatch):
    devices = []

    def load_value_function(_, device):
        devices.append(device)
        return ZeroValue()

    monkeypatch.setattr(network_files, "load_value_function", load_value_function)
    game = load_turn_based("kuhn_poker")
    name, limit = "resolving:network", DepthLimit(moves=1)
    registry.load_policy(name, game, device="meta", depth_limit=limit)
    registry.load_array_policy(name, game, device="meta", depth_limit=limit)
    assert devices == ["meta", "meta"]
