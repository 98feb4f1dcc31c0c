"""Mirror-descent search: one update of the blueprint, in the infoset at hand alone.

Sokota et al. (2023), "The Update-Equivalence Framework for Decision-Time Planning". In one infoset,
an update of the whole policy depends on nothing but the values of the actions there if both players
go on by the blueprint:

  1. Histories of the player's infoset are drawn by both players' blueprint (`search.beliefs`).
  2. From each, after each action, games are played on by the blueprint: to the end, or for some
     moves and to the player's next decision, which the network values. q is the mean utility.
  3. The player's policy is pi' ~ (pi e^(eta q) rho^(eta alpha))^(1 / (1 + eta alpha)), the step of
     magnetic mirror descent, with stepsize eta, temperature alpha and a uniform magnet rho;
     alpha = 0 is mirror descent. Utilities are measured in the utility range, so that eta means the
     same in all games. With the blueprint as magnet it would be mirror descent of the stepsize
     eta / (1 + eta alpha).

No subgame is solved, and no public state is needed.

    policy = MirrorDescentPolicy(game, blueprint, MirrorDescentConfig(stepsize=0.3, depth=2))

The authors' program for Stratego (github.com/StrategoAI/ataraxos) has utilities from -1 to 1, so
its stepsize 10 and temperature 0.006 are 20 and 0.003 here. Its depth is 10, and it draws at most
200 histories and plays 512 games in each search.

If all players did so in all infosets, by exact action values, the whole policy would make one step
of (magnetic) mirror descent from the blueprint. Of one player's deviation in one infoset this says
nothing: with a large stepsize it is a best response to the blueprint, and as exploitable as that.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.learning.rollouts import Horizon, PlayerValues
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.search.beliefs import Beliefs
from spiel_dl.search.played import PlayedPath, PlayedSource
from spiel_dl.search.policy import LocalStrategy, Search, SearchPolicy
from spiel_dl.search.policy_rows import (
    AnyBlueprint,
    TensorPolicy,
    acting_blueprint,
    play_on_by,
)
from spiel_dl.search.sepot_config import MirrorDescentConfig as MirrorDescentConfig
from spiel_dl.search.spec import Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame

_MAX_KEPT = 16
"""The number of search results that are kept."""


class ActionValues(NamedTuple):
    """The result of a search.

    Attributes:
      actions: the legal actions, in order.
      values: float64 [A], the value of each to the player, in utility ranges.
      policy: float64 [A], the policy after the step.
    """

    actions: list[int]
    values: np.ndarray
    policy: np.ndarray


class MirrorDescentSource(PlayedSource[ActionValues]):
    """Searches in every decision, each by itself.

    Attributes:
      config: stepsize, rollouts and budgets.
    """

    is_private = True

    def __init__(self, game: AnyGame, blueprint: AnyBlueprint, config: MirrorDescentConfig):
        """Loads the game; see `MirrorDescentPolicy`."""
        super().__init__(game, DepthLimit(moves=1))
        self.config = config
        self._beliefs = Beliefs(self.game, config.max_listed)
        acting = acting_blueprint(blueprint)
        self.blueprint = TensorPolicy(self.rules, acting)
        horizons: list[Horizon | None] = [None, None]
        if config.depth is not None:
            values = self._network_values(blueprint)
            horizons = [Horizon(config.depth, player, values) for player in (0, 1)]
        self._play_on = [play_on_by(self.rules, acting, horizon) for horizon in horizons]

    def next_start(
        self, path: PlayedPath, position: int | None, result: ActionValues | None
    ) -> int | None:
        """See `Source`: the last decision on the path is the only one."""
        del result
        last = path.decisions[-1]
        return last if position is None or position < last else None

    def solve(
        self,
        path: PlayedPath,
        position: int,
        previous: ActionValues | None,
        spec: Spec,
        search: Search,
    ) -> ActionValues:
        """See `Source`: estimates action values, and makes the step; solves no game."""
        del previous, spec, search
        here, player = path.here(position), path.player
        actions = np.flatnonzero(self.rules.legal_actions(here)[0].numpy())
        policy = self.blueprint(here, player)[0, actions]
        generator = self.generator(self.config.seed, path, position)
        values = self._action_values(path, position, actions, generator)
        policy /= policy.sum()
        step = mirror_descent_step(policy, values, self.config.stepsize, self.config.temperature)
        return ActionValues(actions.tolist(), values, step)

    def local_strategy(
        self, path: PlayedPath, state: pyspiel.State, result: ActionValues | None
    ) -> LocalStrategy:
        """See `Source`: the policy after the step."""
        del path, state
        assert result is not None
        return LocalStrategy(dict(zip(result.actions, result.policy.tolist(), strict=True)))

    def _action_values(
        self, path: PlayedPath, position: int, actions: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """The value of each action (int64 [A]) to the player: float64 [A], in utility ranges."""
        player, config = path.player, self.config
        here = path.here(position)
        public_key = int(path.public_keys[position])
        tensor = self.rules.public_tensor(here, True)[0]
        belief = self._beliefs.of(public_key, tensor, self.blueprint, changing=())
        drawn = belief.infoset(player, here, config.budget, generator)
        # The player's own reach is the same in all of them, and may be 0.
        weight = drawn.chance_reach * drawn.copies
        external_reach = weight * drawn.reach[1 - player]
        # The infoset may be one that the opponent's blueprint never reaches.
        weight = external_reach if external_reach.any() else weight
        repeats = -(-config.num_rollouts // (drawn.num_particles * len(actions)))
        rows = np.repeat(np.arange(drawn.num_particles), len(actions) * repeats)
        moves = np.tile(np.repeat(actions, repeats), drawn.num_particles)
        returns = self._play_on[player](drawn.states, rows, moves, generator)
        by_history = returns.reshape(drawn.num_particles, len(actions), repeats).mean(axis=2)
        sign = 1.0 if player == 0 else -1.0
        # Where all utilities are 0, so are the values.
        utility_range = self.rules.max_utility - self.rules.min_utility or 1.0
        values: np.ndarray = sign * (weight @ by_history) / (weight.sum() * utility_range)
        return values

    def _network_values(self, blueprint: AnyBlueprint) -> PlayerValues:
        if not isinstance(blueprint, NetworkPolicy):
            raise ValueError(
                f"depth={self.config.depth} asks what the network says of positions, and "
                f"{type(blueprint).__name__} says nothing; give a NetworkPolicy, or leave "
                "depth out"
            )
        return functools.partial(_position_values, self.rules, blueprint)


def _position_values(
    rules: Rules[Any], policy: NetworkPolicy, states: StateBatch, player: int
) -> np.ndarray:
    """A network's values where the player acts, by what that player observes: float64 [N]."""
    return policy.values(rules.features(states, player))


