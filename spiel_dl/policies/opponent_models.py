"""Opponents to be exploited, and estimates of them from what they were seen to do.

Opponents as in Milec, Kubíček, Lisý (2024), section 6: strategies after few iterations of CFR, and
random ones. An estimate counts actions per infoset; its prior is a Dirichlet distribution around
some policy (Southey et al. 2005, "Bayes' Bluff", independent per infoset).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import compile_any
from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.solvers import variants
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import Weighting, variant_by_name
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.pieces import Pieces


def random_policy(game: AnyGame, seed: int) -> ArrayPolicy:
    """A policy whose probabilities at each infoset are uniform on the simplex of its actions."""
    tree = compile_any(game)
    generator = np.random.default_rng(seed)
    strategies = []
    for treeplex in tree.treeplexes:
        strategy = np.ones(treeplex.num_sequences)
        below_roots = slice(treeplex.num_root_sequences, None)
        strategy[below_roots] = generator.standard_exponential(int(treeplex.num_actions.sum()))
        sums = np.repeat(treeplex.sum_per_infoset(strategy), treeplex.num_actions)
        strategy[below_roots] /= sums
        strategies.append(strategy)
    return ArrayPolicy(tree, (strategies[0], strategies[1]))


def cfr_average(
    game: AnyGame, iterations: int, variant: str | Weighting = variants.CFR
) -> ArrayPolicy:
    """The average policy after some iterations of CFR ("CFR-k"), or of another variant of it."""
    tree = compile_game(game)
    minimizer = _run(tree, iterations, variant_by_name(variant))
    first, second = (minimizer.average_strategy(player) for player in (0, 1))
    return ArrayPolicy(tree, (first, second))


def cfr_last(game: AnyGame, iterations: int) -> ArrayPolicy:
    """The policy that CFR plays after some iterations, without averaging."""
    tree = compile_game(game)
    minimizer = _run(tree, iterations, variants.CFR)
    first, second = (learner.strategy for learner in minimizer.learned)
    return ArrayPolicy(tree, (first, second))


def errs_beyond(
    game: AnyGame,
    depth_limit: DepthLimit,
    above: openspiel_policy.Policy,
    below: openspiel_policy.Policy,
) -> ArrayPolicy:
    """One policy in infosets above a depth limit, counted from the root, and another one below.

    An opponent who makes its mistakes late plays an equilibrium above and, say, uniformly below
    (Milec, Kovařík, Lisý 2025, "Adapting Beyond the Depth Limit").

    Args:
      game: the game, its game string, or the compiled game.
      depth_limit: from which level on the second policy is played.
      above: the first one.
      below: the second one.

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
    return ArrayPolicy(tree, (strategies[0], strategies[1]))


def _run(tree: GameTree, iterations: int, variant: Weighting) -> RegretMinimizer:
    if iterations < 1:
        raise ValueError(f"iterations={iterations} must be at least 1")
    minimizer = RegretMinimizer(tree.sequence_form, variant)
    minimizer.run(iterations)
    return minimizer


class OpponentEstimate:
    """What is known of an opponent's strategy from episodes that were seen in full.

    An episode counts with all that happened in it, also what the opponent's infosets contain and
    the play did not reveal (a folded card), as in the data of Johanson and Bowling (2009).

    Attributes:
      tree: the compiled game.
      opponent: who is estimated.
      counts: float64 [S], how often each of its sequences was played.
    """

    def __init__(
        self,
        game: AnyGame,
        opponent: int,
        prior: openspiel_policy.Policy | None = None,
        prior_weight: float = 1.0,
    ):
        """Starts without data.

        Args:
          game: the game, its game string, or the compiled game.
          opponent: who is estimated.
          prior: what to assume before there is data; None: the uniform policy.
          prior_weight: how many observations of an infoset the prior counts for; positive.

        Raises:
          ValueError: if the game cannot be compiled, the prior is not a policy for it, there is no
            such player, or the weight is not positive.
        """
        check_player(opponent)
        if not 0 < prior_weight < np.inf:
            raise ValueError(f"prior_weight={prior_weight} must be a positive number")
        self.tree = compile_game(game)
        self.opponent = opponent
        prior = ArrayPolicy.uniform(self.tree) if prior is None else prior
        first, second = ArrayPolicy.from_policy(self.tree, prior).strategies
        self._prior = ArrayPolicy(self.tree, (first.copy(), second.copy()))
        self._prior_weight = prior_weight
        self.counts = np.zeros(self.tree.treeplexes[opponent].num_sequences)

    def observe(self, histories: np.ndarray) -> None:
        """Counts what the opponent did on the way to histories of the tree (int [N]).

        Each is an episode of its own, finished or not.
        """
        treeplex = self.tree.treeplexes[self.opponent]
        last = self.tree.sequence[self.opponent, histories]
        new = np.bincount(last, minlength=treeplex.num_sequences).astype(np.float64)
        for infoset in reversed(range(treeplex.num_infosets)):
            new[treeplex.parent_sequence[infoset]] += new[treeplex.sequences(infoset)].sum()
        self.counts += new

    def observe_actions(self, actions: Sequence[int]) -> None:
        """Counts one episode, given as `pyspiel.State.history` gives it.

        Raises:
          ValueError: if these actions are no history of the game.
        """
        self.observe(np.array([self.tree.find_history(actions)]))

    def policy(self) -> ArrayPolicy:
        """The posterior mean for the opponent, the prior for the other player."""
        treeplex = self.tree.treeplexes[self.opponent]
        prior = self._prior.strategies[self.opponent]
        strategy = self.counts + self._prior_weight * prior
        sums = np.repeat(treeplex.sum_per_infoset(strategy), treeplex.num_actions)
        below_roots = slice(treeplex.num_root_sequences, None)
        strategy[below_roots] /= sums
        strategy[: treeplex.num_root_sequences] = 1.0
        other = self._prior.strategies[1 - self.opponent].copy()
        return ArrayPolicy(
            self.tree, (strategy, other) if self.opponent == 0 else (other, strategy)
        )

    def visits(self) -> np.ndarray:
        """How often each infoset of the opponent was seen: float64 [I]."""
        return self.tree.treeplexes[self.opponent].sum_per_infoset(self.counts)

    def trust(self, most: float = 1.0, full_at: float = 10.0) -> np.ndarray:
        """How far to trust the estimate in each infoset: float64 [I].

        Rises linearly with the number of visits, from 0 without any to `most` at `full_at`
        (Johanson and Bowling 2009, the confidence "0-10 Linear" if `full_at` is 10).

        Args:
          most: the largest trust, 0 to 1.
          full_at: from how many visits on; positive.

        Raises:
          ValueError: if an argument is outside its bounds.
        """
        if not 0 <= most <= 1 or not full_at > 0:
            raise ValueError(f"most={most} must be between 0 and 1, full_at={full_at} positive")
        return most * np.minimum(self.visits() / full_at, 1.0)
