"""Solved rivers for value networks: random boards, stacks and ranges, bets of the pot and all-in.

Ranges are random by strength, as DeepStack's are (Moravčík et al. 2017: all weight is shared out at
random between the weaker and the better half of the hands, and so on), to a random depth, with some
hands left out; on the river itself, or on the turn, and then as they come to rivers when its trunk
is solved for a few iterations. So what networks learn from is like what they will be asked.

  python -m experiments.poker.rivers --seed=0 --number=5000 --output=build/rivers
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyspiel

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.factored.families import factored_game
from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.factored.holdem_deals import Hands
from spiel_dl.factored.holdem_trunk import HoldemTrunk, cut_holdem
from spiel_dl.games.holdem_cards import card_text
from spiel_dl.solvers import kernels
from spiel_dl.solvers.best_response import evaluate
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import LINEAR_CFR
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.base import LeafValues
from spiel_dl.value_functions.river import ShowdownValue

POT = 100.0
_STACKS = (0.4, 10.0)  # on the turn, in pots
_RIVERS_OF_A_TURN = 12
_GAP, _MOST_ITERATIONS, _STRETCH = 0.004, 600, 60  # in pots: NashConv
_LEAST_WEIGHT = 1e-5
_CHUNK = 120
_HANDS = np.array(np.triu_indices(52, 1)).T
NUMBER_OF_HAND = np.full((52, 52), -1)
NUMBER_OF_HAND[_HANDS[:, 0], _HANDS[:, 1]] = np.arange(len(_HANDS))


class River(NamedTuple):
    """A solved river.

    Attributes:
      board: int8 [5].
      stack: in pots.
      weights: float32 [2, 1326], both ranges.
      values: float32 [2, 1326], what each hand wins against the other range, times that range's
        weight, in pots; NaN: it cannot be dealt.
    """

    board: np.ndarray
    stack: float
    weights: np.ndarray
    values: np.ndarray


def endgame(board: np.ndarray, pot: float, stack: float) -> HoldemGame:
    """A river or turn with all hands; the stack is what each player has left."""
    game = factored_game(
        pyspiel.load_game(
            "python_holdem",
            {
                "board": "".join(card_text(card) for card in board.tolist()),
                "board_cards": "[0]" if len(board) == 5 else "[0;1]",
                "stacks": f"[{pot / 2 + stack!r};{pot / 2 + stack!r}]",
                "blinds": f"[{pot / 2!r};{pot / 2!r}]",
                "min_wager": 0.0,
            },
        ),
        num_threads=1,
    )
    assert isinstance(game, HoldemGame)
    return game


def with_weights(game: HoldemGame, weights: tuple[np.ndarray, np.ndarray]) -> HoldemGame:
    """A game whose hands have other weights, float64 [H]; utilities are scaled by their sums."""
    form = game.sequence_form
    hands = [Hands(each.cards, w) for each, w in zip(game.deals.hands, weights, strict=True)]
    sides = [
        (first._replace(weights=weights[0]), second._replace(weights=weights[1]))
        for first, second in form.sides
    ]
    return dataclasses.replace(
        game,
        deals=dataclasses.replace(game.deals, hands=(hands[0], hands[1])),
        sequence_form=dataclasses.replace(form, sides=sides),
    )


def strengths(game: HoldemGame) -> np.ndarray:
    """The mean share of hands that each hand beats on the boards to come: float64 [H]."""
    live = game.deals.boards[-1].live[0]
    total, times = np.zeros(live.position.shape[1]), np.zeros(live.position.shape[1])
    for begin, end in zip(live.offset[:-1], live.offset[1:], strict=True):
        strength = live.strength[begin:end]
        lower = np.searchsorted(strength, strength, side="left")
        upper = np.searchsorted(strength, strength, side="right")
        total[live.hand[begin:end]] += (lower + upper) / (2 * (end - begin))
        times[live.hand[begin:end]] += 1
    return total / np.maximum(times, 1)


def random_range(rng: np.random.Generator, strength: np.ndarray) -> np.ndarray:
    """Weights of hands (float64 [H]) with a mean of 1."""
    weights = np.ones(len(strength))
    # Ties are broken at random.
    order = np.lexsort((rng.random(len(strength)), strength))
    parts = [order]
    for _ in range(rng.integers(0, 8)):
        halves = []
        for part in parts:
            share = rng.random()
            middle = len(part) // 2
            weights[part[:middle]] *= 2 * share
            weights[part[middle:]] *= 2 * (1 - share)
            halves += [part[:middle], part[middle:]]
        parts = halves
    if rng.random() < 0.6:
        weights *= rng.random(len(weights)) < rng.uniform(0.2, 1.0)
    if not weights.any():
        weights[:] = 1.0
    return weights / weights.mean()


def solve_trunk(trunk: HoldemTrunk, values: LeafValues, num_iterations: int) -> RegretMinimizer:
    """Some iterations of linear CFR above leaf values."""
    minimizer = RegretMinimizer(trunk.sequence_form, LINEAR_CFR)
    sequences = trunk.leaves.sequences

    def leaf_cfvs(players: tuple[int, ...], plans: tuple[np.ndarray, np.ndarray]):
        ranges = (plans[0][sequences[0]], plans[1][sequences[1]])
        return [values.values_for(player, *ranges) for player in players]

    minimizer.run_with_leaves(num_iterations, sequences, leaf_cfvs)
    return minimizer


def hand_values(game: HoldemGame, player: int, plan: np.ndarray) -> np.ndarray:
    """What each of a player's hands wins at best against a plan on a river: float64 [H]."""
    treeplex = game.treeplexes[player]
    cfv = game.sequence_form.values_against(player, plan)
    none = np.zeros(treeplex.num_infosets, np.bool_)
    kernels.best_response_values(treeplex.arrays, none, cfv, np.empty(len(cfv)))
    best = np.maximum.reduceat(cfv, treeplex.first_sequence)
    first = best[treeplex.parent_sequence == 0]
    live = game.deals.boards[0].live[player]
    found = np.zeros(len(game.deals.hands[player].cards))
    found[live.hand] = first.reshape(-1, len(live.hand)).sum(axis=0)
    return found / (game.deals.hands[player].weights * game.deals.scale)


