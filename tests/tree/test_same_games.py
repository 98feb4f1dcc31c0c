"""Equality of games, which decides whether files of one game are valid for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability as openspiel_exploitability

import spiel_dl as dl
from spiel_dl.tree.from_openspiel import contents_hash, is_same_game, load_turn_based
from spiel_dl.tree.game_tree import GameTree

EFG = 'EFG 2 R "g" {{ "0" "1" }} ""\np "" 1 1 "a" {{ "l" "r" }} 0\n{0}\n{1}\n'


def matrix_game(rows: list[list[float]]) -> pyspiel.Game:
    array = np.array(rows, np.float64)
    return pyspiel.create_matrix_game("g", "g", ["r0", "r1"], ["c0", "c1"], array, -array)


def test_games_are_told_by_names_and_parameters() -> None:
    kuhn = load_turn_based("kuhn_poker")
    assert is_same_game(kuhn, load_turn_based("kuhn_poker(players=2)"))
    assert not is_same_game(kuhn, load_turn_based("leduc_poker"))
    four = "python_goofspiel_ii(num_cards=4,points_order={})"
    descending = load_turn_based(four.format("descending"))
    assert is_same_game(descending, load_turn_based(four.format("descending")))
    assert not is_same_game(descending, load_turn_based(four.format("ascending")))
    goofspiel = "goofspiel(imp_info=True,num_cards=4,points_order=descending)"
    assert is_same_game(load_turn_based(goofspiel), load_turn_based(goofspiel))


def test_games_of_data_are_the_same_as_themselves_alone(tmp_path: Path) -> None:
    games = [matrix_game([[0, 1], [1, 0]]), matrix_game([[10, 0], [0, 1]])]
    turned = [load_turn_based(game) for game in games]
    assert str(turned[0]) == str(turned[1])
    assert is_same_game(turned[0], turned[0])
    assert not is_same_game(turned[0], turned[1])
    listed = [
        pyspiel.load_efg_game(EFG.format(*(f't "" {n} "" {{ {n} {-n} }}' for n in each)))
        for each in ((1, 2), (3, 4))
    ]
    assert not is_same_game(listed[0], listed[1])
    policy = dl.solve_lp(listed[0])[2]
    policy.save(tmp_path / "policy")
    assert dl.ArrayPolicy.load(tmp_path / "policy", listed[0]).strategies
    with pytest.raises(ValueError, match="holds a policy of another game called efg_game"):
        dl.ArrayPolicy.load(tmp_path / "policy", listed[1])


def test_policies_are_judged_in_the_game_that_is_given() -> None:
    """Both games have the same string; the policy is an equilibrium of the first."""
    first, second = matrix_game([[0, 1], [1, 0]]), matrix_game([[10, 0], [0, 1]])
    solver = dl.CFRPlus(first)
    solver.run(500)
    policy = solver.average_policy()
    assert dl.nash_conv(first, policy) == pytest.approx(0.0, abs=1e-6)
    expected = openspiel_exploitability.nash_conv(load_turn_based(second), policy)
    assert dl.nash_conv(second, policy) == pytest.approx(expected, abs=1e-9)
    assert expected == pytest.approx(4.5, abs=1e-3)
    assert dl.best_response_value(second, policy, 0) == pytest.approx(5.0, abs=1e-3)


def test_a_file_that_was_written_anew_is_another_game(tmp_path: Path) -> None:
    """Player 0 chooses between two utilities: first the left one is the better, then the right."""
    file = tmp_path / "game.efg"
    string = f"efg_game(filename={file})"

    def write(left: int, right: int) -> None:
        outcomes = (f't "" {n} "" {{ {u} {-u} }}' for n, u in ((1, left), (2, right)))
        file.write_text(EFG.format(*outcomes))

    write(1, 0)
    first, again = load_turn_based(string), load_turn_based(string)
    left = dl.ArrayPolicy(GameTree.from_game(first), (np.array([1.0, 1.0, 0.0]), np.ones(1)))
    assert is_same_game(first, again)
    assert dl.nash_conv(again, left) == 0
    left.save(tmp_path / "policy")
    dl.ArrayPolicy.load(tmp_path / "policy")
    write(2, 3)
    new = load_turn_based(string)
    assert not is_same_game(first, new)
    with pytest.raises(ValueError, match="its file was written anew"):
        dl.ArrayPolicy.load(tmp_path / "policy")
    for game in (new, string):
        assert dl.nash_conv(game, left) == 1
        assert dl.expected_value(game, left) == 2
        assert dl.best_response_value(game, left, 0) == 3
        mixed = dl.mix_policies(game, [left, dl.ArrayPolicy.uniform(game)], [0.5, 0.5])
        assert dl.expected_value(game, mixed) == 2.25
        assert dl.gain(game, left, left, 1) == pytest.approx(1.0)
        response = dl.RNR(game, 0, left, p=0.5).to_array_policy()
        assert dl.expected_value(game, response) == pytest.approx(3.0, abs=1e-3)


def test_games_from_files_are_told_apart_in_the_same_way_in_every_process(tmp_path: Path) -> None:
    """Python's hashes of strings, which keys of infosets are, differ from process to process."""
    file = tmp_path / "game.efg"
    file.write_text(EFG.format(*(f't "" {n} "" {{ {n} {-n} }}' for n in (1, 2))))
    string = f"efg_game(filename={file})"
    code = (
        "from spiel_dl.tree.from_openspiel import contents_hash, load_turn_based;"
        f"print(contents_hash(load_turn_based({string!r})))"
    )
    seed = "7" if os.environ.get("PYTHONHASHSEED") != "7" else "8"
    output = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert output.strip() == contents_hash(load_turn_based(string))
