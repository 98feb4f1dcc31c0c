"""Beliefs: how likely the histories of a public state are if both players follow given policies.

A public state that can be listed is (`ListedBelief`), and its belief is exact. Of any other one,
histories are drawn (`DrawnBelief`): by the game's own sampler where it has one, else both policies
are replayed from the root along what was seen, and at every step the sample is thinned without
bias. Either way a bounded sample comes out, each history with chance's and both players' exact
reach and with how many histories it stands for; so sums over a sample are on average those over the
public state. Where a replay dies out, so that no history is left, the sample is *regenerated* by
uniform play, with reaches as above. Such sums are too large on average, since draws that died out
are not among them; `Beliefs.num_regenerations` counts them.

    belief = Beliefs(game, max_listed=20_000).of(public_key, public_tensor, policies)
    belief.whole(1000, generator)
    belief.infoset(player, state, 500, generator)

Only public observations, and what the named player has seen in `state`, go in.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.games.rules import ConsistentHistories, Rules, StateBatch
from spiel_dl.learning.compiled_rollouts import CompiledRollouts, can_play
from spiel_dl.learning.rollouts import PlayOn, Rollouts
from spiel_dl.learning.self_play import ActingNetwork, ActingPolicy
from spiel_dl.policies.late_policy import LatePolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.small_policies import UniformPolicy
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

    def __init__(self, game: pyspiel.Game, found: _List, policies: PolicyRows, changing: Players):
        """Replays both policies; of who is not among `changing`, once for all that comes."""
        self._keys = InfosetKeys(rules_of(game))
        self.infoset_keys = found.infoset_keys
        reach = dict(found.reach)
        for player in {0, 1}.difference(reach).union(changing):
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

    def infoset(
        self, player: int, state: StateBatch, budget: int, generator: np.random.Generator
    ) -> Particles:
        """See `Belief`."""
        key = self._keys.of_level(state)[0][player, 0]
        rows = np.flatnonzero(self.infoset_keys[player] == key)
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
    ) -> Belief:
        """The belief of a public state.

        Args:
          public_key: as in `tree.from_rules.InfosetKeys`.
          public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
          policies: both players'.
          changing: whose policy may be another one in the next call. Of who is not among them, the
            reach of what is listed is kept.

        Raises:
          ValueError: if no history has these public observations.
        """
        found = self._list(public_key, public_tensor)
        if found.histories.complete:
            return ListedBelief(self._game, found, policies, changing)
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


@dataclasses.dataclass(frozen=True, eq=False)
class TensorPolicy:
    """What both players do by a policy of information state tensors, as `PolicyRows`.

    Attributes:
      rules: the game.
      acting: the policy.
    """

    rules: Rules
    acting: ActingPolicy

    def __call__(self, states: StateBatch, player: int) -> np.ndarray:
        """See `PolicyRows`."""
        tensors = self.rules.information_state_tensor(states, player)
        policy = self.acting(tensors, self.rules.legal_actions(states))
        return policy.double().cpu().numpy()


def play_on_by(rules: Rules, acting: ActingPolicy) -> PlayOn:
    """How games are played to the end by a policy: in compiled loops where that can be done."""
    if isinstance(acting, ActingNetwork) and can_play(rules, acting):
        return CompiledRollouts(rules, acting).play_on
    return Rollouts(rules, TensorPolicy(rules, acting)).play_on


def acting_policy(policy: openspiel_policy.Policy) -> ActingPolicy | None:
    """What a network, or the uniform policy, does in many states at once; None for any other."""
    if isinstance(policy, NetworkPolicy):
        if policy.fine_tuning is None and policy.parameters.device.type == "cpu":
            return ActingNetwork(policy.network, policy.parameters)
        return policy.act
    return _act_uniformly if isinstance(policy, UniformPolicy) else None


def _act_uniformly(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    return legal / legal.sum(dim=-1, keepdim=True)


def rows_of(rules: Rules, policy: openspiel_policy.Policy) -> PolicyRows:
    """What both players do by a policy network, the uniform policy, or a `LatePolicy` of these.

    Raises:
      ValueError: if the policy is none of these, which answer many states at once.
    """
    if isinstance(policy, LatePolicy):
        parts = (rows_of(rules, policy.above), rows_of(rules, policy.below))
        return _LateRows(rules, parts, policy.num_rounds)
    acting = acting_policy(policy)
    if acting is None:
        raise ValueError(
            f"{type(policy).__name__} does not answer many states at once; give a policy "
            "network, the uniform policy, or a LatePolicy of these"
        )
    return TensorPolicy(rules, acting)


@dataclasses.dataclass(frozen=True, eq=False)
class _LateRows:
    """`PolicyRows` of a `LatePolicy`: those above and those below, and where the second begin."""

    rules: Rules
    parts: tuple[PolicyRows, PolicyRows]
    num_rounds: int

    def __call__(self, states: StateBatch, player: int) -> np.ndarray:
        """See `PolicyRows`."""
        is_late = (self.rules.round_index(states) >= self.num_rounds).numpy()
        found: np.ndarray | None = None
        for part, chosen in zip(self.parts, (~is_late, is_late), strict=True):
            which = np.flatnonzero(chosen)
            if len(which):
                answer = part(states.take(torch.from_numpy(which)), player)
                if found is None:
                    found = np.zeros((len(is_late), answer.shape[1]))
                found[which] = answer
        assert found is not None
        return found


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


def total_variation(exact: Particles, sample: Particles) -> float:
    """How far the belief of a sample is from the exact one: half the sum of all differences.

    Args:
      exact: all histories.
      sample: some of them.

    Returns:
      0 to 1. Where a belief has no mass at all, it counts as 1.
    """
    masses: dict[tuple[int, int], float] = {}
    for particles, sign in ((exact, 1.0), (sample, -1.0)):
        total = particles.total_reach
        if not total.any():
            return 1.0
        pairs = particles.infoset_keys.T.tolist()
        for pair, mass in zip(pairs, (total / total.sum()).tolist(), strict=True):
            name = (pair[0], pair[1])
            masses[name] = masses.get(name, 0.0) + sign * mass
    return 0.5 * sum(abs(mass) for mass in masses.values())
