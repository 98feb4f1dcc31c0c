"""Policies as `pyspiel.Bot`s, for OpenSpiel's matches and tools."""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.bots.policy import PolicyBot

from spiel_dl.policies.array_policy import check_player


def policy_bot(policy: openspiel_policy.Policy, player: int, seed: int | None = None) -> PolicyBot:
    """A `pyspiel.Bot` that plays a policy, and asks it only in the states that it comes to.

    Args:
      policy: of the turn-based game.
      player: the seat, 0 or 1.
      seed: of its choices; None: another one every time.

    Raises:
      ValueError: if there is no such player.
    """
    check_player(player)
    return PolicyBot(player, np.random.default_rng(seed), policy)
