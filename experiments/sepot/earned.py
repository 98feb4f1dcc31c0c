"""What search earns against its own network, exactly: Table 1 without games.

Kubíček et al. (2023), Table 1, play SePoT against R-NaD. In a game that can be compiled, the mean
return of such a match is known without playing it, and so is the most that anybody can earn: a best
response's. Here blueprints of all qualities are searched on top of, with critics that are exact or
wrong by noise (`critic_errors`), one thing changed at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.sepot.critic_errors import Item, by_line, items_of, searched
from experiments.sepot.study import GameStudy, Study, is_whole_game
from experiments.study import Experiment, Judgement, Tables, verdict
from spiel_dl.algorithms import exploitability
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.game_tree import GameTree

GAMES = ("goofspiel_5_descending", "leduc", "battleships_2x2")
BLUEPRINTS = ("uniform", "fixed:1", "fixed:2", "fixed:4", "mmd:{game}", "rnad:{game}")
"""As `ablation.blueprint_of` takes them; those with {game} in them are the zoo's networks."""
ERRORS = (0.0, 0.004, 0.016)
"""Standard deviations of the critics' noise, as shares of the utility range."""
_WITH_EXACT = "With exact critics"
_LEAST = 1e-6
"""Less is the error of arithmetic."""
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "limit": "depth limit",
    "error": "critic's error (share of the utility range)",
    "before": "blueprint's NashConv",
    "after": "with search",
    "earned": "earned against the blueprint (utility a game)",
    "most": "earned by a best response",
}


def mean_return(tree: GameTree, policy: ArrayPolicy, opponent: ArrayPolicy) -> float:
    """What a policy earns a game against another one, both seats being as likely."""
    as_first = exploitability.expected_value(tree, policy, opponent)
    as_second = -exploitability.expected_value(tree, opponent, policy)
    return (as_first + as_second) / 2


def outcome(tree: GameTree, blueprint: ArrayPolicy, found: ArrayPolicy) -> dict[str, float]:
    """What a search on top of a blueprint earns against it, and how exploitable both are."""
    before = exploitability.nash_conv(tree, blueprint)
    return {
        "before": before,
        "after": exploitability.nash_conv(tree, found),
        "earned": mean_return(tree, found, blueprint),
        # Against a policy that plays both seats, which two best responses do.
        "most": before / 2,
    }


def measure(item: Item) -> dict[str, float]:
    """The same of a search by noisy values; for `distributed.map`."""
    return outcome(*searched(item))


def _compute(study: Study) -> list[dict[str, Any]]:
    return [row for each in study.games(*GAMES) for row in _rows(each)]


def _rows(study: GameStudy) -> list[dict[str, Any]]:
    names = [name.format(game=study.name) for name in study.settings.blueprints or BLUEPRINTS]
    items = list(items_of(study, names, ERRORS))
    named = [(file_name("earned", *item.settings.values()), item.settings) for item in items]
    found = study.workspace.parts(named, measure, items, f"{study.name}: earned")
    return [
        {
            "game": study.name,
            "blueprint": blueprint,
            "limit": limit,
            "error": error,
            **{name: float(np.mean([r[name] for r in results])) for name in results[0]},
        }
        for (blueprint, limit, error), results in by_line(items, found).items()
    ]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings, exact = study.settings, [row for row in rows if not row["error"]]
    panel = Panel("before", "earned", _TITLES["before"], _TITLES["earned"], "log", "linear")
    pictures = []
    for each in study.games(*dict.fromkeys(row["game"] for row in rows)):
        own = [row for row in exact if row["game"] == each.name]
        curves = {
            f"search, {limit}": sorted(
                (row for row in own if row["limit"] == limit), key=lambda row: row["before"]
            )
            for limit in dict.fromkeys(row["limit"] for row in own)
        }
        title = f"{EARNED.title}\n{each.game}"
        pictures.append(Picture(file_name("earned", each.name), title, [panel], curves))
    return Report(
        "",
        [
            "Returns are exact means over both seats, in utility units; what best responses earn "
            "is half of NashConv. Search is SePoT with its defaults in all public states, by "
            f"{settings.iterations:,} iterations of predictive CFR+. Errors are normal noise on "
            f"every value of an exact critic, {len(settings.seeds)} seeds, means over them.",
            "fixed:K is R-NaD's exact fixed point after K regularisation policies.",
        ],
        {_WITH_EXACT: Table(exact, _TITLES), "All": Table(rows, _TITLES)},
        pictures,
    )


def _judge(tables: Tables) -> Judgement:
    """Of networks alone, and of searches that leave something to a critic."""
    told = [
        row
        for row in tables[_WITH_EXACT]
        if row["blueprint"].endswith(f":{row['game']}")
        and not is_whole_game(row["game"], row["limit"])
    ]
    return Judgement(
        verdict({f"{row['blueprint']}, {row['limit']}": row["earned"] > _LEAST for row in told}),
        "; ".join(
            f"{row['blueprint']}, {row['limit']}: {row['earned']:.4f} of {row['most']:.4f}"
            for row in told
        ),
    )


EARNED = Experiment(
    "earned",
    "What SePoT earns against its own network, exactly",
    "mean return (utility)",
    "SePoT wins against R-NaD in all games (Table 1); held against exact mean returns in small "
    "games, with exact critics, above trained networks, whatever they learned by.",
    _compute,
    _report,
    ("games", "seeds", "transformations", "limits", "iterations", "blueprints"),
    _judge,
)
