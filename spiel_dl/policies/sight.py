"""What networks see of a position: its features.

Networks that were trained before there were features see sequences of observations, the information
state tensor; their files say nothing of it, and they go on to play.
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


def of_policy(policy: object) -> Sight:
    """What a policy that is asked by tensors sees: sequences, unless it says something else."""
    found: Sight = getattr(getattr(policy, "network", policy), "sight", "sequences")
    return found


def size(game: pyspiel.Game, sight: Sight) -> int:
    """How many numbers a network sees of a turn-based game."""
    if sight == "sequences":
        return int(game.information_state_tensor_size())
    return features.num_features(game)


def of_state(state: pyspiel.State, player: int, sight: Sight) -> np.ndarray:
    """What a network sees as a player in a state of a turn-based game: float32 [D]."""
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
    """What a network sees in a player's infosets from `begin` to before `end`: float32 [N, D]."""
    end = game.num_infosets(player) if end is None else end
    if sight == "sequences":
        return game.observations(player, begin, end).tensors
    return game.features(player, begin, end)
