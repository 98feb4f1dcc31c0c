"""Games that other processes play while a learner learns.

With W workers, the games of learner step k are played by the parameters that the learner had W
steps before, or at its start, while it goes on to learn. Which games these are depends on nothing
but the parameters, the seed and k: neither on who is faster, nor on where a run was interrupted.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import weakref
from typing import Any, NamedTuple

import numpy as np
import torch

from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.self_play import (
    ActingNetwork,
    Distinct,
    ListedTrajectories,
    SelfPlay,
    Trajectories,
)
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.system.workers import DEATHS, KillablePool, WorkerDiedError, end_with_parent

_MOST_DEATHS = 3  # over one batch


@dataclasses.dataclass(frozen=True)
class Games:
    """What is played.

    Attributes:
      game: the string of the turn-based game.
      batch_size: games at once.
      max_tree_histories: as in `self_play_of`.
      records_histories: whether the whole histories are wanted, too.
      network: what acts.
      seed: of all chance.
    """

    game: str
    batch_size: int
    max_tree_histories: int
    records_histories: bool
    network: PolicyNetwork
    seed: int


class _Order(NamedTuple):
    """One batch of games: its number, and the parameters that act, float32 [P]."""

    games: Games
    number: int
    parameters: np.ndarray


class PlayedAhead:
    """A queue of batches of games.

    Attributes:
      parameters: float32 [W, P]; those that play batch k are in row k % W. A checkpoint holds them.
    """

    def __init__(self, games: Games, parameters: torch.Tensor, num_workers: int):
        """Starts no process before the first batch is taken.

        Args:
          games: what is played.
          parameters: float32 [P]; they play the first W batches.
          num_workers: W, how many processes play, and how many batches ahead.

        Raises:
          ValueError: if there are no workers.
        """
        if num_workers < 1:
            raise ValueError(f"num_workers={num_workers} must be positive, or 0 for none")
        self._games, self._next = games, 0
        self.parameters = parameters.detach().repeat(num_workers, 1)
        self._orders: collections.deque[tuple[Any, _Order]] = collections.deque()
        self._pool = KillablePool(num_workers, end_with_parent)
        weakref.finalize(self, self._pool.end, is_now=True)

    def begin_again(self, number: int) -> None:
        """Goes on with this batch, played by the `parameters` that are there for it."""
        while self._orders:
            self._result()
        self._next = number

    def take(self, parameters: torch.Tensor) -> Trajectories:
        """The next batch; these parameters, float32 [P], play the one W batches later.

        Raises:
          WorkerDiedError: if workers died over it again and again. The next call tries it anew.
        """
        num_workers, number = len(self.parameters), self._next
        if self._orders and self._orders[0][1].number != number:
            self._orders.appendleft(self._order(number))  # Workers died over it in an earlier call.
        while len(self._orders) < num_workers:
            self._orders.append(self._order(number + len(self._orders)))
        arrays = self._result()
        self.parameters[number % num_workers] = parameters
        self._orders.append(self._order(number + num_workers))
        self._next += 1
        return _trajectories(arrays)

    def _order(self, number: int) -> tuple[Any, _Order]:
        """Lets a batch be played; its ticket, and what was ordered."""
        parameters = self.parameters[number % len(self.parameters)].numpy().copy()
        order = _Order(self._games, number, parameters)
        return self._pool.schedule(_play, order), order

    def _result(self) -> dict[str, Any]:
        """The oldest order's; begun again by another worker if one died over it."""
        ticket, order = self._orders.popleft()
        for death in range(1, _MOST_DEATHS + 1):
            try:
                arrays: dict[str, Any] = ticket.result()
                return arrays
            except DEATHS:
                if death < _MOST_DEATHS:
                    ticket = self._pool.schedule(_play, order)
        raise WorkerDiedError(
            f"{_MOST_DEATHS} workers died over the games of step {order.number}; if memory was "
            'wanting, use fewer workers; in a script, begin below `if __name__ == "__main__":`, '
            "because workers import it"
        )


@functools.lru_cache(maxsize=1)
def _self_play(games: Games) -> SelfPlay:
    """A worker's own; it plays one batch after the other."""
    self_play = self_play_of(
        games.game, games.batch_size, max_tree_histories=games.max_tree_histories
    )
    if games.records_histories:
        self_play.record_histories()
    return self_play


def _play(order: _Order) -> dict[str, Any]:
    """What a worker does: a batch of games, as arrays."""
    games, self_play = order.games, _self_play(order.games)
    seed = np.random.SeedSequence([games.seed, order.number]).generate_state(1, np.uint64)[0]
    self_play.environment.generator.manual_seed(int(seed >> np.uint64(1)))
    policy = ActingNetwork(games.network, torch.from_numpy(order.parameters))
    played = self_play.play(policy)
    arrays: dict[str, Any] = {name: x.numpy() for name, x in played._asdict().items()}
    if isinstance(played, ListedTrajectories):
        arrays["listed"] = _packed(played.distinct_observations())
        if played.listed_histories is not None:
            arrays["listed_histories"] = _packed(played.listed_histories)
    return arrays


def _packed(seen: Distinct) -> dict[str, Any]:
    """Rows as arrays, without what the network that played has said of them."""
    tensors = seen.tensors
    if not isinstance(tensors, torch.Tensor):
        tensors = tensors._replace(evaluation=None)
        tensors = type(tensors)(*(x.numpy() if hasattr(x, "numpy") else x for x in tensors))
    else:
        tensors = tensors.numpy()
    arrays = [None if x is None else x.numpy() for x in (seen.place, seen.moves)]
    return {"tensors": tensors, "place": arrays[0], "moves": arrays[1]}


def _unpacked(packed: dict[str, Any]) -> Distinct:
    """What `_packed` was made of."""
    tensors = packed["tensors"]
    if isinstance(tensors, np.ndarray):
        tensors = torch.from_numpy(tensors)
    else:
        tensors = type(tensors)(*map(_tensor, tensors))
    place = torch.from_numpy(packed["place"])
    return Distinct(tensors, place, place.shape, _tensor(packed["moves"]))


def _tensor(value: Any) -> Any:
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def _trajectories(arrays: dict[str, Any]) -> Trajectories:
    """What `_play` was made of."""
    tensors = {name: torch.from_numpy(arrays[name]) for name in Trajectories._fields}
    if "listed" not in arrays:
        return Trajectories(**tensors)
    played = ListedTrajectories(**tensors)
    played.listed = _unpacked(arrays["listed"])
    if "listed_histories" in arrays:
        played.listed_histories = _unpacked(arrays["listed_histories"])
    return played
