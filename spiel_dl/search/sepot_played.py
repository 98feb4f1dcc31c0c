"""SePoT in games of any size: search from the public state at hand, which is reconstructed.

Kubíček et al. (2023), section 4.2, as printed: nothing of earlier searches is needed.

  1. All histories of the public state where the current level began are reconstructed. If there
     are more than `max_histories`, the blueprint answers.
  2. The player's range is the blueprint's, replayed along the past of each of its infosets there.
  3. The opponent's given cfvs are what the critic says of the identity transformation.
  4. The game from there to the depth limit is built and solved (`search.sepot_search`).

The searching player reads its own infoset and public observations, nothing else.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import ConsistentHistories, StateBatch
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.search.played import PlayedPath, PlayedStep
from spiel_dl.search.sepot_config import MAX_HISTORIES, SearchConfig
from spiel_dl.search.sepot_search import Root, Searcher
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.public_states import consistent_histories
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.tree.trunk import Trunk


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


class PlayedSolution(NamedTuple):
    """What a search found.

    Attributes:
      trunk: what it looked at.
      plan: float64 [S_p], the player's average realization plan there.
    """

    trunk: Trunk
    plan: np.ndarray


class SePoTPlayedStep(PlayedStep[PlayedSolution | None]):
    """Searches from where the current level began. None stands for a search that was not made.

    Attributes:
      seconds: what the last search took; None before the first one.
      num_searches: how many searches were made.
      num_left_to_blueprint: how many were not, because the public state was too large or because
        the blueprint never comes there.
    """

    def __init__(
        self,
        game: pyspiel.Game | str,
        blueprint: ActingPolicy,
        critic: Critic,
        depth_limit: DepthLimit,
        config: SearchConfig,
    ):
        """Loads the game; see `algorithms.sepot.SePoTPlayPolicy`."""
        super().__init__(game, depth_limit)
        if config.continual or config.own_range != "blueprint" or config.given_cfvs != "critic":
            raise ValueError(
                f"{config}: where public states are reconstructed, nothing is known of earlier "
                "searches; use SearchConfig.as_printed(...), or compile the game"
            )
        self.seconds: Seconds | None = None
        self.num_searches = 0
        self.num_left_to_blueprint = 0
        self._blueprint = blueprint
        self._searcher = Searcher(critic, config)

    def first(self, path: PlayedPath) -> int:
        """Where the level began in which the path ends; see `PlayedStep`."""
        return next(i for i in path.decisions if path.depth[i] == path.depth[-1])

    def following(
        self, path: PlayedPath, start: int, solution: PlayedSolution | None
    ) -> int | None:
        """Every question is one search; see `PlayedStep`."""
        return None

    def solve(
        self, path: PlayedPath, start: int, before: PlayedSolution | None
    ) -> PlayedSolution | None:
        """One search; see `PlayedStep`."""
        found = self._search(path, start)
        self.num_searches += found is not None
        self.num_left_to_blueprint += found is None
        return found

    def answer(
        self, path: PlayedPath, state: pyspiel.State, solution: PlayedSolution | None
    ) -> dict[int, float]:
        """The plan's strategy; the blueprint's where it never comes. See `PlayedStep`."""
        actions, row = state.legal_actions(), None
        if solution is not None:
            row = _strategy_at(solution, path.player, int(path.infoset_keys[-1]))
        if row is None:
            here = path.states.take(torch.tensor([len(path.acting) - 1]))
            row = self._policy(here, path.player)[0, actions]
            row /= row.sum()  # NumPy's generators refuse what single precision leaves of 1
        return dict(zip(actions, row.tolist(), strict=True))

    def _search(self, path: PlayedPath, start: int) -> PlayedSolution | None:
        """What is found; None where the blueprint is played."""
        player, times = path.player, [time.perf_counter()]
        here = path.states.take(torch.tensor([start]))
        public_tensor = self.rules.public_tensor(here, True)[0]
        most = self._searcher.config.max_histories or MAX_HISTORIES
        found = consistent_histories(public_tensor, most, self.game)
        if not found.complete:
            return None
        reach = self._own_reach(found, player)
        times.append(time.perf_counter())
        own_first = np.stack([reach, np.ones_like(reach)])
        both = own_first if player == 0 else own_first[::-1]
        particles = Particles(self.game, found.states, both, found.chance_reach.numpy())
        trunk = sparse_trunk(particles, self.depth_limit)
        times.append(time.perf_counter())
        mass = float(reach @ particles.chance_reach)
        if mass == 0:
            return None
        histories = np.arange(1, particles.num_particles + 1)
        # The blueprint is known for both players; reading it tells nothing of what is hidden.
        refines = self._searcher.config.refinement not in (None, "ones")
        prior = self._own_reach(found, 1 - player) if refines else None
        root = Root(trunk, histories, reach / mass, start == path.decisions[0], prior)
        given = None if root.is_first else self._searcher.critic_cfvs(player, root)
        leaf_values = self._searcher.leaf_values(player, trunk.leaves)
        times.append(time.perf_counter())
        plan = self._searcher.solve(player, root, given, leaf_values)
        times.append(time.perf_counter())
        self.seconds = Seconds(*np.diff(times).tolist())
        return PlayedSolution(trunk, plan)

    def _own_reach(self, found: ConsistentHistories, player: int) -> np.ndarray:
        """A player's own reach of each history by the blueprint: float64 [N].

        The same in all histories of an infoset, so one of each is replayed.
        """
        infoset, first = first_occurrence_ids(self.keys.of_level(found.states)[0][player])
        actions = found.actions[torch.from_numpy(first)].long()
        states = self.rules.initial_state(len(first))
        reach = np.ones(len(first))
        for action in actions.unbind(dim=1):
            moves = np.flatnonzero(self.rules.current_player(states).numpy() == player)
            if len(moves):
                rows = self._policy(states.take(torch.from_numpy(moves)), player)
                reach[moves] *= rows[np.arange(len(moves)), action.numpy()[moves]]
            states = self.rules.apply(states, action)
        return reach[infoset]

    def _policy(self, states: StateBatch, player: int) -> np.ndarray:
        """The blueprint in states (batch dimension N) where a player acts: float64 [N, A]."""
        tensors = self.rules.information_state_tensor(states, player)
        policy = self._blueprint(tensors, self.rules.legal_actions(states))
        return policy.double().cpu().numpy()


def _strategy_at(solution: PlayedSolution, player: int, key: int) -> np.ndarray | None:
    """A player's strategy in the infoset of a key: float64 [n]; None where its plan never comes."""
    trunk, tree = solution.trunk, solution.trunk.tree
    keys = tree.infoset_key[player, tree.first_history[player][trunk.infosets[player]]]
    treeplex = trunk.sequence_form.treeplexes[player]
    own = treeplex.sequences(int(np.flatnonzero(keys == key)[0]))
    return behaviour_strategy(treeplex, solution.plan)[own] if solution.plan[own].any() else None
