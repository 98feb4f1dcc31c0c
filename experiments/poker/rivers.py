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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyspiel

import spiel_dl.games  # noqa: F401  (registers the games)
from experiments.poker import quantile_kernels
from spiel_dl.factored import river_kernels
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
from spiel_dl.value_functions.river import (
    NUM_PARTS,
    RiverLeafValues,
    RiverNetwork,
    ShowdownValue,
)

POT = 100.0
_STACKS = (0.4, 10.0)  # on the turn, in pots
_RIVERS_OF_A_TURN = 12
_GAP, _MOST_ITERATIONS, _STRETCH = 0.004, 600, 60  # in pots: NashConv
_LEAST_WEIGHT = 1e-5
_CHUNK = 120
_LOOKS, _OF_A_LOOK = 8, 100
_NUM_RANDOM = 1000
_DEEP = 2.0
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


def _parameters(board: str, pot: float, stack: float) -> dict[str, Any]:
    """Of an endgame with all hands."""
    return {
        "board": board,
        "board_cards": "[0]" if len(board) == 10 else "[0;1]",
        "stacks": f"[{pot / 2 + stack!r};{pot / 2 + stack!r}]",
        "blinds": f"[{pot / 2!r};{pot / 2!r}]",
        "min_wager": 0.0,
    }


def endgame(board: np.ndarray, pot: float, stack: float) -> HoldemGame:
    """A river or turn with all hands; the stack is what each player has left."""
    text = "".join(card_text(card) for card in board.tolist())
    own = pyspiel.load_game("python_holdem", _parameters(text, pot, stack))
    game = factored_game(own, num_threads=1)
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


def solve_trunk(
    trunk: HoldemTrunk,
    values: LeafValues,
    num_iterations: int,
    minimizer: RegretMinimizer | None = None,
) -> RegretMinimizer:
    """Some iterations of linear CFR above leaf values."""
    minimizer = minimizer or RegretMinimizer(trunk.sequence_form, LINEAR_CFR)
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
        line = int(rng.choice(np.flatnonzero(leaves.is_open)))
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


