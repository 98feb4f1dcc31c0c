"""Refined gadgets within continual resolving: how much lower exploitability is, by weights.

The blueprint is what the solution before left: a trunk solved with a value function, and the cfvs
that it gave. With optimal values these are near those of an equilibrium. With errors, as networks
have them, no strategy may keep the opponent at them: then refinement promises nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.sepot.evaluation import compiled
from experiments.sepot.study import Study
from experiments.study import Experiment, verdict
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.play.presets import game_string
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.refinement import REFINABLE, WEIGHTS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import compile_game
from spiel_dl.value_functions.exact import ExactValue
from spiel_dl.value_functions.noisy import NoisyValue

DOMAINS = {
    "leduc": DepthLimit(rounds=1),
    "goofspiel_5_descending": DepthLimit(rounds=3),
    "kuhn_poker": DepthLimit(moves=1),
}
"""Games that can be chosen, and how deep each piece is; the last one is for quick looks."""
SIZES = (0.0, 0.05)
"""Of the errors: their standard deviation, per largest utility."""
ITERATIONS = 200
_TOLERANCES = {0.0: 1e-3}
_TOLERANCE = 1e-2
"""Of the optimal values, in utility units: without errors, and with them."""
_PLAIN = "not refined"


class Case(NamedTuple):
    """One policy.

    Attributes:
      game: the name of a domain.
      size: of the errors, per largest utility.
      seed: of the errors.
      gadget: its name.
      refinement: its weights; None: it is not refined.
    """

    game: str
    size: float
    seed: int
    gadget: str
    refinement: str | None

    @property
    def named(self) -> tuple[str, dict[str, Any]]:
        """The name and the settings of a part."""
        settings = {**self._asdict(), "limit": str(DOMAINS[self.game]), "iterations": ITERATIONS}
        return file_name("refined_resolving", *settings.values()), settings


def measure(case: Case) -> float:
    """Exploitability, NashConv / 2, in utility units; for `distributed.map`."""
    tree = compiled(str(compile_game(game_string(case.game)).game))
    exact = ExactValue(_TOLERANCES.get(case.size, _TOLERANCE))
    size = case.size * float(np.abs(tree.utility).max())
    policy = ContinualResolvingPolicy(
        tree,
        NoisyValue(exact, size, case.seed),
        DOMAINS[case.game],
        gadget=case.gadget,
        refinement=case.refinement,
        effort=Effort(ITERATIONS),
    )
    return exploitability.exploitability(tree, policy.to_array_policy())


def _compute(study: Study) -> list[dict[str, Any]]:
    """Mean exploitability, by game, size of errors, gadget and weights."""
    games = study.settings.games or ("leduc", "goofspiel_5_descending")
    for game in games:
        if game not in DOMAINS:
            raise ValueError(f"game {game!r} must be one of {', '.join(DOMAINS)}")
    cases = [
        Case(game, size, seed, gadget, refinement)
        for game in games
        for size in SIZES
        for seed in (study.settings.seeds if size else (0,))
        for gadget in REFINABLE
        for refinement in (None, *WEIGHTS)
    ]
    named = [case.named for case in cases]
    values = study.workspace.parts(named, measure, cases, "refined_resolving")
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for case, value in zip(cases, values, strict=True):
        key = (case.game, case.size, case.gadget)
        row = rows.setdefault(key, dict(zip(("game", "size", "gadget"), key, strict=True)))
        row.setdefault(f"values_{case.refinement or _PLAIN}", []).append(value)
    for row in rows.values():
        row |= {name: float(np.mean(row[f"values_{name}"])) for name in (_PLAIN, *WEIGHTS)}
        plain = np.array(row[f"values_{_PLAIN}"])
        row["lower"] = ", ".join(
            f"{name} {np.count_nonzero(np.array(row[f'values_{name}']) < plain)}"
            for name in WEIGHTS
        )
        row["seeds"] = len(plain)
    return list(rows.values())


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    with_errors = [row for row in rows if row["size"]]
    held = {
        f"{row['game']}, {row['gadget']}, {row['size']:g}, {name}": row[name] < row[_PLAIN]
        for row in with_errors
        for name in WEIGHTS
    }
    titles = {
        "game": "exploitability in",
        "size": "errors / largest utility",
        "gadget": "gadget",
        _PLAIN: _PLAIN,
        **{name: f"refined, {name}" for name in WEIGHTS},
        "lower": "seeds on which it is lower",
    }
    sentences = []
    for game in dict.fromkeys(row["game"] for row in rows):
        for gadget in REFINABLE:
            found = [row for row in with_errors if (row["game"], row["gadget"]) == (game, gadget)]
            ratios = [f"{name} {_ratio(found, name):.2f}" for name in WEIGHTS]
            sentences.append(
                f"{game}, {gadget}: with errors, refined / not refined is {', '.join(ratios)}."
            )
    return Report(
        "",
        [
            "Exploitability = NashConv / 2, in utility units, of the whole game played by "
            f"continual resolving; {ITERATIONS} iterations of CFR+ in each piece, which are "
            f"{', '.join(f'{DOMAINS[row]} deep in `{row}`' for row in _names(rows))}. The value "
            "function is the optimal one with normally distributed errors, fixed for each leaf "
            f"infoset; means over seeds {', '.join(map(str, study.settings.seeds))}.",
            *sentences,
        ],
        {"Exploitability": Table(rows, titles)},
        verdict=verdict(held),
        headline=" ".join(sentences),
        more={"settings": {"iterations": ITERATIONS, "sizes": SIZES}},
    )


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["game"] for row in rows))


def _ratio(rows: list[dict[str, Any]], name: str) -> float:
    """Exploitability by that of gadgets that are not refined: geometric mean over sizes."""
    return float(np.exp(np.mean([np.log(row[name] / row[_PLAIN]) for row in rows])))


REFINED_RESOLVING = Experiment(
    "refined_resolving",
    "Refined gadgets within continual resolving",
    "exploitability = NashConv / 2 (utility)",
    "refined solutions of gadgets consistently outperform others (Kubíček, Lisý, Sandholm 2026, "
    "of single subgames below a blueprint).",
    _compute,
    _report,
    ("games", "seeds"),
)