def mirror_descent_step(
    policy: np.ndarray, values: np.ndarray, stepsize: float, temperature: float = 0.0
) -> np.ndarray:
    """A policy after one step of magnetic mirror descent with a uniform magnet: float64 [A].

    Args:
      policy: float64 [A].
      values: float64 [A], of each action.
      stepsize: eta, in units of 1 / value.
      temperature: alpha, in units of values.
    """
    with np.errstate(divide="ignore"):
        # The uniform magnet adds a constant to all logits.
        logits = (np.log(policy) + stepsize * values) / (1 + stepsize * temperature)
    weights = np.exp(logits - logits.max())
    probabilities: np.ndarray = weights / weights.sum()
    return probabilities


class MirrorDescentPolicy(SearchPolicy):
    """Both players' policies by mirror-descent search, each as if only that player searched.

    The policy in a state does not depend on earlier calls.
    """

    source: MirrorDescentSource

    def __init__(
        self, game: AnyGame, blueprint: AnyBlueprint, config: MirrorDescentConfig | None = None
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          blueprint: as `algorithms.sepot.SePoTPlayPolicy` has it.
          config: how to search; None: the defaults.

        Raises:
          ValueError: if the game has no rules, or the blueprint is none of these, or, with a
            depth, no network.
        """
        source = MirrorDescentSource(game, blueprint, config or MirrorDescentConfig())
        super().__init__(source, Spec(), Effort(), max_kept=_MAX_KEPT)
