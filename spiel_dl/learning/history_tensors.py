"""What critics see: tensors of whole histories.

In games with `Rules`, what everybody sees and what each player alone sees. In others, the
information state tensors of both players. Where such a game was converted from one with
simultaneous moves, neither of these tells what player 0 has chosen before player 1 does, so the
choice is appended, one-hot.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.histories import is_converted
from spiel_dl.tree.information_states import check_tensors


def of_tree(tree: CompiledTree, histories: np.ndarray) -> torch.Tensor:
    """Tensors of histories (int [N]) in which a player acts: float32 [N, E], on the CPU.

    Raises:
      ValueError: if the game has no information state tensors.
    """
    if hasattr(tree.game, "rules"):
        rules: Rules = tree.game.rules
        return rules.history_tensor(tree.states_of(histories))
    check_tensors(tree.game)
    rows = np.zeros((len(histories), state_tensor_size(tree.game)), np.float32)
    for row, history in zip(rows, np.asarray(histories).tolist(), strict=True):
        write_state(tree.state(history), row)
    return torch.from_numpy(rows)


def weighted_sums(
    tree: CompiledTree, histories: np.ndarray, weight: torch.Tensor, bias: torch.Tensor
) -> Callable[[slice], torch.Tensor]:
    """What the first layer of a network makes of histories in which a player acts.

    In games with `Rules`, a history's sum is one of what player 0 sees, public things included,
    and one of what player 1 alone sees. So it is made of two rows, one for each infoset, of which
    there are far fewer than histories.

    Args:
      tree: the histories' tree.
      histories: int [N].
      weight: float32 [E, U].
      bias: float32 [1, U].

    Returns:
      From a slice of the histories to their sums: float32 [n, U], a new tensor.

    Raises:
      ValueError: if the game has no information state tensors.
    """
    if not hasattr(tree.game, "rules"):
        return lambda rows: torch.addmm(
            bias, of_tree(tree, histories[rows]).to(weight.device), weight
        )
    rules: Rules = tree.game.rules
    sizes = (rules.public_size(True), rules.private_size(True), rules.private_size(True))
    public_weight, *private_weights = weight.split(sizes)
    parts = []
    for player, own_weight in enumerate(private_weights):
        keys = tree.infoset_key[player][histories]
        _, first, infoset = np.unique(keys, return_index=True, return_inverse=True)
        states = tree.states_of(histories[first])
        part = rules.private_tensor(states, player, True).to(weight.device) @ own_weight
        if player == 0:
            part += rules.public_tensor(states, True).to(weight.device) @ public_weight + bias
        parts.append((part, torch.from_numpy(infoset.reshape(-1)).to(weight.device)))
    (part_0, infoset_0), (part_1, infoset_1) = parts
    return lambda rows: part_0[infoset_0[rows]].add_(part_1[infoset_1[rows]])


def state_tensor_size(game: pyspiel.Game) -> int:
    """E, the length of a history's tensor in a turn-based game."""
    if hasattr(game, "rules"):
        rules: Rules = game.rules
        return int(rules.public_size(True) + 2 * rules.private_size(True))
    size = 2 * game.information_state_tensor_size()
    return size + game.num_distinct_actions() if is_converted(game) else size


def write_state(state: pyspiel.State, row: np.ndarray) -> None:
    """Writes the history of a state in which a player acts.

    Args:
      state: a state of a turn-based game.
      row: float32 [E], zeros.
    """
    game = state.get_game()
    if hasattr(game, "rules"):
        row[:] = game.rules.history_tensor(state.batch)[0].numpy()
        return
    size = game.information_state_tensor_size()
    for player in (0, 1):
        row[player * size : (player + 1) * size] = state.information_state_tensor(player)
    if is_converted(game) and state.current_player() == 1:
        last = state.full_history()[-1]
        if last.player == 0:
            row[2 * size + last.action] = 1.0
