"""Beliefs: how likely the histories of a public state are if both players follow given policies.

A public state that can be listed is (`ListedBelief`), and its belief is exact. Of any other one,
histories are drawn (`DrawnBelief`): by the game's own sampler where it has one, else both policies
are replayed from the root along what was seen, and at every step the sample is thinned without
bias. Either way a bounded sample comes out, each history with chance's and both players' exact
reach and with how many histories it stands for; so sums over a sample are on average those over the
public state. Histories of small reach are seldom kept and then stand for many: sums that are not
weighted by reach spread widely.

Where a replay dies out, so that no history is left, it is repeated with a wider beam, and if that
dies out, too, the sample is *regenerated* by uniform play, with reaches as above;
`Beliefs.num_regenerations` counts the latter. Draws that died out are not among what is handed out,
so on average sums are too large where that may happen: all by one factor, so that no history is
more likely than it should be.

    belief = Beliefs(game, max_listed=20_000).of(public_key, public_tensor, policies)
    belief.whole(1000, generator)
    belief.infoset(player, state, 500, generator)

Only public observations, and what the named player has seen in `state`, go in.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import ConsistentHistories, StateBatch
from spiel_dl.tree.beam import Observed, PolicyRows, drawn_by_policies, sample_consistent
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.particles import Particles, rules_of
from spiel_dl.tree.public_states import Reconstruction

Players: TypeAlias = tuple[int, ...]
"""Some of the players."""


_WIDTHS = (1, 4)
"""A beam is so many times as wide as what is asked for; the second if the first found nothing."""


_OVERSAMPLING = 4
"""A game's own sampler does not know the policies: so many times as much is asked of it."""


_MAX_KEPT = 32
"""How many lists of histories are kept."""


class Belief(abc.ABC):
    """The histories of one public state, with both players' reach by their policies.

    Attributes:
      num_histories: how many the public state has; None: not known, more than can be listed.
    """

    num_histories: int | None

    @abc.abstractmethod
    def whole(self, budget: int, generator: np.random.Generator) -> Particles:
        """At most `budget` histories of the public state, all if there are no more."""

    @abc.abstractmethod
    def infoset(
        self, player: int, state: StateBatch, budget: int, generator: np.random.Generator
    ) -> Particles:
        """At most `budget` histories of a player's infoset, all if there are no more.

        Args:
          player: whose infoset, be it to move or not.
          state: a state of the infoset, batch dimension 1; nothing else of it is read.
          budget: how many, at most.
          generator: draws them.
        """


class _List(NamedTuple):
    """A public state that was listed.

    Attributes:
      histories: all of them.
      infoset_keys: int64 [2, N], theirs.
      reach: float64 [N], of players whose policy does not change; filled as they are asked for.
    """

    histories: ConsistentHistories
    infoset_keys: np.ndarray
    reach: dict[int, np.ndarray]


class ListedBelief(Belief):
    """All histories of a public state.

    Attributes:
      everything: all of them.
      infoset_keys: int64 [2, N], theirs.
    """

    def __init__(
        self,
        game: pyspiel.Game,
        found: _List,
        policies: PolicyRows,
        changing: Players,
        asked: Players = (0, 1),
    ):
        """Replays both policies; see `Beliefs.of`."""
        self._keys = InfosetKeys(rules_of(game))
        self.infoset_keys = found.infoset_keys
        reach = {player: np.ones(found.infoset_keys.shape[1]) for player in (0, 1)} | found.reach
        for player in set(asked).difference(set(found.reach).difference(changing)):
            reach[player] = replayed_reach(
                game, self.infoset_keys[player], found.histories.actions, player, policies
            )
            if player not in changing:
                found.reach[player] = reach[player]
        histories = found.histories
        chance_reach = histories.chance_reach.numpy().copy()
        both = np.stack([reach[0], reach[1]])
        self.everything = Particles(
            game, histories.states, both, chance_reach, known_keys=self.infoset_keys
        )
        self.num_histories = self.everything.num_particles

    def whole(self, budget: int, generator: np.random.Generator) -> Particles:
        """See `Belief`."""
        return self.everything.thinned(budget, generator)

    def key_of(self, player: int, state: StateBatch) -> int:
        """The key of a player's infoset at a state, batch dimension 1."""
        return int(self._keys.of_level(state)[0][player, 0])

    def infoset(
        self, player: int, state: StateBatch, budget: int, generator: np.random.Generator
    ) -> Particles:
        """See `Belief`."""
        rows = np.flatnonzero(self.infoset_keys[player] == self.key_of(player, state))
        return self.everything.take(rows).thinned(budget, generator)


