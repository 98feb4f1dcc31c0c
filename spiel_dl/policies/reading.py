"""Reads policies in all infosets of a game, in batches where they are functions of tensors."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking
from spiel_dl.policies.small_policies import UniformPolicy
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.tree.game_tree import GameTree

if TYPE_CHECKING:
    import tqdm

# Infosets in a batch: their tensors take some 10 MB.
_BATCH = 1 << 14
# The number of infosets that are read in two states, and the largest difference between these.
_NUM_CHECKED = 32
_TOLERANCE = 1e-6


def ask_everywhere(
    game: GameTree | FactoredGame, policy: openspiel_policy.Policy, player: int
) -> np.ndarray:
    """One player's behaviour strategy according to a policy: float64 [S], 1 at the empty sequence.

    A network is evaluated in thousands of infosets at once, by their tensors, and its rows are made
    to sum to 1. In a factored game, so is any policy with a method `act` (see
    `learning.sources.ActingPolicy`). All others are read in one state of each infoset, the first
    one of a tree, and not rescaled. That may take minutes, with a progress bar. Some infosets are
    read in another state, too.

    Raises:
      ValueError: if the policy has no probabilities at an infoset, no distribution over the legal
        actions, or different ones in states of one infoset.
    """
    treeplex = game.treeplexes[player]
    if type(policy) in (UniformPolicy, openspiel_policy.UniformRandomPolicy):
        return treeplex.uniform_strategy()
    read = (
        _read_by_tensors
        if _takes_tensors(game, policy)
        else functools.partial(_read_by_states, _second_histories(game, player))
    )
    strategy = np.ones(treeplex.num_sequences)
    with _progress(game, player) as bar:
        for begin in range(0, treeplex.num_infosets, _BATCH):
            end = min(begin + _BATCH, treeplex.num_infosets)
            first = int(treeplex.first_sequence[begin])
            last = treeplex.sequences(end - 1).stop
            strategy[first:last] = read(game, policy, player, begin, end)
            bar.update(end - begin)
    return strategy


def _takes_tensors(game: GameTree | FactoredGame, policy: openspiel_policy.Policy) -> bool:
    if isinstance(game, FactoredGame):
        return hasattr(policy, "act")
    # Functions of files may take one row only; policies of other games fail with a clear error.
    is_network = hasattr(policy, "act") and isinstance(policy, asking.BatchPolicy)
    return is_network and is_same_game(policy.game, game.game)


def _progress(game: GameTree | FactoredGame, player: int) -> tqdm.tqdm:
    import tqdm  # Small games do without.

    return tqdm.tqdm(
        desc=f"player {player}'s infosets of {game.game}"[:60],
        total=game.num_infosets(player),
        unit="",
        unit_scale=True,
        delay=1.0,
        disable=None,
    )


def _read_by_tensors(
    game: GameTree | FactoredGame,
    policy: openspiel_policy.Policy,
    player: int,
    begin: int,
    end: int,
) -> np.ndarray:
    """The probabilities of all actions in infosets from `begin` to before `end`: float64 [n]."""
    import torch  # Tables and solvers do without.

    from spiel_dl.policies import sight

    tensors = sight.of_infosets(game, player, sight.of_policy(policy), begin, end)
    legal = game.legal_rows(player, begin, end)
    probabilities = policy.act(torch.from_numpy(tensors), torch.from_numpy(legal))
    rows = np.asarray(probabilities.detach().cpu(), np.float64)
    if rows.shape != legal.shape:
        raise ValueError(
            f"{type(policy).__name__} answers for {legal.shape} infosets and actions of "
            f"{game.game} with an array of shape {rows.shape}"
        )
    sums = rows.sum(axis=1, where=legal)
    wrong = (rows != 0).any(axis=1, where=~legal) | (rows < 0).any(axis=1)
    wrong |= ~(np.abs(sums - 1.0) < asking.SUM_TOLERANCE)
    if wrong.any():
        infoset = int(wrong.argmax())
        raise ValueError(
            f"{type(policy).__name__}: {rows[infoset]} is not a distribution over the legal "
            f"actions {np.flatnonzero(legal[infoset])} of player {player}'s infoset "
            f"{begin + infoset} of {game.game}"
        )
    own: np.ndarray = (rows / sums[:, None])[legal]
    return own


def _read_by_states(
    second_histories: Mapping[int, int],
    game: GameTree | FactoredGame,
    policy: openspiel_policy.Policy,
    player: int,
    begin: int,
    end: int,
) -> list[float]:
    """The same, from a state of each infoset, and from a second one of some."""
    probabilities: list[float] = []
    for infoset in range(begin, end):
        actions = game.legal_actions(player, infoset).tolist()
        first, *others = _states(game, player, infoset, second_histories)
        row, *other_rows = (
            asking.checked_probabilities(policy, state, player) for state in (first, *others)
        )
        for state, other in zip(others, other_rows, strict=True):
            if any(abs(row[action] - other[action]) > _TOLERANCE for action in actions):
                raise ValueError(
                    f"{type(policy).__name__} plays {row} after the actions {first.history()} and "
                    f"{other} after {state.history()}, which player {player} cannot tell apart in "
                    f"{game.game}; give a policy that answers by what the player knows (where "
                    "strings tell more, by tensors), and the same whenever it is asked"
                )
        probabilities += [row[action] for action in actions]
    return probabilities


def _second_histories(game: GameTree | FactoredGame, player: int) -> dict[int, int]:
    """The last history, which may be the only one, of some infosets of a tree.

    Reading these, too, detects policies that use hidden information or draw anew in each call.
    """
    if isinstance(game, FactoredGame) or not game.num_infosets(player):
        return {}
    last = game.last_history(player)
    some = np.unique(np.linspace(0, len(last) - 1, _NUM_CHECKED).astype(int))
    return {infoset: int(last[infoset]) for infoset in some.tolist()}


def _states(
    game: GameTree | FactoredGame, player: int, infoset: int, second_histories: Mapping[int, int]
) -> Iterator[pyspiel.State]:
    """A state of an infoset, and further ones in which the probabilities must be the same."""
    if isinstance(game, GameTree):
        first = int(game.first_history[player][infoset])
        yield game.state(first)
        if infoset in second_histories:
            yield game.state(second_histories[infoset])
        if infoset == 0:
            yield game.state(first)
        return
    yield game.state(player, infoset)
    # A second one, if two of its states have different strings.
    other = game.other_history(player, infoset)
    if other is not None:
        yield game.state_after(other)
