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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*KUHN, "--rounds=1", "--run_dir=new"),
            "give exactly one of --moves, --plies",
        ),
        ((*KUHN, "--value_function=nothing", "--run_dir=new"), "cannot read the file nothing"),
        ((*KUHN, "--exact_tolerance=0", "--run_dir=new"), "tolerance=0.0"),
        (
            (*KUHN, "--value_function=zero", "--warm_start", "--run_dir=new"),
            "--warm_start: used with --value_function=exact only",
        ),
    ],
    ids=[
        "limit",
        "no network",
        "tolerance",
        "warm start",
    ],
)
def test_wrong_input_is_told_and_spoils_nothing(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    code, _, errors = run_script(*arguments, directory=tmp_path)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
