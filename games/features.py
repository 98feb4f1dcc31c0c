"""The inputs of networks in any OpenSpiel game: `Rules.features`, or the game's own tensors.

Games of other packages have no features. Instead, inputs are the observation tensor followed by the
information state tensor: from the first a network generalises, but it forgets; the second has
perfect recall, but often as a sequence, in which a position looks different at every move. A game
that has only one of the two uses that one.
"""

from __future__ import annotations

import numpy as np
import pyspiel


def num_features(game: pyspiel.Game) -> int:
    """F, the length of `features`.

    Raises:
      ValueError: if the game has neither an observation tensor nor an information state tensor.
    """
    game_rules = getattr(game, "rules", None)
    if game_rules is not None:
        return int(game_rules.num_features)
    observed, recalled = _tensors(game)
    size = game.observation_tensor_size() if observed else 0
    return int(size + (game.information_state_tensor_size() if recalled else 0))


def features(state: pyspiel.State, player: int) -> np.ndarray:
    """The inputs of a player's network in a state: float32 [F].

    Args:
      state: of any sequential game; of a simultaneous one, a state of its converted game.
      player: the observing player.

    Raises:
      ValueError: if there is no such player, or if the game has neither an observation tensor nor
        an information state tensor.
    """
    game = state.get_game()
    if not 0 <= player < game.num_players():
        raise ValueError(f"player={player} cannot look; use 0 to {game.num_players() - 1}")
    game_rules = getattr(game, "rules", None)
    if game_rules is not None:
        inputs: np.ndarray = game_rules.features(state.batch, player)[0].numpy()
        return inputs
    observed, recalled = _tensors(game)
    columns = state.observation_tensor(player) if observed else []
    if recalled:
        columns = columns + state.information_state_tensor(player)
    return np.array(columns, np.float32)


def _tensors(game: pyspiel.Game) -> tuple[bool, bool]:
    """Whether the game has observation tensors, and information state tensors."""
    kind = game.get_type()
    provided = bool(kind.provides_observation_tensor), bool(kind.provides_information_state_tensor)
    if not any(provided):
        raise ValueError(
            f"{game} has neither an observation tensor nor an information state tensor, so a "
            "network sees nothing of it; use another game, or give this one an observer"
        )
    return provided
