"""Reconstructs a public state of a large game with `Rules`, with an acting policy's ranges."""

from __future__ import annotations

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.sources import ActingPolicy
from spiel_dl.search import policy_rows
from spiel_dl.search.beliefs import replayed_reach
from spiel_dl.search.played import BlueprintSource
from spiel_dl.search.policy_rows import TensorPolicy, fixed_to
from spiel_dl.search.spec import Root, Solution
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.public_states import consistent_histories
from spiel_dl.tree.sparse_tree import root_ranges, sparse_trunk

MAX_HISTORIES = 20_000


def acting_policy_within(policy: openspiel_policy.Policy) -> ActingPolicy | None:
    """The batched policy of a network or of a search's blueprint; None of other policies."""
    source = getattr(policy, "source", None)
    if isinstance(source, BlueprintSource):
        return source.blueprint.acting if isinstance(source.blueprint, TensorPolicy) else None
    return policy_rows.acting_policy(policy)


def reconstruct(state: pyspiel.State, act: ActingPolicy) -> Solution | None:
    """Both players' ranges and strategies in a state's public state, if both follow a policy.

    Args:
      state: a state of a game with `Rules` in which a player acts; only its public part is read.
      act: the policy.

    Returns:
      A trunk of one move, without values; None if the public state has too many histories.
    """
    game = state.get_game()
    policy = TensorPolicy(game.rules, act)
    histories = consistent_histories(state, MAX_HISTORIES)
    if not histories.complete:
        return None
    keys = InfosetKeys(game.rules).of_level(histories.states)[0]
    reach = [
        replayed_reach(game, keys[player], histories.actions, player, policy) for player in (0, 1)
    ]
    chance = histories.chance_reach.numpy()
    particles = Particles(game, histories.states, np.stack(reach), chance)
    trunk = sparse_trunk(particles, DepthLimit(moves=1))
    ranges, player = root_ranges(trunk, particles), int(state.current_player())
    strategies = [fixed_to(policy, trunk, p).strategy for p in (0, 1)]
    first, second = map(realization_plan, trunk.sequence_form.treeplexes, strategies, ranges)
    return Solution(Root(trunk, player, ranges), (first, second), strategies[player])
