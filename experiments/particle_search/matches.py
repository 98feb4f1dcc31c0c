"""Search on top of learned networks in games whose public states cannot be listed.

Matches of each method against the network that it searches on top of; and, where the game has a
factored form, the exact exploitability of search in the first moves of each player with the network
below them.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyspiel

from experiments.particle_search.study import KLSS, METHODS, MMDS, VARIANTS, Settings, Study
from experiments.study import Experiment, Judgement, Tables
from spiel_dl.factored.families import factored_game, has_factored_form
from spiel_dl.play import registry
from spiel_dl.play.presets import game_string
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs import head_to_head
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers import best_response
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.factored_game import FactoredGame

Rows = list[dict[str, Any]]
_SEED = 1
USES = (
    "large_games", "methods", "network", "budget", "iterations", "stepsize", "num_rollouts",
)  # fmt: skip
_MATCHES = {
    "game": "game",
    "method": "search",
    "games": "games",
    "points": "share of points",
    "most": "an exact best response's",
    "mean": "mean return (utility)",
    "half_width": "± (95 %)",
    "share_searched": "share of moves searched",
    "seconds_per_move": "seconds per move",
}
_FIRST_MOVES = {
    "game": "game",
    "method": "search",
    "num_infosets": "infosets searched",
    "before": "network's exploitability",
    "after": "with search",
    "best_0_after": "best response of player 0",
    "best_1_after": "best response of player 1",
    "seconds": "seconds per infoset",
}


def options_of(method: str, settings: Settings) -> dict[str, Any]:
    """How methods search; each takes its own."""
    return {
        "effort": Effort(settings.iterations),
        "budget": settings.budget,
        "stepsize": settings.stepsize,
        "num_rollouts": settings.num_rollouts,
        **VARIANTS.get(method, {}),
    }


def names_of(game: str, method: str, settings: Settings) -> tuple[str, str]:
    """Who searches, and the network."""
    network = settings.network.format(game=game)
    return f"{KLSS if method in VARIANTS else method}:{network}", network


def told_of(game: str, method: str, settings: Settings) -> dict[str, Any]:
    """What a part depends on."""
    _, network = names_of(game, method, settings)
    # Where the opponent is SePoT, it makes these iterations as well.
    own = ("stepsize", "num_rollouts") if method == MMDS else ()
    names = ("budget", "iterations", *own)
    return {
        "game": game,
        "method": method,
        "network": network,
        "file": registry.digest(network),
        **{name: getattr(settings, name) for name in names},
        **VARIANTS.get(method, {}),
    }


def play(
    study: Study,
    name: str,
    told: dict[str, Any],
    game: str,
    players: tuple[str, str],
    options: dict[str, Any],
    **others: Any,
) -> dict[str, Any]:
    """A match, as a row of `head_to_head.measure`, unless it was played before.

    Args:
      study: the study.
      name: of the part.
      told: what the part depends on.
      game: a preset.
      players: the names of both policies.
      options: how those who search do so.
      **others: others of `head_to_head.measure`.
    """
    measure = functools.partial(
        head_to_head.measure,
        game,
        *players,
        num_games=study.settings.num_games,
        seed=_SEED,
        options=registry.taken(options, *players),
        workspace=study.workspace.within(name),
        description=name if study.workspace.show_progress else None,
        **others,
    )
    found: dict[str, Any] = study.workspace.part(name, told, measure)
    return found


def _matches(study: Study) -> Rows:
    settings, rows = study.settings, []
    for game in settings.large_games:
        _check_points(game)
        most = _most_points(study, game)
        for method in settings.methods:
            row = play(
                study,
                file_name("match", game, method, settings.budget, settings.num_games),
                told_of(game, method, settings),
                game,
                names_of(game, method, settings),
                options_of(method, settings),
                pairs_at_once=16,
            )
            points = {"points": 0.5 + row["mean"] / 2, "most": most}
            rows.append({**row, **points, "game": game, "method": METHODS[method]})
    return rows


def _check_points(game: str) -> None:
    """Raises ValueError if returns are not 1, 0 or -1, so that there are no points."""
    loaded = pyspiel.load_game(game_string(game))
    if (loaded.min_utility(), loaded.max_utility()) != (-1.0, 1.0):
        raise ValueError(
            f"large_games has {game!r}, whose returns are from {loaded.min_utility():g} to "
            f"{loaded.max_utility():g}; matches count points, so give games that are won or lost"
        )


def _at_most(row: Mapping[str, Any]) -> str:
    return "" if row.get("most") is None else f" of {row['most']:.1%} that there are to win"


def _most_points(study: Study, game: str) -> float | None:
    """The share of points of exact best responses to the network; None: it is not known."""
    if not has_factored_form(game_string(game)):
        return None
    network = study.settings.network.format(game=game)
    told = {"game": game, "network": network, "file": registry.digest(network)}
    judge = functools.partial(_judge_network, game, network)
    found = study.workspace.part(file_name("network", game), told, judge)
    return 0.5 + float(found["exploitability"]) / 2


def _judge_network(game: str, network: str) -> dict[str, Any]:
    found = _exact(_factored(game), _table(game, network))
    return {"best": list(found.best), "exploitability": found.exploitability}


def _matches_report(study: Study, rows: Rows) -> Report:
    settings = study.settings
    return Report(
        "",
        [
            "Returns are in utility units, of pairs of games with both seats and the same luck; a "
            "win is a point, a draw half of one. The most that anybody can get is what exact best "
            "responses to the network get, by the factored form of the game. Moves searched are "
            "those of several actions that a search chose, of all such moves.",
            f"Searches start from at most {settings.budget} histories; those below particles make "
            f"{settings.iterations} iterations, and mirror-descent search a step of size "
            f"{settings.stepsize} (in utility ranges) by at least {settings.num_rollouts} "
            "rollouts. The opponent is the network itself, "
            f"`{settings.network}`.",
        ],
        {"Matches": Table(rows, _MATCHES)},
    )


def _judge_matches(tables: Tables) -> Judgement:
    told = (
        f"{row['game']}, {row['method']}: {row['points']:.1%} of points{_at_most(row)}"
        for row in tables["Matches"]
    )
    return Judgement("", "; ".join(told))


def first_infosets(game: FactoredGame, player: int, num_moves: int) -> np.ndarray:
    """The infosets in which a player has made fewer moves of its own: int [n]."""
    treeplex, sequences = game.treeplexes[player], np.zeros(1, np.int64)
    found = np.zeros(treeplex.num_infosets, np.bool_)
    for _ in range(num_moves):
        follows = np.isin(treeplex.parent_sequence, sequences)
        found |= follows
        sequences = treeplex.sequences_of(follows)
    return np.flatnonzero(found)


def with_first_moves(
    game: FactoredGame, network: ArrayPolicy, policy: Any, num_moves: int
) -> ArrayPolicy:
    """A policy's first moves of each player, and a network's others."""
    strategies = []
    for player in (0, 1):
        strategy = network.strategies[player].copy()
        for infoset in first_infosets(game, player, num_moves).tolist():
            answer = policy.action_probabilities(game.state(player, infoset), player)
            actions = game.legal_actions(player, infoset).tolist()
            strategy[game.treeplexes[player].sequences(infoset)] = [
                answer.get(action, 0.0) for action in actions
            ]
        strategies.append(strategy)
    return ArrayPolicy(game, (strategies[0], strategies[1]))


def _exact(game: FactoredGame, policy: ArrayPolicy) -> best_response.Evaluation:
    plans = [
        best_response.realization_plan(treeplex, strategy)
        for treeplex, strategy in zip(game.treeplexes, policy.strategies, strict=True)
    ]
    return best_response.evaluate(game.sequence_form, (plans[0], plans[1]))


def _judge(game: str, method: str, settings: Settings) -> dict[str, Any]:
    """Exploitability of the network, and with search in the first moves."""
    name, network = names_of(game, method, settings)
    factored = _factored(game)
    table = _table(game, network)
    before = _exact(factored, table)
    options = registry.taken(options_of(method, settings), name)
    policy = registry.load_policy(name, factored.game, **options)
    start = time.perf_counter()
    searched = with_first_moves(factored, table, policy, settings.num_first_moves)
    seconds = time.perf_counter() - start
    after = _exact(factored, searched)
    count = sum(len(first_infosets(factored, p, settings.num_first_moves)) for p in (0, 1))
    return {
        "num_infosets": count,
        "before": before.exploitability,
        "best_0_before": before.best[0],
        "best_1_before": before.best[1],
        "after": after.exploitability,
        "best_0_after": after.best[0],
        "best_1_after": after.best[1],
        "seconds": seconds / count,
    }


@functools.lru_cache(maxsize=1)
def _factored(game: str) -> FactoredGame:
    return factored_game(game_string(game))


@functools.lru_cache(maxsize=1)
def _table(game: str, network: str) -> ArrayPolicy:
    factored = _factored(game)
    return ArrayPolicy.from_policy(factored, registry.load_policy(network, factored.game))


def _first_moves(study: Study) -> Rows:
    settings, rows = study.settings, []
    for game in settings.large_games:
        for method in settings.methods:
            name = file_name("first", game, method, settings.budget, settings.num_first_moves)
            told = {**told_of(game, method, settings), "num_first_moves": settings.num_first_moves}
            found = study.workspace.part(
                name, told, functools.partial(_judge, game, method, settings)
            )
            rows.append({"game": game, "method": METHODS[method], **found})
    return rows


def _first_moves_report(study: Study, rows: Rows) -> Report:
    settings = study.settings
    return Report(
        "",
        [
            "Exploitability is half of NashConv, in utility units, by the factored form of the "
            f"game. Search chooses the first {settings.num_first_moves} moves of each player, in "
            f"all of their infosets, and the network, `{settings.network}`, all others.",
            f"Searches start from at most {settings.budget} histories; those below particles make "
            f"{settings.iterations} iterations, and mirror-descent search a step of size "
            f"{settings.stepsize} by at least {settings.num_rollouts} rollouts.",
        ],
        {"By game and method": Table(rows, _FIRST_MOVES)},
        headline="; ".join(
            f"{row['game']}, {row['method']}: {row['after']:.4f} (network {row['before']:.4f})"
            for row in rows
        ),
    )


MATCHES = Experiment(
    "matches",
    "Search below samples of public states, head to head with its network",
    "share of points",
    "",
    _matches,
    _matches_report,
    uses=(*USES, "num_games"),
    judge=_judge_matches,
)
FIRST_MOVES = Experiment(
    "first_moves",
    "Exact exploitability of search in the first moves, with the network below",
    "exploitability (utility)",
    "",
    _first_moves,
    _first_moves_report,
    uses=(*USES, "num_first_moves"),
)
