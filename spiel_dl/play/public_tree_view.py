"""Ranges, cfvs, strategies and values of a policy in all public states of a game.

    view = view_public_tree("leduc_poker", policy, DepthLimit(plies=4), "CFR+, 1000 iterations")
    public_tree_page.write("page.html", view.to_json())

All numbers assume that both players follow the policy to the end of the game.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.play.public_state_view import PublicStateNumbers, PublicStateView, ratio
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.solvers.history_values import history_values
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.public_texts import in_order, public_text, step_names
from spiel_dl.tree.trunk import cut

MAX_PUBLIC_STATES = 5_000
MAX_INFOSETS = 50_000


@dataclasses.dataclass(frozen=True)
class PublicTreeView:
    """The public tree of a game down to a depth limit, with a policy's numbers.

    Attributes:
      game: the complete game string.
      policy: name of the policy.
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
        """The view as dicts and lists of numbers and strings."""
        return dataclasses.asdict(self)


def view_public_tree(
    game: AnyGame,
    policy: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    policy_name: str,
) -> PublicTreeView:
    """The view of a policy in all public states of a trunk, including its leaf public states.

    Args:
      game: the game, its game string, or the compiled game.
      policy: both players' policy.
      depth_limit: of the trunk; a limit beyond the game shows all of it.
      policy_name: name of the policy on the page.

    Raises:
      ValueError: if the game cannot be compiled or cut, the policy is not one for it, or the trunk
        is too large to be shown.
    """
    tree = compile_game(game, policy)
    shown, leaves = _states_above(tree, depth_limit)
    _check_size(tree, depth_limit, shown)
    array_policy = ArrayPolicy.from_policy(tree, policy)
    numbers = PolicyNumbers(array_policy)
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
    """All public states of a trunk, leaves included, in order; and its leaf public states."""
    trunk = cut(tree, depth_limit)
    leaves = set(trunk.leaves.public_states.tolist())
    above = tree.public_states.of_history[trunk.extent.histories]
    inside = np.unique(above[above >= 0]).tolist()
    return in_order(tree, leaves.union(inside)), leaves


def _check_size(
    tree: GameTree,
    depth_limit: DepthLimit,
    shown: list[int],
) -> None:
    """Raises a ValueError if there are too many public states or infosets for a page."""
    remedy = f"Give a smaller depth limit than {depth_limit}, or count it in moves."
    if len(shown) > MAX_PUBLIC_STATES:
        raise ValueError(
            f"{tree.game} has {len(shown):,} public states down to {depth_limit}, more than "
            f"{MAX_PUBLIC_STATES:,}. {remedy}"
        )
    partition = tree.public_states
    inside = np.isin(partition.of_history, shown)
    count = sum(len(np.unique(partition.augmented_infoset[p, inside])) for p in (0, 1))
    if count > MAX_INFOSETS:
        raise ValueError(
            f"{tree.game} has {count:,} infosets down to {depth_limit}, more than "
            f"{MAX_INFOSETS:,}. {remedy}"
        )


class PolicyNumbers(PublicStateNumbers):
    """The numbers of a policy that both players follow to the end of the game.

    Attributes:
      values: float64 [H], player 0's expected utility from each history on.
    """

    def __init__(self, policy: ArrayPolicy):
        """Evaluates a policy of a whole game."""
        tree = compile_game(policy.tree)
        super().__init__(tree)
        self._policy = policy
        first, second = policy.strategies
        self.values = history_values(tree, 0, first, second[None])[:, 0]
        plans = plans_of(tree, policy.strategies)
        self._reach = np.stack([plans[p][tree.sequence[p]] for p in (0, 1)])
        self._gains = np.stack([self.values, -self.values])
        self._action_cfv = []
        for player in (0, 1):
            reach = tree.chance_reach * self._reach[1 - player]
            child = np.flatnonzero(tree.player[tree.parent] == player)
            child = child[child > 0]
            self._action_cfv.append(
                np.bincount(
                    tree.sequence[player, child],
                    reach[tree.parent[child]] * self._gains[player, child],
                    minlength=len(plans[player]),
                )
            )

    def reach(self, player: int, histories: np.ndarray) -> np.ndarray:
        """See `PublicStateNumbers`."""
        reach: np.ndarray = self._reach[player, histories]
        return reach

    def cfvs(
        self, player: int, histories: np.ndarray, others_reach: np.ndarray, infoset: np.ndarray
    ) -> np.ndarray:
        """See `PublicStateNumbers`."""
        return np.bincount(infoset, others_reach * self._gains[player, histories])

    def decisions(self, player: int, infoset: int) -> tuple[np.ndarray, np.ndarray]:
        """See `PublicStateNumbers`."""
        sequences = self.tree.treeplexes[player].sequences(infoset)
        return self._policy.strategies[player][sequences], self._action_cfv[player][sequences]

    def state_value(self, first: np.ndarray, reach: np.ndarray) -> float | None:
        """See `PublicStateNumbers`."""
        return ratio(float(reach @ self.values[first]), float(reach.sum()))
