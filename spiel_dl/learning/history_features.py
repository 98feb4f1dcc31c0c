"""Features of whole histories, the inputs of critics: both players' features.

In games without `Rules` that were converted from simultaneous moves, these lack player 0's action
when player 1 is about to act, so that action is appended, one-hot.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyspiel
import torch

from spiel_dl.games import features
from spiel_dl.games.rules import Rules
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.histories import is_converted


def size(game: pyspiel.Game) -> int:
    """E, the number of features of a history of a turn-based game."""
    both = 2 * features.num_features(game)
    has_action = not hasattr(game, "rules") and is_converted(game)
    return both + game.num_distinct_actions() if has_action else both


def of_tree(tree: CompiledTree, histories: np.ndarray) -> torch.Tensor:
    """The features of histories (int [N]) in which a player acts: float32 [N, E].

    Raises:
      ValueError: if the game has neither observation nor information state tensors.
    """
    if hasattr(tree.game, "rules"):
        rules: Rules = tree.game.rules
        return rules.history_features(tree.states_of(histories))
    rows = [of_state(tree.state(history)) for history in np.asarray(histories).tolist()]
    return torch.from_numpy(np.array(rows, np.float32).reshape(len(rows), size(tree.game)))


def of_state(state: pyspiel.State) -> np.ndarray:
    """The features of a state of a turn-based game in which a player acts: float32 [E]."""
    game = state.get_game()
    if hasattr(game, "rules"):
        row: np.ndarray = game.rules.history_features(state.batch)[0].numpy()
        return row
    pieces = [features.features(state, player) for player in (0, 1)]
    if is_converted(game):
        action = np.zeros(game.num_distinct_actions(), np.float32)
        last = state.full_history()[-1] if state.current_player() == 1 else None
        if last is not None and last.player == 0:
            action[last.action] = 1.0
        pieces.append(action)
    return np.concatenate(pieces)


def weighted_sums(
    tree: CompiledTree,
    histories: np.ndarray,
    weight: torch.Tensor,
    bias: torch.Tensor,
) -> Callable[[slice], torch.Tensor]:
    """A critic's first layer, before its ReLU, at histories in which a player acts.

    In games with `Rules`, it is a sum of a part for each player's features. A part is computed once
    per infoset, of which there are far fewer than histories.

    Args:
      tree: the histories' tree.
      histories: int [N].
      weight: float32 [E, U].
      bias: float32 [1, U].

    Returns:
      Maps a slice of the histories to their weighted sums: float32 [n, U], a new tensor.

    Raises:
      ValueError: if the game has neither observation nor information state tensors.
    """
    if not hasattr(tree.game, "rules"):
        return lambda rows: torch.addmm(
            bias, of_tree(tree, histories[rows]).to(weight.device), weight
        )
    rules: Rules = tree.game.rules
    parts = []
    for player in (0, 1):
        keys = tree.infoset_key[player][histories]
        _, first, infoset = np.unique(keys, return_index=True, return_inverse=True)
        own = rules.features(tree.states_of(histories[first]), player)
        own_weight = weight[player * own.shape[1] : (player + 1) * own.shape[1]]
        part = own.to(weight.device) @ own_weight
        parts.append((part, torch.from_numpy(infoset.reshape(-1)).to(weight.device)))
    (part_0, infoset_0), (part_1, infoset_1) = parts
    part_0 += bias
    return lambda rows: part_0[infoset_0[rows]].add_(part_1[infoset_1[rows]])
