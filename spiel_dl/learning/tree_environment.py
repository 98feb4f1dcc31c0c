"""`TreeEnvironment`: games played by tables, many times as fast as by their rules.

For every game that can be compiled to a `GameTree`, with `Rules` or without. A move is a look-up of
the next history, and a player's features are a look-up by infoset.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import torch

from spiel_dl.games.environments import EpisodeEnds
from spiel_dl.games.features import num_features
from spiel_dl.learning import history_features, play_kernels
from spiel_dl.learning.play_kernels import ChanceTables, TreeTables
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, policy_rows
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.tree import size_limit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import CHANCE_PLAYER, TERMINAL_PLAYER

_NEVER = 2.0  # above all random numbers
_MEMORY_SHARE = 0.8
"""The largest share of the available memory that tables may take."""


def table_bytes(tree: GameTree) -> int:
    """An estimate of the memory that the tables of a game take, those of histories included."""
    game, rows = tree.game, sum(tree.num_infosets(player) for player in (0, 1))
    num_actions, size = game.num_distinct_actions(), num_features(game)
    # Both players' features of each history, float32, in two copies while the table is made.
    history_bytes = 2 * 2 * 4 * size * int((tree.player >= 0).sum())
    return history_bytes + rows * (4 * size + num_actions) + 8 * num_actions * tree.num_histories


def _check_memory(tree: GameTree) -> None:
    needed, available = table_bytes(tree), size_limit.available_bytes()
    if needed > _MEMORY_SHARE * available:
        raise ValueError(
            f"{tree.game} has {tree.num_histories:,} histories, whose tables take about "
            f"{needed / 2**30:.1f} GiB where {available / 2**30:.1f} GiB are available; give the "
            "game itself or its game string instead of the compiled game, and it is played by its "
            "states"
        )


class TreeEnvironment:
    """B games on a compiled tree.

    A row whose game is over waits at its end, with nothing legal, until `restart`.

    Attributes:
      tree: the game.
      generator: draws everything that is random.
      infoset_features: float32 [R, F], the features of player 0's decision infosets, then of player
        1's, then a row of zeros for histories where no player moves.
      infoset_legal: bool [R, A], their legal actions.
      row: int64 [H], the row of the mover's infoset in these two tables, by history.
      player: int8 [H], who moves; -4 where the game is over.
      is_over: bool [H].
      utility: float64 [H], player 0's where the game is over, else 0.
      successor: int64 [H A], the history after (history, action), at history * A + action.
      chance: the chance events, as arrays.
      events_after_move: the largest number of chance events in a row after a move.
      history: int64 [B], the current history of each game.
      infoset: int64 [B], the rows of these histories.
    """

    history: torch.Tensor
    infoset: torch.Tensor

    def __init__(
        self, tree: GameTree, batch_size: int, device: torch.device | str = "cpu", seed: int = 0
    ):
        """Starts all games.

        Args:
          tree: the compiled game.
          batch_size: B.
          device: of the tables and games.
          seed: the seed of the chance events.

        Raises:
          ValueError: if `batch_size` is not positive, the game has no features, or its tables would
            not fit into memory.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size} plays nothing; use 1 or more")
        _check_memory(tree)
        self.tree = tree
        self.generator = torch.Generator(device).manual_seed(seed)

        def to_device(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).to(device)

        features = [tree.features(player) for player in (0, 1)]
        self.infoset_features = to_device(_with_zero_row(features))
        legal = [tree.legal_rows(player) for player in (0, 1)]
        self.infoset_legal = to_device(_with_zero_row(legal))
        self._num_actions = self.infoset_legal.shape[1]
        self.player = to_device(tree.player)
        self.row = to_device(_infoset_rows(tree))
        self.successor = to_device(_next_histories(tree, self._num_actions))
        self.is_over = to_device(tree.is_terminal)
        self.utility = to_device(tree.utility)
        self.chance = _chance_tables(tree)
        self._chance = [to_device(array) for array in self.chance]
        self._events_at_root, self.events_after_move = _longest_chance_runs(tree)
        self._history_of_row: torch.Tensor | None = None
        self._roots = torch.zeros(batch_size, dtype=torch.int64, device=device)
        self.restart()

    def restart(self) -> None:
        """Starts a new game in every row."""
        self._set_history(self._play_chance(self._roots, self._events_at_root))

    def current_player(self) -> torch.Tensor:
        """Who moves: int8 [B]; -4 where the game is over."""
        return self.player.index_select(0, self.history)

    def legal_actions(self) -> torch.Tensor:
        """Legal actions of whoever moves: bool [B, A]."""
        return self.infoset_legal.index_select(0, self.infoset)

    def features(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The mover's features: float32 [B, F].

        Args:
          out: where to write; None: a new tensor.
        """
        return torch.index_select(self.infoset_features, 0, self.infoset, out=out)

    def history_features(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The features of the whole history: float32 [B, E]; zeros where the game is over.

        Args:
          out: where to write; None: a new tensor.
        """
        rows, tensors = self.history_tables
        return torch.index_select(tensors, 0, rows.index_select(0, self.history), out=out)

    def branches(self, number: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The histories after all actions in some histories; chance is sampled.

        Args:
          number: int64 [N], rows of `history_tables`.

        Returns:
          The rows after each action, int64 [N, A], -1 where the game is over or the action is not
          legal, and player 0's utility there, float32 [N, A].
        """
        rows, tensors = self.history_tables
        if self._history_of_row is None:
            acts = (rows < len(tensors) - 1).nonzero()[:, 0]
            self._history_of_row = torch.cat([acts, acts[:1]])
        history = self._history_of_row.index_select(0, number)
        actions = torch.arange(self._num_actions, device=number.device)
        after = self.successor[history.unsqueeze(1) * self._num_actions + actions]
        is_legal = after != history.unsqueeze(1)
        shape = after.shape
        after = self._play_chance(after.flatten(), self.events_after_move).view(shape)
        goes_on = is_legal & ~self.is_over[after]
        utility = torch.where(is_legal, self.utility[after], 0.0)
        return torch.where(goes_on, rows[after], -1), utility.float()

    def tables(self) -> TreeTables:
        """The tables for compiled loops, on a CPU."""
        mover = np.full(len(self.infoset_legal), TERMINAL_PLAYER, np.int8)
        acts = self.tree.player >= 0
        mover[self.row.numpy()[acts]] = self.tree.player[acts]
        tensors = (self.infoset_legal, self.row, self.successor)
        return TreeTables(mover, *(tensor.numpy() for tensor in tensors))

    def tabulate(
        self,
        network: PolicyNetwork,
        parameters: torch.Tensor,
        fine_tuning: FineTuning | None = None,
    ) -> ArrayPolicy:
        """A network's policy at all infosets."""
        features, legal = self.infoset_features[:-1], self.infoset_legal[:-1]
        rows = policy_rows(network, parameters, features, legal, fine_tuning)
        strategies = []
        for player, (row, action) in enumerate(self._rows_and_actions()):
            strategy = np.ones(self.tree.treeplexes[player].num_sequences)
            strategy[1:] = rows[row, action]
            strategies.append(strategy)
        return ArrayPolicy(self.tree, strategies)

    def table_of(self, policy: ArrayPolicy) -> torch.Tensor:
        """A policy as a table by the rows of `infoset_legal`: float32 [R, A]."""
        table = np.zeros(self.infoset_legal.shape, np.float32)
        for player, (row, action) in enumerate(self._rows_and_actions()):
            table[row, action] = policy.strategies[player][1:]
        return torch.from_numpy(table).to(self.infoset_legal.device)

    def _rows_and_actions(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each player the table row and the action of all sequences but the empty one."""
        tree, first_row = self.tree, (0, self.tree.num_infosets(0))
        return [
            (
                first_row[player] + tree.treeplexes[player].infoset_of_sequence[1:],
                tree.sequence_action[player][1:],
            )
            for player in (0, 1)
        ]

    def step(self, action: torch.Tensor) -> EpisodeEnds:
        """Makes one move in every game, and plays the chance events after it.

        Args:
          action: int64 [B], legal where a player moves; without effect where the game is over.
        """
        before = self.history
        after = self.successor.index_select(0, before * self._num_actions + action)
        self._set_history(self._play_chance(after, self.events_after_move))
        is_over = self.is_over.index_select(0, self.history)
        finished = is_over & (before != self.history)
        return EpisodeEnds(finished, self.utility.index_select(0, self.history) * finished)

    @functools.cached_property
    def history_tables(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Each history's row, int64 [H], in a table of features of histories, float32 [N, E].

        Made on first use, as most learners need none. The last row is that of histories in which no
        player acts.
        """
        acting = np.flatnonzero(self.tree.player >= 0)
        rows = np.full(self.tree.num_histories, len(acting))
        rows[acting] = np.arange(len(acting))
        tensors = history_features.of_tree(self.tree, acting)
        tensors = torch.cat([tensors, torch.zeros_like(tensors[:1])])
        return torch.from_numpy(rows).to(self.row.device), tensors.to(self.row.device)

    def _set_history(self, history: torch.Tensor) -> None:
        self.history = history
        self.infoset = self.row.index_select(0, history)

    def _play_chance(self, history: torch.Tensor, num_events: int) -> torch.Tensor:
        """Plays chance where it acts, up to `num_events` times in a row."""
        if not num_events:
            return history
        uniform = torch.rand(
            (len(history), num_events), dtype=torch.float64, generator=self.generator,
            device=history.device,
        )  # fmt: skip
        if history.device.type == "cpu":
            arrays = (history.numpy(), uniform.numpy(), self.chance)
            return torch.from_numpy(play_kernels.play_chance(*arrays))
        row, cumulative, child = self._chance
        for event in range(num_events):
            here = row.index_select(0, history)
            is_below = cumulative.index_select(0, here) <= uniform[:, event : event + 1]
            outcome = is_below.sum(dim=1, keepdim=True)
            after = child.index_select(0, here).gather(1, outcome)[:, 0]
            history = torch.where(here > 0, after, history)
        return history


def _infoset_rows(tree: GameTree) -> np.ndarray:
    """The row of every history in the tables of infosets: int64 [H]."""
    first_row = np.array([0, tree.num_infosets(0)])
    rows = tree.infoset + first_row[np.clip(tree.player, 0, 1)]
    return np.where(tree.player >= 0, rows, tree.num_infosets(0) + tree.num_infosets(1))


def _with_zero_row(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([*parts, np.zeros((1, *parts[0].shape[1:]), parts[0].dtype)])


def _next_histories(tree: GameTree, num_actions: int) -> np.ndarray:
    """The history after (history, action), at history * A + action: int64 [H A]; itself if none."""
    successor = np.repeat(np.arange(tree.num_histories), num_actions)
    children = np.flatnonzero(tree.player[tree.parent[1:]] >= 0) + 1
    successor[tree.parent[children].astype(np.int64) * num_actions + tree.action[children]] = (
        children
    )
    return successor


def _chance_tables(tree: GameTree) -> ChanceTables:
    """The tables of all chance events."""
    acting = np.flatnonzero(tree.player == CHANCE_PLAYER)
    row = np.zeros(tree.num_histories, np.int64)
    row[acting] = np.arange(1, len(acting) + 1)
    sizes = tree.num_children[acting].astype(np.int64)
    shape = (len(acting) + 1, int(sizes.max(initial=1)))
    child = np.zeros(shape, np.int64)
    child[1:] = tree.first_child[acting][:, None] + np.minimum(
        np.arange(shape[1]), sizes[:, None] - 1
    )
    reach = tree.chance_reach[child[1:]] / tree.chance_reach[acting][:, None]
    cumulative = np.full(shape, _NEVER)
    cumulative[1:] = np.cumsum(reach, axis=1)
    cumulative[1:][np.arange(shape[1]) >= sizes[:, None] - 1] = _NEVER
    return ChanceTables(row, cumulative, child)


def _longest_chance_runs(tree: GameTree) -> tuple[int, int]:
    """The largest numbers of consecutive chance events: at the root, and after a move."""
    is_chance = tree.player == CHANCE_PLAYER
    run = is_chance.astype(np.int64)
    from_root = is_chance.copy()
    for start, end in tree.levels_below_root():
        parent = tree.parent[start:end]
        run[start:end] += run[parent] * is_chance[start:end] * is_chance[parent]
        from_root[start:end] &= from_root[parent]
    at_root = run[from_root].max(initial=0)
    return int(at_root), int(run[~from_root].max(initial=0))
