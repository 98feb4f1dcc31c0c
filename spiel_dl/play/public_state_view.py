"""Views of public states: ranges, cfvs, strategies and values of their infosets.

A `PublicStateNumbers` computes the numbers: from a policy that both players follow to the end of
the game (`public_tree_view`), or from a search's solution (`position_view`).
"""

from __future__ import annotations

import abc
import dataclasses

import numpy as np

from spiel_dl.play import kuhn_view
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.public_texts import InfosetText, PublicText, action_name


@dataclasses.dataclass(frozen=True)
class ActionView:
    """An action of an infoset.

    Attributes:
      id: OpenSpiel's.
      name: for people.
      probability: of the policy.
      cfv: the infoset's cfv if its player always takes this action there, in its utility; None:
        not known, as below a search.
      value: cfv divided by the opponent's reach; None if that is 0.
    """

    id: int
    name: str
    probability: float
    cfv: float | None
    value: float | None


@dataclasses.dataclass(frozen=True)
class InfosetView:
    """An augmented infoset in a public state.

    Attributes:
      string: `information_state_string`.
      own: the part of `string` that distinguishes the player's infosets of this public state.
      range: the player's own reach probability; of a search, scaled to sum 1 over the infosets of
        the public state.
      opponent_reach: sum over its histories of chance's and the opponent's reach; of a search, by
        the opponent's scaled range.
      cfv: sum over its histories of chance's and the opponent's reach times the player's expected
        utility; unnormalised. None: not known, as below a search.
      value: cfv divided by opponent_reach, the player's expected utility once it is there; None if
        that is 0.
      actions: the policy, if the player acts there; else empty.
    """

    string: str
    own: str
    range: float
    opponent_reach: float
    cfv: float | None
    value: float | None
    actions: tuple[ActionView, ...]


@dataclasses.dataclass(frozen=True)
class PublicStateView:
    """A public state.

    Attributes:
      number: in the tree's partition.
      parent: number of the public state before; -1 for the first one.
      depth: of its first history, in the unit of the depth limit.
      is_leaf: whether the depth limit ends the tree here.
      name: the public action or observation that leads here.
      observation: the public information.
      players: the acting players, OpenSpiel's ids; several if it is not public who acts.
      num_histories: number of histories.
      reach: probability that play comes here. Of a search, whose ranges are scaled to sum 1, only
        chance's part of it: the mean of chance's reach over pairs of infosets by both ranges.
      value: player 0's expected utility if play comes here; None if it never does, or if the values
        of one player are not known, as in a search's solution.
      range_mass: for each player, the sum of its range; 1 of a search.
      infosets: for each player.
    """

    number: int
    parent: int
    depth: int
    is_leaf: bool
    name: str
    observation: tuple[str, ...]
    players: tuple[int, ...]
    num_histories: int
    reach: float
    value: float | None
    range_mass: tuple[float, float]
    infosets: tuple[tuple[InfosetView, ...], tuple[InfosetView, ...]]


