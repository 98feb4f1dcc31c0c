"""ABD's search in games of any size, along the game that is played.

As `search.portfolio_step` on compiled games: both players go on by portfolios behind the depth
limit, and the model errs there too. What differs, because the whole game cannot be looked at:

  1. A search starts in the player's infoset, from a sample of its histories, drawn by what the
     player has played and by the model (`search.beliefs`).
  2. The opponent has come as its model would, in any case. From here on it follows the model with
     probability p, to the end of the game; else it is free down to the depth limit, and picks a
     strategy of its portfolio in each of its leaf infosets. So p bounds no exploitability: it is
     what an opponent that has been the model so far may still do.
  3. Leaves are worth the means of games that are played out by each pair of strategies.

What the player finds is kept down to the depth limit; there, the next search begins.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.learning.rollouts import play_out_by
from spiel_dl.search.beliefs import Belief
from spiel_dl.search.found import Found
from spiel_dl.search.particle_sepot_step import ParticleSePoTStep
from spiel_dl.search.played import PlayedPath
from spiel_dl.search.policy_rows import AnyBlueprint
from spiel_dl.search.portfolio_step import with_model_chosen
from spiel_dl.search.sepot_config import ParticleConfig, PortfolioConfig, SearchConfig
from spiel_dl.search.sepot_played import Plan, PlayedSolution
from spiel_dl.search.sepot_search import Root
from spiel_dl.search.trunk_strategies import fixed_to
from spiel_dl.solvers import depth_limited
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.solvers.restricted_game import restrict
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.particles import Particles

DEFAULT_EFFORT = Effort(iterations=200)


class PlayedPortfolios:
    """What both players may go on with, as policies of states.

    Attributes:
      rules: the game.
      own: the searching player's; the first one is what it plays where it does not search.
      others: the opponent's; the first one is the model.
    """

    def __init__(self, rules: Rules, own: Sequence[PolicyRows], others: Sequence[PolicyRows]):
        """Takes both; a ValueError if one is empty."""
        if not own or not others:
            raise ValueError(
                f"portfolios of {len(own)} and {len(others)} strategies; both need at least one"
            )
        self.rules, self.own, self.others = rules, tuple(own), tuple(others)

    def sampled_matrices(
        self, states: StateBatch, player: int, num_rollouts: int, generator: np.random.Generator
    ) -> np.ndarray:
        """Means of games from each state on: a player's utility, float64 [N, J, K].

        Args:
          states: where they begin, batch dimension N.
          player: whose utility, by its own strategy first.
          num_rollouts: how many games in all, at least.
          generator: draws.
        """
        shape = states.batch_size, len(self.own), len(self.others)
        num_samples = -(-num_rollouts // int(np.prod(shape)))
        state, own, other, _ = np.indices((*shape, num_samples)).reshape(4, -1)
        strategies, chosen = (self.own, self.others), np.stack([own, other])
        if player == 1:
            strategies, chosen = strategies[::-1], chosen[::-1]
        returns = play_out_by(
            self.rules, states.take(torch.from_numpy(state)), strategies, chosen, generator
        )
        found: np.ndarray = returns.reshape(*shape, num_samples).mean(axis=-1)
        return found if player == 0 else -found


class PortfolioPlayedStep(ParticleSePoTStep):
    """Searches from histories of the player's infoset, by portfolios.

    Attributes:
      portfolios: both players'.
      how: how searches are made.
      gap: of the last search, in utility units; NaN: it is not known.
    """

    of_public_states = False

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        portfolios: PlayedPortfolios,
        depth_limit: DepthLimit,
        how: PortfolioConfig,
    ):
        """Loads the game; see `algorithms.abd_play.ABDPlayPolicy`."""
        particles = ParticleConfig(budget=how.budget, max_listed=0, seed=how.seed)
        super().__init__(game, blueprint, None, depth_limit, SearchConfig(), particles)
        self.portfolios, self.how, self.gap = portfolios, how, np.nan
        self._num_unfinished = 0

    @property
    def num_unfinished(self) -> int:
        """How many searches ended above the tolerance of their effort."""
        return self._num_unfinished

    def searches_in(self, states: StateBatch) -> np.ndarray:
        """Whether there are searches in the round of states: bool [N]."""
        rounds = self.rules.round_index(states).numpy()
        end = self.how.end_round
        return (rounds >= self.how.first_round) & (end is None or rounds < end)

    def first(self, path: PlayedPath) -> int:
        """The first decision of a round in which there are searches; see `PlayedStep`.

        Raises:
          ValueError: if there is none.
        """
        searched = self.searches_in(path.states)
        for position in path.decisions:
            if searched[position]:
                return position
        raise ValueError(
            f"nothing is searched here: first_round={self.how.first_round} and "
            f"end_round={self.how.end_round} leave this part of the game to the first policy"
        )

    def policies(self, player: int, before: PlayedSolution | None) -> PolicyRows:
        """The player's own as it plays, and the opponent's model; see `SePoTPlayedStep`."""
        own = super().policies(player, before)
        model = self.portfolios.others[0]
        return lambda states, mover: (own if mover == player else model)(states, mover)

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Particles:
        """Histories of the infoset alone; see `ParticleSePoTStep`."""
        return belief.infoset(player, here, self.particles.budget, generator)

    @property
    def _asks_prior(self) -> bool:
        return True

    def plan(self, path: PlayedPath, start: int, root: Root) -> Plan:
        """Solves the game with portfolios at the leaves; see `SePoTPlayedStep`."""
        player, opponent, trunk = path.player, 1 - path.player, root.trunk
        own, others = (trunk.sequence_form.treeplexes[each] for each in (player, opponent))
        form = trunk.sequence_form if player == 0 else trunk.sequence_form.swapped()
        ranges = root.own_range(player), root.opponent_range(opponent)
        model = fixed_to(self.portfolios.others[0], trunk, opponent)
        above = realization_plan(others, model.strategy, ranges[1])
        plan, leaves = above, trunk.leaves
        if leaves.num_public_states:
            key = int(path.infoset_keys[start]) % (1 << 63)
            matrices = self.portfolios.sampled_matrices(
                trunk.tree.states_of(leaves.histories),
                player,
                self.how.num_rollouts,
                np.random.default_rng([self.how.seed, 2 + player, key]),
            )
            form = with_leaf_choices(
                form,
                (leaves.sequences[player], leaves.sequences[opponent]),
                leaves.infoset_of_history[[player, opponent]],
                matrices,
                leaves.chance_reach,
            )
            plan = with_model_chosen(above, leaves.sequences[opponent], matrices.shape[2])
        valued_at = time.perf_counter()
        everywhere = np.ones(form.treeplexes[1].num_infosets, np.bool_)
        game = restrict(form, ranges, plan, everywhere, self.how.p)
        solution = depth_limited.solve(game, self.how.effort)
        self.gap = solution.gap
        tolerance = self.how.effort.allowed_gap(form.utility_range)
        if tolerance is not None:
            self._num_unfinished += int(self.gap > tolerance)
        found = realization_plan(own, solution.strategy[: own.num_sequences], ranges[0])
        if self.watch is not None:
            plans = (found, above) if player == 0 else (above, found)
            self.watch(Found(player, trunk, plans, None))
        return Plan(found, None, trunk, valued_at)
