"""One search of SePoT, part by part, and its CFR+ beside that of the game written out in full.

Goofspiel with 8 cards after 4 rounds, in the public state whose number of histories is closest to
25,000; the search looks one round ahead, with 22 transformations. Blueprint and critic are
untrained networks, which takes as long as trained ones. Written out, each choice at a leaf is an
ordinary sequence, as it is for who has a solver of sequence forms and no code for choices at
leaves; here that solver is ours. Writes sepot.json and sepot.md to --output.

  python benchmarks/sepot.py --output=results/benchmarks
"""

import dataclasses
import itertools
import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import common
import numpy as np
import pyspiel
import scipy.sparse
import torch
from absl import app, flags

from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning import history_tensors
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.transformations import action_values, paper_transformations
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.search import sepot_search
from spiel_dl.solvers import gadgets
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex
from spiel_dl.tree.sparse_tree import root_ranges, sparse_trunk
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedStates

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ITERATIONS = flags.DEFINE_integer("iterations", 1500, "Of CFR+ in a search.", lower_bound=1)
_PEER_ITERATIONS = flags.DEFINE_integer(
    "peer_iterations", 100, "Of CFR+ beside the peer.", lower_bound=1
)
_ROUNDS = flags.DEFINE_integer("rounds", 3, "Rounds per figure.", lower_bound=1)
_THREADS = flags.DEFINE_integer("threads", 2, "Threads of torch and of CFR+.", lower_bound=1)

GAME = "python_goofspiel_ii(num_cards=8,points_order=descending)"
NUM_CARDS = 8
NUM_ROUNDS = 4
NUM_HISTORIES = 25_000
DEPTH_LIMIT = DepthLimit(rounds=1)
HIDDEN_SIZES = (256, 256)
# Reconstruction comes by larger sets of histories, which count as well.
MAX_HISTORIES = 100_000
WRITTEN_OUT = "written out, 1 thread"


class Searcher(NamedTuple):
    """What a search needs besides a state."""

    game: pyspiel.Game
    blueprint: NetworkPolicy
    critic: NetworkCritic

    def policy(self, iterations: int) -> SePoTPlayPolicy:
        """A policy by search on all threads."""
        return SePoTPlayPolicy(
            self.game,
            self.blueprint.act,
            self.critic,
            DEPTH_LIMIT,
            config=SearchConfig.as_printed(
                max_histories=MAX_HISTORIES, effort=Effort(iterations, num_threads=_THREADS.value)
            ),
        )


class Problem(NamedTuple):
    """What one search solves, for player 0."""

    trunk: Trunk
    player_range: np.ndarray
    opponent_cfvs: np.ndarray
    utilities: np.ndarray


def make_searcher() -> Searcher:
    """Untrained networks."""
    game = load_turn_based(GAME)
    network = PolicyNetwork(
        game.information_state_tensor_size(), game.num_distinct_actions(), HIDDEN_SIZES
    )
    blueprint = NetworkPolicy(game, network, network.initial_parameters(seed=1))
    names = paper_transformations(action_values(game)).names
    critics = CriticNetwork(history_tensors.state_tensor_size(game), len(names), HIDDEN_SIZES)
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
    particles = Particles.of_public_state(state)
    trunk = sparse_trunk(particles, DEPTH_LIMIT)
    own_range = root_ranges(trunk, particles)[0] / particles.num_particles
    roots = np.arange(1, particles.num_particles + 1)
    root_of = trunk.root_of_history[:, roots]
    values = searcher.critic.values(trunk.tree, roots, 0)[:, 0] * own_range[root_of[0]]
    given = -np.bincount(root_of[1], values)
    utilities = searcher.critic.values(trunk.tree, trunk.leaves.histories, 0)
    return Problem(trunk, own_range, given, utilities)


def write_out(trunk: Trunk, utilities: np.ndarray) -> SequenceForm:
    """The game of a search with each of player 1's choices at leaves as a sequence.

    Args:
      trunk: of the search.
      utilities: float [N, T], player 0's.
    """
    form, leaves, num_choices = trunk.sequence_form, trunk.leaves, utilities.shape[1]
    own, old = form.treeplexes
    num_infosets = leaves.num_infosets(1)
    first = old.num_sequences + num_choices * np.arange(num_infosets)
    sizes = np.full(num_infosets, num_choices, np.int32)
    opponent = Treeplex(
        np.concatenate([old.parent_sequence, leaves.sequences[1]]),
        np.concatenate([old.first_sequence, first]).astype(np.int32),
        np.concatenate([old.num_actions, sizes]),
        old.num_root_sequences,
    )
    rows = np.repeat(leaves.sequences[0][leaves.infoset_of_history[0]], num_choices)
    columns = first[leaves.infoset_of_history[1]][:, None] + np.arange(num_choices)
    data = (utilities * leaves.chance_reach[:, None]).reshape(-1)
    shape = (own.num_sequences, opponent.num_sequences)
    trunk = form.payoffs.copy()
    trunk.resize(shape)
    at_leaves = scipy.sparse.coo_array((data, (rows, columns.reshape(-1))), shape=shape)
    return SequenceForm((own, opponent), trunk + at_leaves.tocsr(), form.utility_range)


def solve(problem: Problem, num_threads: int) -> np.ndarray:
    """Player 0's average plan by our search: float64 [S_0]."""
    leaf_values = MultiValuedStates(0, lambda _: problem.utilities[:, None, :])
    effort = Effort(_PEER_ITERATIONS.value, num_threads=num_threads)
    return sepot_search.search(
        problem.trunk, problem.player_range, problem.opponent_cfvs, leaf_values, effort
    )


