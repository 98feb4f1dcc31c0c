"""Self-play by particle search: exact NashConv of continual resolving with learned values.

Compares the library's networks with the same networks without positions among their features, and
with the paper's, which are not conditional either; the reference is search with optimal values.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from typing import Any

from experiments import experiment
from experiments.experiment import OURS, Experiment, Row
from experiments.settings import Checked, as_json
from experiments.verdicts import (
    Judgement,
    Tables,
    grouped,
    mean_text,
    numbers_of,
    student_half_width,
    verdict,
)
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.exploitability import expected_value, nash_conv
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.play.registry import load_policy
from spiel_dl.runs.learner_run import run_learner
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.system.parameters import Positive, Seed
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.exact import ExactValue
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes

BOTH, NO_POSITIONS, PAPER = "conditional, with positions", "conditional", "as in the paper"
KINDS = {BOTH: (True, True), NO_POSITIONS: (True, False), PAPER: (False, False)}
"""Networks: whether they are conditional, and whether they see positions."""
_OPTIMAL = "optimal values"
_GADGETS = ("unsafe", "resolving")
_OPPONENTS = ("highest", "uniform")
_SIZES = ParticleSizes(
    base=64, basis_layers=2, basis_width=2.0, regression_layers=3, regression_width=2.0
)
_PLAY = ParticleSelfPlayConfig(width=27, iterations=50, buffer_size=20_000)


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Self-play and search.

    Attributes:
      game: small enough to compile.
      depth_limit: of searches in self-play and in play.
      sizes: of the networks.
      play: self-play; the learning rate falls over all games, and seeds are those below.
      num_games: of networks of each kind.
      more_games: further numbers of games, of the first kind alone.
      seeds: of networks and self-play; each number of games is played by itself.
      iterations: of CFR+ in each search in play.
      goal: the largest mean NashConv of the longest self-play, with the better gadget.
    """

    game: str
    depth_limit: DepthLimit
    sizes: ParticleSizes = _SIZES
    play: ParticleSelfPlayConfig = _PLAY
    num_games: Positive = 300
    more_games: tuple[Positive, ...] = (1_200,)
    seeds: tuple[Seed, ...] = (1, 2, 3)
    iterations: Positive = 200
    goal: float = 0.2


