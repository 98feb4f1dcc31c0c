"""Opponents to exploit, as in Milec, Kubíček, Lisý (2024), section 6.

Strategies after few iterations of CFR, random ones, and such that err late.
"""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import compile_any
from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.solvers import variants
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import Weighting, variant_by_name
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.pieces import Pieces


def random_policy(game: AnyGame, seed: int) -> ArrayPolicy:
    """A policy whose probabilities at each infoset are uniform on the simplex of its actions."""
    tree = compile_any(game)
    generator = np.random.default_rng(checked_count("seed", seed, 0))
    strategies = []
    for treeplex in tree.treeplexes:
        strategy = np.ones(treeplex.num_sequences)
        below_roots = slice(treeplex.num_root_sequences, None)
        strategy[below_roots] = generator.standard_exponential(int(treeplex.num_actions.sum()))
        sums = np.repeat(treeplex.sum_per_infoset(strategy), treeplex.num_actions)
        strategy[below_roots] /= sums
        strategies.append(strategy)
    return ArrayPolicy(tree, strategies)


def cfr_average(
    game: AnyGame, iterations: int, variant: str | Weighting = variants.CFR
) -> ArrayPolicy:
    """The average policy after some iterations of CFR ("CFR-k"), or of another variant of it."""
    tree = compile_game(game)
    minimizer = _run(tree, iterations, variant_by_name(variant))
    return ArrayPolicy(tree, (minimizer.average_strategy(player) for player in (0, 1)))


def cfr_last(game: AnyGame, iterations: int) -> ArrayPolicy:
    """The policy that CFR plays after some iterations, without averaging."""
    tree = compile_game(game)
    minimizer = _run(tree, iterations, variants.CFR)
    return ArrayPolicy(tree, (learner.strategy for learner in minimizer.learned))


def errs_beyond(
    game: AnyGame,
    depth_limit: DepthLimit,
    above: openspiel_policy.Policy,
    below: openspiel_policy.Policy,
) -> ArrayPolicy:
    """One policy in infosets above a depth limit, counted from the root, and another one below.

    For opponents that err late, with an equilibrium above and, for example, uniform play below
    (Milec, Kovařík, Lisý 2025, "Adapting Beyond the Depth Limit").

    Args:
      game: the game, its game string, or the compiled game.
      depth_limit: the level from which the second policy is played.
      above: the first policy.
      below: the second policy.

    Raises:
      ValueError: if the game cannot be compiled, if the limit is not one for it, or if an infoset
        lies on both sides.
    """
    tree = compile_game(game, above, below)
    infoset_depths = Pieces(tree, depth_limit, "block").infoset_depths
    strategies = []
    for player, treeplex in enumerate(tree.treeplexes):
        strategy = read_strategy(tree, above, player).copy()
        late = treeplex.sequences_of(infoset_depths[player] >= depth_limit.value)
        strategy[late] = read_strategy(tree, below, player)[late]
        strategies.append(strategy)
    return ArrayPolicy(tree, strategies)


def _run(tree: GameTree, iterations: int, variant: Weighting) -> RegretMinimizer:
    minimizer = RegretMinimizer(tree.sequence_form, variant)
    minimizer.run(checked_count("iterations", iterations, 1))
    return minimizer
