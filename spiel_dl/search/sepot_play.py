"""SePoT in games of any size: search from the public state at hand, which is reconstructed.

Kubíček et al. (2023), section 4.2, as printed: nothing of earlier searches is needed.

  1. All histories of the public state where the current level began are reconstructed. If there
     are more than `max_histories`, the blueprint answers.
  2. The player's range is the blueprint's, replayed along the past of each of its infosets there.
  3. The opponent's given cfvs are what the critic says of the identity transformation.
  4. The game from there to the depth limit is built and solved (`algorithms.sepot_search`).

The searching player reads its own infoset and public observations, nothing else.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.games.rules import ConsistentHistories
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.search import sepot_search
from spiel_dl.search.sepot_config import MAX_HISTORIES
from spiel_dl.search.sepot_search import SearchEffort
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.particles import Particles, rules_of
from spiel_dl.tree.public_states import consistent_histories
from spiel_dl.tree.sparse_tree import depth_of_steps, root_ranges, sparse_trunk
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedStates


class Seconds(NamedTuple):
    """What a search took.

    Attributes:
      reconstruction: finding the public state's histories, and the player's range.
      tree: building the game down to the depth limit.
      critic: values of the histories at the root and at the leaves.
      solution: CFR.
    """

    reconstruction: float
    tree: float
    critic: float
    solution: float


class SePoTPlayPolicy(openspiel_policy.Policy):
    """Both players' policies by search in games with `Rules`, each as if only that player searched.

    Every question is a search of its own.

    Attributes:
      seconds: what the last search took; None before the first one.
    """

    def __init__(
        self,
        game: pyspiel.Game | str,
        blueprint: ActingPolicy,
        critic: Critic,
        depth_limit: DepthLimit,
        *,
        max_histories: int = MAX_HISTORIES,
        effort: SearchEffort | None = None,
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, or its game string.
          blueprint: from information state tensors and legal actions, on the CPU, to action
            probabilities, on any device.
          critic: of this blueprint.
          depth_limit: how deep each search looks.
          max_histories: larger public states are left to the blueprint.
          effort: how to solve; None: the defaults.

        Raises:
          ValueError: if the game has no rules, or `max_histories` is not positive.
        """
        if max_histories < 1:
            raise ValueError(f"max_histories={max_histories} must be at least 1")
        self._game = load_turn_based(game)
        super().__init__(self._game, [0, 1])
        self.seconds: Seconds | None = None
        self._rules = rules_of(self._game)
        self._keys = InfosetKeys(self._rules)
        self._blueprint = blueprint
        self._critic = critic
        self._depth_limit = depth_limit
        self._max_histories = max_histories
        self._effort = effort or SearchEffort()

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions, by a search if the public state is small enough.

        Args:
          state: a state in which a player acts.
          player_id: that player; None: the player to move.

        Raises:
          ValueError: if the player does not act in this state.
        """
        player = state.current_player()
        if player not in (0, 1) or player_id not in (None, player):
            raise ValueError(
                f"player {player_id} does not act in a state whose current player is {player}"
            )
        actions = state.legal_actions()
        row = self._search(state, player)
        if row is None:
            row = self._policy(state.batch, player)[0, actions]
            row /= row.sum()  # what single precision leaves of 1, NumPy's generators refuse
        return dict(zip(actions, row.tolist(), strict=True))

    def _search(self, state: pyspiel.State, player: int) -> np.ndarray | None:
        """Probabilities of the legal actions: float64 [n]; None where the blueprint is played."""
        times = [time.perf_counter()]
        start, is_first_move = self._level_start(state)
        public_tensor = self._rules.public_tensor(start, True)[0]
        found = consistent_histories(public_tensor, self._max_histories, self._game)
        if not found.complete:
            return None
        reach = self._own_reach(found, player)
        times.append(time.perf_counter())
        own_first = np.stack([reach, np.ones_like(reach)])
        both = own_first if player == 0 else own_first[::-1]
        particles = Particles(self._game, found.states, both, found.chance_reach.numpy())
        trunk = sparse_trunk(particles, self._depth_limit)
        leaves = trunk.leaves
        times.append(time.perf_counter())
        mass = float(reach @ particles.chance_reach)
        if mass == 0:
            return None
        own_range = root_ranges(trunk, particles)[player] / mass
        # Before the first move, the opponent cannot have come otherwise than expected.
        given = None if is_first_move else self._given_cfvs(trunk, player, own_range)
        utilities = self._critic.values(trunk.tree, leaves.histories, player)[:, None, :]
        leaf_values = MultiValuedStates(player, lambda _: utilities)
        times.append(time.perf_counter())
        plan = sepot_search.search(trunk, own_range, given, leaf_values, self._effort)
        times.append(time.perf_counter())
        self.seconds = Seconds(*np.diff(times).tolist())
        return _strategy_at(trunk, plan, player, self._keys.of_state(state, player))

    def _level_start(self, state: pyspiel.State) -> tuple[Any, bool]:
        """Where the state's level began, and whether that is before the first move of a player."""
        rules = self._rules
        batches, depths = [rules.initial_state()], [0]
        for action in state.history():
            batches.append(rules.apply(batches[-1], torch.tensor([action])))
            step = depth_of_steps(rules, self._depth_limit, batches[-2], batches[-1])
            depths.append(depths[-1] + int(step[0]))
        acts = [int(rules.current_player(batch)[0]) >= 0 for batch in batches]
        first = next(i for i, depth in enumerate(depths) if acts[i] and depth == depths[-1])
        return batches[first], not any(acts[:first])

    def _own_reach(self, found: ConsistentHistories, player: int) -> np.ndarray:
        """The player's reach of each history by the blueprint: float64 [N].

        The same in all histories of an infoset, so one of each is replayed.
        """
        infoset, first = first_occurrence_ids(self._keys.of_level(found.states)[0][player])
        actions = found.actions[torch.from_numpy(first)].long()
        states = self._rules.initial_state(len(first))
        reach = np.ones(len(first))
        for action in actions.unbind(dim=1):
            moves = np.flatnonzero(self._rules.current_player(states).numpy() == player)
            if len(moves):
                rows = self._policy(states.take(torch.from_numpy(moves)), player)
                reach[moves] *= rows[np.arange(len(moves)), action.numpy()[moves]]
            states = self._rules.apply(states, action)
        return reach[infoset]

    def _given_cfvs(self, trunk: Trunk, player: int, own_range: np.ndarray) -> np.ndarray:
        """What the opponent gets if both go on by the blueprint: float64 [R_-p]."""
        tree = trunk.tree
        roots = np.flatnonzero(tree.parent == 0)
        root_of = trunk.root_of_history[:, roots]
        reach = tree.chance_reach[roots] * own_range[root_of[player]]
        values = self._critic.values(tree, roots, player)[:, 0]
        num_roots = len(trunk.root_infosets[1 - player])
        return -np.bincount(root_of[1 - player], reach * values, minlength=num_roots)

    def _policy(self, states: Any, player: int) -> np.ndarray:
        """The blueprint in states (batch dimension N) where a player acts: float64 [N, A]."""
        tensors = self._rules.information_state_tensor(states, player)
        policy = self._blueprint(tensors, self._rules.legal_actions(states))
        return policy.double().cpu().numpy()


def _strategy_at(trunk: Trunk, plan: np.ndarray, player: int, key: int) -> np.ndarray | None:
    """A player's strategy in the infoset of a key: float64 [n]; None where its plan never comes."""
    tree, infosets = trunk.tree, trunk.infosets[player]
    keys = tree.infoset_key[player, tree.first_history[player][infosets]]
    treeplex = trunk.sequence_form.treeplexes[player]
    own = treeplex.sequences(int(np.flatnonzero(keys == key)[0]))
    return behaviour_strategy(treeplex, plan)[own] if plan[own].any() else None
