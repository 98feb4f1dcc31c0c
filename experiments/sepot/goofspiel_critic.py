"""Exact values of a network's Goofspiel, in games that are far too large to be compiled.

A critic's values are those of a policy that is followed to the end of the game: sums over both
players' orders of the cards that are left, of policies in tables (`sepot.goofspiel_tables`).
"""

from __future__ import annotations

import numpy as np
import pyspiel

from experiments.sepot.goofspiel_tables import Deck, early_values, tables, values_after
from experiments.sepot.networks import Networks
from spiel_dl.games.goofspiel_ii import GoofspielIIState
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.from_openspiel import is_same_game, load_turn_based


class GoofspielCritic(Critic):
    """Values the histories at the beginnings of rounds, in any tree of its game.

    Attributes:
      game: the game.
      act: the policy that the values are of.
      policies: the same as tables, of both players.
    """

    def __init__(
        self, game: pyspiel.Game, act: ActingPolicy, transformations: PolicyTransformations
    ):
        """Asks the policy at all infosets.

        Args:
          game: `python_goofspiel_ii` with a fixed order of prizes, all rounds, and a last one that
            is played automatically.
          act: the policy.
          transformations: K of them.

        Raises:
          ValueError: if the game is another one.
        """
        self.game, self.act = game, act
        self._deck = Deck(game)
        self._num_values = len(transformations)
        (first, first_others), (second, second_others) = (
            tables(self._deck, act, player, transformations) for player in (0, 1)
        )
        self.policies = (first, second)
        # Whose values are asked for plays the policy, its opponent all transformations.
        self._sides = ((first, second_others), (second, first_others))
        self._early = [early_values(self._deck, player, *self._sides[player]) for player in (0, 1)]

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; float32. A ValueError if a history is not at the beginning of a round."""
        if not is_same_game(tree.game, self.game):
            raise ValueError(f"the critic is one of {self.game}, not of {tree.game}")
        states = tree.states_of(np.asarray(histories))
        assert isinstance(states, GoofspielIIState)
        steps, played = states.step.numpy(), states.played.numpy().astype(np.int64)
        if (steps % 2).any() or (steps >= self._deck.rules.max_game_length).any():
            raise ValueError("a history is not at the beginning of a round with a choice")
        found = np.zeros((len(steps), self._num_values), np.float32)
        bids = played.reshape(len(steps), 2, self._deck.rules.num_turns)
        for step in np.unique(steps):
            rows = np.flatnonzero(steps == step)
            found[rows] = self._after(int(step) // 2, bids[rows], player)
        return found

    def pair_values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """Not known: raises ValueError."""
        raise ValueError("only one player follows transformations here; use two_sided=False")

    def _after(self, number: int, bids: np.ndarray, player: int) -> np.ndarray:
        """Values of histories after so many rounds, of their bids (int [B, 2, N])."""
        own, other = (self._deck.numbers(bids[:, each, :number]) for each in (player, 1 - player))
        early = self._early[player]
        if number < len(early):
            return early[number][own, other]
        return values_after(self._deck, number, own, other, player, *self._sides[player])


def critic_of(
    networks: Networks, seed: int, transformations: PolicyTransformations
) -> GoofspielCritic:
    """Exact values of the network of a seed: minutes of work, and gigabytes in large games.

    Raises:
      ValueError: if the game is none that `Deck` knows.
    """
    game = load_turn_based(networks.study.game)
    blueprint = checkpoints.load_blueprint(networks.file(seed), game)
    assert isinstance(blueprint, NetworkPolicy)  # Of games that are too large to be compiled.
    return GoofspielCritic(game, blueprint.act, transformations)
