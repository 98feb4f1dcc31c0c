"""A public state of a large game with `Rules`, as an acting policy would come there."""

from __future__ import annotations

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.search import policy_rows
from spiel_dl.search.beliefs import replayed_reach
from spiel_dl.search.found import Found
from spiel_dl.search.policy_rows import TensorPolicy
from spiel_dl.search.sepot_played import SePoTPlayedStep
from spiel_dl.search.trunk_strategies import fixed_to
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.public_states import consistent_histories
from spiel_dl.tree.sparse_tree import root_ranges, sparse_trunk

MAX_HISTORIES = 20_000


def acting_policy_within(policy: openspiel_policy.Policy) -> ActingPolicy | None:
    """What a policy does in many states at once: a network, a search's blueprint; else None."""
    step = getattr(policy, "step", None)
    return (
        step.blueprint if isinstance(step, SePoTPlayedStep) else policy_rows.acting_policy(policy)
    )


def reconstruct(state: pyspiel.State, act: ActingPolicy) -> Found | None:
    """Both players' ranges and strategies in a state's public state, if both act so.

    Args:
      state: a state of a game with `Rules` in which a player acts; its public part alone is read.
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
    plans = []
    for player, (treeplex, own) in enumerate(
        zip(trunk.sequence_form.treeplexes, root_ranges(trunk, particles), strict=True)
    ):
        strategy = fixed_to(policy, trunk, player).strategy
        plans.append(realization_plan(treeplex, strategy, own))
    return Found(int(state.current_player()), trunk, (plans[0], plans[1]), None)
