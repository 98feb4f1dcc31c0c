"""`PieceRules`: rules that name the pieces of tensors where they make them, and have a root."""

from __future__ import annotations

import abc
import functools
from collections.abc import Mapping
from typing import TypeAlias

import torch

from spiel_dl.games import rules

Pieces: TypeAlias = Mapping[str, torch.Tensor]
"""Named pieces of tensors, in order: [B, *shape] each, of numbers or bool."""
_Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


class PieceRules(rules.Rules[rules.State]):
    """Rules with named pieces, from which tensors, and the pieces' shapes, follow.

    Attributes:
      root: the state before any action or chance event, a batch of one on the CPU.
    """

    root: rules.State

    def initial_state(self, batch_size: int = 1, device: torch.device | str = "cpu") -> rules.State:
        """A batch of B copies of the root."""
        return self.root.repeated(batch_size, device)

    @abc.abstractmethod
    def public(self, state: rules.State, perfect_recall: bool) -> Pieces:
        """The public pieces, of zeros and ones."""

    @abc.abstractmethod
    def private(self, state: rules.State, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces, of zeros and ones."""

    def inputs(self, state: rules.State, player: int) -> Pieces:
        """The pieces of `features`; the default is those of the information state tensor."""
        pieces = {**self.public(state, True), **self.private(state, player, True)}
        return {"player": rules.seat(state, player), **pieces}

    def public_pieces(self, perfect_recall: bool) -> _Shapes:
        """See `Rules.public_pieces`; the module of the game has a table of them."""
        return self._public_shapes[perfect_recall]

    def private_pieces(self, perfect_recall: bool) -> _Shapes:
        """See `Rules.private_pieces`; the module of the game has a table of them."""
        return self._private_shapes[perfect_recall]

    def feature_pieces(self) -> _Shapes:
        """See `Rules.feature_pieces`; the module of the game has a table of them."""
        return self._input_shapes

    def public_tensor(self, state: rules.State, perfect_recall: bool = True) -> torch.Tensor:
        """See `Rules.public_tensor`."""
        return rules.joined(self.public(state, perfect_recall).values())

    def private_tensor(
        self, state: rules.State, player: int, perfect_recall: bool = True
    ) -> torch.Tensor:
        """See `Rules.private_tensor`."""
        return rules.joined(self.private(state, player, perfect_recall).values())

    def features(self, state: rules.State, player: int) -> torch.Tensor:
        """See `Rules.features`."""
        return rules.joined(self.inputs(state, player).values())

    # Texts of infosets ask for them one by one. Those without perfect recall come first.
    @functools.cached_property
    def _public_shapes(self) -> list[_Shapes]:
        return [_shapes(self.public(self.root, recall)) for recall in (False, True)]

    @functools.cached_property
    def _private_shapes(self) -> list[_Shapes]:
        return [_shapes(self.private(self.root, 0, recall)) for recall in (False, True)]

    @functools.cached_property
    def _input_shapes(self) -> _Shapes:
        return _shapes(self.inputs(self.root, 0))


def _shapes(pieces: Pieces) -> _Shapes:
    return {name: tuple(piece.shape[1:]) for name, piece in pieces.items()}
