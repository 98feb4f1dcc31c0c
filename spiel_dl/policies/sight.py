"""The input tensors of policies that are functions of tensors: their `sight`.

Networks of this package take a position's features. Other functions take the sequence of
observations, which is the information state tensor, unless their file has another entry.
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
"""The sight of all networks. Their files have it, since earlier versions took sequences."""


def of_policy(policy: object) -> Sight:
    """The sight of a policy that is a function of tensors: its attribute, else sequences."""
    sight: Sight = getattr(policy, "sight", "sequences")
    return sight


def of_state(state: pyspiel.State, player: int, sight: Sight) -> np.ndarray:
    """The input of a player's policy in a state of a turn-based game: float32 [D]."""
    if sight == "sequences":
        return np.array(state.information_state_tensor(player), np.float32)
    return features.features(state, player)


def of_states(rules: Rules, states: StateBatch, player: int, sight: Sight) -> torch.Tensor:
    """The inputs of a policy in a batch of states: float32 [B, D]."""
    if sight == "sequences":
        return rules.information_state_tensor(states, player)
    return rules.features(states, player)


def of_infosets(
    game: GameTree | FactoredGame, player: int, sight: Sight, begin: int = 0, end: int | None = None
) -> np.ndarray:
    """The inputs in a player's infosets from `begin` to before `end`: float32 [N, D]."""
    end = game.num_infosets(player) if end is None else end
    if sight == "sequences":
        return game.observations(player, begin, end).tensors
    return game.features(player, begin, end)
