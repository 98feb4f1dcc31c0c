"""`run/dl_cfr.py` as users start it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.dl_cfr_run import METRIC
from tests.run.scripts import succeed

KUHN = ("dl_cfr.py", "--game=kuhn_poker", "--moves=1")


def test_a_run_with_its_comparison(tmp_path: Path) -> None:
    output, _ = succeed(*KUHN, "--run_dir=a", "--iterations=100", directory=tmp_path)
    for words in (
        "1 moves, 2 leaf public states",
        "solver                           cfr_plus",
        "the same, CFR+ of the whole game",
    ):
        assert words in output, words
    last = json.loads((tmp_path / "a" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["iteration"] == 100
    assert f"normalised trunk exploitability  {last[METRIC]:.3e}" in output
    # Kuhn's largest utility is 2.
    assert last[METRIC] == pytest.approx(last["trunk_nash_conv"] / 4)
    assert ArrayPolicy.load(tmp_path / "a" / "average_policy.safetensors").tree.num_histories == 58
