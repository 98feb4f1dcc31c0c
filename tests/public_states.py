"""Public states: all their histories as particles, and what tells histories apart."""

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.public_states import consistent_histories


def particles_of(state: pyspiel.State) -> Particles:
    """All histories of a state's public state, each player's reach 1."""
    histories = consistent_histories(state)
    assert histories.complete
    reach = np.ones((2, histories.states.batch_size))
    return Particles(state.get_game(), histories.states, reach, histories.chance_reach.numpy())


def history_tensor(rules: Rules, states: StateBatch) -> torch.Tensor:
    """Public and both private tensors: float32 [B, Dpub + 2 Dpriv]."""
    public = rules.public_tensor(states, perfect_recall=True)
    private = [rules.private_tensor(states, player, True) for player in (0, 1)]
    return torch.cat([public, *private], dim=1)
