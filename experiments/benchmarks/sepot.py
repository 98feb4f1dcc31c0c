"""One search of SePoT, part by part, and what solving by predictive CFR+ saves.

Goofspiel with 8 cards after 4 rounds, in the public state whose number of histories is closest to
25,000; the search looks one round ahead, with 22 transformations. Blueprint and critic are
untrained networks, which takes as long as trained ones.

  python experiments/benchmarks/sepot.py --output=results/benchmarks
"""

import dataclasses
import functools
import itertools
import os
from typing import Any, NamedTuple

import common
import numpy as np
import pyspiel
import torch

from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.games.features import num_features
from spiel_dl.learning import history_features
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.transformations import action_values, paper_transformations
from spiel_dl.networks.perceptron import evaluate
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.runs.reports import Report, Table
from spiel_dl.search import search as one_search
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.public_states import consistent_histories
from spiel_dl.tree.sparse_tree import root_ranges, sparse_trunk
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

NUM_CARDS = 8
GAME = common.GOOFSPIEL.format(NUM_CARDS)
NUM_ROUNDS = 4
NUM_HISTORIES = 25_000
DEPTH_LIMIT = DepthLimit(rounds=1)
HIDDEN_SIZES = (256, 256)
# Looks at the gap, every 25 iterations: enough to come to that of 1,500 iterations of CFR+.
MAX_ITERATIONS = 5000


class Searcher(NamedTuple):
    """Everything that a search needs besides a state."""

    game: pyspiel.Game
    blueprint: NetworkPolicy
    critic: NetworkCritic

    def policy(self, effort: Effort) -> SePoTPlayPolicy:
        """A policy by search."""
        # Searched by itself: the rounds before are played by the network.
        config = SearchConfig.as_printed(first_level=NUM_ROUNDS, effort=effort)
        return SePoTPlayPolicy(
            self.game, self.blueprint.act, self.critic, DEPTH_LIMIT, config=config
        )


class Problem(NamedTuple):
    """The game that one search solves, for player 0."""

    trunk: Trunk
    player_range: np.ndarray
    opponent_cfvs: np.ndarray
    utilities: np.ndarray


def make_searcher() -> Searcher:
    """Untrained networks."""
    game = load_turn_based(GAME)
    network = PolicyNetwork(num_features(game), game.num_distinct_actions(), HIDDEN_SIZES)
    blueprint = NetworkPolicy(game, network, network.initial_parameters(seed=1))
    names = paper_transformations(action_values(game)).names
    critics = CriticNetwork(history_features.size(game), len(names), HIDDEN_SIZES)
    return Searcher(
        game, blueprint, NetworkCritic(game, critics, critics.initial_parameters(2), names)
    )


def find_state(game: pyspiel.Game) -> pyspiel.State:
    """The start of a round in the public state of about `NUM_HISTORIES` histories."""
    bids = np.array(list(itertools.permutations(range(NUM_CARDS), NUM_ROUNDS)), np.int8)
    winners = np.zeros((len(bids), len(bids)), np.int16)
    for bid in bids.T:
        winners = 3 * winners + 1 + np.sign(bid[:, None] - bid)
    sizes = np.bincount(winners.reshape(-1))
    public_state = np.abs(sizes - NUM_HISTORIES).argmin()
    first = np.argwhere(winners == public_state)[0]
    state = game.new_initial_state()
    for pair in bids[first].T.tolist():
        for action in pair:
            state.apply_action(action)
    return state


def make_problem(searcher: Searcher, state: pyspiel.State) -> Problem:
    """The game of a search at a state, for a player that came with equal reach everywhere."""
    histories = consistent_histories(state)
    reach = np.ones((2, histories.states.batch_size))
    particles = Particles(state.get_game(), histories.states, reach, histories.chance_reach.numpy())
    trunk = sparse_trunk(particles, DEPTH_LIMIT)
    own_range = root_ranges(trunk, particles)[0] / particles.num_particles
    roots = np.arange(1, particles.num_particles + 1)
    root_of = [trunk.extent.roots_at(player, roots) for player in (0, 1)]
    values = searcher.critic.values(trunk.tree, roots, 0)[:, 0] * own_range[root_of[0]]
    given = -np.bincount(root_of[1], values)
    utilities = searcher.critic.values(trunk.tree, trunk.leaves.histories, 0)
    return Problem(trunk, own_range, given, utilities)


def search(problem: Problem, effort: Effort) -> float:
    """Solves by our search; the gap, if there is a tolerance."""
    trunk = problem.trunk
    leaf_values = MultiValuedLeaves(trunk.leaves, 0, problem.utilities)
    others = np.ones(len(problem.opponent_cfvs))
    root = Root(trunk, 0, (problem.player_range, others), given_cfvs=problem.opponent_cfvs)
    spec = Spec(lambda _: leaf_values, "resolving", averages=False)
    solution = one_search.search(root, spec, effort)
    return solution.gap


