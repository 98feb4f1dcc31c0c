"""Beliefs: how likely the histories of a public state are if both players follow given policies.

The histories of a small public state are listed (`ListedBelief`), and its belief is exact. Of
others, histories are drawn (`DrawnBelief`): by the game's own sampler where it has one, else both
policies are replayed from the root along the observations, and at every step the sample is thinned
without bias. The result is a bounded sample, each history with chance's and both players' exact
reach and with the number of histories that it stands for; so sums over a sample are on average
those over the public state. Histories of small reach are seldom kept and then stand for many: sums
that are not weighted by reach have a large variance.

Where a replay dies out, so that no history is left, it is repeated with a wider beam, and if that
dies out, too, the sample is *regenerated* by uniform play, with reaches as above. Since draws that
died out are left out, sums are on average too large where that may happen: all by one factor, so
relative probabilities are right.

    belief = Beliefs(game, max_listed=20_000).of(public_key, public_tensor, policies)
    belief.whole(1000, generator)
    belief.infoset(player, state, 500, generator)

Nothing but public observations, and those of the named player in `state`, is used.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Iterator
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
"""A subset of the players."""


_WIDTHS = (1, 4)
"""The width of a beam in budgets: of the first replay, and of the second if the first dies out."""


_OVERSAMPLING = 4
"""The number of histories drawn by a game's own sampler, which ignores the policies, in budgets."""


_MAX_KEPT = 32
"""The number of listed public states that are kept."""


class Belief(abc.ABC):
    """The histories of one public state, with both players' reach by their policies.

    Attributes:
      num_histories: the size of the public state; None: unknown, too many to list.
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
          state: a state of the infoset, batch dimension 1; only the player's observations are read.
          budget: the largest number of histories.
          generator: draws them.
        """


class _Listing(NamedTuple):
    """The histories of a listed public state.

    Attributes:
      histories: all of them.
      infoset_keys: int64 [2, N], both players' infosets in each.
      reach: for players whose policy does not change, float64 [N]; filled when first needed.
    """

    histories: ConsistentHistories
    infoset_keys: np.ndarray
    reach: dict[int, np.ndarray]


class ListedBelief(Belief):
    """The belief of a public state whose histories are listed.

    Attributes:
      particles: all its histories.
      infoset_keys: int64 [2, N], both players' infosets in each.
    """

    def __init__(
        self,
        game: pyspiel.Game,
        listing: _Listing,
        policies: PolicyRows,
        changing: Players,
        needed: Players = (0, 1),
    ):
        """Replays the policies; see `Beliefs.of`."""
        self._keys = InfosetKeys(rules_of(game))
        self.infoset_keys = listing.infoset_keys
        histories, cached_reach = listing.histories, listing.reach
        reach = {p: np.ones(listing.infoset_keys.shape[1]) for p in (0, 1)} | cached_reach
        for player in set(needed).difference(set(cached_reach).difference(changing)):
            reach[player] = replayed_reach(
                game, self.infoset_keys[player], histories.actions, player, policies
            )
            if player not in changing:
                cached_reach[player] = reach[player]
        chance_reach = histories.chance_reach.numpy().copy()
        both = np.stack([reach[0], reach[1]])
        self.particles = Particles(
            game, histories.states, both, chance_reach, cached_keys=self.infoset_keys
        )
        self.num_histories = self.particles.num_particles

    def whole(self, budget: int, generator: np.random.Generator) -> Particles:
        """See `Belief`."""
        return self.particles.thinned(budget, generator)

    def key_of(self, player: int, state: StateBatch) -> int:
        """The key of a player's infoset at a state, batch dimension 1."""
        return int(self._keys.of_level(state)[0][player, 0])

    def infoset(
        self, player: int, state: StateBatch, budget: int, generator: np.random.Generator
    ) -> Particles:
        """See `Belief`."""
        rows = np.flatnonzero(self.infoset_keys[player] == self.key_of(player, state))
        return self.particles.take(rows).thinned(budget, generator)


