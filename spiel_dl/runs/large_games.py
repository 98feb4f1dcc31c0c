"""One policy in games whose histories are too many to list: values and exploitability."""

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
"""The games of Rudolph et al. (2025), those that take longest last."""
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
# Of a policy: both players' strategies, plans, and one player's counterfactual values and response.
_ARRAYS = 4
# Of a solver: what it learns, and copies while its policies are judged.
_SOLVER_ARRAYS = 10
_SECONDS_PER_SEQUENCE = 5e-9
"""What regrets and averages take, of one processor."""


def estimate(game: FactoredGame) -> str:
    """How many infosets there are, and about how much memory and time an evaluation takes."""
    counts, gigabytes, seconds = _needs(game, _ARRAYS)
    told = f"{game.game}: {counts} infosets; about {gigabytes:.1f} GB"
    return f"{told}, and {seconds:.1f} s once the policy is known"


def estimate_solving(game: FactoredGame) -> str:
    """How many infosets there are, and about how much memory and time an iteration of CFR takes."""
    counts, gigabytes, seconds = _needs(game, _SOLVER_ARRAYS, _SECONDS_PER_SEQUENCE)
    return f"{counts} infosets; about {gigabytes:.2g} GB, and {seconds:.2g} s an iteration"


def _needs(game: FactoredGame, arrays: int, per_sequence: float = 0.0) -> tuple[str, float, float]:
    """Both players' infosets, and gigabytes and seconds with so many arrays, so long a sequence."""
    sequences = sum(treeplex.num_sequences for treeplex in game.treeplexes)
    cost, threads = game.sequence_form.cost, game.sequence_form.num_threads
    counts = " + ".join(f"{game.num_infosets(player):,}" for player in (0, 1))
    gigabytes = (8 * arrays * sequences + cost.num_bytes) / 1e9
    return counts, gigabytes, 2 * cost.seconds / threads + per_sequence * sequences


def judge_all(
    workspace: Workspace,
    policy: str,
    games: Sequence[str] = GAMES,
    *,
    device: str = "cpu",
    on_message: Callable[[str], object] = lambda text: None,
) -> list[dict[str, Any]]:
    """A row for each game; what is in the workspace is not computed again.

    Args:
      workspace: where finished rows go.
      policy: a name of `play.registry`.
      games: game strings.
      device: where networks live.
      on_message: is told what is begun, and how much it will take.

    Raises:
      ValueError: if a game has no factored form, the policy is none for a game, or a finished row
        is of another file of this name.
    """
    rows = []
    for name in games:
        load_turn_based(name)  # What is no game is told before others take their time.
    for name in games:
        told = {"game": name, "policy": policy}
        settings = {**told, "checksum": registry.digest(policy)}
        part = file_name(*told.values())
        found = workspace.find(part, settings)
        if found is None:
            found = workspace.keep(part, settings, _judge(policy, name, device, on_message))
        rows.append(found)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """All rows, side by side."""
    return Table([{name: _written(name, row[name]) for name in COLUMNS} for row in rows], COLUMNS)


def _written(name: str, entry: float | str) -> str:
    return entry if isinstance(entry, str) else f"{entry:.{_DIGITS.get(name, _OTHER_DIGITS)}f}"


def judge(game: FactoredGame, policy: openspiel_policy.Policy) -> dict[str, float]:
    """What a policy earns, and what best responses to it do.

    Args:
      game: a game with a factored form.
      policy: of this game; networks are asked in batches.

    Returns:
      value of player 0, best_0 and best_1 of the players' best responses, exploitability, and the
      seconds of asking the policy and of evaluating.

    Raises:
      ValueError: if it is no policy of this game.
    """
    start = time.perf_counter()
    plans = plans_of(game, ArrayPolicy.from_policy(game, policy).strategies)
    asked = time.perf_counter()
    found = best_response.evaluate(game.sequence_form, plans)
    end = time.perf_counter()
    return {
        "value": found.value,
        "best_0": found.best[0],
        "best_1": found.best[1],
        "exploitability": found.exploitability,
        "asking": asked - start,
        "seconds": end - asked,
    }


def _load(policy: str, name: str, device: str) -> tuple[pyspiel.Game, openspiel_policy.Policy]:
    """The game of a name, and the policy. A preset's name may be that of its game's twin as well:
    then it is the one for which the policy is.
    """
    twins = [load_turn_based(each) for each in dict.fromkeys([name, game_string(name)])]
    problem: ValueError | None = None
    for game in twins:
        try:
            return game, registry.load_policy(policy, game, device=device)
        except ValueError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _judge(
    policy: str, name: str, device: str, on_message: Callable[[str], object]
) -> dict[str, Any]:
    # What is wrong with the policy is told before the game's tables are made.
    start = time.perf_counter()
    turn_based, loaded = _load(policy, name, device)
    loading = time.perf_counter() - start
    game = factored_game(turn_based)
    on_message(estimate(game))
    found = judge(game, loaded)
    return {"game": str(game.game), **found, "asking": found["asking"] + loading}
