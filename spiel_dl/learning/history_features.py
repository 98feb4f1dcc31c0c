"""What critics see of whole histories: the features of both players.

Where a game was converted from one with simultaneous moves, and has no `Rules`, these do not tell
what player 0 has chosen before player 1 does, so the choice is appended, one-hot. Critics that were
trained before there were features see sequences of observations, see `policies.sight`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.policies import sight
from spiel_dl.policies.sight import Sight
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.histories import is_converted


def size(game: pyspiel.Game, seen: Sight = "features") -> int:
    """E, how many numbers a critic sees of a turn-based game."""
    if not hasattr(game, "rules"):
        both = 2 * sight.size(game, seen)
        return both + game.num_distinct_actions() if is_converted(game) else both
    if seen == "features":
        return 2 * sight.size(game, seen)
    rules: Rules = game.rules
    return rules.public_size(True) + 2 * rules.private_size(True)


def of_tree(tree: CompiledTree, histories: np.ndarray, seen: Sight = "features") -> torch.Tensor:
    """What a critic sees of histories (int [N]) in which a player acts: float32 [N, E].

    Raises:
      ValueError: if the game has neither observation nor information state tensors.
    """
    if hasattr(tree.game, "rules"):
        return _of_states(tree.game.rules, tree.states_of(histories), seen)
    rows = [of_state(tree.state(history), seen) for history in np.asarray(histories).tolist()]
    return torch.from_numpy(np.array(rows, np.float32).reshape(len(rows), size(tree.game, seen)))


def of_state(state: pyspiel.State, seen: Sight = "features") -> np.ndarray:
    """What a critic sees of a state of a turn-based game in which a player acts: float32 [E]."""
    game = state.get_game()
    if hasattr(game, "rules"):
        found: np.ndarray = _of_states(game.rules, state.batch, seen)[0].numpy()
        return found
    pieces = [sight.of_state(state, player, seen) for player in (0, 1)]
    if is_converted(game):
        chosen = np.zeros(game.num_distinct_actions(), np.float32)
        last = state.full_history()[-1] if state.current_player() == 1 else None
        if last is not None and last.player == 0:
            chosen[last.action] = 1.0
        pieces.append(chosen)
    return np.concatenate(pieces)


def weighted_sums(
    tree: CompiledTree,
    histories: np.ndarray,
    weight: torch.Tensor,
    bias: torch.Tensor,
    seen: Sight = "features",
) -> Callable[[slice], torch.Tensor]:
    """What the first layer of a critic makes of histories in which a player acts.

    In games with `Rules`, a history's sum is one of what player 0 sees and one of what player 1
    sees. So it is made of two rows, one for each infoset, of which there are far fewer than
    histories.

    Args:
      tree: the histories' tree.
      histories: int [N].
      weight: float32 [E, U].
      bias: float32 [1, U].
      seen: what the critic sees.

    Returns:
      From a slice of the histories to their sums: float32 [n, U], a new tensor.

    Raises:
      ValueError: if the game has neither observation nor information state tensors.
    """
    if not hasattr(tree.game, "rules"):
        return lambda rows: torch.addmm(
            bias, of_tree(tree, histories[rows], seen).to(weight.device), weight
        )
    rules: Rules = tree.game.rules
    parts = []
    for player in (0, 1):
        keys = tree.infoset_key[player][histories]
        _, first, infoset = np.unique(keys, return_index=True, return_inverse=True)
        states = tree.states_of(histories[first])
        if seen == "features":
            own = rules.features(states, player)
            of_own = weight[player * own.shape[1] : (player + 1) * own.shape[1]]
        else:
            public, private = rules.public_size(True), rules.private_size(True)
            own = rules.private_tensor(states, player, True)
            of_own = weight[public + player * private : public + (player + 1) * private]
            if player == 0:
                own = torch.cat([rules.public_tensor(states, True), own], dim=1)
                of_own = weight[: public + private]
        part = own.to(weight.device) @ of_own
        parts.append((part, torch.from_numpy(infoset.reshape(-1)).to(weight.device)))
    (part_0, infoset_0), (part_1, infoset_1) = parts
    part_0 += bias
    return lambda rows: part_0[infoset_0[rows]].add_(part_1[infoset_1[rows]])


def _of_states(rules: Rules, states: StateBatch, seen: Sight) -> torch.Tensor:
    return rules.history_features(states) if seen == "features" else rules.history_tensor(states)