class DrawnBelief(Belief):
    """A public state with more histories than can be listed."""

    num_histories = None

    def __init__(self, game: pyspiel.Game, public_tensor: torch.Tensor, policies: PolicyRows):
        """Draws nothing yet."""
        self._game = game
        self._rules = rules_of(game)
        self._public_tensor = public_tensor
        self._policies = policies

    def whole(self, budget: int, generator: np.random.Generator) -> Particles:
        """See `Belief`."""
        return self._draw(None, None, budget, generator)

    def infoset(
        self, player: int, state: StateBatch, budget: int, generator: np.random.Generator
    ) -> Particles:
        """See `Belief`."""
        private = self._rules.private_tensor(state, player, True)[0]
        return self._draw(player, private, budget, generator)

    def _draw(
        self,
        player: int | None,
        private: torch.Tensor | None,
        budget: int,
        generator: np.random.Generator,
    ) -> Particles:
        drawn = self._rules.draw_histories(
            self._public_tensor, _OVERSAMPLING * budget, generator, player, private
        )
        if drawn is not None:
            return self._with_reach(*drawn).thinned(budget, generator)
        own = None if private is None else private[None] > 0
        observed = Observed(self._rules, self._public_tensor[None] > 0, player, own)
        for factor in _WIDTHS:
            width = factor * budget
            particles = drawn_by_policies(self._game, observed, self._policies, width, generator)
            if particles is not None:
                return particles.thinned(budget, generator)
        return sample_consistent(
            self._game,
            self._public_tensor,
            budget,
            generator,
            player=player,
            private_tensor=private,
            policies=self._policies,
        )

    def _with_reach(self, histories: ConsistentHistories, copies: np.ndarray) -> Particles:
        """Histories drawn by the game, with both players' reach."""
        keys = InfosetKeys(self._rules).of_level(histories.states)[0]
        reach = [
            replayed_reach(self._game, keys[each], histories.actions, each, self._policies)
            for each in (0, 1)
        ]
        chance_reach = histories.chance_reach.numpy()
        return Particles(self._game, histories.states, np.stack(reach), chance_reach, copies)


class Beliefs:
    """The beliefs of a game's public states, exact where these can be listed.

    The latest listings are kept, and the sizes of all public states.
    """

    def __init__(self, game: pyspiel.Game, max_listed: int):
        """Lists nothing yet.

        Args:
          game: a game with `Rules`.
          max_listed: a public state of more histories is not listed.
        """
        self._game = game
        self._reconstruction = Reconstruction(game, max_listed)
        self._keys = InfosetKeys(rules_of(game))
        self._listed: collections.OrderedDict[int, _Listing] = collections.OrderedDict()
        self._sizes: dict[int, int | None] = {}

    def of(
        self,
        public_key: int,
        public_tensor: torch.Tensor,
        policies: PolicyRows,
        changing: Players = (0, 1),
        needed: Players = (0, 1),
    ) -> Belief:
        """The belief of a public state.

        Args:
          public_key: as in `tree.from_rules.InfosetKeys`.
          public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
          policies: both players'.
          changing: the players whose policy may differ in the next call. The reach of others in a
            listed public state is kept.
          needed: the players whose reach in a listed public state is needed; that of others is 1.

        Raises:
          ValueError: if no history has these public observations.
        """
        listing = self._list(public_key, public_tensor)
        if listing.histories.complete:
            return ListedBelief(self._game, listing, policies, changing, needed)
        return DrawnBelief(self._game, public_tensor, policies)

    def size(self, public_key: int, public_tensor: torch.Tensor) -> int | None:
        """The number of histories of a public state; None: too many to list."""
        if public_key not in self._sizes:
            histories = self._list(public_key, public_tensor).histories
            self._sizes[public_key] = histories.states.batch_size if histories.complete else None
        return self._sizes[public_key]

    def _list(self, public_key: int, public_tensor: torch.Tensor) -> _Listing:
        if public_key not in self._listed:
            listed = self._reconstruction.histories(public_tensor)
            keys = self._keys.of_level(listed.states)[0] if listed.complete else np.zeros((2, 0))
            self._listed[public_key] = _Listing(listed, keys, {})
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
      player: the player.
      policies: its policy.
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
    """The states along histories (int64 [N, L]), each with the actions taken there."""
    states = rules_of(game).initial_state(len(actions))
    for action in actions.unbind(dim=1):
        yield states, action
        states = rules_of(game).apply(states, action)
