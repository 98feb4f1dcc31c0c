"""Matches of SePoT against networks: Table 1 of Kubíček et al. (2023).

Returns have the luck removed that the searching network's critic estimates
(`play.control_variates`). Finished matches, and every 64 pairs of games, are not played again.
"""

from __future__ import annotations

import functools
from typing import Any

from experiments.sepot.study import TrainedGame
from spiel_dl.play import registry
from spiel_dl.runs import head_to_head
from spiel_dl.runs.workspace import file_name

Rows = list[dict[str, Any]]
MATCHES = {
    "max_histories": "largest search (unique histories)",
    "network": "SePoT's network",
    "opponent": "opponent",
    "without_luck": "SePoT's mean return (utility)",
    "half_width_without_luck": "± (95 %)",
    "variance_left": "variance left by control variates",
    "share_searched": "share of moves searched",
    "seconds_per_move": "seconds per move",
}
"""The columns of a table of matches."""
_PAPER = {
    25_000: {
        "goofspiel_8_descending": (1.42, 0.01),
        "goofspiel_8_random": (3.71, 0.03),
        "goofspiel_13_descending": (6.31, 0.01),
        "goofspiel_13_random": (1.17, 0.01),
        "battleships_3x3": (0.44, 0.06),
        "battleships_5x5": (34.58, 0.16),
    },
    100_000: {
        "goofspiel_8_descending": (1.66, 0.02),
        "goofspiel_8_random": (4.47, 0.11),
        "goofspiel_13_descending": (6.28, 0.08),
        "goofspiel_13_random": (1.47, 0.16),
        "battleships_3x3": (2.83, 0.06),
        "battleships_5x5": (36.54, 0.2),
    },
}
"""The paper's mean returns of SePoT against R-NaD, times 100, and half widths of 95% intervals.

By the largest number of unique histories of a search, and by game.
"""


def paper_result(game: str, max_histories: int) -> str | None:
    """The paper's mean return of SePoT against R-NaD ± half its interval, in utility units.

    Args:
      game: name of a preset.
      max_histories: the largest number of unique histories of a search.

    Returns:
      None, if the table has no such game or searches.
    """
    result = _PAPER.get(max_histories, {}).get(game)
    return None if result is None else f"{result[0] / 100:.4f} ± {result[1] / 100:.4f}"


def paper_mean(game: str, max_histories: int) -> float:
    """The mean return of `paper_result` alone; 0 if the table has none."""
    return _PAPER.get(max_histories, {}).get(game, (0.0, 0.0))[0] / 100


def wins(mean: float, half_width: float, paper: float = 0.0) -> bool | None:
    """Whether a mean return is above 0, by its interval.

    Args:
      mean: in utility units.
      half_width: half the interval.
      paper: the paper's number; 0: none.

    Returns:
      None if the interval contains both 0 and the paper's number.
    """
    if mean > half_width:
        return True
    return None if mean + half_width >= paper else False


def _match_seed(seed: int, other: int) -> int:
    """The seed of the match of two networks, different for every pair of their seeds.

    Intervals over all matches assume independent matches. (It is Cantor's pairing function.)
    """
    return (seed + other) * (seed + other + 1) // 2 + other


def play(
    study: TrainedGame[Any],
    names: tuple[str, str],
    seeds: tuple[int, int],
    bound: int | None,
    num_games: int,
    **search: Any,
) -> dict[str, Any]:
    """Plays a network, with search on top of it, against another network; returns a row.

    Args:
      study: the game's study; searches look its first limit ahead.
      names: the networks' names in `play.registry`; the first one has a critic.
      seeds: the networks' seeds.
      bound: the most unique histories of a search; None: no search.
      num_games: games of the match.
      search: options of the search, where they are not the defaults; none without search.
    """
    settings, limit, (own, opponent) = study.settings, study.limits[0], names
    match = _match_seed(*seeds)
    name = file_name("match", *seeds, bound or "control", num_games, *search.values())
    inputs = {
        "game": study.game,
        "depth_limit": str(limit),
        "iterations": settings.iterations,
        "seed": match,
        "files": [registry.digest(each) for each in names],
        **search,
    }
    options = {
        "depth_limit": limit,
        "max_histories": bound,
        "effort": settings.iterations,
        **search,
    }
    measure = functools.partial(
        head_to_head.measure,
        study.name,
        own if bound is None else f"sepot:{own}",
        opponent,
        num_games=num_games,
        seed=match,
        options={} if bound is None else options,
        control_variates=own,
        device=settings.device,
        workspace=study.workspace.within(name),
        description=name if study.workspace.show_progress else None,
    )
    row = study.workspace.part(name, inputs, measure)
    network, other = (f"seed {seed}" for seed in seeds)
    labels = {"game": study.name, "network": network, "opponent": other}
    return {**row, **labels, "max_histories": bound}