class DrawnBelief(Belief):
    """A public state with more histories than can be listed."""

    num_histories = None

    def __init__(
        self,
        game: pyspiel.Game,
        public_tensor: torch.Tensor,
        policies: PolicyRows,
        regenerated: Callable[[], None],
    ):
        """Draws nothing yet; `regenerated` is called whenever a replay has left no history."""
        self._regenerated = regenerated
        self._game = game
        self._rules = rules_of(game)
        self._public = public_tensor
        self._policies = policies

    def whole(self, budget: int, generator: np.random.Generator) -> Particles:
        """See `Belief`."""
        return self._drawn(None, None, budget, generator)

    def infoset(
        self, player: int, state: StateBatch, budget: int, generator: np.random.Generator
    ) -> Particles:
        """See `Belief`."""
        private = self._rules.private_tensor(state, player, True)[0]
        return self._drawn(player, private, budget, generator)

    def _drawn(
        self,
        player: int | None,
        private: torch.Tensor | None,
        budget: int,
        generator: np.random.Generator,
    ) -> Particles:
        drawn = self._rules.draw_histories(
            self._public, _OVERSAMPLING * budget, generator, player, private
        )
        if drawn is not None:
            return self._weighed(*drawn).thinned(budget, generator)
        own = None if private is None else private[None] > 0
        shown = Observed(self._rules, self._public[None] > 0, player, own)
        for factor in _WIDTHS:
            width = factor * budget
            found = drawn_by_policies(self._game, shown, self._policies, width, generator)
            if found is not None:
                return found.thinned(budget, generator)
        self._regenerated()
        return sample_consistent(
            self._game,
            self._public,
            budget,
            generator,
            player=player,
            private_tensor=private,
            policies=self._policies,
        )

    def _weighed(self, found: ConsistentHistories, copies: np.ndarray) -> Particles:
        """Histories that the game has drawn, with both players' reach."""
        keys = InfosetKeys(self._rules).of_level(found.states)[0]
        reach = [
            replayed_reach(self._game, keys[each], found.actions, each, self._policies)
            for each in (0, 1)
        ]
        chance_reach = found.chance_reach.numpy()
        return Particles(self._game, found.states, np.stack(reach), chance_reach, copies)


class Beliefs:
    """The beliefs of a game's public states, exact where these can be listed.

    What was listed is kept for the next questions, the latest ones; how many these were, always.

    Attributes:
      num_regenerations: how often a replay has left no history.
    """

    def __init__(self, game: pyspiel.Game, max_listed: int):
        """Lists nothing yet.

        Args:
          game: a game with `Rules`.
          max_listed: a public state of more histories is not listed.
        """
        self.num_regenerations = 0
        self._game = game
        self._reconstruction = Reconstruction(game, max_listed)
        self._keys = InfosetKeys(rules_of(game))
        self._listed: collections.OrderedDict[int, _List] = collections.OrderedDict()
        self._sizes: dict[int, int | None] = {}

    def of(
        self,
        public_key: int,
        public_tensor: torch.Tensor,
        policies: PolicyRows,
        changing: Players = (0, 1),
        asked: Players = (0, 1),
    ) -> Belief:
        """The belief of a public state.

        Args:
          public_key: as in `tree.from_rules.InfosetKeys`.
          public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
          policies: both players'.
          changing: whose policy may be another one in the next call. Of who is not among them, the
            reach of what is listed is kept.
          asked: whose reach of what is listed is asked for; that of others is 1.

        Raises:
          ValueError: if no history has these public observations.
        """
        found = self._list(public_key, public_tensor)
        if found.histories.complete:
            return ListedBelief(self._game, found, policies, changing, asked)
        return DrawnBelief(self._game, public_tensor, policies, self._regenerate)

    def _regenerate(self) -> None:
        self.num_regenerations += 1

    def size(self, public_key: int, public_tensor: torch.Tensor) -> int | None:
        """How many histories a public state has; None: more than are listed."""
        if public_key not in self._sizes:
            found = self._list(public_key, public_tensor).histories
            self._sizes[public_key] = found.states.batch_size if found.complete else None
        return self._sizes[public_key]

    def _list(self, public_key: int, public_tensor: torch.Tensor) -> _List:
        if public_key not in self._listed:
            found = self._reconstruction.histories(public_tensor)
            keys = self._keys.of_level(found.states)[0] if found.complete else np.zeros((2, 0))
            self._listed[public_key] = _List(found, keys, {})
            while len(self._listed) > _MAX_KEPT:
                self._listed.popitem(last=False)
        return self._listed[public_key]


def replayed_reach(
    game: pyspiel.Game,
    infoset_keys: np.ndarray,
    actions: torch.Tensor,
    player: int,
    policies: PolicyRows,
) -> np.ndarray:
    """A player's own reach of histories, by replaying its policy: float64 [N].

    It is the same in all histories of an infoset, so one of each is replayed.

    Args:
      game: a game with `Rules`.
      infoset_keys: int64 [N], the player's in each history.
      actions: int [N, L], of each history from the root on, chance's included.
      player: whose.
      policies: what it does.
    """
    infoset, first = first_occurrence_ids(infoset_keys)
    reach = np.ones(len(first))
    for states, action in _steps(game, actions[torch.from_numpy(first)].long()):
        mover = rules_of(game).current_player(states).numpy()
        moves = np.flatnonzero(mover == player)
        if len(moves):
            rows = policies(states.take(torch.from_numpy(moves)), player)
            reach[moves] *= rows[np.arange(len(moves)), action.numpy()[moves]]
    return reach[infoset]


def _steps(game: pyspiel.Game, actions: torch.Tensor) -> Iterator[tuple[StateBatch, torch.Tensor]]:
    """The states on the way of histories (int64 [N, L]), each with the actions made there."""
    states = rules_of(game).initial_state(len(actions))
    for action in actions.unbind(dim=1):
        yield states, action
        states = rules_of(game).apply(states, action)
