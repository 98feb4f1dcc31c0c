"""One evaluation of games too large to list, beside exp-a-spiel: numbers, seconds, memory.

An evaluation is a policy's value, both best responses and with them its exploitability. Every game
has a process of its own. The peer evaluates the same policies, see `large_policies`; `eas_peer.py`
says what environment it needs. It walks all histories, so that its whole games take long and are
asked for by name; the game of its `CornerDhTraverser` takes a second: dark hex after the moves 0
and 8, which nobody tries again.

  python experiments/benchmarks/large_games.py --threads=2 --peer_python=peer/bin/python \
    --peer=exp-a-spiel \
    --peer_games="phantom_ttt,dark_hex"
"""

import dataclasses
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
import large_policies
import numpy as np
import torch

from spiel_dl.factored.families import factored_game
from spiel_dl.policies.array_policy import plans_of
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers import best_response, kernels
from spiel_dl.tree.factored_game import FactoredGame

_BATCH = 1 << 16
_BARRED = -1e3  # worse than any utility
_TOLERANCE = 1e-5
_MOST_GIGABYTES = 8.0
_CORNER = "CornerDh"
_CORNER_MOVES = (0, 8)


@dataclasses.dataclass(frozen=True)
class Game:
    """A game.

    Attributes:
      string: the game string.
      bound: seconds that one evaluation may take on two cores; None: there is no bound.
      peer: the peer's name of it; None: it does not have it.
      is_quick: whether an evaluation before those that count is affordable.
    """

    string: str
    bound: float | None
    peer: str | None = None
    is_quick: bool = True


GAMES = {
    "phantom_ttt": Game("phantom_ttt", 3.0, "Pttt"),
    "dark_hex": Game("dark_hex", 3.0, "Dh"),
    "liars_dice": Game("liars_dice(numdice=2,dice_sides=5)", 1.0),
    "abrupt_phantom_ttt": Game(
        "phantom_ttt(gameversion=abrupt)", 60.0, "AbruptPttt", is_quick=False
    ),
    "abrupt_dark_hex": Game("dark_hex(gameversion=adh)", 60.0, "AbruptDh", is_quick=False),
}


def strategy_of(game: FactoredGame, player: int, policy: str) -> np.ndarray:
    """A player's strategy, of a name in `large_policies`: float64 [S], 1 at the empty sequence."""
    parts = [np.ones(1)]
    for begin in range(0, game.num_infosets(player), _BATCH):
        end = min(begin + _BATCH, game.num_infosets(player))
        tensors, legal = game.observations(player, begin, end)
        parts.append(large_policies.probabilities(policy, tensors, legal)[legal])
    return np.concatenate(parts)


def corner_strategy(game: FactoredGame, player: int, policy: str) -> tuple[np.ndarray, np.ndarray]:
    """A player's strategy in the peer's small game, and which sequences are barred there.

    Returns:
      strategy: float64 [S]; uniform where the player does not come.
      barred: bool [S].
    """
    strategy, barred = [np.ones(1)], [np.zeros(1, np.bool_)]
    move, others = _CORNER_MOVES[player], _CORNER_MOVES[1 - player]
    for begin in range(0, game.num_infosets(player), _BATCH):
        end = min(begin + _BATCH, game.num_infosets(player))
        tensors, legal = game.observations(player, begin, end)
        num_cells = legal.shape[1]
        is_barred = np.zeros(legal.shape, np.bool_)
        is_barred[:, others] = True
        if begin == 0:
            is_barred[0] = np.arange(num_cells) != move
        is_barred &= (legal & ~is_barred).any(axis=1, keepdims=True)  # Elsewhere nobody comes.
        own = legal & ~is_barred
        rows = own / own.sum(axis=1, keepdims=True)
        # The last entries of a tensor are the tries, one-hot, in order.
        is_asked = tensors[:, tensors.shape[1] - num_cells**2 + move] == 1
        rows[is_asked] = large_policies.probabilities(policy, tensors[is_asked], own[is_asked])
        strategy.append(rows[legal])
        barred.append(is_barred[legal])
    return np.concatenate(strategy), np.concatenate(barred)


