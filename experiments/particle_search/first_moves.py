"""Mirror-descent search in the first moves of games too large to list, exactly evaluated.

Search chooses the first moves of each player, in all of their infosets, and the network all others.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any

import numpy as np

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.particle_search.mirror_descent import AUTHORS
from experiments.particle_search.steps import Pair, earned
from experiments.settings import as_json, check_least
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.factored.families import factored_game
from spiel_dl.play import registry
from spiel_dl.play.presets import PRESETS
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.best_response import evaluate
from spiel_dl.tree.factored_game import FactoredGame


@dataclasses.dataclass(frozen=True)
class Settings:
    """A game, its network, and searches.

    Attributes:
      game: a preset with a factored form.
      network: the name of a policy.
      steps: stepsizes and temperatures of searches, in utility ranges.
      depth: in moves.
      num_rollouts: games in each search, at least.
      budget: histories in each search, at most.
      num_moves: how many moves of each player are searched.
      most: by which share exploitability may rise.
    """

    game: str
    network: str
    steps: tuple[tuple[float, float], ...] = ((0.3, 0.0), AUTHORS)
    depth: int = 2
    num_rollouts: int = 512
    budget: int = 200
    num_moves: int = 2
    most: float = 0.05

    def __post_init__(self) -> None:
        check_least(self, depth=1, num_rollouts=1, budget=1, num_moves=1)
        if self.game not in PRESETS:
            raise ValueError(f"game {self.game!r} must be one of {', '.join(PRESETS)}")


class Study(experiment.Study[Settings]):
    """One network."""

    num_threads = 1


def first_infosets(game: FactoredGame, player: int, num_moves: int) -> list[int]:
    """The infosets in which a player has made fewer moves of its own."""
    treeplex, sequences = game.treeplexes[player], np.zeros(1, np.int64)
    found = np.zeros(treeplex.num_infosets, np.bool_)
    for _ in range(num_moves):
        follows = np.isin(treeplex.parent_sequence, sequences)
        found |= follows
        sequences = treeplex.sequences_of(follows)
    return np.flatnonzero(found).tolist()


def measure(settings: Settings) -> list[dict[str, Any]]:
    """A row of the network, and one of each search."""
    factored = factored_game(PRESETS[settings.game].game)
    network = registry.load_policy(settings.network, factored.game)
    table = ArrayPolicy.from_policy(factored, network)
    first, second = table.strategies
    rows = [{"stepsize": 0.0, "temperature": 0.0, "seconds": 0.0}]
    rows[0] |= _judged(factored, (first, second), (first, second))
    for stepsize, temperature in settings.steps:
        search = registry.load_policy(
            f"mmds:{settings.network}",
            factored.game,
            stepsize=stepsize,
            temperature=temperature,
            depth=settings.depth,
            num_rollouts=settings.num_rollouts,
            budget=settings.budget,
        )
        after, start, count = (first.copy(), second.copy()), time.process_time(), 0
        for player in (0, 1):
            for infoset in first_infosets(factored, player, settings.num_moves):
                answer = search.action_probabilities(factored.state(player, infoset), player)
                actions = factored.legal_actions(player, infoset).tolist()
                own = factored.treeplexes[player].sequences(infoset)
                after[player][own] = [answer.get(action, 0.0) for action in actions]
                count += 1
        row = {"stepsize": stepsize, "temperature": temperature, "infosets": count}
        row["seconds"] = (time.process_time() - start) / count
        rows.append({**row, **_judged(factored, after, (first, second))})
    return rows


def _judged(game: FactoredGame, after: Pair, before: Pair) -> dict[str, float]:
    """Exploitability, and what search earns against the network, mean of both seats."""
    searched, network = plans_of(game, after), plans_of(game, before)
    form = game.sequence_form
    found = evaluate(form, searched)
    return {
        "exploitability": found.exploitability,
        "earned": earned(form, searched, network),
    }


def _compute(study: Study) -> list[dict[str, Any]]:
    settings = study.settings
    told = {**as_json(settings), "file": registry.digest(settings.network)}
    told.pop("most")
    found: list[dict[str, Any]] = study.workspace.part(
        "first", told, functools.partial(measure, settings)
    )
    before = found[0]["exploitability"]
    return [{**row, "rise": row["exploitability"] / before - 1} for row in found]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings = study.settings
    return Report(
        "",
        [
            f"Exploitability is half of NashConv, in utility units, by the factored form of "
            f"{settings.game}. Search chooses the first {settings.num_moves} moves of each player "
            f"in all of their infosets, and the network, `{settings.network}`, all others. What it "
            "earns against the network alone is exact, too, mean of both seats. A stepsize of 0 is "
            "no search.",
            f"A search plays at least {settings.num_rollouts} games of {settings.depth} moves and "
            f"on to the player's next decision, from at most {settings.budget} histories. Stepsize "
            f"{AUTHORS[0]:g} and temperature {AUTHORS[1]:g} are the authors' 10 and 0.006.",
        ],
        {
            "By search": Table(
                rows,
                {
                    "stepsize": "stepsize",
                    "temperature": "temperature",
                    "exploitability": "exploitability",
                    "rise": "rise (share)",
                    "earned": "earned against the network",
                    "infosets": "infosets searched",
                    "seconds": "processor seconds per infoset",
                },
            )
        },
    )


def _judge(tables: Tables, most: float) -> Judgement:
    """Of the first setting: that it wins and is safe."""
    [rows] = tables.values()
    _, first, *_ = rows
    told = f"stepsize {first['stepsize']:g}"
    parts = {
        f"{told} wins": first["earned"] > 0,
        f"{told} is safe": first["rise"] <= most,
    }
    return Judgement(
        verdict(parts),
        "; ".join(
            f"stepsize {row['stepsize']:g}: exploitability {row['exploitability']:.4f}, earned "
            f"{row['earned']:.2g}"
            for row in rows
        ),
    )


FIRST_MOVES = Experiment(
    name="first_moves",
    title="Mirror-descent search in the first moves, with the network below",
    metric="exploitability (utility)",
    claim=(
        "has no such experiment; held is that the setting of small steps wins against the network "
        "and raises its exploitability by at most 5 %."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=functools.partial(_judge, most=Settings.most),
)
ROWS = tuple(
    Row(
        FIRST_MOVES,
        f"particle_search/first_{game}",
        Settings(game, f"mmd:{game}"),
        minutes=minutes,
        short_of="search in all moves",
    )
    for game, minutes in (
        ("phantom_ttt", 5),
        ("dark_hex_3x3", 5),
        ("abrupt_phantom_ttt", 20),
        ("abrupt_dark_hex_3x3", 20),
    )
)
