"""Limits of the number of histories: by memory, with an early estimate by random playouts.

The estimate is Knuth's (1975, *Estimating the efficiency of backtrack programs*): if a random
playout chooses its continuations with probabilities p_1, p_2, ..., then 1 + 1 / p_1 + 1 / (p_1 p_2)
+ ... is the number of histories on average. Half of the playouts choose evenly. The others prefer
the first actions, or the last ones, because in games of ascending bids nearly all histories follow
low bids. The estimate has heavy tails, so the average of a few hundred playouts may be far too
small, and is not used to refuse games. A game is refused early only by a lower bound that is almost
certain, see `estimate_histories`; any other game is enumerated until it ends or reaches the
limit.
"""

from __future__ import annotations

import itertools
import math
import os
import pathlib
import random
import time
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import pyspiel

from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.histories import (
    CHANCE_PLAYER,
    TERMINAL_PLAYER,
    TooManyHistoriesError,
    check_mover,
    game_errors,
)

if TYPE_CHECKING:
    import tqdm

BYTES_PER_HISTORY = 200
"""Peak memory of a compiled game, numbered infosets and public states included."""
_MEMORY_SHARE = 0.8
_MAX_HISTORIES = 2**31 - 1  # They are numbered in 32 bits.
# Estimates, the measurement of memory and the progress bar start only after this time.
_SECONDS_UNTIL_LARGE = 1.0
# A playout ends at this estimate, which is certain to be refused: playouts of deep games would take
# long, and estimates would exceed floating point.
_LARGEST_ESTIMATE = 1e18
_RISK = 1e-6
_MAX_PLAYOUTS = 1000
# Processor time after which no further playout starts; it does not depend on other processes.
_PLAYOUT_SECONDS = 1.0
_SEED = 0
# Ratios of an action's probability to that of the one before, in the playouts. With the last two,
# players nearly always take the first or the last action: most of a game may lie there.
_RATIOS = 2 * (1.0, 1.0, 0.5, 2.0) + (1.0, 1.0, 1 / 256, 256.0)
_NUM_RATIOS = len(set(_RATIOS))
_MEMINFO = pathlib.Path("/proc/meminfo")
_CGROUP = pathlib.Path("/sys/fs/cgroup")
_UNKNOWN_MEMORY = 4 << 30