def evaluate_all(name: str, policies: Sequence[str], threads: int) -> list[dict[str, Any]]:
    """A row for each policy: values, seconds, and what making tables took before."""

    def make() -> FactoredGame:
        game = factored_game(GAMES[name].string, num_threads=threads)
        if GAMES[name].is_quick:
            uniform = plans_of(game, [t.uniform_strategy() for t in game.treeplexes])
            best_response.evaluate(game.sequence_form, uniform)
        return game

    game, made = common.timed(make)
    rows = []
    for policy in policies:
        if policy == "uniform":
            strategies = [treeplex.uniform_strategy() for treeplex in game.treeplexes]
        else:
            strategies = [strategy_of(game, player, policy) for player in (0, 1)]
        plans = plans_of(game, strategies)
        del strategies
        found, taken = common.timed(
            lambda plans=plans: best_response.evaluate(game.sequence_form, plans)
        )
        numbers = {"value": found.value, "best_0": found.best[0], "best_1": found.best[1]}
        rows.append({"policy": policy, **numbers, **taken, "tables": made["processor"]})
    gigabytes = common.peak_gigabytes()
    return [{**row, "gigabytes": gigabytes} for row in rows]


def evaluate_corner(policies: Sequence[str], threads: int) -> list[dict[str, Any]]:
    """The same of the peer's small game, by the whole game and what is barred in it."""
    game = factored_game("dark_hex", num_threads=threads)
    rows = []
    for policy in policies:
        made = [corner_strategy(game, player, policy) for player in (0, 1)]
        plans = plans_of(game, [strategy for strategy, _ in made])
        row: dict[str, Any] = {"policy": policy}
        for player, treeplex in enumerate(game.treeplexes):
            cfv = game.sequence_form.values_against(player, plans[1 - player])
            if player == 0:
                row["value"] = float(plans[0] @ cfv)
            cfv[made[player][1]] = _BARRED
            is_fixed = np.zeros(treeplex.num_infosets, np.bool_)
            kernels.best_response_values(treeplex.arrays, is_fixed, cfv, np.ones(len(cfv)))
            row[f"best_{player}"] = float(cfv[0])
        rows.append(row)
    return rows


def ask_peer(
    python: str, clone: str, game: str, policies: Sequence[str], threads: int
) -> dict[str, dict[str, float]]:
    """The peer's results, by policy."""
    program = Path(__file__).parent / "eas_peer.py"
    command = [str(Path(python).absolute()), str(program), clone, game, *policies]
    variables = {**common.environment_of_peers(), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        command, check=True, text=True, env=variables, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line["policy"]: line for line in lines}


def _with_peer(row: dict[str, Any], peers: dict[str, float]) -> dict[str, Any]:
    """A row with the peer's columns."""
    more = {f"peer's {name}": peers[name] for name in ("processor", "seconds", "tables")}
    return {**row, **more, "difference": _difference(row, peers)}