def make_rivers(directory: Path, seed: int, number: int) -> None:
    """Rivers in files, `_CHUNK` in each; files that are there are not made again."""

    def made(rng: np.random.Generator) -> list[np.ndarray]:
        rivers: list[River] = []
        while len(rivers) < _CHUNK:
            rivers += [_at_once(rng) for _ in range(_RIVERS_OF_A_TURN // 2)]
            rivers += _from_a_turn(rng, _RIVERS_OF_A_TURN)
        return list(map(np.array, zip(*rivers[:_CHUNK], strict=True)))

    _make(directory, "rivers", seed, number, made, River._fields)


def _make(
    directory: Path,
    name: str,
    seed: int,
    number: int,
    made: Callable[[np.random.Generator], list[np.ndarray]],
    fields: tuple[str, ...],
) -> None:
    """Chunks of samples in files; those that are there are not made again."""
    directory.mkdir(parents=True, exist_ok=True)
    for chunk in range(number):
        path = directory / f"{name}_{seed}_{chunk}.npz"
        if path.exists():
            continue
        arrays = made(np.random.default_rng((seed, chunk)))
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, **dict(zip(fields, arrays, strict=True)))
        path.with_suffix(".part").rename(path)


class Quantiles(NamedTuple):
    """Solved rivers without cards, see `value_functions.river`.

    Attributes:
      stacks: float32 [n], in pots.
      shares: float32 [n, B], player 0's share of both ranges by quantiles.
      values: float32 [n, 2, B], what betting is worth to the hands of each player there, in pots.
    """

    stacks: np.ndarray
    shares: np.ndarray
    values: np.ndarray


def solve_shares(stack: float, shares: np.ndarray) -> Quantiles:
    """Solves rivers of hands that block no others, one for each row of shares (float [n, B]).

    Hands of a quantile tie. Solved to about 0.4 % of the pot.
    """
    rules = pyspiel.load_game("python_holdem", _parameters("2c2d2h2s3c", POT, stack * POT)).rules
    tree = rules.tree
    below = slice(2 * rules.num_hole, None)  # chance deals own cards first
    nodes = (
        tree.player[below],
        tree.legal[below],
        tree.successor[below] - below.start,
        tree.spent[below].min(axis=1) / POT,
        tree.folded[below],
    )
    masses = np.stack([np.maximum(own, _LEAST_WEIGHT) for own in (shares, 1.0 - shares)], axis=1)
    masses = np.ascontiguousarray(masses / masses.sum(axis=2, keepdims=True), np.float64)
    values = np.zeros_like(masses)
    quantile_kernels.solve_all(nodes, masses, 120 if stack < _DEEP else 240, values)
    # What they would win without betting; then what is left over, which is the gap.
    others = masses[:, ::-1]
    values -= 0.5 * (2 * np.cumsum(others, axis=2) - others - 1.0)
    values -= 0.5 * (values * masses).sum(axis=(1, 2))[:, None, None]
    return Quantiles(
        np.full(len(shares), stack, np.float32),
        shares.astype(np.float32),
        values.astype(np.float32),
    )


def _random_shares(rng: np.random.Generator, number: int) -> np.ndarray:
    """Shares of random ranges of hands that all differ: float32 [n, B]."""
    shares = np.empty((number, NUM_PARTS), np.float32)
    masses = np.zeros((2, _NUM_RANDOM, river_kernels.LANES))
    for row in shares:
        for player in (0, 1):
            own = random_range(rng, np.arange(_NUM_RANDOM))
            masses[player, :, 0] = own / own.sum()
        river_kernels.fill_shares(masses[0], masses[1], 0, row)
    return shares


def make_quantiles(
    directory: Path, seed: int, number: int, network: RiverNetwork | None = None
) -> None:
    """Chunks of rivers by quantiles, to learn from.

    Args:
      directory: where they go.
      seed: of all that is random.
      number: of chunks.
      network: by which the trunks are solved whose ranges they have; None: by showdowns.
    """

    def made(rng: np.random.Generator) -> list[np.ndarray]:
        board = rng.choice(52, 4, replace=False)
        stack = float(np.exp(rng.uniform(*np.log(_STACKS)))) * POT
        game = endgame(board, POT, stack)
        strength = strengths(game)
        weights = (random_range(rng, strength), random_range(rng, strength))
        trunk = cut_holdem(with_weights(game, weights), DepthLimit(rounds=1))
        leaves = trunk.leaves
        values = (network or ShowdownValue()).bind(leaves)
        seen = RiverNetwork().bind(leaves)
        assert isinstance(seen, RiverLeafValues)
        found = []
        stacks = ((stack + POT / 2 - leaves.spent) / (2 * leaves.spent))[leaves.is_open]
        minimizer = RegretMinimizer(trunk.sequence_form, LINEAR_CFR)
        for _ in range(_LOOKS):
            solve_trunk(trunk, values, int(rng.integers(1, 15)), minimizer)
            if rng.random() < 0.3:
                plans = [minimizer.average_plan(player) for player in (0, 1)]
            else:
                plans = [learner.realization for learner in minimizer.learned]
            ranges = [plans[p][leaves.sequences[p]] for p in (0, 1)]
            seen.look(ranges[0], ranges[1])
            number, lines, _ = seen.shares.shape
            for line in range(lines):
                count = min(number, -(-_OF_A_LOOK // lines))
                chosen = rng.choice(number, count, replace=False)
                found.append((stacks[line], seen.shares[chosen, line].copy()))
        own = float(np.exp(rng.uniform(*np.log((0.05, _STACKS[1])))))
        found.append((own, _random_shares(rng, _LOOKS * _OF_A_LOOK // 2)))
        parts = []
        for size in np.unique([size for size, _ in found]):
            shares = np.concatenate([rows for each, rows in found if each == size])
            parts.append(solve_shares(float(size), shares))
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    _make(directory, "quantiles", seed, number, made, Quantiles._fields)


def main() -> None:
    """Makes what is asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=100, help="files")
    parser.add_argument("--rivers", action="store_true", help="with cards, to hold networks to")
    parser.add_argument("--network", type=Path, help="file of one, to solve trunks by")
    parser.add_argument("--output", type=Path, default=Path("build/rivers"))
    arguments = parser.parse_args()
    own = None if arguments.network is None else RiverNetwork.load(arguments.network)
    if arguments.rivers:
        make_rivers(arguments.output, arguments.seed, arguments.number)
    else:
        make_quantiles(arguments.output, arguments.seed, arguments.number, own)


if __name__ == "__main__":
    main()
