"""The table of learners: means, goals and a peer, from reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from papers.learner_table import write_table


def report(path: Path, algorithm: str, game: str, values: list[float], step: int = 100_000) -> Path:
    rows = [{"seed": seed, "step": step, "nash_conv": value} for seed, value in enumerate(values)]
    config = {"algorithm": algorithm, "game": game}
    path.write_text(json.dumps({"config": config, "tables": {"After the last step": rows}}))
    return path


def test_a_goal_is_met_by_the_mean(tmp_path: Path) -> None:
    leduc = "python_leduc(ante=1)"
    found = [
        report(tmp_path / "mmd.json", "mmd", leduc, [0.3, 0.38]),
        report(tmp_path / "rnad.json", "rnad", leduc, [0.25, 0.37]),
        report(tmp_path / "ppo.json", "ppo", leduc, [0.5]),
    ]
    peer = tmp_path / "peer.json"
    line = {"game": "leduc_poker()", "learner": "rlg mmd", "steps": 100_000, "nash_conv": 0.5}
    others = [{**line, "steps": 50_000}, {**line, "learner": "rlg rnad", "game": "kuhn_poker()"}]
    peer.write_text(json.dumps({"lines": [line, {**line, "nash_conv": 0.7}, *others]}))
    write_table(found, tmp_path / "table", peer=peer)
    content = json.loads((tmp_path / "table.json").read_text())
    assert content["verdict"] == "not met: rnad in python_leduc; met: 1 of 2 goals"
    [rows] = content["tables"].values()
    means = {row["learner"]: (row["mean"], row["goal"], row["peer"]) for row in rows}
    assert means["mmd"] == (pytest.approx(0.34), 0.35, "0.6 (2)")
    assert means["rnad"] == (pytest.approx(0.31), 0.30, None)
    assert means["ppo"] == (0.5, None, None)


def test_shorter_runs_are_refused(tmp_path: Path) -> None:
    short = report(tmp_path / "mmd.json", "mmd", "python_leduc()", [0.3], step=50_000)
    with pytest.raises(ValueError, match=r"is of \[50000\] steps, not 100000"):
        write_table([short], tmp_path / "table")
    with pytest.raises(ValueError, match="no reports"):
        write_table([], tmp_path / "table")


def test_a_peers_game_is_found_where_it_was_made_turn_based(tmp_path: Path) -> None:
    found = [report(tmp_path / "mmd.json", "mmd", "python_battleships(board_width=2)", [0.01])]
    game = "turn_based_simultaneous_game(game=python_simultaneous_battleships(board_size=2))"
    line = {"game": game, "learner": "rlg mmd", "steps": 100_000, "nash_conv": 0.02}
    peer = tmp_path / "peer.json"
    peer.write_text(json.dumps({"lines": [line]}))
    write_table(found, tmp_path / "table", peer=peer)
    [[row]] = json.loads((tmp_path / "table.json").read_text())["tables"].values()
    assert row["peer"] == "0.02 (1)"