class PublicStateNumbers(abc.ABC):
    """Reaches and values in public states, by histories and infosets.

    Attributes:
      tree: the game, or a part of it.
    """

    def __init__(self, tree: CompiledTree):
        """Takes the tree."""
        self.tree = tree
        self._is_kuhn = kuhn_view.is_kuhn_poker(tree.game)

    @abc.abstractmethod
    def reach(self, player: int, histories: np.ndarray) -> np.ndarray:
        """A player's own reach of histories of one public state: float64 [n]."""

    @abc.abstractmethod
    def cfvs(
        self, player: int, histories: np.ndarray, others_reach: np.ndarray, infoset: np.ndarray
    ) -> np.ndarray:
        """The cfvs of a public state's infosets; NaN: not known.

        Args:
          player: the infosets' player.
          histories: int [n], all histories of the public state.
          others_reach: float64 [n], chance's and the opponent's.
          infoset: int [n], the numbers of their infosets, from 0 on.
        """

    @abc.abstractmethod
    def decisions(self, player: int, infoset: int) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities and cfvs (NaN: not known) of a decision infoset's actions: float64 [A]."""

    def state_value(self, first: np.ndarray, reach: np.ndarray) -> float | None:
        """Player 0's expected utility over histories (int [n]) with a reach (float64 [n])."""
        del first, reach
        return None

    def state_reach(self, state: int) -> float:
        """The probability that play comes into a public state."""
        return float(self.total_reach(first_histories(self.tree, state)).sum())

    def total_reach(self, histories: np.ndarray) -> np.ndarray:
        """Chance's and both players' reach of histories of one public state: float64 [n]."""
        both = self.reach(0, histories) * self.reach(1, histories)
        total: np.ndarray = both * self.tree.chance_reach[histories]
        return total

    def public_state(
        self,
        state: int,
        text: PublicText,
        *,
        name: str,
        depth: int,
        is_leaf: bool,
        shown: np.ndarray | None = None,
    ) -> PublicStateView:
        """A public state with its infosets.

        Args:
          state: the public state.
          text: names of the public state and its infosets.
          name: the public action or observation that leads here.
          depth: in a depth limit's unit.
          is_leaf: whether the depth limit ends the tree here.
          shown: int [n], the histories that the text describes; None: all.
        """
        tree, partition = self.tree, self.tree.public_states
        histories = partition.histories(state)
        first = first_histories(tree, state)
        reach = self.total_reach(first)
        infosets, masses = [], []
        for player in (0, 1):
            augmented = partition.augmented_infoset[player, histories]
            ids, rows, infoset = np.unique(augmented, return_index=True, return_inverse=True)
            own = self.reach(player, histories)
            others = tree.chance_reach[histories] * self.reach(1 - player, histories)
            numbers = np.stack(
                [
                    own[rows],
                    np.bincount(infoset, others),
                    self.cfvs(player, histories, others, infoset),
                ]
            )
            shown_ids = np.arange(len(ids))
            if shown is not None:
                shown_ids = np.flatnonzero(np.isin(ids, partition.augmented_infoset[player, shown]))
            infosets.append(
                tuple(
                    self._infoset(player, int(histories[rows[n]]), infoset_text, *numbers[:, n])
                    for n, infoset_text in zip(shown_ids, text.infosets[player], strict=True)
                )
            )
            masses.append(float(own[rows].sum()))
        return PublicStateView(
            number=state,
            parent=int(partition.parent[state]),
            depth=depth,
            is_leaf=is_leaf,
            name=name,
            observation=text.observation,
            players=tuple(np.unique(tree.player[histories]).tolist()),
            num_histories=len(histories),
            reach=float(reach.sum()),
            value=self.state_value(first, reach),
            range_mass=(masses[0], masses[1]),
            infosets=(infosets[0], infosets[1]),
        )

    def _infoset(
        self,
        player: int,
        history: int,
        text: InfosetText,
        own_reach: float,
        others_reach: float,
        cfv: float,
    ) -> InfosetView:
        return InfosetView(
            string=text.string,
            own=kuhn_view.card_of(text.string) if self._is_kuhn else text.own,
            range=float(own_reach),
            opponent_reach=float(others_reach),
            cfv=_or_none(cfv),
            value=_or_none(ratio(cfv, others_reach)),
            actions=self._actions(player, history, others_reach),
        )

    def _actions(self, player: int, history: int, reach: float) -> tuple[ActionView, ...]:
        tree = self.tree
        if tree.player[history] != player:
            return ()
        infoset = int(tree.infoset[history])
        sequences = tree.treeplexes[player].sequences(infoset)
        actions = tree.sequence_action[player][sequences].tolist()
        return tuple(
            ActionView(
                action,
                action_name(tree, history, action),
                float(probability),
                _or_none(cfv),
                _or_none(ratio(cfv, reach)),
            )
            for action, probability, cfv in zip(
                actions, *self.decisions(player, infoset), strict=True
            )
        )


def first_histories(tree: CompiledTree, state: int) -> np.ndarray:
    """The histories at which play comes into a public state: int64 [n].

    Without a public clock, histories of a public state may follow one another.
    """
    histories = tree.public_states.histories(state)
    from_outside = tree.public_states.of_history[tree.parent[histories]] != state
    first: np.ndarray = histories[(histories == 0) | from_outside]
    return first


def ratio(part: float, whole: float) -> float | None:
    """A quotient of numbers; None if the whole is 0."""
    return part / whole if whole > 0 else None


def _or_none(number: float | None) -> float | None:
    """The number; None for NaN."""
    return None if number is None or np.isnan(number) else float(number)
