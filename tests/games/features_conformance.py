"""Features of networks have the announced form and show nothing hidden."""

from __future__ import annotations

import math

import numpy as np
import torch

from spiel_dl.games.rules import Rules, StateBatch


def check_features(
    rules: Rules, states: StateBatch, infostates: tuple[np.ndarray, np.ndarray]
) -> None:
    """Shapes and bounds; and that equal infosets have equal features.

    Args:
      rules: the game.
      states: all H histories of one length.
      infostates: per player int64 [H], ids of equal information state tensors.
    """
    assert sum(map(math.prod, rules.feature_pieces().values())) == rules.num_features
    both = []
    for player in (0, 1):
        seen = rules.features(states, player)
        assert seen.dtype == torch.float32, f"features must be float32, not {seen.dtype}"
        shape = (states.batch_size, rules.num_features)
        assert seen.shape == shape, (
            f"features have the shape {list(seen.shape)}, feature_pieces say {list(shape)}"
        )
        assert bool(torch.isfinite(seen).all()), "features must be finite"
        assert bool((seen.abs() <= 1).all()), "features must be scaled to about [0, 1]"
        _, first, group = np.unique(infostates[player], return_index=True, return_inverse=True)
        assert torch.equal(seen, seen[torch.from_numpy(first[group.reshape(-1)])]), (
            f"player {player} sees what is hidden: features differ within an infoset"
        )
        both.append(seen)
    assert torch.equal(rules.history_features(states), torch.cat(both, dim=1))
