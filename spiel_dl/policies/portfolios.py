"""Portfolios: a few strategies of each player, to go on with from the leaves of a search.

They are given by hand, or by `of_cfr`: CFR's iterates in the game against an opponent who follows
the model with some probability. `pure_continuations` has all there are, in tiny games.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import read_strategy
from spiel_dl.solvers import depth_limited
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import restrict
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.sequence_form import Treeplex

MAX_CONTINUATIONS = 4096
"""More pure strategies behind a leaf infoset than these are refused."""


class Portfolios(NamedTuple):
    """What a player and its opponent may go on with, as behaviour strategies of the whole game.

    Attributes:
      player: whose.
      own: float64 [J, S_p], the player's.
      others: float64 [K, S_-p], the opponent's, the model first.
    """

    player: int
    own: np.ndarray
    others: np.ndarray


def by_hand(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    own: Sequence[openspiel_policy.Policy],
    others: Sequence[openspiel_policy.Policy] = (),
) -> Portfolios:
    """Portfolios of given policies.

    Args:
      game: the game, its game string, or the compiled game.
      player: whose.
      model: the opponent's model.
      own: the player's; one or more.
      others: the opponent's besides the model.

    Raises:
      ValueError: if the game cannot be compiled, if there is no such player, if `own` is empty, or
        if a policy is not one for the game.
    """
    check_player(player)
    if not own:
        raise ValueError("own is empty; give at least one policy to go on with")
    tree = compile_game(game, model, *own, *others)
    return Portfolios(
        player,
        np.stack([read_strategy(tree, policy, player) for policy in own]),
        np.stack([read_strategy(tree, policy, 1 - player) for policy in (model, *others)]),
    )


def of_cfr(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    *,
    p: float = 0.5,
    size: int = 10,
) -> Portfolios:
    """CFR's iterates against an opponent who follows the model with probability p.

    The player's portfolio has its best response to the model, its current strategies after 1, 2, 4
    and so on iterations, and last its average. The opponent's has the model, and its own free
    strategies of the same iterations.

    Args:
      game: the game, its game string, or the compiled game.
      player: whose.
      model: the opponent's model.
      p: how much the opponent follows it, 0 to 1.
      size: how many strategies each has, at least 2.

    Raises:
      ValueError: if the game cannot be compiled, or if an argument is not valid.
    """
    check_player(player)
    if size < 2:
        raise ValueError(f"size={size} must be at least 2")
    tree = compile_game(game, model)
    _, (response,), (known,) = model_and_response(tree, player, model)
    own, others = [response], [known]
    form = tree.sequence_form if player == 0 else tree.sequence_form.swapped()
    plan = realization_plan(form.treeplexes[1], known)
    everywhere = np.ones(form.treeplexes[1].num_infosets, np.bool_)
    whole = restrict(form, (np.ones(1), np.ones(1)), plan, everywhere, p)
    minimizer = depth_limited.start(whole, Effort())
    for index in range(size - 1):
        minimizer.run(2**index - minimizer.iteration)
        own.append(minimizer.learned[0].strategy.copy())
        others.append(minimizer.learned[1].strategy.copy())
    own[-1], others[-1] = (minimizer.average_strategy(side) for side in (0, 1))
    return Portfolios(player, np.stack(own), np.stack(others))


def model_and_response(tree: GameTree, player: int, model: openspiel_policy.Policy) -> Portfolios:
    """The smallest portfolios: the best response to the model, and the model."""
    known = read_strategy(tree, model, 1 - player)
    plan = realization_plan(tree.treeplexes[1 - player], known)
    response = best_response(tree.sequence_form, player, plan).strategy
    return Portfolios(player, response[None], known[None])


def pure_continuations(
    leaves: LeafSet[GameTree], player: int, model: openspiel_policy.Policy
) -> Portfolios:
    """All pure strategies behind the leaves of a trunk; the opponent's come behind the model.

    Args:
      leaves: the leaves. Portfolios are for these only.
      player: whose.
      model: the opponent's model.

    Raises:
      ValueError: if there are more than `MAX_CONTINUATIONS` behind a leaf infoset.
    """
    own, others = (_all_pure(leaves, each) for each in (player, 1 - player))
    known = read_strategy(leaves.tree, model, 1 - player)
    return Portfolios(player, own, np.concatenate([known[None], others]))


def _all_pure(leaves: LeafSet[GameTree], player: int) -> np.ndarray:
    """For each number k, the k-th pure strategy behind every leaf infoset: float64 [K, S].

    Where an infoset has fewer, they are repeated.
    """
    treeplex = leaves.subgames.treeplexes[player]
    of_tree = leaves.subgame_sequences[player]
    following: list[list[int]] = [[] for _ in range(treeplex.num_sequences)]
    for infoset, parent in enumerate(treeplex.parent_sequence.tolist()):
        following[parent].append(infoset)
    counts = _num_pure(treeplex)
    largest = max(counts[: treeplex.num_root_sequences], default=1)
    if largest > MAX_CONTINUATIONS:
        raise ValueError(
            f"{leaves.tree.game}: player {player} has {largest} pure strategies behind a leaf "
            f"infoset of {leaves.depth_limit}, more than {MAX_CONTINUATIONS}; look further ahead, "
            "or give other portfolios"
        )
    found = np.repeat(leaves.tree.treeplexes[player].uniform_strategy()[None], largest, axis=0)
    for leaf in range(treeplex.num_root_sequences):
        plans = list(_pure(treeplex, following, leaf))
        for number in range(largest):
            for infoset, played in plans[number % len(plans)]:
                own = treeplex.sequences(infoset)
                found[number, of_tree[own]] = np.arange(own.start, own.stop) == played
    return found


def _num_pure(treeplex: Treeplex) -> list[int]:
    """How many pure strategies there are behind each sequence."""
    counts = [1] * treeplex.num_sequences
    for infoset in reversed(range(treeplex.num_infosets)):
        own = treeplex.sequences(infoset)
        counts[int(treeplex.parent_sequence[infoset])] *= sum(counts[own])
    return counts


Plan = tuple[tuple[int, int], ...]
"""The infosets to which a pure strategy comes, each with the sequence that it plays."""


def _pure(treeplex: Treeplex, following: list[list[int]], sequence: int) -> Iterator[Plan]:
    """All pure strategies behind a sequence."""
    choices = []
    for infoset in following[sequence]:
        own = treeplex.sequences(infoset)
        choices.append(
            [
                ((infoset, played), *plan)
                for played in range(own.start, own.stop)
                for plan in _pure(treeplex, following, played)
            ]
        )
    for combined in itertools.product(*choices):
        yield tuple(itertools.chain.from_iterable(combined))
