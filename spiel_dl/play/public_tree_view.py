"""What a policy means in every public state of a game: ranges, cfvs, strategies, values.

    view = view_public_tree("leduc_poker", policy, DepthLimit(plies=4), "CFR+, 1000 iterations")
    public_tree_page.write("page.html", view.to_json())

All numbers are those of both players following the policy to the end of the game.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import IDENTITY, PolicyTransformations
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.public_texts import PublicText, action_name, public_text, step_names
from spiel_dl.tree.trunk import cut

MAX_PUBLIC_STATES = 5_000
MAX_INFOSETS = 50_000


@dataclasses.dataclass(frozen=True)
class ActionView:
    """An action of an infoset.

    Attributes:
      id: OpenSpiel's.
      name: for people.
      probability: of the policy.
      cfv: the infoset's cfv if its player always takes this action there, in its utility.
      value: the same, divided by the opponent's reach; None if that is 0.
    """

    id: int
    name: str
    probability: float
    cfv: float
    value: float | None


@dataclasses.dataclass(frozen=True)
class InfosetView:
    """An augmented infoset in a public state.

    Attributes:
      string: `information_state_string`.
      own: the part of it by which the player's infosets of this public state differ.
      range: the player's own reach probability.
      opponent_reach: sum over its histories of chance's and the opponent's reach.
      cfv: sum over its histories of chance's and the opponent's reach times the player's expected
        utility; unnormalised.
      value: cfv divided by opponent_reach, the player's expected utility once it is there; None if
        that is 0.
      actions: the policy, if the player acts there; else empty.
    """

    string: str
    own: str
    range: float
    opponent_reach: float
    cfv: float
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
      observation: what everybody knows here.
      players: who acts here, OpenSpiel's ids; several where not everybody knows who does.
      num_histories: how many histories it has.
      reach: probability that play comes here.
      value: player 0's expected utility if play comes here; None if it never does.
      range_mass: for each player, the sum of its range.
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


@dataclasses.dataclass(frozen=True)
class PublicTreeView:
    """The public tree of a game down to a depth limit, with what a policy means there.

    Attributes:
      game: the complete game string.
      policy: what the policy is called.
      depth_limit: with its unit.
      nash_conv: of the policy in the whole game, in utility units.
      value: player 0's expected utility.
      largest_utility: the largest absolute utility of the game.
      public_states: parents before children.
    """

    game: str
    policy: str
    depth_limit: str
    nash_conv: float
    value: float
    largest_utility: float
    public_states: tuple[PublicStateView, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as dicts and lists of numbers and strings."""
        return dataclasses.asdict(self)


def view_public_tree(
    game: AnyGame,
    policy: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    policy_name: str,
    *,
    max_public_states: int = MAX_PUBLIC_STATES,
    max_infosets: int = MAX_INFOSETS,
) -> PublicTreeView:
    """Looks at a policy in all public states of a trunk, its leaf public states included.

    Args:
      game: the game, its game string, or the compiled game.
      policy: both players' policy.
      depth_limit: where to stop; a limit beyond the game shows all of it.
      policy_name: what to call the policy.
      max_public_states: refuse trunks with more public states than this.
      max_infosets: refuse trunks with more augmented infosets of both players than this.

    Raises:
      ValueError: if the game cannot be compiled or cut, the policy is not one for it, or the trunk
        is too large to be looked at.
    """
    tree = compile_game(game, policy)
    shown, leaves = _states_above(tree, depth_limit)
    _check_size(tree, depth_limit, shown, max_public_states, max_infosets)
    array_policy = ArrayPolicy.from_policy(tree, policy)
    numbers = _Numbers(array_policy)
    texts = {state: public_text(tree, state) for state in shown}
    names = step_names(tree, texts)
    depths = depth_limit.depths(tree)
    views = tuple(
        numbers.public_state(
            state,
            texts[state],
            name=names[state],
            depth=int(depths[tree.public_states.histories(state)[0]]),
            is_leaf=state in leaves,
        )
        for state in shown
    )
    return PublicTreeView(
        game=str(tree.game),
        policy=policy_name,
        depth_limit=str(depth_limit),
        nash_conv=nash_conv(tree, array_policy),
        value=float(numbers.values[0]),
        largest_utility=float(np.abs(tree.utility).max()),
        public_states=views,
    )


def _states_above(tree: GameTree, depth_limit: DepthLimit) -> tuple[list[int], set[int]]:
    """The public states of a trunk, those of its leaves included; and those of its leaves."""
    trunk = cut(tree, depth_limit)
    leaves = set(trunk.leaves.public_states.tolist())
    above = (trunk.leaf_of_history < 0) & ~tree.is_terminal
    inside = np.unique(tree.public_states.of_history[above]).tolist()
    return sorted(leaves.union(inside)), leaves


