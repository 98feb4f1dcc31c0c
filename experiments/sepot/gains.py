"""What searches gain and lose above a trained network, one change at a time.

A searching player meets its own network. In every decision that a search makes, play-outs by the
network from the histories that the player considers possible value all actions; what the search's
probabilities have more than the network's is the decision's advantage. The network being the
opponent, the sum of a game's advantages has the mean by which search changes the player's return,
with far less variance than returns.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from experiments.experiment import OURS, Experiment, Row
from experiments.sepot import study as sepot_study
from experiments.settings import as_json
from experiments.verdicts import Judgement, Tables, student_half_width, verdict
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.rollouts import play_out
from spiel_dl.play import registry
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.policy_rows import TensorPolicy, acting_blueprint
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.system.parameters import Positive
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import turn_based_game
from spiel_dl.tree.particles import rules_of

Rows = list[dict[str, Any]]
LEARNED, PLAYED_OUT = "critic", "play-outs"
_GAMES_OF_PART, _GAMES_OF_SEED = 25, 100_000
_PLAY_OUTS = 20_000
_SEARCHES = "Searches"
_TRANSFORMATIONS = "transformations"


class Change(NamedTuple):
    """A kind of search.

    Attributes:
      values: of leaves: the learned critic, or play-outs by the network, without the opponent's
        choice.
      given_cfvs, refinement: as in `SearchConfig`; refinement None is "none".
    """

    values: str
    given_cfvs: str
    refinement: str | None


_BEST = Change(LEARNED, "best_response", "prior")
CHANGES = (
    Change(LEARNED, _TRANSFORMATIONS, None),
    Change(PLAYED_OUT, _TRANSFORMATIONS, None),
    Change(LEARNED, _TRANSFORMATIONS, "prior"),
    Change(LEARNED, "best_response", None),
    _BEST,
    Change(PLAYED_OUT, "best_response", "prior"),
)


@dataclasses.dataclass(frozen=True)
class Settings(sepot_study.Pretrained):
    """Networks and searches.

    Attributes:
      bound: the most unique histories of a search.
      num_games: games of each kind of search, half of them in each seat.
      num_rollouts: play-outs by which the actions of a decision are valued.
    """

    bound: Positive = 25_000
    num_games: Positive = 150
    num_rollouts: Positive = 10_000


Study = sepot_study.Study[Settings]


class _PlayedOut(Critic):
    """Values of histories if both players follow a network, by play-outs."""

    def __init__(self, game: pyspiel.Game, network: NetworkPolicy, seed: int):
        self._rules = rules_of(game)
        self._policy = TensorPolicy(self._rules, acting_blueprint(network))
        self._generator = np.random.default_rng(seed)

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; the identity alone."""
        repeats = -(-_PLAY_OUTS // len(histories))
        states = tree.states_of(np.repeat(histories, repeats))
        returns = play_out(self._rules, states, self._policy, self._generator)
        means: np.ndarray = returns.reshape(-1, repeats).mean(axis=1, keepdims=True)
        return means if player == 0 else -means


class _Task(NamedTuple):
    """Some games of one kind of search, for `distributed.map`."""

    game: str
    network: str
    change: Change
    settings: Settings
    first: int

    @property
    def number(self) -> int:
        """The number of the first game, different for every seed."""
        return _GAMES_OF_SEED * self.settings.seeds[0] + self.first


def _play(task: _Task) -> Rows:
    """The games' advantages: the player, their sum, and the number of moves searched."""
    game, settings = turn_based_game(task.game), task.settings
    network, learned = checkpoints.load(str(registry.path_in(task.network)))
    if not isinstance(network, NetworkPolicy):
        raise ValueError(f"{task.game} is small enough for exact values; see kept_cfvs")
    critic: Critic = learned
    if task.change.values == PLAYED_OUT:
        critic = _PlayedOut(game, network, task.number)
    config = SearchConfig(
        given_cfvs=task.change.given_cfvs,
        max_histories=settings.bound,
        refinement=task.change.refinement or "none",
        effort=dataclasses.replace(DEFAULT_EFFORT, iterations=settings.iterations),
    )
    searching = SePoTPlayPolicy(game, network, critic, settings.limits[0], config=config)
    count = min(_GAMES_OF_PART, settings.num_games - task.first)
    return [
        advantages(network, searching, number, settings.num_rollouts)
        for number in range(task.number, task.number + count)
    ]


def advantages(
    network: NetworkPolicy, searching: SePoTPlayPolicy, number: int, num_rollouts: int
) -> dict[str, Any]:
    """Plays a game in which one player searches.

    Args:
      network: the opponent, and the blueprint.
      searching: the search.
      number: the game's number, from which all draws and the seat follow.
      num_rollouts: play-outs of a decision.
    """
    game, player = searching.source.game, number % 2
    # Errors of play-outs are independent only if no two games have the same ones.
    how = MirrorDescentConfig(num_rollouts=num_rollouts, budget=2000, seed=number)
    valuing, generator = MirrorDescentPolicy(game, network, how), np.random.default_rng(number)
    state, total, searched = game.new_initial_state(), 0.0, 0
    utility_range = game.max_utility() - game.min_utility()
    while not state.is_terminal():
        if state.is_chance_node():
            policy = dict(state.chance_outcomes())
        else:
            policy = network.action_probabilities(state)
        if state.current_player() == player:
            before, policy = policy, searching.action_probabilities(state)
            if searching.answer_was_searched:
                found = valuing.found(state)
                change = np.array([policy[action] - before[action] for action in found.actions])
                total += utility_range * float(change @ found.values)
                searched += 1
        weights = np.array(list(policy.values()))
        state.apply_action(int(generator.choice(list(policy), p=weights / weights.sum())))
    return {"player": player, "advantage": total, "searched": searched}


def _compute(study: Study) -> Rows:
    """Plays all games of all kinds of search."""
    rows: Rows = []
    for each in study.games():
        name = sepot_study.network_with_critic(study.settings.network, each.name)
        settings = dataclasses.replace(study.settings, limits=each.limits)
        firsts = range(0, settings.num_games, _GAMES_OF_PART)
        tasks = [
            _Task(each.game, name, change, settings, first)
            for change, first in itertools.product(CHANGES, firsts)
        ]
        inputs = {"game": each.game, "file": registry.digest(name), **as_json(settings)}
        parts = [(file_name("gains", *task.change, task.first), inputs) for task in tasks]
        games = each.workspace.parts(parts, _play, tasks, f"{each.name}: games")
        for change in CHANGES:
            own = [
                game
                for task, part in zip(tasks, games, strict=True)
                for game in part
                if task.change == change
            ]
            rows.append({"game": each.name, **change._asdict(), **_summary(own)})
    return rows


def _summary(games: Rows) -> dict[str, Any]:
    """Mean gains of games, and what they are made of."""
    gains = [game["advantage"] for game in games]
    line = {
        "games": len(games),
        "gain": statistics.mean(gains),
        "half_width": student_half_width(gains),
        "searched": sum(game["searched"] for game in games) / len(games),
    }
    for player in (0, 1):
        line[f"player_{player}"] = statistics.mean(
            game["advantage"] for game in games if game["player"] == player
        )
    return line


def _report(study: Study, rows: Rows) -> Report:
    return Report(
        "",
        [
            "A searching player meets its own network. gain is the mean sum of a game's "
            "advantages, in utility units: by how much search changes the player's return. "
            "play-outs value leaves and given cfvs by games that both players play on by the "
            "network; the opponent then has no choice at the leaves.",
            f"{study.settings.num_rollouts:,} play-outs value the actions of each decision. The "
            "kinds of search were chosen after trials with other games.",
            *(
                f"{each.describe()}; searches look {each.limits[0]} ahead."
                for each in study.games()
            ),
        ],
        {
            _SEARCHES: Table.of(
                rows,
                values="values",
                given_cfvs="given cfvs",
                half_width="± (95 %, over games)",
                searched="moves searched a game",
                player_0="as player 0",
                player_1="as player 1",
            )
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Judges that search with cfvs that can be kept, refined, loses less than as printed."""
    first, *others = tables[_SEARCHES]
    found = next(row for row in others if Change(*(row[name] for name in Change._fields)) == _BEST)
    width = math.hypot(first["half_width"], found["half_width"])
    parts = {
        "gains more than by cfvs of transformations": found["gain"] - first["gain"] > width,
        "loses nothing": found["gain"] + found["half_width"] >= 0,
    }
    headline = "; ".join(
        f"{label} {row['gain']:.3f} ± {row['half_width']:.2g}"
        for label, row in (("cfvs of transformations", first), ("kept and refined", found))
    )
    return Judgement(verdict(parts), headline)


GAINS = Experiment(
    name="gains",
    title="What search gains on its own network, decision by decision",
    metric="change of the mean return by search (utility)",
    claim="",
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)


ROWS = (
    Row(GAINS, "sepot/battleships_3x3", Settings(("battleships_3x3",), (0,)), OURS, 40),
    # Each search starts where the player itself decides, not at the opponent's move before.
    Row(
        GAINS,
        "sepot/battleships_3x3/one_move",
        Settings(("battleships_3x3",), (1,), limits=(DepthLimit(moves=1),), num_games=100),
        OURS,
        30,
    ),
    Row(
        GAINS,
        "sepot/goofspiel_8_descending",
        Settings(("goofspiel_8_descending",), (0,), num_games=300),
        OURS,
        20,
    ),
)
