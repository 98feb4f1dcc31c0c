"""What policies that are asked by tensors see of a position.

Our networks see its features. Functions of other people's see sequences of observations, the
information state tensor, unless their file says something else.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyspiel
import torch

from spiel_dl.games import features
from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree

Sight = Literal["features", "sequences"]
FEATURES: Sight = "features"
"""What all networks see. Their files say it, since those of earlier versions saw sequences."""


def of_policy(policy: object) -> Sight:
    """What a policy that is asked by tensors sees: sequences, unless it says something else."""
    found: Sight = getattr(policy, "sight", "sequences")
    return found


def of_state(state: pyspiel.State, player: int, sight: Sight) -> np.ndarray:
    """What a policy sees as a player in a state of a turn-based game: float32 [D]."""
    if sight == "sequences":
        return np.array(state.information_state_tensor(player), np.float32)
    return features.features(state, player)


def of_states(rules: Rules, states: StateBatch, player: int, sight: Sight) -> torch.Tensor:
    """The same of a batch of states: float32 [B, D]."""
    if sight == "sequences":
        return rules.information_state_tensor(states, player)
    return rules.features(states, player)


def of_infosets(
    game: GameTree | FactoredGame, player: int, sight: Sight, begin: int = 0, end: int | None = None
) -> np.ndarray:
    """What a policy sees in a player's infosets from `begin` to before `end`: float32 [N, D]."""
    end = game.num_infosets(player) if end is None else end
    if sight == "sequences":
        return game.observations(player, begin, end).tensors
    return game.features(player, begin, end)