def _check_size(
    tree: GameTree,
    depth_limit: DepthLimit,
    shown: list[int],
    max_public_states: int,
    max_infosets: int,
) -> None:
    """Raises a ValueError if there is more than a person or a browser can take."""
    remedy = f"Give a smaller depth limit than {depth_limit}, or count it in moves."
    if len(shown) > max_public_states:
        raise ValueError(
            f"{tree.game} has {len(shown):,} public states down to {depth_limit}, more than "
            f"max_public_states={max_public_states:,}. {remedy}"
        )
    partition = tree.public_states
    inside = np.isin(partition.of_history, shown)
    count = sum(len(np.unique(partition.augmented_infoset[p, inside])) for p in (0, 1))
    if count > max_infosets:
        raise ValueError(
            f"{tree.game} has {count:,} infosets down to {depth_limit}, more than "
            f"max_infosets={max_infosets:,}. {remedy}"
        )


class _Numbers:
    """A policy's reaches and values, by histories and infosets."""

    def __init__(self, policy: ArrayPolicy):
        self._policy = policy
        self._tree = tree = compile_game(policy.tree)
        # Player 0's expected utility from each history on: float64 [H].
        critic = ExactCritic(tree, policy.strategies, PolicyTransformations([IDENTITY]))
        self.values = critic.values(tree, np.arange(tree.num_histories), 0)[:, 0]
        plans = [realization_plan(tree.treeplexes[p], policy.strategies[p]) for p in (0, 1)]
        self._reach = np.stack([plans[p][tree.sequence[p]] for p in (0, 1)])
        self._others_reach = tree.chance_reach * self._reach[::-1]
        gains = np.stack([self.values, -self.values])
        partition = tree.public_states
        inner = np.flatnonzero(~tree.is_terminal)
        self._opponent_reach, self._cfv, self._action_cfv = [], [], []
        for player in (0, 1):
            infoset = partition.augmented_infoset[player, inner]
            reach = self._others_reach[player]
            self._opponent_reach.append(np.bincount(infoset, reach[inner]))
            self._cfv.append(np.bincount(infoset, (reach * gains[player])[inner]))
            child = np.flatnonzero(tree.player[tree.parent] == player)
            child = child[child > 0]
            self._action_cfv.append(
                np.bincount(
                    tree.sequence[player, child],
                    reach[tree.parent[child]] * gains[player, child],
                    minlength=len(plans[player]),
                )
            )

    def public_state(
        self, state: int, text: PublicText, *, name: str, depth: int, is_leaf: bool
    ) -> PublicStateView:
        """A public state with its infosets."""
        tree, partition = self._tree, self._tree.public_states
        histories = partition.histories(state)
        # Without a public clock, histories of a public state may follow one another.
        first = histories[
            (histories == 0) | (partition.of_history[tree.parent[histories]] != state)
        ]
        reach = self._reach[:, first].prod(axis=0) * tree.chance_reach[first]
        infosets = [self._infosets(player, state, text) for player in (0, 1)]
        mass_0, mass_1 = (sum(infoset.range for infoset in own) for own in infosets)
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
            value=_ratio(float(reach @ self.values[first]), float(reach.sum())),
            range_mass=(mass_0, mass_1),
            infosets=(infosets[0], infosets[1]),
        )

    def _infosets(self, player: int, state: int, text: PublicText) -> tuple[InfosetView, ...]:
        partition = self._tree.public_states
        histories = partition.histories(state)
        augmented = partition.augmented_infoset[player, histories]
        infosets, rows = np.unique(augmented, return_index=True)
        views = []
        for infoset, row, called in zip(infosets, rows, text.infosets[player], strict=True):
            history = int(histories[row])
            reach = float(self._opponent_reach[player][infoset])
            cfv = float(self._cfv[player][infoset])
            views.append(
                InfosetView(
                    string=called.string,
                    own=called.own,
                    range=float(self._reach[player, history]),
                    opponent_reach=reach,
                    cfv=cfv,
                    value=_ratio(cfv, reach),
                    actions=self._actions(player, history, reach),
                )
            )
        return tuple(views)

    def _actions(self, player: int, history: int, reach: float) -> tuple[ActionView, ...]:
        tree = self._tree
        if tree.player[history] != player:
            return ()
        sequences = tree.treeplexes[player].sequences(int(tree.infoset[history]))
        views = []
        for sequence in range(sequences.start, sequences.stop):
            action = int(tree.sequence_action[player][sequence])
            name = action_name(tree, history, action)
            probability = float(self._policy.strategies[player][sequence])
            cfv = float(self._action_cfv[player][sequence])
            views.append(ActionView(action, name, probability, cfv, _ratio(cfv, reach)))
        return tuple(views)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
