"""What the number of iterations in each search is worth, where it can be told exactly.

Beyond the particle paper: networks learn by self-play in a game so small that their search can be
asked in every infoset. What it wins, and what a best response wins against it, are then sums over
the whole game, without the luck of a match.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from open_spiel.python import policy as openspiel_policy

from experiments.particle.play import OPPONENTS, learn
from experiments.particle.study import SIZES, Study
from experiments.study import Experiment, Judgement, Tables, deviation, verdict
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.exploitability import expected_value, nash_conv
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
from spiel_dl.play.registry import load_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.training import NETWORK_FILE

_HIGHEST = "highest action"
_MEANS, _ALL = "Means", "All networks"
_NASH_CONV = "NashConv, in utility units"
_RETURNS = {opponent: f"mean return against {opponent}" for opponent in OPPONENTS}
Rows = list[dict[str, Any]]


def _compute(study: Study) -> Rows:
    """What the search of every network comes to, with every number of iterations."""
    settings = study.settings
    numbers = [(seed, each) for seed in settings.seeds for each in settings.search_iterations]
    paths = {seed: learned_network(study, ITERATIONS, seed) for seed in settings.seeds}
    told = told_of(study, ITERATIONS)
    rows = []
    for seed, iterations in numbers:
        found = study.workspace.part(
            f"searched-{iterations}-seed-{seed}",
            {**told, "seed": seed, "iterations": iterations},
            functools.partial(_search, study, paths[seed], seed, iterations),
        )
        rows.append({"seed": seed, "iterations": iterations, **found})
    return rows


def told_of(study: Study, experiment: Experiment[Study]) -> dict[str, Any]:
    """What a network depends on but for seed and games, as JSON can hold it."""
    game, limit, _ = study.game_and_play()
    told = experiment.settings(study.settings)
    told = {name: value for name, value in told.items() if name not in ("seeds", *_VARIED)}
    return {**told, "game": game, "depth_limit": str(limit)}


def learned_network(
    study: Study, experiment: Experiment[Study], seed: int, num_games: int | None = None
) -> Path:
    """The file of the network of a seed after its games of self-play.

    Args:
      study: where it is kept.
      experiment: whose settings it depends on.
      seed: of the network and of its games.
      num_games: how many games; None: as the settings say.
    """
    game, limit, play = study.game_and_play(seed)
    name, told = f"self_play-seed-{seed}", {**told_of(study, experiment), "seed": seed}
    if num_games is not None:
        name, told = f"self_play-games-{num_games}-seed-{seed}", {**told, "num_games": num_games}
        play = dataclasses.replace(play, decay_steps=num_games)
    learner = ParticleSelfPlay(game, study.make_particle_network(seed), limit, play)
    learn(study, learner, told, name, num_games)
    return study.workspace.directory / name / NETWORK_FILE


def _search(study: Study, path: Path, seed: int, iterations: int) -> dict[str, float]:
    """The numbers of one network's search, as `measured` has them."""
    _, limit, play = study.game_and_play(seed)
    network = ParticleNetwork.load(path, device=study.settings.device)
    tree, effort = compiled(study), Effort(iterations)
    return measured(
        tree, ParticlePolicy(tree, network, limit, budget=play.budget, effort=effort, seed=seed)
    )


@functools.cache
def compiled(study: Study) -> GameTree:
    """The compiled game of self-play."""
    game, *_ = study.game_and_play()
    return GameTree.from_game(game)


def measured(tree: GameTree, policy: openspiel_policy.Policy) -> dict[str, float]:
    """NashConv of a policy, and what it wins, on average over both seats, in utility units.

    Args:
      tree: the compiled game.
      policy: both players' policy.
    """
    table = ArrayPolicy.from_policy(tree, policy)
    found = {"nash_conv": nash_conv(tree, table)}
    for opponent, name in OPPONENTS.items():
        other = load_policy(name, tree)
        first, second = expected_value(tree, table, other), expected_value(tree, other, table)
        found[opponent] = (first - second) / 2
    return found


def _report(study: Study, rows: Rows) -> Report:
    settings, (game, limit, play) = study.settings, study.game_and_play()
    solver = CFRPlusSolver(compiled(study))
    solver.run(settings.equilibrium_iterations)
    reference = measured(compiled(study), solver.average_policy())
    means: Rows = []
    for iterations in settings.search_iterations:
        of = [row for row in rows if row["iterations"] == iterations]
        line: dict[str, Any] = {"iterations": f"{iterations:,}"}
        for name in (_HIGHEST, *OPPONENTS, "nash_conv"):
            line[name] = statistics.fmean(row[name] for row in of)
        line["deviation"] = deviation([row[_HIGHEST] for row in of])
        means.append(line)
    means.append({"iterations": "CFR+ of the whole game", **reference})
    titles = {
        "iterations": "iterations in each search",
        _HIGHEST: _RETURNS[_HIGHEST],
        "deviation": "standard deviation",
        **{name: title for name, title in _RETURNS.items() if name != _HIGHEST},
        "nash_conv": _NASH_CONV,
    }
    return Report(
        f"Particle search by its number of iterations in {game}",
        [
            f"Networks of {settings.num_games:,} games of self-play, with {play.iterations:,} "
            f"iterations in each search below at most {play.budget:,} particles, to a depth limit "
            f"of {limit}; seeds {', '.join(map(str, settings.seeds))}. All numbers are exact: the "
            "search was asked in every infoset. Returns are means over both seats, in utility "
            f"units. CFR+ of the whole game did {settings.equilibrium_iterations:,} iterations.",
        ],
        {
            _MEANS: Table(means, titles),
            _ALL: Table(rows, {"seed": "seed", **titles}),
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Whether each increase of the iterations lets every network win more, or lose less."""
    rows = tables[_ALL]
    found = {(row["seed"], row["iterations"]): row[_HIGHEST] for row in rows}
    seeds, numbers = (sorted({key[i] for key in found}) for i in (0, 1))
    parts = {
        f"{more:,} better than {less:,}": all(found[s, more] > found[s, less] for s in seeds)
        for less, more in itertools.pairwise(numbers)
    }
    searched = tables[_MEANS][:-1]
    return Judgement(verdict(parts), f"against {_HIGHEST} " + _listed(searched))


def _listed(means: Sequence[Any]) -> str:
    """Mean returns against the highest action, by iterations."""
    return ", ".join(
        f"{line[_HIGHEST]:.3g} ± {line['deviation']:.2g} (s.d.) with {line['iterations']}"
        for line in means
    )


_VARIED = ("search_iterations", "learned_games")
ITERATIONS = Experiment(
    "iterations",
    "Particle search by its number of iterations",
    "mean return (utility)",
    "has no such experiment; held is that with more iterations in each search every network wins "
    "more, or loses less, against a player that always bids its highest card.",
    _compute,
    _report,
    (
        "game", "depth_limit", "iterations", "play", "num_games", "seeds", "device",
        "equilibrium_iterations", "search_iterations", *SIZES,
    ),
    _judge,
)  # fmt: skip
