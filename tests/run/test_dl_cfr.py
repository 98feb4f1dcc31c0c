"""`run/dl_cfr.py` as users start it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.dl_cfr_run import METRIC
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.run.scripts import run_script

KUHN = ("dl_cfr.py", "--game=kuhn_poker", "--moves=1")


def test_a_run_that_goes_on(tmp_path: Path) -> None:
    code, output, errors = run_script(*KUHN, "--run_dir=a", "--iterations=20", directory=tmp_path)
    assert code == 0, errors
    for words in (
        "1 moves, 2 leaf public states",
        "solver                           cfr_plus",
        "the same, CFR+ of the whole game",
    ):
        assert words in output, words
    code, output, errors = run_script(
        *KUHN, "--run_dir=a", "--iterations=100", "--resume", directory=tmp_path
    )
    assert code == 0, errors
    last = json.loads((tmp_path / "a" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["iteration"] == 100
    assert f"normalised trunk exploitability  {last[METRIC]:.3e}" in output
    # Kuhn's largest utility is 2.
    assert last[METRIC] == pytest.approx(last["trunk_nash_conv"] / 4)
    assert ArrayPolicy.load(tmp_path / "a" / "average_policy.safetensors").tree.num_histories == 58
    code, _, errors = run_script(
        *KUHN, "--run_dir=a", "--resume", "--solver=cfr", directory=tmp_path
    )
    assert (code, "its solver is 'cfr_plus', not 'cfr'" in errors) == (1, True)


def test_a_network_and_all_flags(tmp_path: Path) -> None:
    network = PositionalNetwork(1, 4)
    network.initialize(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves)
    network.save(tmp_path / "n.safetensors")
    arguments = (
        "--value_function=n.safetensors",
        "--solver=discounted_cfr",
        "--noalternating_updates",
        "--noreference",
        "--iterations=3",
    )
    code, output, errors = run_script(*KUHN, "--run_dir=b", *arguments, directory=tmp_path)
    assert code == 0, errors
    assert "the same, CFR+ of the whole game" not in output
    assert not (tmp_path / "b" / "cfr_plus").exists()
    config = json.loads((tmp_path / "b" / "config.json").read_text())
    assert config["value_function_checksum"] > 0
    assert config["alternating_updates"] is False
