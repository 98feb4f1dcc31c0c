"""How far sampled beliefs are from exact ones, by budget: total variation.

Public states are met in random play; in each, the exact belief is that of both players following
the blueprint. A sample is drawn from the list of all histories, or without it: by the game's own
sampler, as in Battleships, or by replaying the blueprint.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyspiel

from experiments.particle_search.study import Settings, Study, acting, blueprint_of, compiled
from experiments.study import Experiment
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.beliefs import Beliefs, total_variation
from spiel_dl.search.policy_rows import TensorPolicy
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.particles import rules_of

_SMALLEST = 10
"""A public state of fewer histories tells nothing of a share of 1 %."""
_SOURCES = {"listed": 1_000_000, "replayed": 0}
_TITLES = {
    "game": "game",
    "share": "share of the public state",
    "listed": "total variation, drawn from the list",
    "replayed": "drawn without the list",
    "places": "public states",
    "histories": "histories in them (mean)",
}


class Case(NamedTuple):
    """Beliefs in public states of one game and blueprint."""

    game: str
    blueprint: str
    settings: Settings

    @property
    def named(self) -> tuple[str, dict[str, Any]]:
        """The name and the settings of a part."""
        settings = self.settings
        told = {
            "game": self.game,
            "blueprint": self.blueprint,
            "shares": list(settings.shares),
            "places": settings.num_places,
            "samples": settings.num_samples,
        }
        return file_name("beliefs", self.game, self.blueprint), told


def measure(case: Case) -> list[dict[str, Any]]:
    """Mean total variation by share; for `distributed.for_each`."""
    tree, settings = compiled(case.game), case.settings
    rules = rules_of(tree.game)
    rows = TensorPolicy(rules, acting(tree, blueprint_of(case.game, case.blueprint)))
    beliefs = {name: Beliefs(tree.game, most) for name, most in _SOURCES.items()}
    keys = InfosetKeys(rules)
    found: list[dict[str, Any]] = []
    for state in _places(tree.game, settings.num_places):
        public_key = int(keys.of_level(state.batch)[1][0])
        public_tensor = rules.public_tensor(state.batch, True)[0]
        exact = beliefs["listed"].of(public_key, public_tensor, rows)
        size = exact.num_histories
        assert size is not None
        everything = exact.whole(size, np.random.default_rng(0))
        for share in settings.shares:
            budget = max(1, round(share * size))
            row: dict[str, Any] = {"share": share, "histories": size}
            for name, source in beliefs.items():
                belief = source.of(public_key, public_tensor, rows)
                drawn = [
                    belief.whole(budget, np.random.default_rng(seed))
                    for seed in range(settings.num_samples)
                ]
                row[name] = float(np.mean([total_variation(everything, each) for each in drawn]))
            found.append(row)
    return found


def _places(game: pyspiel.Game, count: int) -> list[pyspiel.State]:
    """States of random games in which a player moves, in large enough public states."""
    generator = np.random.default_rng(0)
    found: list[pyspiel.State] = []
    beliefs = Beliefs(game, 1_000_000)
    keys = InfosetKeys(rules_of(game))
    while len(found) < count:
        state = game.new_initial_state()
        while not state.is_terminal() and len(found) < count:
            if not state.is_chance_node():
                public_key = int(keys.of_level(state.batch)[1][0])
                tensor = rules_of(game).public_tensor(state.batch, True)[0]
                size = beliefs.size(public_key, tensor)
                if size is not None and size >= _SMALLEST:
                    found.append(state.clone())
            state.apply_action(int(generator.choice(state.legal_actions())))
    return found


def _compute(study: Study) -> list[dict[str, Any]]:
    settings = study.settings
    cases = [
        Case(game, blueprint, settings)
        for game in settings.games
        for blueprint in settings.blueprints
    ]
    results = study.workspace.parts([c.named for c in cases], measure, cases, "beliefs")
    return [
        {"game": case.game, "blueprint": case.blueprint, **row}
        for case, rows in zip(cases, results, strict=True)
        for row in rows
    ]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings, means = study.settings, []
    for game in settings.games:
        for share in settings.shares:
            own = [row for row in rows if (row["game"], row["share"]) == (game, share)]
            names = (*_SOURCES, "histories")
            told = {name: float(np.mean([row[name] for row in own])) for name in names}
            means.append({"game": game, "share": share, **told, "places": len(own)})
    return Report(
        "",
        [
            "Total variation between the exact belief of a public state, if both players follow "
            "the blueprint, and that of a sample: 0 is the same, 1 has nothing in common. Mean "
            f"over {settings.num_places} public states of at least {_SMALLEST} histories met in "
            f"random play, {settings.num_samples} samples each, and the blueprints "
            f"{', '.join(settings.blueprints)}.",
        ],
        {"By game and budget": Table(means, _TITLES)},
        more={"by_place": rows},
        headline="; ".join(
            f"{name} {', '.join(f'{row[name]:.2g}' for row in means)}" for name in _SOURCES
        )
        + f" at shares {', '.join(str(row['share']) for row in means)}",
    )


BELIEFS = Experiment(
    "beliefs",
    "Sampled beliefs against exact ones, by budget",
    "total variation against the share of histories",
    "",
    _compute,
    _report,
    uses=("games", "blueprints", "shares", "num_places", "num_samples"),
)
