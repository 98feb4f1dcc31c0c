"""Games too large to list are refused early, and no other game is."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.tree import GameTree, size_limit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.tree.size_limit import estimate_histories

HOPELESS = ["phantom_ttt", "chess", "python_phantom_ttt", "oshi_zumo(coins=4,size=1)"]


@pytest.mark.parametrize("game_string", HOPELESS)
def test_a_hopeless_game_is_refused_by_its_estimate(
    game_string: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the first histories; the machine's speed and its memory then do not matter.
    monkeypatch.setattr(size_limit, "_SECONDS_UNTIL_LARGE", 0.0)
    monkeypatch.setattr(size_limit, "available_bytes", lambda: 8 << 30)
    message = r"\(\d{1,3} seen.*histories by random playouts.*GiB are available.*Solve a small"
    with pytest.raises(TooManyHistoriesError, match=message):
        GameTree.from_game(game_string)


@pytest.mark.parametrize(
    ("game_string", "num_histories"), [("kuhn_poker", 58), ("leduc_poker", 9457)]
)
def test_the_lower_bound_is_below_and_the_average_near(
    monkeypatch: pytest.MonkeyPatch, game_string: str, num_histories: int
) -> None:
    game = load_turn_based(game_string)
    monkeypatch.setattr(size_limit, "_PLAYOUT_SECONDS", math.inf)
    monkeypatch.setattr(size_limit, "_MAX_PLAYOUTS", 300)
    for seed in range(3):
        monkeypatch.setattr(size_limit, "_SEED", seed)
        assert num_histories / 40 < estimate_histories(game).at_least < num_histories
    monkeypatch.setattr(size_limit, "_SEED", 0)
    monkeypatch.setattr(size_limit, "_MAX_PLAYOUTS", 4000)
    assert 0.5 < estimate_histories(game).mean / num_histories < 2.0


def test_the_limit_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limit, "_SECONDS_UNTIL_LARGE", 0.0)
    room = 20_000 * size_limit.BYTES_PER_HISTORY
    monkeypatch.setattr(size_limit, "available_bytes", lambda: int(room / 0.8))
    assert GameTree.from_game("leduc_poker").num_histories == 9457
    with pytest.raises(TooManyHistoriesError, match=r"enough for (20,000|19,999) at about 200"):
        GameTree.from_game("goofspiel(num_cards=5,imp_info=True,points_order=descending)")


def test_an_explicit_limit_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limit, "_SECONDS_UNTIL_LARGE", 0.0)
    monkeypatch.setattr(size_limit, "available_bytes", lambda: 1000)
    assert GameTree.from_game("leduc_poker", max_histories=9457).num_histories == 9457
    with pytest.raises(TooManyHistoriesError, match=r"max_histories=9,456 .*\(9,456 seen"):
        GameTree.from_game("leduc_poker", max_histories=9456)
    with pytest.raises(ValueError, match="max_histories=0 must be at least 1"):
        GameTree.from_game("leduc_poker", max_histories=0)


def test_states_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of histories may be."""
    monkeypatch.setattr(size_limit, "_SECONDS_UNTIL_LARGE", 0.0)
    monkeypatch.setattr(size_limit, "available_bytes", lambda: 50_000)
    with pytest.raises(TooManyHistoriesError, match=r"states of its histories of depth \d+ alone"):
        GameTree.from_game(
            "python_battleships(board_width=2,board_height=2,ship_sizes=[2])", max_histories=10**9
        )


@pytest.mark.slow
def test_states_are_kept_for_the_way_only() -> None:
    """10,000 histories of chess held 3.2 GB when every sibling's state was kept."""
    script = (
        "import resource\n"
        "from spiel_dl.tree import GameTree, size_limit\n"
        "size_limit._SECONDS_UNTIL_LARGE = 1e9\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        "    GameTree.from_game('chess', max_histories=10_000)\n"
        "except ValueError as error:\n"
        "    assert '10,000 seen' in str(error), error\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) < 600_000, "kilobytes"


def test_available_memory_is_the_smallest_of_what_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(size_limit, "_MEMINFO", meminfo)
    monkeypatch.setattr(size_limit, "_CGROUP", tmp_path)
    assert size_limit.available_bytes() == 5000 * 1024
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    (tmp_path / "memory.stat").write_text("anon 900000\ninactive_file 100000\n")
    assert size_limit.available_bytes() == 2_100_000
    meminfo.unlink()
    (tmp_path / "memory.max").unlink()
    assert size_limit.available_bytes() > 2**20, "half of the machine's memory"
