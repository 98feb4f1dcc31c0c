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
from spiel_dl.tree.game_tree import GameTree

Sight = Literal["features", "sequences"]


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


def of_infosets(tree: GameTree, player: int, sight: Sight) -> np.ndarray:
    """What a network sees in all decision infosets of a player: float32 [I, D]."""
    if sight == "sequences":
        return tree.observations(player).tensors
    histories = tree.first_history[player]
    if hasattr(tree.game, "rules"):
        found: np.ndarray = tree.game.rules.features(tree.states_of(histories), player).numpy()
        return found
    seen = [features.features(tree.state(each), player) for each in histories]
    return np.array(seen, np.float32).reshape(len(seen), features.num_features(tree.game))