def available_bytes() -> int:
    """The memory that this process may still take, in bytes.

    That is the machine's available memory or, if less, the remainder of the limit of the process's
    control group (containers). On systems other than Linux, it is half of the machine's memory; on
    Windows, where Python cannot read that, 4 GiB.
    """
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        [available] = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
        available *= 1024
    except (OSError, ValueError):
        if not hasattr(os, "sysconf"):  # Windows.
            return _UNKNOWN_MEMORY
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    try:
        limit, current = (
            int((_CGROUP / name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
        words = (_CGROUP / "memory.stat").read_text(encoding="ascii").split()
        # Cached files are dropped when memory is needed.
        remaining = limit - current + int(words[words.index("inactive_file") + 1])
    except (OSError, ValueError):  # There is no such group, or it has no limit.
        return available
    return max(0, min(available, remaining))


class HistoryEstimate(NamedTuple):
    """An estimate, by random playouts, of the number H of histories of a game.

    Attributes:
      mean: the playouts' average, an unbiased estimate of H but often far below it; of a part of
        the game if playouts ended at the largest estimate.
      at_least: a lower bound on H that holds with probability 1 - 10^-6.
    """

    mean: float
    at_least: float

    def __str__(self) -> str:
        qualifier = "more than" if self.mean * _MAX_PLAYOUTS >= _LARGEST_ESTIMATE else "about"
        return f"{qualifier} {self.mean:.1e} histories by random playouts"


def estimate_histories(game: pyspiel.Game) -> HistoryEstimate:
    """Estimates the number of histories of a turn-based game.

    The lower bound is by Markov's inequality. One playout gives k H or more with probability at
    most 1 / k, so the m-th largest of n playouts does with probability at most C(n, m) / k^m. With
    k chosen to make that a small share of `_RISK` for each m, the largest m-th value / k is the
    bound. It is computed for each ratio of `_RATIOS`; the result is that of the ratio with the
    largest bound, because the others miss most of the game.

    Raises:
      ValueError: if a state breaks OpenSpiel's rules.
    """
    generator = random.Random(_SEED)
    end = time.thread_time() + _PLAYOUT_SECONDS
    estimates: dict[float, list[float]] = {ratio: [] for ratio in _RATIOS}
    for ratio in itertools.islice(itertools.cycle(_RATIOS), _MAX_PLAYOUTS):
        estimates[ratio].append(_playout(game, generator, ratio))
        if time.thread_time() > end:
            break
    at_least, best = max((_lower_bound(values), values) for values in estimates.values() if values)
    return HistoryEstimate(sum(best) / len(best), max(1.0, at_least))


def _lower_bound(values: list[float]) -> float:
    """A lower bound on the mean of a nonnegative random variable with these n samples."""
    n = len(values)
    log_risk = math.log(_RISK / (n * _NUM_RATIOS))
    return max(
        math.exp(math.log(value) - (math.log(math.comb(n, m)) - log_risk) / m)
        for m, value in enumerate(sorted(values, reverse=True), start=1)
    )


def _playout(game: pyspiel.Game, generator: random.Random, ratio: float) -> float:
    """Knuth's estimate of one playout, which ends early at the largest estimate.

    The probability of each of a player's actions is `ratio` times that of the action before.
    """
    total = inverse_probability = 1.0
    actions: list[int] = []
    with game_errors(game, lambda: actions):
        state = game.new_initial_state()
        while total < _LARGEST_ESTIMATE:
            player = state.current_player()
            check_mover(game, player, actions)
            if player == TERMINAL_PLAYER:
                break
            if player == CHANCE_PLAYER:
                choices, step = [outcome for outcome, _ in state.chance_outcomes()], 1.0
            else:
                choices, step = state.legal_actions(), min(ratio, 1.0 / ratio)
            if not choices:
                break  # The enumeration refuses this state.
            weights = [step**position for position in range(len(choices))]
            [position] = generator.choices(range(len(choices)), weights)
            inverse_probability *= sum(weights) / weights[position]
            total += inverse_probability
            actions.append(choices[-1 - position if ratio > 1.0 else position])
            state.apply_action(actions[-1])
    return total


class SizeLimit:
    """Checks the size of an enumeration, and refuses the game once it is known to be too large.

    A context manager, which closes its progress bar at the end. The bar is written to stderr, if
    that is a terminal, once an enumeration has taken a second.
    """

    def __init__(self, game: pyspiel.Game, max_histories: int | None):
        """Starts the time of the enumeration.

        Args:
          game: a turn-based game.
          max_histories: the most histories of the game; None: as many as fit into the memory that
            is available, see `available_bytes`.

        Raises:
          ValueError: if `max_histories` is not positive.
        """
        if max_histories is not None:
            checked_count("max_histories", max_histories, 1)
        self._game = game
        self._by_memory = max_histories is None
        # Memory is measured once a game is not small.
        self.max_histories = min(max_histories or _MAX_HISTORIES, _MAX_HISTORIES)
        self._memory = 0
        self._start = time.perf_counter()
        self._estimate: HistoryEstimate | None = None
        self._bar: tqdm.tqdm | None = None

    def __enter__(self) -> SizeLimit:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def check(self, num_seen: int, depth: int, state_bytes: int = 0) -> None:
        """Checks the limits and shows progress; to be called often.

        Args:
          num_seen: the number of histories so far.
          depth: of the last one.
          state_bytes: memory for the states of those that are not terminal.

        Raises:
          TooManyHistoriesError: if the limit is exceeded, or almost certainly will be.
        """
        if num_seen > self.max_histories:
            self.refuse(num_seen, depth)
        if time.perf_counter() - self._start <= _SECONDS_UNTIL_LARGE:
            return
        if self._estimate is None:
            self._memory = available_bytes()
            if self._by_memory:
                room = int(_MEMORY_SHARE * self._memory) // BYTES_PER_HISTORY
                self.max_histories = min(room, _MAX_HISTORIES)
            self._estimate = estimate_histories(self._game)
            if self._estimate.at_least > self.max_histories:
                self.refuse(num_seen, depth)
        if state_bytes > _MEMORY_SHARE * self._memory:
            raise TooManyHistoriesError(
                f"{self._game}: too large. The states of its histories of depth {depth} alone take "
                f"more than {_gigabytes(_MEMORY_SHARE * self._memory)}. {_REMEDY}"
            )
        self._show(num_seen)

    def refuse(self, num_seen: int, depth: int) -> NoReturn:
        """Raises the error for a game with too many histories; arguments as in `check`."""
        seen = f"{num_seen:,} seen, the last one at depth {depth}"
        estimate = f"; {self._estimate}" if self._estimate else ""
        if self._by_memory:
            raise TooManyHistoriesError(
                f"{self._game}: more histories than fit into memory ({seen}{estimate}). "
                f"{_gigabytes(self._memory)} are available, which is enough for "
                f"{self.max_histories:,} at about {BYTES_PER_HISTORY} bytes each. {_REMEDY}"
            )
        raise TooManyHistoriesError(
            f"{self._game}: more than max_histories={self.max_histories:,} histories ({seen}"
            f"{estimate}). Raise max_histories if memory allows, about {BYTES_PER_HISTORY} bytes "
            "each, or solve a smaller game."
        )

    def _show(self, num_seen: int) -> None:
        if self._bar is None:
            import tqdm  # Few games are large enough to need it.

            self._bar = tqdm.tqdm(
                desc=f"histories of {self._game}"[:60], unit="", unit_scale=True, disable=None
            )
        self._bar.update(num_seen - self._bar.n)


_REMEDY = (
    "Solve a smaller game, learn a policy by self-play or search below some of its states; or try "
    "all the same, by GameTree.from_game(game, max_histories=...)."
)


def _gigabytes(num_bytes: float) -> str:
    return f"{num_bytes / 2**30:.1f} GiB"
