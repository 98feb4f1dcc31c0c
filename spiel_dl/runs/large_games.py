"""Values and exploitability of a policy in games with too many histories to list."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import factored_game
from spiel_dl.play import registry
from spiel_dl.play.presets import game_string
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.runs.reports import Table
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.solvers import best_response
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = (
    "phantom_ttt",
    "dark_hex",
    "liars_dice(numdice=2,dice_sides=5)",
    "phantom_ttt(gameversion=abrupt)",
    "dark_hex(gameversion=adh)",
)
"""The games of Rudolph et al. (2025), the slowest last."""
COLUMNS = {
    "game": "game",
    "value": "value of player 0",
    "best_0": "best response of 0",
    "best_1": "best response of 1",
    "exploitability": "exploitability",
    "asking": "asking (s)",
    "seconds": "evaluating (s)",
}
_DIGITS = {"asking": 1, "seconds": 1}
_OTHER_DIGITS = 6
# Arrays over sequences of an evaluation: both players' strategies and plans, one player's
# counterfactual values and best response.
_ARRAYS = 4
# Arrays over sequences of a solver: its state, and copies while its policies are evaluated.
_SOLVER_ARRAYS = 10
_SECONDS_PER_SEQUENCE = 5e-9
"""Time of the updates of regrets and averages, on one processor."""


def estimate(game: FactoredGame) -> str:
    """Number of infosets, and approximate memory and time of an evaluation, as text."""
    counts, gigabytes, seconds = _needs(game, _ARRAYS)
    size = f"{game.game}: {counts} infosets; about {gigabytes:.1f} GB"
    return f"{size}, and {seconds:.1f} s once the policy is known"


def estimate_solving(game: FactoredGame) -> str:
    """Number of infosets, and approximate memory and time of an iteration of CFR, as text."""
    counts, gigabytes, seconds = _needs(game, _SOLVER_ARRAYS, _SECONDS_PER_SEQUENCE)
    return f"{counts} infosets; about {gigabytes:.2g} GB, and {seconds:.2g} s an iteration"


def _needs(
    game: FactoredGame, num_arrays: int, seconds_per_sequence: float = 0.0
) -> tuple[str, float, float]:
    """Both players' numbers of infosets as text; gigabytes and seconds of some arrays."""
    sequences = sum(treeplex.num_sequences for treeplex in game.treeplexes)
    cost, threads = game.sequence_form.cost, game.sequence_form.num_threads
    counts = " + ".join(f"{game.num_infosets(player):,}" for player in (0, 1))
    gigabytes = (8 * num_arrays * sequences + cost.num_bytes) / 1e9
    return counts, gigabytes, 2 * cost.seconds / threads + seconds_per_sequence * sequences


def judge_all(
    workspace: Workspace,
    policy: str,
    games: Sequence[str] = GAMES,
    *,
    device: str = "cpu",
    on_message: Callable[[str], object] = lambda text: None,
) -> list[dict[str, Any]]:
    """Evaluates a policy in several games: a row for each, from the workspace if it is there.

    Args:
      workspace: keeps finished rows.
      policy: a name of `play.registry`.
      games: game strings.
      device: torch device of networks.
      on_message: called with the estimated memory and time before each evaluation.

    Raises:
      ValueError: if a game has no factored form, the policy is not one for a game, or a finished
        row is of another file of this name.
    """
    rows = []
    for name in games:
        load_turn_based(name)  # Raises for invalid games before any evaluation.
    for name in games:
        settings = {"game": name, "policy": policy, "checksum": registry.digest(policy)}
        part = file_name(name, policy)
        row = workspace.find(part, settings)
        if row is None:
            row = workspace.keep(part, settings, _judge(policy, name, device, on_message))
        rows.append(row)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """The table of all rows."""
    return Table([{name: _text(name, row[name]) for name in COLUMNS} for row in rows], COLUMNS)


def _text(name: str, entry: float | str) -> str:
    return entry if isinstance(entry, str) else f"{entry:.{_DIGITS.get(name, _OTHER_DIGITS)}f}"


def judge(game: FactoredGame, policy: openspiel_policy.Policy) -> dict[str, float]:
    """The values of a policy and of best responses to it.

    Args:
      game: a game with a factored form.
      policy: of this game; networks are evaluated in batches.

    Returns:
      value of player 0, best_0 and best_1 of the players' best responses, exploitability, and
      asking and seconds: the seconds of querying the policy and of evaluating it.

    Raises:
      ValueError: if it is no policy of this game.
    """
    start = time.perf_counter()
    plans = plans_of(game, ArrayPolicy.from_policy(game, policy).strategies)
    queried = time.perf_counter()
    evaluation = best_response.evaluate(game.sequence_form, plans)
    end = time.perf_counter()
    return {
        "value": evaluation.value,
        "best_0": evaluation.best[0],
        "best_1": evaluation.best[1],
        "exploitability": evaluation.exploitability,
        "asking": queried - start,
        "seconds": end - queried,
    }


def _load(policy: str, name: str, device: str) -> tuple[pyspiel.Game, openspiel_policy.Policy]:
    """The game and the policy.

    A name may be that of a preset and of an OpenSpiel game: the policy decides between the two.
    """
    candidates = [load_turn_based(text) for text in dict.fromkeys([name, game_string(name)])]
    first_error: ValueError | None = None
    for game in candidates:
        try:
            return game, registry.load_policy(policy, game, device=device)
        except ValueError as error:
            first_error = first_error or error
    assert first_error is not None
    raise first_error


def _judge(
    policy: str, name: str, device: str, on_message: Callable[[str], object]
) -> dict[str, Any]:
    # Loads the policy first, whose errors come before the game's tables are computed.
    start = time.perf_counter()
    turn_based, loaded = _load(policy, name, device)
    loading = time.perf_counter() - start
    game = factored_game(turn_based)
    on_message(estimate(game))
    row = judge(game, loaded)
    return {"game": str(game.game), **row, "asking": row["asking"] + loading}
