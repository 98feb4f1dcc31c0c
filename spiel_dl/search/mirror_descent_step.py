"""Search by mirror descent: one update of the blueprint, in the infoset at hand alone.

Sokota et al. (2023), "The Update-Equivalence Framework for Decision-Time Planning". To do what an
update of the whole policy would do here, nothing need be known but what each action is worth if
everybody goes on by the blueprint:

  1. Histories of the player's infoset are drawn by both players' blueprint (`search.beliefs`).
  2. From each, after each action, games are played out by the blueprint; q is the mean utility.
  3. The player's policy is pi' ~ (pi e^(eta q) rho^(eta alpha))^(1 / (1 + eta alpha)), the step of
     magnetic mirror descent, with stepsize eta and a uniform magnet rho; alpha = 0 is mirror
     descent. Utilities are measured in the utility range, so that eta means the same in all games.

No subgame is solved, and no public state is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyspiel
import torch

from spiel_dl.learning.rollouts import PlayOn
from spiel_dl.search.beliefs import Beliefs
from spiel_dl.search.played import PlayedAnswer, PlayedPath, PlayedStep
from spiel_dl.search.policy_rows import (
    AnyBlueprint,
    TensorPolicy,
    acting_blueprint,
    play_on_by,
)
from spiel_dl.search.sepot_config import MirrorDescentConfig
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame


class ActionValues(NamedTuple):
    """What a search found.

    Attributes:
      actions: the legal actions, in order.
      values: float64 [A], what each is worth to the player, in utility ranges.
      policy: float64 [A], the policy after the steps.
    """

    actions: list[int]
    values: np.ndarray
    policy: np.ndarray


class MirrorDescentStep(PlayedStep[ActionValues]):
    """Searches in every decision, each by itself.

    Attributes:
      config: how.
      num_drawn: how many searches were made in public states that were not listed.
    """

    def __init__(self, game: AnyGame, blueprint: AnyBlueprint, config: MirrorDescentConfig):
        """Loads the game; see `algorithms.mirror_descent_search.MirrorDescentPolicy`."""
        super().__init__(game, DepthLimit(moves=1))
        self.config = config
        self.num_drawn = 0
        self._beliefs = Beliefs(self.game, config.max_listed)
        acting = acting_blueprint(blueprint)
        self._policies = TensorPolicy(self.rules, acting)
        self._play_on: PlayOn = play_on_by(self.rules, acting)

    @property
    def num_regenerations(self) -> int:
        """How often a draw was made anew, by uniform play; see `search.beliefs`."""
        return self._beliefs.num_regenerations

    def first(self, path: PlayedPath) -> int:
        """The decision at hand: no other one matters."""
        return path.decisions[-1]

    def following(self, path: PlayedPath, start: int, solution: ActionValues) -> int | None:
        """The decision at hand, if what is solved is another one."""
        del solution
        last = path.decisions[-1]
        return last if start < last else None

    def solve(self, path: PlayedPath, start: int, before: ActionValues | None) -> ActionValues:
        """Estimates action values, and makes the steps; see `PlayedStep`."""
        del before
        player = path.player
        here = path.states.take(torch.tensor([start]))
        legal = self.rules.legal_actions(here)[0]
        actions = np.flatnonzero(legal.numpy())
        policy = self._policies(here, player)[0, actions]
        key = int(path.infoset_keys[start])
        generator = np.random.default_rng([self.config.seed, player, key % (1 << 63)])
        values = self._values(path, start, actions, generator)
        return ActionValues(actions.tolist(), values, self._stepped(policy / policy.sum(), values))

    def answer(
        self, path: PlayedPath, state: pyspiel.State, solution: ActionValues
    ) -> PlayedAnswer:
        """The policy after the steps; see `PlayedStep`."""
        del path, state
        return PlayedAnswer(dict(zip(solution.actions, solution.policy.tolist(), strict=True)))

    def _values(
        self, path: PlayedPath, start: int, actions: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """What each action (int64 [A]) is worth to the player: float64 [A], in utility ranges."""
        player, config = path.player, self.config
        here = path.states.take(torch.tensor([start]))
        public_key = int(path.public_keys[start])
        tensor = self.rules.public_tensor(here, True)[0]
        belief = self._beliefs.of(public_key, tensor, self._policies, changing=())
        self.num_drawn += belief.num_histories is None
        drawn = belief.infoset(player, here, config.budget, generator)
        # The player's own reach is the same in all of them, and may be 0.
        weight = drawn.chance_reach * drawn.copies
        by_opponent = weight * drawn.reach[1 - player]
        # What the opponent's blueprint never does has happened all the same.
        weight = by_opponent if by_opponent.any() else weight
        repeats = -(-config.num_rollouts // (drawn.num_particles * len(actions)))
        rows = np.repeat(np.arange(drawn.num_particles), len(actions) * repeats)
        moves = np.tile(np.repeat(actions, repeats), drawn.num_particles)
        returns = self._play_on(drawn.states, rows, moves, generator)
        by_history = returns.reshape(drawn.num_particles, len(actions), repeats).mean(axis=2)
        sign = 1.0 if player == 0 else -1.0
        utility_range = self.rules.max_utility - self.rules.min_utility
        found: np.ndarray = sign * (weight @ by_history) / (weight.sum() * utility_range)
        return found

    def _stepped(self, policy: np.ndarray, values: np.ndarray) -> np.ndarray:
        """A policy (float64 [A]) after the steps, with the same action values in each."""
        config = self.config
        with np.errstate(divide="ignore"):
            logits = np.log(policy)
        for _ in range(config.num_steps):
            # The uniform magnet adds the same to all logits.
            logits = (logits + config.stepsize * values) / (1 + config.stepsize * config.magnet)
        weights = np.exp(logits - logits.max())
        stepped: np.ndarray = weights / weights.sum()
        return stepped