class Study(experiment.Study[Settings]):
    """Trains all networks and evaluates search with each of them."""

    @functools.cached_property
    def tree(self) -> GameTree:
        """The compiled game."""
        return GameTree.from_game(self.settings.game)

    def network(self, kind: str, num_games: int, seed: int) -> ParticleNetwork:
        """Trains the network of a kind for so many games, or continues its run."""
        settings = self.settings
        conditional, positions = KINDS[kind]
        features = InfostateFeatures(positions=positions)
        network = ParticleNetwork(settings.sizes, features, conditional=conditional, seed=seed)
        config = dataclasses.replace(
            settings.play, decay_steps=num_games, seed=seed, max_tree_histories=1
        )
        learner = ParticleSelfPlay(settings.game, network, settings.depth_limit, config)
        identity = {"game": str(learner.game), "learner": learner.settings()}
        name = file_name("network", kind, num_games, seed)
        run_learner(
            learner,
            self.workspace.run_directory(name, identity),
            num_games,
            steps_per_evaluation=max(1, num_games // 10),
            show_progress=self.workspace.show_progress,
        )
        return learner.network

    def judge(self, gadget: str, values: ValueFunction) -> dict[str, float]:
        """NashConv of continual resolving with values, and its mean return over both seats."""
        tree = self.tree
        policy = ContinualResolvingPolicy(
            tree,
            values,
            self.settings.depth_limit,
            gadget=gadget,
            effort=Effort(self.settings.iterations),
        ).to_array_policy()
        row = {"nash_conv": nash_conv(tree, policy)}
        for name in _OPPONENTS:
            other = load_policy(name, tree)
            first, second = expected_value(tree, policy, other), expected_value(tree, other, policy)
            row[name] = (first - second) / 2
        return row

    def judged(self, kind: str, num_games: int, seed: int) -> list[dict[str, Any]]:
        """A row for each gadget, for the network of a kind after so many games."""
        network = self.network(kind, num_games, seed)
        return [{"gadget": each, **self.judge(each, network)} for each in _GADGETS]


def _compute(study: Study) -> list[dict[str, Any]]:
    settings = study.settings
    numbers = [(kind, settings.num_games) for kind in KINDS]
    numbers += [(BOTH, more) for more in settings.more_games]
    rows: list[dict[str, Any]] = [
        {"values": _OPTIMAL, "gadget": gadget, **study.judge(gadget, ExactValue())}
        for gadget in _GADGETS
    ]
    own = as_json(dataclasses.replace(settings, seeds=(0,), more_games=()))
    for kind, num_games in numbers:
        for seed in settings.seeds:
            judge = functools.partial(study.judged, kind, num_games, seed)
            name = file_name("judged", kind, num_games, seed)
            labels = {"values": kind, "games": num_games, "seed": seed}
            rows_by_gadget = study.workspace.part(name, {**own, **labels}, judge)
            rows.extend({**labels, **row} for row in rows_by_gadget)
    return rows


_MEANS, _ALL, _GOAL = "Means", "All networks", "Goal"
_KEYS = {"values": "values", "games": "games of self-play", "gadget": "gadget"}
_COLUMNS = {
    "nash_conv": "NashConv (utility)",
    "highest": "against the highest card",
    "uniform": "against uniform",
}


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings, play = study.settings, study.settings.play
    means = []
    for key, own in grouped(rows, *_KEYS).items():
        line: dict[str, Any] = dict(zip(_KEYS, key, strict=True))
        line |= {name: statistics.fmean(row[name] for row in own) for name in _COLUMNS}
        if len(own) > 1:
            line["half_width"] = student_half_width([row["nash_conv"] for row in own])
        means.append(line)
    seeds = ", ".join(map(str, settings.seeds))
    return Report(
        "",
        [
            f"`{study.tree.game}`. Continual resolving in blocks of {settings.depth_limit}, from "
            f"all histories of every public state, by {settings.iterations:,} iterations of CFR+; "
            "all numbers are exact, and returns are means of both seats, in utility units.",
            f"A game of self-play follows up to {play.width} public states side by side, each by "
            f"at most {play.budget:,} particles, with {play.iterations:,} iterations in each "
            f"search. Seeds {seeds}; each number of games is played by itself, and the learning "
            "rate falls until its end. Settings were fixed on another seed.",
        ],
        {
            _MEANS: Table(means, {**_KEYS, **_COLUMNS, "half_width": "± of NashConv (95 %, t)"}),
            _ALL: Table(rows, {**_KEYS, "seed": "seed", **_COLUMNS}),
            _GOAL: Table([{"goal": settings.goal}], {"goal": "NashConv, at most"}),
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Judges the longest self-play against the goal, and compares the kinds of networks."""
    rows, goal = tables[_ALL], tables[_GOAL][0]["goal"]
    learned = (row for row in rows if row["values"] != _OPTIMAL)
    values = numbers_of(learned, "nash_conv", *_KEYS)
    longest = max(games for _, games, _ in values)
    means = {key: statistics.fmean(each) for key, each in values.items()}
    best = min((key for key in means if key[1] == longest), key=lambda key: means[key])
    parts = {f"below {goal} after {longest:,} games": means[best] < goal}
    headlines = [f"{mean_text(values[best], 'seeds')} after {longest:,} games, {best[2]}"]
    for (kind, games, gadget), mean in means.items():
        if gadget == best[2] and (kind, games) != best[:2]:
            headlines.append(f"{kind}, {games:,} games: {mean:.3g}")
    return Judgement(verdict(parts), "; ".join(headlines))


SELF_PLAY = Experiment(
    name="self_play",
    title="Continual resolving with values learned by self-play",
    metric="NashConv (utility)",
    claim=(
        "has no such experiment; held is that NashConv falls below 0.2, which was set before any "
        "of these seeds was run."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    num_threads=1,
)
ROWS = (
    Row(
        SELF_PLAY,
        "particle/goofspiel_5_self_play",
        Settings("python_goofspiel_ii(num_cards=5,points_order=descending)", DepthLimit(rounds=1)),
        OURS,
        minutes=60,
    ),
)