def to_the_same_gap(problem: Problem, iterations: int, rounds: int) -> list[dict[str, Any]]:
    """CFR+ without looking at the gap, and predictive CFR+ until it has come to that one's gap."""
    fixed = Effort(iterations)
    gap = search(problem, dataclasses.replace(fixed, tolerance=0.0))
    until = Effort(MAX_ITERATIONS, gap, variant=PREDICTIVE_CFR_PLUS)
    efforts = {
        f"CFR+, {iterations:,} iterations": fixed,
        "predictive CFR+, until the same gap": until,
        f"the default: until a gap of {DEFAULT_EFFORT.tolerance}": DEFAULT_EFFORT,
    }
    times = [
        {
            name: common.timed(functools.partial(search, problem, effort))[1]
            for name, effort in efforts.items()
        }
        for _ in range(rounds)
    ]
    first = next(iter(efforts))
    rows = []
    for name, effort in efforts.items():
        ratios = [{"r": each[first]["seconds"] / each[name]["seconds"]} for each in times]
        seconds = common.medians([each[name] for each in times])
        reached = gap if effort is fixed else search(problem, effort)
        rows.append({"way": name, "gap": reached, **seconds, "faster": common.medians(ratios)["r"]})
    return rows


def search_seconds(
    searcher: Searcher, state: pyspiel.State, effort: Effort, rounds: int
) -> dict[str, float]:
    """Median seconds of the parts of a search."""
    searcher.policy(Effort(1)).action_probabilities(state)  # compiles
    rows = []
    for _ in range(rounds):
        # A new policy each time, as a policy caches its searches.
        policy = searcher.policy(effort)
        solutions: list[Solution] = []
        policy.watch = solutions.append
        _, times = common.timed(functools.partial(policy.action_probabilities, state))
        if not solutions:
            raise RuntimeError("there was no search; give another state")
        whole = {"all": times["seconds"], "all, processor seconds": times["processor"]}
        rows.append({**solutions[0].seconds, **whole})
    return common.medians(rows)


def product_seconds(critic: NetworkCritic, num_histories: int, rounds: int) -> float:
    """Median seconds of a critic's layers after the first; a search needs one player's outputs."""
    _, *later = critic.network.padded_layers(critic.parameters)
    inputs = torch.rand(num_histories, HIDDEN_SIZES[0])
    products = functools.partial(evaluate, later, inputs)
    return common.medians([common.timed(products)[1] for _ in range(rounds)])["seconds"]


def measure(*, iterations: int = 1500, rounds: int = 3) -> Report:
    """Measures one search.

    Args:
      iterations: of CFR+ in a search.
      rounds: per figure.
    """
    load = os.getloadavg()[0]
    searcher = make_searcher()
    state = find_state(searcher.game)
    printed = search_seconds(searcher, state, Effort(iterations), rounds)
    default = search_seconds(searcher, state, DEFAULT_EFFORT, rounds)
    peak = common.peak_gigabytes()
    problem = make_problem(searcher, state)
    leaves = problem.trunk.leaves
    products = product_seconds(searcher.critic, len(leaves.histories), rounds)
    return Report(
        "One search of SePoT",
        [
            f"Medians over {rounds} rounds; load of the machine before the run: {load:.1f} "
            "processes. Processor seconds are those of all threads of this process alone, waiting "
            "for each other included.",
            f"`{GAME}`, depth limit {DEPTH_LIMIT}: "
            f"{np.count_nonzero(problem.trunk.tree.parent == 0):,} root histories, "
            f"{len(leaves.histories):,} leaves, {leaves.num_infosets(1):,} leaf infosets of the "
            f"opponent, {problem.utilities.shape[1]} transformations; networks of two layers of "
            f"{HIDDEN_SIZES[0]} units. Products of the second and third layer, with both "
            f"players' outputs, take {products:.3g} seconds of the values. Peak memory of the "
            f"process: {peak:.2f} GB.",
        ],
        {
            "Seconds of the parts of a search": Table.of(
                [
                    {"part": name, "printed": seconds, "default": default[name]}
                    for name, seconds in printed.items()
                ],
                printed=f"{iterations:,} iterations of CFR+",
                default="the default",
            ),
            "CFR above the leaves, preparation included": Table.of(
                to_the_same_gap(problem, iterations, rounds),
                gap="gap (utility)",
                processor="processor seconds",
                faster="times faster",
            ),
        },
    )


if __name__ == "__main__":
    common.run(measure, threads=2)
