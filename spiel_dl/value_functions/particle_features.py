"""Features of public states and infostates: the inputs of a particle value network.

Šustr et al. (2021), sections 4.1 and 5.2. An infostate's features are the public ones, its private
ones, and a one-hot of its player. With *perfect recall* they identify the infostate. With
*imperfect recall* they show only the current observation, which is shorter; infostates with equal
features get the same value. Either may be followed by *positions*: the inputs of policy networks,
which summarise as counts what sequences show move by move (`Rules.features`).

In games with `Rules`, public and private features are the rules' tensors. Other OpenSpiel games do
not mark the public part of a tensor. There an infostate's features are the information state
tensor (perfect recall) or observation tensor, and there are no public features: all infostates of a
public state show what is public.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.games.features import features
from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.leaf_set import LeafSet


class LeafFeatures(NamedTuple):
    """Features of the P leaf public states of a trunk and of all leaf infosets.

    Attributes:
      public: float32 [P, G], without columns in games without `Rules`.
      infostates: float32 [L_0 + L_1, F], player 0's infosets first.
    """

    public: np.ndarray
    infostates: np.ndarray


@dataclasses.dataclass(frozen=True)
class InfostateFeatures:
    """Reads features of any trunk's leaves.

    Attributes:
      perfect_recall: whether features show all earlier observations.
      positions: whether they also hold the inputs of policy networks.
    """

    perfect_recall: bool = True
    positions: bool = False

    @property
    def name(self) -> str:
        """The name of the features in networks' files; a subclass has its own name before it."""
        own = "" if type(self) is InfostateFeatures else f"{type(self).__qualname__}, "
        recall = "perfect recall" if self.perfect_recall else "imperfect recall"
        return own + recall + " and positions" * self.positions

    @classmethod
    def named(cls, name: str) -> InfostateFeatures:
        """The features of a name.

        Raises:
          ValueError: if they are of a subclass.
        """
        features = cls(not name.startswith("imperfect"), name.endswith("positions"))
        if features.name != name:
            raise ValueError(
                f"the network has features {name!r}, of a class of its own; read it by a subclass "
                "of ParticleNetwork with a kind of its own, whose of_header makes them, see "
                "register_network"
            )
        return features

    def of_leaves(self, leaves: LeafSet) -> LeafFeatures:
        """The features of a trunk's leaves.

        Raises:
          ValueError: if the game has no tensors.
        """
        tree = leaves.tree
        if not hasattr(tree.game, "rules"):
            return self._of_openspiel_leaves(leaves)
        rules = tree.game.rules
        first_of_state = leaves.histories[leaves.history_offsets[:-1]]
        public = self.public(rules, tree.states_of(first_of_state))
        parts = []
        for player in (0, 1):
            histories = leaves.first_histories[player]
            public_features = public[leaves.public_state_of_infoset(player)]
            parts.append(self.infostates(rules, tree.states_of(histories), player, public_features))
        return LeafFeatures(public, np.concatenate(parts))

    def public(self, rules: Rules, states: StateBatch) -> np.ndarray:
        """Public features of a batch of states: float32 [B, G]."""
        recalls = (self.perfect_recall, not self.perfect_recall)[: 1 + self.positions]
        pieces = [rules.public_tensor(states, recall).numpy() for recall in recalls]
        return np.concatenate(pieces, axis=1)

    def infostates(
        self, rules: Rules, states: StateBatch, player: int, public: np.ndarray | None = None
    ) -> np.ndarray:
        """Features of a player's infostates in a batch of states: float32 [B, F].

        Args:
          rules: the game's rules.
          states: the states, batch dimension B.
          player: the player.
          public: float32 [B, G], the states' public features; None: computed.
        """
        public = self.public(rules, states) if public is None else public
        pieces = [public, rules.private_tensor(states, player, self.perfect_recall).numpy()]
        if self.positions:
            pieces.append(rules.features(states, player).numpy())
        return np.concatenate([*pieces, _player_one_hot(player, len(public))], axis=1)

    def _of_openspiel_leaves(self, leaves: LeafSet) -> LeafFeatures:
        tree = leaves.tree
        game_type = tree.game.get_type()
        kind = "information_state" if self.perfect_recall else "observation"
        if not getattr(game_type, f"provides_{kind}_tensor"):
            raise ValueError(
                f"{tree.game} has no {kind}_tensor to make features of; use "
                f"InfostateFeatures(perfect_recall={not self.perfect_recall}), or a subclass with "
                "features of your own"
            )
        readers = [functools.partial(_tensor, kind=kind)] + [features] * self.positions
        parts = []
        for player in (0, 1):
            firsts = leaves.first_histories[player]
            states = map(tree.state, firsts.tolist())
            rows = [np.concatenate([read(state, player) for read in readers]) for state in states]
            parts.append(
                np.concatenate([np.stack(rows), _player_one_hot(player, len(firsts))], axis=1)
            )
        empty = np.zeros((leaves.num_public_states, 0), np.float32)
        return LeafFeatures(empty, np.concatenate(parts))


def _player_one_hot(player: int, num_rows: int) -> np.ndarray:
    one_hot = np.zeros((num_rows, 2), np.float32)
    one_hot[:, player] = 1.0
    return one_hot


def _tensor(state: pyspiel.State, player: int, kind: str) -> np.ndarray:
    tensor = getattr(state, f"{kind}_tensor")(player)
    return np.asarray(tensor, np.float32)
