"""`ArrayPolicy`: an OpenSpiel policy backed by flat arrays, and conversions from and to others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import compile_any
from spiel_dl.policies import asking, compact, reading
from spiel_dl.policies.small_policies import SeatsPolicy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy, check_strategy
from spiel_dl.system import tensor_files
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import (
    check_game_of,
    contents_hash,
    is_game_of,
    is_same_game,
)
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame

_FILE_KIND = "policy"


class ArrayPolicy(openspiel_policy.Policy):
    """A behaviour policy of both players on a compiled game.

    For states of the compiled game; if that was converted from a game with simultaneous moves, for
    states of the original as well.

    Attributes:
      tree: the compiled game.
      strategies: for each player, float64 [S_p]: the probability of each sequence's action; 1 at
        the empty sequence.
    """

    def __init__(self, tree: GameTree | FactoredGame, strategies: Iterable[np.ndarray]):
        """Wraps two behaviour strategies, float64 [S_p] each; they are not copied.

        Strategies of integers or Booleans are copied as float64.

        Raises:
          ValueError: if a strategy has another shape, or is not valid (see `check`).
        """
        super().__init__(tree.game, [0, 1])
        first, second = map(_as_floats, strategies)
        self.strategies = (first, second)
        for player, strategy in enumerate(self.strategies):
            if strategy.shape != (tree.treeplexes[player].num_sequences,):
                raise ValueError(
                    f"player {player} has {tree.treeplexes[player].num_sequences} sequences in "
                    f"{tree.game}, but its strategy has shape {strategy.shape}"
                )
        self.tree = tree
        self._last_game = tree.game
        for player in (0, 1):
            self.check(player)

    def copy(self) -> ArrayPolicy:
        """A policy with copies of the strategies."""
        return ArrayPolicy(self.tree, (strategy.copy() for strategy in self.strategies))

    def check(self, player: int) -> None:
        """Checks a player's strategy, which may have been written into.

        Raises:
          ValueError: if the probabilities of an infoset are not finite, not negative and of sum 1,
            to within 1e-6, or if that of the empty sequence is not 1.
        """
        strategy, treeplex = self.strategies[player], self.tree.treeplexes[player]
        if not abs(strategy[0] - 1.0) < asking.SUM_TOLERANCE:
            raise ValueError(
                f"player {player}'s strategy in {self.tree.game} has {strategy[0]} at the empty "
                "sequence, which must have 1"
            )
        try:
            check_strategy(treeplex, strategy, np.ones(treeplex.num_infosets, np.bool_))
        except ValueError as error:
            raise ValueError(
                f"player {player}'s strategy in {self.tree.game}: {error}; give the probability of "
                "each sequence's action, as ArrayPolicy.uniform does"
            ) from None

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions.

        Args:
          state: a state in which a player acts.
          player_id: the player; None: the player to move. Needed where both players move at once.

        Raises:
          ValueError: if the player does not act in this state, or the state is of another game.
        """
        self.check_state(state)
        player = asking.acting_player(state, player_id)
        if isinstance(self.tree, FactoredGame):
            forced = self.tree.forced_action(state)
            if forced is not None:
                return {forced: 1.0}
        infoset = self.tree.find_infoset(state, player)
        actions = self.tree.legal_actions(player, infoset).tolist()
        probabilities = self.strategies[player][self.tree.treeplexes[player].sequences(infoset)]
        return dict(zip(actions, probabilities.tolist(), strict=True))

    def check_state(self, state: pyspiel.State) -> None:
        """Raises a ValueError if a state is of another game, see `asking.check_either_game_of`.

        Games of the same string count as one, so that a policy of a game made of data in memory
        can be evaluated in another one.
        """
        game = state.get_game()
        # Comparing games takes longer than reading a policy, and most states are of one game.
        if game is not self._last_game:
            own = asking.form_for(game, self.tree.game)
            if str(game) != str(own):
                check_game_of(state, own)
            self._last_game = game

    def to_tabular(self, states: object = None) -> openspiel_policy.TabularPolicy:
        """A copy as OpenSpiel's `TabularPolicy`.

        Args:
          states: ignored; a copy has all infosets.

        Raises:
          ValueError: if OpenSpiel's tables would confuse infosets, as the game has no information
            state strings, or the same one for both players.
        """
        del states
        rows = list(self._rows())
        tabular = openspiel_policy.TabularPolicy(self.tree.game)
        tabular.action_probability_array[:] = 0.0
        for string, actions, probabilities in rows:
            row = tabular.state_lookup[string]
            tabular.action_probability_array[row, actions] = probabilities
        return tabular

    def to_pyspiel(self) -> pyspiel.TabularPolicy:
        """A copy as OpenSpiel's C++ `TabularPolicy`.

        Raises:
          ValueError: as `to_tabular`.
        """
        return pyspiel.TabularPolicy(
            {
                string: list(zip(actions.tolist(), probabilities.tolist(), strict=True))
                for string, actions, probabilities in self._rows()
            }
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy and its game string to a file, completely or not at all.

        Raises:
          ValueError: if a strategy is not valid any more.
        """
        for player in (0, 1):
            self.check(player)
        arrays = {f"strategy_{player}": self.strategies[player] for player in (0, 1)}
        tensor_files.save(path, arrays, self._header())

    def save_compact(
        self,
        path: str | os.PathLike[str],
        least: float = 0.0,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes the policy to a small file, where each player's own reach is positive only.

        `load` reads it: rounded (see `policies.compact`), and uniform elsewhere. So its values and
        exploitability are nearly the same, but it is not optimal after its own player's mistakes.

        Args:
          path: the file.
          least: probabilities below this become 0.
          notes: further entries of the header, of types that JSON has.

        Raises:
          ValueError: if a strategy is not valid any more.
        """
        arrays = {}
        for player, treeplex in enumerate(self.tree.treeplexes):
            self.check(player)
            arrays[f"packed_{player}"] = compact.pack(treeplex, self.strategies[player], least)
        tensor_files.save(path, arrays, {**(notes or {}), **self._header()})

    def _header(self) -> dict[str, Any]:
        game = self.tree.game
        return {"kind": _FILE_KIND, "game": str(game), "contents": contents_hash(game)}

    @staticmethod
    def load(path: str | os.PathLike[str], game: AnyGame | None = None) -> ArrayPolicy:
        """Reads a policy that `save` or `save_compact` wrote.

        Args:
          path: the file.
          game: the game of the policy; None: as named in the file.

        Raises:
          ValueError: if the file holds no policy, one of another game, or one that is not valid.
        """
        arrays, header = tensor_files.load(path)
        is_packed = "packed_0" in arrays
        names = [f"{'packed' if is_packed else 'strategy'}_{player}" for player in (0, 1)]
        complete = arrays.keys() == set(names) and "game" in header
        if header.get("kind") != _FILE_KIND or not complete:
            raise ValueError(f"{path} holds no policy but {header.get('kind')!r}")
        tree = compile_any(header["game"] if game is None else game)
        if not is_game_of(header["game"], tree.game):
            raise ValueError(
                f"{path} holds a policy of {header['game']}, not of {tree.game}; use the same game"
            )
        if header.get("contents") not in (None, contents_hash(tree.game)):
            raise ValueError(
                f"{path} holds a policy of another game called {tree.game}: its file was written "
                "anew, or it was made of other data; restore them, or make the policy again"
            )
        first, second = (arrays[name] for name in names)
        try:
            if is_packed:
                first = compact.unpack(tree.treeplexes[0], first)
                second = compact.unpack(tree.treeplexes[1], second)
            return ArrayPolicy(tree, (first, second))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @staticmethod
    def uniform(game: AnyGame) -> ArrayPolicy:
        """The policy that plays all legal actions with the same probability."""
        tree = compile_any(game)
        return ArrayPolicy(tree, (treeplex.uniform_strategy() for treeplex in tree.treeplexes))

    @staticmethod
    def of_part(
        tree: GameTree | FactoredGame,
        sequences: Sequence[np.ndarray | slice],
        strategies: Iterable[np.ndarray],
    ) -> ArrayPolicy:
        """A policy of a part of a game, copied; uniform elsewhere.

        Args:
          tree: the compiled game.
          sequences: for each player, int [n_p], the sequences of the part, or a slice of them.
          strategies: for each player, float64 [n_p], their probabilities.
        """
        whole = [treeplex.uniform_strategy() for treeplex in tree.treeplexes]
        for own, part, strategy in zip(whole, sequences, strategies, strict=True):
            own[part] = strategy
        return ArrayPolicy(tree, whole)

    @staticmethod
    def from_policy(game: AnyGame, policy: openspiel_policy.Policy) -> ArrayPolicy:
        """Converts any policy, read at every infoset.

        Args:
          game: the game, its game string, or the compiled game.
          policy: an OpenSpiel policy in Python or C++ for this game, for both players.

        Raises:
          ValueError: if the policy's probabilities at an infoset are not a distribution over its
            legal actions.
        """
        tree = compile_any(game, policy)
        if isinstance(policy, ArrayPolicy) and policy.tree is tree:
            return policy
        return ArrayPolicy(tree, (read_strategy(tree, policy, player) for player in (0, 1)))

    def _rows(self) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """The string, legal actions and probabilities of every infoset."""
        tree = self.tree
        if isinstance(tree, FactoredGame):
            raise ValueError(
                f"{tree.game}: OpenSpiel's tables would list all its histories, which are too "
                "many; use this policy as it is"
            )
        if not tree.game.get_type().provides_information_state_string:
            raise ValueError(
                f"{tree.game} has no information state strings, so OpenSpiel's tabular "
                "policies would merge infosets; use this policy as it is"
            )
        seen: set[str] = set()
        for player, treeplex in enumerate(tree.treeplexes):
            for infoset in range(treeplex.num_infosets):
                probabilities = self.strategies[player][treeplex.sequences(infoset)]
                string = tree.infoset_string(player, infoset)
                if string in seen:
                    raise ValueError(
                        f"{tree.game}: both players have an infoset called {string!r}, and "
                        "OpenSpiel's tables have one row for each name; use this policy as it is"
                    )
                seen.add(string)
                yield string, tree.legal_actions(player, infoset), probabilities


def _as_floats(strategy: np.ndarray) -> np.ndarray:
    """A strategy of floats, or a float64 copy of one of integers or Booleans."""
    strategy = np.asarray(strategy)
    return strategy.astype(np.float64) if strategy.dtype.kind in "biu" else strategy


def read_strategy(
    tree: GameTree | FactoredGame, policy: openspiel_policy.Policy, player: int
) -> np.ndarray:
    """One player's behaviour strategy according to a policy: float64 [S], 1 at the empty sequence.

    An `ArrayPolicy` on the same tree gives its own array, which is checked again, because it may
    have been written into. Any other policy is read by `reading.ask_everywhere`.

    Raises:
      ValueError: if the policy has no probabilities at an infoset, or these are not a distribution
        over the legal actions.
    """
    while isinstance(policy, SeatsPolicy):
        policy = policy.seats[player]
    if isinstance(policy, ArrayPolicy) and _is_same(policy.tree, tree):
        policy.check(player)
        return policy.strategies[player]
    return reading.ask_everywhere(tree, policy, player)


def _is_same(first: GameTree | FactoredGame, second: GameTree | FactoredGame) -> bool:
    """Whether two compiled games number infosets in the same way."""
    if first is second:
        return True
    are_factored = isinstance(first, FactoredGame) and isinstance(second, FactoredGame)
    return are_factored and is_same_game(first.game, second.game)


def read_plan(
    tree: GameTree | FactoredGame, policy: openspiel_policy.Policy, player: int
) -> np.ndarray:
    """The realization plan of `read_strategy`: float64 [S]."""
    return realization_plan(tree.treeplexes[player], read_strategy(tree, policy, player))


def plans_of(
    tree: GameTree | FactoredGame, strategies: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Both players' realization plans of their strategies: float64 [S_p] each."""
    first, second = map(realization_plan, tree.treeplexes, strategies)
    return first, second


def mix_policies(
    game: AnyGame, policies: Sequence[openspiel_policy.Policy], weights: Sequence[float]
) -> ArrayPolicy:
    """The policy that draws one of several policies before the game, and plays it to the end.

    Realization plans are mixed, so every expected value of a player's mixed strategy is the mean of
    those of its parts, and its exploitability is at most the mean of theirs. Neither holds if
    probabilities are mixed at every decision.

    Args:
      game: the game, its game string, or the compiled game.
      policies: policies of both players.
      weights: the probability of each policy; players draw independently.

    Returns:
      The policy; uniform where the player's own reach is 0.

    Raises:
      ValueError: if the weights are not a distribution over the policies, the game cannot be
        compiled, or a policy is not one for it.
    """
    valid = len(weights) == len(policies) and all(weight >= 0 for weight in weights)
    if not valid or not abs(sum(weights) - 1.0) < asking.SUM_TOLERANCE:
        raise ValueError(
            f"weights={list(weights)} must be probabilities of the {len(policies)} policies"
        )
    tree = compile_any(game, *policies)
    strategies = []
    for player, treeplex in enumerate(tree.treeplexes):
        plan = np.zeros(treeplex.num_sequences)
        for policy, weight in zip(policies, weights, strict=True):
            plan += weight * read_plan(tree, policy, player)
        strategies.append(behaviour_strategy(treeplex, plan))
    return ArrayPolicy(tree, strategies)