def solve_river(board: np.ndarray, stack: float, weights: np.ndarray) -> River:
    """Solves a river.

    Args:
      board: int [5].
      stack: in pots.
      weights: float64 [2, 1326].
    """
    whole = endgame(board, POT, stack * POT)
    numbers = NUMBER_OF_HAND[tuple(whole.deals.hands[0].cards.T)]
    own = weights[:, numbers]
    own = np.maximum(own / own.mean(axis=1, keepdims=True), _LEAST_WEIGHT)
    game = with_weights(whole, (own[0], own[1]))
    minimizer = RegretMinimizer(game.sequence_form, LINEAR_CFR)
    # What all pairs of hands weigh together: utilities are divided by it.
    size = len(numbers)
    gap = np.inf
    while gap > _GAP and minimizer.iteration < _MOST_ITERATIONS:
        minimizer.run(_STRETCH if minimizer.iteration else 2 * _STRETCH)
        plans = (minimizer.average_plan(0), minimizer.average_plan(1))
        gap = sum(evaluate(game.sequence_form, plans).best) / POT
    values = np.full((2, len(_HANDS)), np.nan)
    for player in (0, 1):
        values[player, numbers] = hand_values(game, player, plans[1 - player]) / (POT * size)
    filled = np.zeros((2, len(_HANDS)))
    filled[:, numbers] = own / size
    return River(board, stack, filled.astype(np.float32), values.astype(np.float32))


def _from_a_turn(rng: np.random.Generator, number: int) -> list[River]:
    """Rivers to which ranges come when a turn's trunk is solved for some iterations."""
    board = rng.choice(52, 4, replace=False)
    stack = float(np.exp(rng.uniform(*np.log(_STACKS)))) * POT
    game = endgame(board, POT, stack)
    strength = strengths(game)
    weights = (random_range(rng, strength), random_range(rng, strength))
    trunk = cut_holdem(with_weights(game, weights), DepthLimit(rounds=1))
    leaves = trunk.leaves
    minimizer = solve_trunk(trunk, ShowdownValue().bind(leaves), int(rng.integers(1, 40)))
    if rng.random() < 0.5:
        plans = [minimizer.average_plan(player) for player in (0, 1)]
    else:
        plans = [learner.realization for learner in minimizer.learned]
    found = []
    for _ in range(number):
        line = int(rng.integers(len(leaves.lines)))
        spent = float(leaves.spent[line])
        card = int(rng.choice(np.setdiff1d(np.arange(52), board)))
        ranges = np.zeros((2, len(_HANDS)))
        for player in (0, 1):
            hands = game.deals.hands[player].cards
            begin, end = leaves.infoset_offsets[player][line : line + 2]
            own = plans[player][leaves.sequences[player][begin:end]] * weights[player]
            own[(hands == card).any(axis=1)] = 0.0
            ranges[player, NUMBER_OF_HAND[tuple(hands.T)]] = own
        if (ranges.sum(axis=1) > 1e-6 * ranges.shape[1]).all():
            left = (stack + POT / 2 - spent) / (2 * spent)
            found.append(solve_river(np.append(board, card), left, ranges))
    return found


def _at_once(rng: np.random.Generator) -> River:
    """A river with ranges that are random by strength there."""
    board = rng.choice(52, 5, replace=False)
    stack = float(np.exp(rng.uniform(*np.log((0.05, _STACKS[1])))))
    game = endgame(board, POT, stack * POT)
    strength, numbers = strengths(game), NUMBER_OF_HAND[tuple(game.deals.hands[0].cards.T)]
    weights = np.zeros((2, len(_HANDS)))
    for player in (0, 1):
        weights[player, numbers] = random_range(rng, strength)
    return solve_river(board, stack, weights)


def make(directory: Path, seed: int, number: int) -> None:
    """Rivers in files, `_CHUNK` in each; files that are there are not made again."""
    directory.mkdir(parents=True, exist_ok=True)
    for chunk in range(-(-number // _CHUNK)):
        path = directory / f"{seed}_{chunk}.npz"
        if path.exists():
            continue
        rng = np.random.default_rng((seed, chunk))
        rivers: list[River] = []
        while len(rivers) < _CHUNK:
            rivers += [_at_once(rng) for _ in range(_RIVERS_OF_A_TURN // 2)]
            rivers += _from_a_turn(rng, _RIVERS_OF_A_TURN)
        columns = zip(*rivers[:_CHUNK], strict=True)
        arrays = dict(zip(River._fields, map(np.array, columns), strict=True))
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, **arrays)
        path.with_suffix(".part").rename(path)


def main() -> None:
    """Makes what is asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=5000)
    parser.add_argument("--output", type=Path, default=Path("build/rivers"))
    arguments = parser.parse_args()
    make(arguments.output, arguments.seed, arguments.number)


if __name__ == "__main__":
    main()
