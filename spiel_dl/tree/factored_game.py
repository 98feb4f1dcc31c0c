"""`FactoredGame`: the infosets and sequences of a game whose histories are not listed."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyspiel

from spiel_dl.games.features import features
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.histories import check_index, check_player
from spiel_dl.tree.information_states import Observations
from spiel_dl.tree.sequence_form import Treeplex

if TYPE_CHECKING:  # With torch.
    from spiel_dl.games.batches import StateBatch


@dataclasses.dataclass(frozen=True, eq=False)
class FactoredGame(abc.ABC):
    """The infosets and sequences of a game; build one with `families.factored_game`.

    A player's infosets are numbered from 0, each before those that follow it. They are defined by
    the game's information state *tensors*.

    Attributes:
      game: the turn-based OpenSpiel game.
      sequence_form: the game's sequence form.
    """

    game: pyspiel.Game
    sequence_form: FactoredForm

    @property
    def treeplexes(self) -> tuple[Treeplex, Treeplex]:
        """Both players' strategy spaces."""
        return self.sequence_form.treeplexes

    def num_infosets(self, player: int) -> int:
        """Number of a player's infosets; ValueError if it is neither 0 nor 1."""
        check_player(player)
        return self.treeplexes[player].num_infosets

    @abc.abstractmethod
    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none."""

    @abc.abstractmethod
    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""

    def forced_action(self, state: pyspiel.State) -> int | None:
        """The only legal action, in a state whose mover has no infoset; None in other states."""
        del state
        return None

    @abc.abstractmethod
    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of a history in an infoset; ValueError if there is no such infoset."""

    def other_history(self, player: int, infoset: int) -> list[int] | None:
        """The actions of a history in the infoset whose string differs from that of `history`.

        OpenSpiel's strings may distinguish more than its tensors, which define the infosets. A
        policy that differs between the two histories is no policy on these infosets. None: there is
        no such history.
        """
        del player, infoset
        return None

    def states_of(self, player: int, begin: int, end: int) -> StateBatch | None:
        """What a player sees in the infosets `begin` to `end` - 1, as states of the game's `Rules`.

        What it does not see is arbitrary, so nothing else may be asked of them. None: the game has
        no `Rules`.
        """
        del player, begin, end
        return None

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """A player's observations in the infosets `begin` to `end` - 1.

        Computed by the game's `Rules`; families with games that have none override this.
        """
        rules, states = self.game.rules, self.states_of(player, begin, end)
        tensors = rules.information_state_tensor(states, player).numpy()
        return Observations(tensors, rules.legal_actions(states).numpy())

    def features(self, player: int, begin: int, end: int) -> np.ndarray:
        """Network features of the infosets `begin` to `end` - 1: float32 [N, F].

        Computed by the game's `Rules`, if it has any, else from a state of each infoset.
        """
        states = self.states_of(player, begin, end)
        if states is None:
            rows = [features(self.state(player, infoset), player) for infoset in range(begin, end)]
            return np.array(rows, np.float32)
        batch: np.ndarray = self.game.rules.features(states, player).numpy()
        return batch

    def legal_rows(self, player: int, begin: int, end: int) -> np.ndarray:
        """Legal actions in the infosets `begin` to `end` - 1: bool [N, A]."""
        states = self.states_of(player, begin, end)
        if states is None:
            return self.observations(player, begin, end).legal
        legal: np.ndarray = self.game.rules.legal_actions(states).numpy()
        return legal

    def state(self, player: int, infoset: int) -> pyspiel.State:
        """A state in an infoset; ValueError if there is no such infoset."""
        return self.state_after(self.history(player, infoset))

    def state_after(self, actions: Sequence[int]) -> pyspiel.State:
        """The state after these actions."""
        state = self.game.new_initial_state()
        for action in actions:
            state.apply_action(action)
        return state

    def infoset_string(self, player: int, infoset: int) -> str:
        """`information_state_string` of `state`; ValueError if there is no such infoset."""
        return str(self.state(player, infoset).information_state_string(player))

    def check_infoset(self, player: int, infoset: int) -> None:
        """Raises a ValueError if a player has no such infoset."""
        check_index("infoset", infoset, self.num_infosets(player))