def solve_written_out(problem: Problem) -> np.ndarray:
    """The same by CFR+ in the game written out."""
    form = write_out(problem.trunk, problem.utilities)
    gadget = gadgets.resolving(form, 0, problem.player_range, problem.opponent_cfvs)
    minimizer = RegretMinimizer(gadget.sequence_form)
    for player in (0, 1):
        minimizer.set_range(player, gadget.root_ranges[player])
    minimizer.run(_PEER_ITERATIONS.value)
    return minimizer.average_plan(0)[gadget.new_sequences[0]]


def measure_search(searcher: Searcher, state: pyspiel.State) -> dict[str, Any]:
    """Median seconds of the parts of a search, and the memory of the process."""
    searcher.policy(1).action_probabilities(state)  # compiles
    policy, rounds = searcher.policy(_ITERATIONS.value), []
    for _ in range(_ROUNDS.value):
        start, cpu_start = time.perf_counter(), time.process_time()
        policy.action_probabilities(state)
        total, cpu = time.perf_counter() - start, time.process_time() - cpu_start
        if policy.seconds is None:
            raise RuntimeError("there was no search; raise MAX_HISTORIES")
        rounds.append({**policy.seconds._asdict(), "total": total, "processor": cpu})
    return {
        "seconds": {name: statistics.median(r[name] for r in rounds) for name in rounds[0]},
        "peak_mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure_solution(problem: Problem) -> dict[str, Any]:
    """Median seconds of CFR+ by both ways, preparation included, and how far they are apart."""
    ways: dict[str, Callable[[], np.ndarray]] = {
        f"search, {threads} thread{'s' if threads > 1 else ''}": (
            lambda threads=threads: solve(problem, threads)
        )
        for threads in sorted({1, _THREADS.value})
    }
    ways[WRITTEN_OUT] = lambda: solve_written_out(problem)
    rounds, plans = [], {}
    for _ in range(_ROUNDS.value):
        seconds = {}
        for name, way in ways.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            plans[name] = way()
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
            seconds[name] = {"seconds": wall, "processor": cpu}
        rounds.append(seconds)
    scale = plans[WRITTEN_OUT].max()
    return {
        name: {
            **{
                what: statistics.median(r[name][what] for r in rounds)
                for what in ("seconds", "processor")
            },
            "ratio": statistics.median(
                r[WRITTEN_OUT]["seconds"] / r[name]["seconds"] for r in rounds
            ),
            "difference": float(np.abs(plan - plans[WRITTEN_OUT]).max() / scale),
        }
        for name, plan in plans.items()
    }


def measure() -> dict[str, Any]:
    """All figures."""
    searcher = make_searcher()
    state = find_state(searcher.game)
    found = measure_search(searcher, state)
    problem = make_problem(searcher, state)
    leaves = problem.trunk.leaves
    return {
        **found,
        "num_root_histories": len(np.flatnonzero(problem.trunk.tree.parent == 0)),
        "num_leaves": len(leaves.histories),
        "num_leaf_infosets": [leaves.num_infosets(player) for player in (0, 1)],
        "num_transformations": problem.utilities.shape[1],
        "solution": measure_solution(problem),
    }


def report(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    environment, seconds = results["environment"], results["seconds"]
    lines = [
        "# One search of SePoT\n",
        reports.describe_run(environment),
        f"{reports.describe_machine(environment, str(results['threads']) + ' threads used')}. "
        f"Medians over {results['rounds']} rounds; load of the machine before the run: "
        f"{results['load']:.1f} processes. Processor seconds are those of all threads of this "
        "process alone, waiting for each other included.\n",
        f"`{GAME}`, depth limit {DEPTH_LIMIT}: {results['num_root_histories']:,} root histories, "
        f"{results['num_leaves']:,} leaves, {results['num_leaf_infosets'][1]:,} leaf infosets of "
        f"the opponent, {results['num_transformations']} transformations; networks of two layers "
        f"of {HIDDEN_SIZES[0]} units; {results['iterations']:,} iterations of CFR+. Peak memory of "
        f"the process: {results['peak_mebibytes']:,.0f} MiB.\n",
        "| part of a search | seconds |",
        "| --- | ---: |",
        f"| reconstruction of the public state | {seconds['reconstruction']:.2f} |",
        f"| tree | {seconds['tree']:.2f} |",
        f"| critic | {seconds['critic']:.2f} |",
        f"| CFR+ | {seconds['solution']:.2f} |",
        f"| all | {seconds['total']:.2f} |",
        f"| all, processor seconds | {seconds['processor']:.2f} |",
        "",
        f"| {results['peer_iterations']:,} iterations of CFR+, preparation included | seconds "
        "| processor seconds | times faster than written out | largest difference of the plan |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {row['seconds']:.2f} | {row['processor']:.2f} | {row['ratio']:.2f} "
        f"| {row['difference']:.1e} |"
        for name, row in results["solution"].items()
    ]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(_THREADS.value)
    results = {
        "environment": describe_environment(),
        "threads": _THREADS.value,
        "rounds": _ROUNDS.value,
        "iterations": _ITERATIONS.value,
        "peer_iterations": _PEER_ITERATIONS.value,
        "load": os.getloadavg()[0],
        "depth_limit": dataclasses.asdict(DEPTH_LIMIT),
        **measure(),
    }
    common.publish(f"{_OUTPUT.value}/sepot", results, report)


if __name__ == "__main__":
    app.run(main)
