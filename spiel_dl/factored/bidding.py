"""OpenSpiel's Oshi-Zumo: both bid at once, and see all bids afterwards.

All but the two bids that are being made is public, so both players have the same infosets: the
sequences of pairs of bids so far. What may follow one depends only on its *class*: the coins left
and where the wrestler stands. There are some hundred classes, made by OpenSpiel's own states, and
with 13 coins 1.6 * 10^7 infosets; a terminal history is a pair of bids in one of them.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.factored import bidding_kernels
from spiel_dl.factored.stones import check_mover
from spiel_dl.tree.factored_form import Cost, FactoredForm, equal_parts
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.information_states import Observations
from spiel_dl.tree.sequence_form import Treeplex

_NUM_PARTS = 16
_SECONDS_PER_PAIR = 4e-9


class BiddingClasses(NamedTuple):
    """What infosets differ in, as far as what may follow.

    Attributes:
      first_choice: int64 [C + 1], a class's first pair of bids; player 1's bid changes first.
      lowest: int32 [C, 2], both players' lowest bids; all up to the highest one are legal.
      num_bids: int32 [C, 2].
      after: int32 [K], the class after a pair of bids, -1: the game ends.
      utility: float64 [K], player 0's where it ends, else 0.
    """

    first_choice: np.ndarray
    lowest: np.ndarray
    num_bids: np.ndarray
    after: np.ndarray
    utility: np.ndarray

    @staticmethod
    def of_game(game: pyspiel.Game) -> BiddingClasses:
        """The classes of a game in which each round takes coins; none before one it follows.

        Args:
          game: OpenSpiel's, with simultaneous moves.
        """
        horizon, coins = game.get_parameters()["horizon"], game.get_parameters()["coins"]
        ends_early = horizon < 2 * coins

        def key(state: pyspiel.State) -> tuple[str, int]:
            return state.observation_string(0), state.move_number() if ends_early else 0

        root = game.new_initial_state()
        states, found = {key(root): root}, [root]
        outcomes: dict[tuple[str, int], list[pyspiel.State]] = {}
        for state in found:
            pairs = [(a, b) for a in state.legal_actions(0) for b in state.legal_actions(1)]
            outcomes[key(state)] = [_after(state, pair) for pair in pairs]
            for child in outcomes[key(state)]:
                if not child.is_terminal() and key(child) not in states:
                    states[key(child)] = child
                    found.append(child)
        # Each round leaves fewer coins.
        names = sorted(states, key=lambda name: -_coins_left(states[name]))
        number = {name: index for index, name in enumerate(names)}
        bids = [[states[name].legal_actions(player) for player in (0, 1)] for name in names]
        children = [child for name in names for child in outcomes[name]]
        return BiddingClasses(
            np.cumsum([0] + [len(outcomes[name]) for name in names]),
            np.array([[own[0] for own in both] for both in bids], np.int32),
            np.array([[len(own) for own in both] for both in bids], np.int32),
            np.array([-1 if c.is_terminal() else number[key(c)] for c in children], np.int32),
            np.array([c.returns()[0] if c.is_terminal() else 0.0 for c in children]),
        )


def _after(state: pyspiel.State, bids: tuple[int, int]) -> pyspiel.State:
    child = state.clone()
    child.apply_actions(bids)
    return child


def _coins_left(state: pyspiel.State) -> int:
    return sum(state.legal_actions(player)[-1] for player in (0, 1))


@dataclasses.dataclass(frozen=True, eq=False)
class BiddingForm(FactoredForm):
    """The payoffs of Oshi-Zumo, by classes.

    Attributes:
      classes: what may follow an infoset.
      class_of: int32 [I].
    """

    classes: BiddingClasses
    class_of: np.ndarray

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array."""
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        plan = np.ascontiguousarray(opponent_plan, np.float64)
        first = self.treeplexes[0].first_sequence, self.treeplexes[1].first_sequence
        bounds = equal_parts(np.arange(len(self.class_of) + 1), _NUM_PARTS)

        def work(part: int) -> None:
            bidding_kernels.add_ends(
                bounds[part],
                bounds[part + 1],
                player,
                self.classes,
                self.class_of,
                first,
                plan,
                cfv,
            )

        self.in_threads(work, _NUM_PARTS)
        return cfv

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        pairs = np.diff(self.classes.first_choice)[self.class_of].sum()
        return Cost(_SECONDS_PER_PAIR * float(pairs), 0)


@dataclasses.dataclass(frozen=True, eq=False)
class BiddingGame(FactoredGame):
    """OpenSpiel's Oshi-Zumo, converted to turns; player 1 does not see the bid of its round.

    Attributes:
      sequence_form: its payoffs.
      step: int64 [K], by pair of bids of a class, how far behind an infoset the next one is.
    """

    sequence_form: BiddingForm
    step: np.ndarray

    @staticmethod
    def build(game: pyspiel.Game, *, num_threads: int) -> BiddingGame:
        """The game; see the attributes."""
        own = pyspiel.game_parameters_to_string(game.get_parameters()["game"])
        classes = BiddingClasses.of_game(pyspiel.load_game(own))
        size, step = bidding_kernels.count_infosets(classes.first_choice, classes.after)
        class_of, parent, first = bidding_kernels.number_infosets(
            classes.first_choice, classes.num_bids, classes.after, size, step
        )
        num_bids = classes.num_bids[class_of]
        treeplexes = (
            Treeplex(parent[0], first[0], np.ascontiguousarray(num_bids[:, 0]), 1),
            Treeplex(parent[1], first[1], np.ascontiguousarray(num_bids[:, 1]), 1),
        )
        return BiddingGame(game, BiddingForm(treeplexes, 2.0, num_threads, classes, class_of), step)

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        classes, own = self.sequence_form.classes, self.sequence_form.class_of[infoset]
        lowest = classes.lowest[own, player]
        return np.arange(lowest, lowest + classes.num_bids[own, player], dtype=np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        classes, bids = self.sequence_form.classes, state.history()
        infoset = own = 0
        for first, second in zip(bids[::2], bids[1::2], strict=False):
            place = np.array([first, second]) - classes.lowest[own]
            choice = classes.first_choice[own] + place[0] * classes.num_bids[own, 1] + place[1]
            infoset, own = infoset + int(self.step[choice]), int(classes.after[choice])
        return infoset

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of one of the histories in an infoset; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        classes, bids, own, left = self.sequence_form.classes, [], 0, infoset
        while left > 0:
            choices = slice(*classes.first_choice[own : own + 2])
            is_on_the_way = (classes.after[choices] >= 0) & (self.step[choices] <= left)
            place = int(np.flatnonzero(is_on_the_way)[-1])
            both = np.array(np.divmod(place, classes.num_bids[own, 1])) + classes.lowest[own]
            bids += both.tolist()
            left -= int(self.step[choices][place])
            own = int(classes.after[choices][place])
        return bids + classes.lowest[own, :player].tolist()

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """Raises a ValueError: OpenSpiel's Oshi-Zumo has no information state tensors."""
        del player, begin, end
        raise ValueError(
            f"{self.game} has no information state tensors; give a policy that is asked by states"
        )