def _difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The largest difference of the value and best responses."""
    return max(abs(one[name] - other[name]) for name in ("value", "best_0", "best_1"))


def measure(
    *,
    games: tuple[str, ...] = tuple(GAMES),
    policies: tuple[str, ...] = large_policies.NAMES,
    peer_python: str | None = None,
    peer: str | None = None,
    peer_games: tuple[str, ...] = (),
) -> Report:
    """Evaluates games, and the peer's numbers.

    Args:
      games: which ones; "none": none.
      policies: names of policies; where others cannot be made, or take minutes, the uniform one.
      peer_python: a Python that can import what the peer needs. Default, or empty: no peer.
      peer: a clone of exp-a-spiel, built.
      peer_games: which games the peer evaluates besides its small one.
    """
    common.check_peer(peer_python, peer)
    games = () if games == ("none",) else games
    common.check_games([*games, *peer_games], list(GAMES))
    if without := [name for name in peer_games if GAMES[name].peer is None]:
        raise ValueError(f"peer_games={without}: the peer does not have them")
    threads, rows, corner = torch.get_num_threads(), [], []
    for name in games:
        chosen = policies if GAMES[name].is_quick or name in peer_games else ("uniform",)
        found = list(common.in_process(evaluate_all, name, chosen, threads))
        for row in found:
            row["exploitability"] = (row["best_0"] + row["best_1"]) / 2
        if peer_python and peer and name in peer_games:
            theirs = ask_peer(peer_python, peer, str(GAMES[name].peer), chosen, threads)
            found = [_with_peer(row, theirs[row["policy"]]) for row in found]
        rows += [{"game": name, **row} for row in found]
        print(*rows[-len(found) :], sep="\n", flush=True)
    if peer_python and peer:
        theirs = ask_peer(peer_python, peer, _CORNER, large_policies.NAMES, threads)
        for row in common.in_process(evaluate_corner, large_policies.NAMES, threads):
            corner.append(_with_peer(row, theirs[row["policy"]]))
            print(corner[-1], flush=True)
    return _report(rows, corner, threads)


def _report(rows: list[dict[str, Any]], corner: list[dict[str, Any]], threads: int) -> Report:
    titles = {
        "game": "game",
        "policy": "policy",
        "exploitability": "exploitability",
        "processor": "processor (s)",
        "seconds": "wall-clock (s)",
        "gigabytes": "peak memory (GB)",
        "peer's processor": "exp-a-spiel, processor (s)",
        "difference": "largest difference",
        "tables": "tables, processor (s)",
    }
    corner_titles = {name: name for name in ("policy", "value", "best_0", "best_1", "difference")}
    tables = {
        "One evaluation": Table(rows, titles),
        "Dark hex after the moves 0 and 8": Table(corner, corner_titles),
    }
    idle = os.getloadavg()[0]
    return Report(
        "Games too large to list, evaluated exactly",
        [
            f"One evaluation: value, both best responses, exploitability. {threads} "
            f"thread{'s' if threads > 1 else ''}; a process per game, whose "
            "peak of memory is that of all its policies. Tables, which are made once, and asking "
            "the policy are not counted. The processor's seconds are of all threads. At the end of "
            f"the run {idle:.1f} processes wanted the machine's {os.cpu_count()} cores.",
            "Policies: uniform; random, drawn for every infoset and far from uniform; network, of "
            "two hidden layers with random weights (`large_policies.py`).",
            "The games:\n\n"
            + "".join(
                f"- {name}: `{GAMES[name].string}`\n"
                for name in dict.fromkeys(row["game"] for row in rows)
            ).rstrip(),
            "Differences to exp-a-spiel are the largest of value and best responses.",
        ],
        {heading: table for heading, table in tables.items() if table.rows},
        verdict=_verdict(rows, corner, threads),
    )


def _verdict(rows: list[dict[str, Any]], corner: list[dict[str, Any]], threads: int) -> str:
    """Which bounds hold, in words."""
    parts = []
    bounded = [row for row in rows if GAMES[row["game"]].bound]
    late = [row for row in bounded if row["seconds"] > (GAMES[row["game"]].bound or 0)]
    if bounded:
        names = ", ".join(dict.fromkeys(row["game"] for row in late or bounded))
        where = "one core" if threads == 1 else f"{threads} cores"
        parts.append(
            f"{'not met' if late else 'met'}: wall-clock of an evaluation in {names}, on {where}"
        )
    large = [row["game"] for row in rows if row["gigabytes"] > _MOST_GIGABYTES]
    if rows:
        words = f"not met in {', '.join(dict.fromkeys(large))}" if large else "met"
        parts.append(f"peak memory of at most {_MOST_GIGABYTES:g} GB: {words}")
    compared = [row for row in (*rows, *corner) if "difference" in row]
    if compared:
        held = all(row["difference"] <= _TOLERANCE for row in compared)
        parts.append(
            f"{'met' if held else 'not met'}: exp-a-spiel's numbers to {_TOLERANCE:g}, for "
            f"{len(compared)} policies"
        )
    return "; ".join(parts) + "."


if __name__ == "__main__":
    common.run(measure)
