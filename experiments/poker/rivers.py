"""Solved rivers for value networks: random stacks and ranges, bets of the pot and all-in.

The networks' inputs have no cards, so rivers are solved without cards: hands are quantiles and
block no others. Ranges are random by strength, as DeepStack's are (Moravčík et al. 2017: the weight
is split at random between the weaker and the better half of the hands, and so on), to a random
depth, with some hands left out. Two thirds are ranges on random turns, as they reach rivers while
the trunk is solved; so training inputs resemble those in use.

  python -m experiments.poker.rivers --seed=41 --number=12 --output=build/rivers
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.factored import river_quantiles
from spiel_dl.factored.families import factored_game
from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.factored.holdem_deals import Hands
from spiel_dl.factored.holdem_trunk import HoldemLeaves
from spiel_dl.games import poker
from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_cards import card_text
from spiel_dl.solvers.best_response import best_response
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import LINEAR_CFR
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex
from spiel_dl.value_functions.river import NUM_PARTS, RiverLeafValues, RiverNetwork, ShowdownValue

POT = 100.0
_STACKS = (0.4, 10.0)  # on the turn, in pots
_LEAST_WEIGHT = 1e-5
_LOOKS, _OF_A_LOOK = 8, 100
_NUM_RANDOM = 1000
_DEEP = 2.0


def endgame(board: np.ndarray, pot: float, stack: float) -> HoldemGame:
    """A river or turn with all hands; the stack is what each player has left."""
    text = "".join(card_text(card) for card in board.tolist())
    own = poker.endgame(board=text, pot=pot, stacks=(stack, stack))
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
    """Weights of hands (float64 [H]) with a mean of 1; shared out down to some eight hands."""
    weights = np.ones(len(strength))
    # Ties are broken at random.
    order = np.lexsort((rng.random(len(strength)), strength))
    parts = [order]
    for _ in range(rng.integers(0, 1 + max(0, int(np.log2(len(order) / 7))))):
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


class Quantiles(NamedTuple):
    """Solved rivers without cards, see `value_functions.river`.

    Attributes:
      stacks: float32 [n], in pots.
      shares: float32 [n, B], player 0's share of both ranges by quantiles.
      values: float32 [n, 2, B], the value of betting for each player's hands, in pots.
    """

    stacks: np.ndarray
    shares: np.ndarray
    values: np.ndarray


class Nodes(NamedTuple):
    """The betting tree of a river, parents before their children.

    Attributes:
      player: int [N], who moves; negative at terminal nodes.
      legal: bool [N, A].
      successor: int [N, A], the nodes after legal actions.
      spent: float64 [N], the chips that each player has put in at a terminal node, in pots.
      folded: int [N], who folded; negative: nobody.
    """

    player: np.ndarray
    legal: np.ndarray
    successor: np.ndarray
    spent: np.ndarray
    folded: np.ndarray


def nodes_of(stack: float) -> Nodes:
    """The betting tree of a river; the stack in pots."""
    left = (stack * POT, stack * POT)
    rules: HoldemRules = poker.endgame(board="2c2d2h2s3c", pot=POT, stacks=left).rules
    tree = rules.tree
    below = slice(2 * rules.num_hole, None)  # chance deals own cards first
    return Nodes(
        tree.player[below],
        tree.legal[below],
        tree.successor[below] - below.start,
        tree.spent[below].min(axis=1) / POT,
        tree.folded[below],
    )


def form_of(nodes: Nodes, num_hands: int) -> SequenceForm:
    """A river of hands that block no others, from the weakest to the best.

    Each hand has a root sequence. Infosets are ordered by node, then by hand.
    """
    hands = np.arange(num_hands)
    last = np.zeros((2, len(nodes.player), num_hands), np.int32)  # the players' sequences at a node
    last[:, 0] = hands
    size = [num_hands, num_hands]
    parents: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    num_actions: tuple[list[int], list[int]] = ([], [])
    sequences, utilities = [], []
    for node, player in enumerate(nodes.player.tolist()):
        if player < 0:
            folded = nodes.folded[node]
            first_wins = np.sign(hands[:, None] - hands) if folded < 0 else 2 * folded - 1
            pairs = np.broadcast_arrays(last[0, node][:, None], last[1, node])
            sequences.append(np.stack(pairs).reshape(2, -1))
            utilities.append(np.broadcast_to(nodes.spent[node] * first_wins, pairs[0].shape))
            continue
        actions = np.flatnonzero(nodes.legal[node])
        parents[player].append(last[player, node])
        num_actions[player].extend([len(actions)] * num_hands)
        for place, child in enumerate(nodes.successor[node, actions]):
            last[:, child] = last[:, node]
            last[player, child] = size[player] + len(actions) * hands + place
        size[player] += len(actions) * num_hands
    treeplexes = []
    for own_parents, own_numbers in zip(parents, num_actions, strict=True):
        number = np.array(own_numbers, np.int32)
        first = num_hands + np.cumsum(number) - number
        treeplexes.append(Treeplex(np.concatenate(own_parents), first, number, num_hands))
    return SequenceForm.from_terminals(
        (treeplexes[0], treeplexes[1]),
        np.concatenate(sequences, axis=1),
        np.concatenate(utilities, axis=None),
        2 * nodes.spent.max(),
    )


def solve(form: SequenceForm, masses: np.ndarray, num_iterations: int) -> np.ndarray:
    """The values of hands by best responses to averages of linear CFR.

    Args:
      form: as of `form_of`.
      masses: float64 [n, 2, B], both ranges of each river.
      num_iterations: iterations of linear CFR.

    Returns:
      float64 [n, 2, B].
    """
    minimizer, values = RegretMinimizer(form, LINEAR_CFR), np.empty_like(masses)
    for ranges, found in zip(masses, values, strict=True):
        minimizer.reset()
        for player in (0, 1):
            minimizer.set_range(player, ranges[player])
        minimizer.run(num_iterations)
        for player in (0, 1):
            response = best_response(form, player, minimizer.average_plan(1 - player))
            found[player] = response.cfv[: masses.shape[2]]
    return values


def solve_shares(stack: float, shares: np.ndarray) -> Quantiles:
    """Solves rivers of hands that block no others, one for each row of shares (float [n, B]).

    Hands of a quantile tie. Solved to about 0.4 % of the pot.
    """
    form = form_of(nodes_of(stack), shares.shape[1])
    masses = np.stack([np.maximum(own, _LEAST_WEIGHT) for own in (shares, 1.0 - shares)], axis=1)
    masses = (masses / masses.sum(axis=2, keepdims=True)).astype(np.float64)
    values = solve(form, masses, 120 if stack < _DEEP else 240)
    # Subtract the values without betting; then the rest of the zero sum, which is the gap.
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
    masses = np.zeros((2, _NUM_RANDOM, river_quantiles.LANES))
    for row in shares:
        for player in (0, 1):
            own = random_range(rng, np.arange(_NUM_RANDOM))
            masses[player, :, 0] = own / own.sum()
        river_quantiles.fill_shares(masses[0], masses[1], 0, row)
    return shares


def make_quantiles(directory: Path, seed: int, number: int) -> None:
    """Writes chunks of solved rivers by quantiles; existing chunks are not made again.

    Args:
      directory: the folder of chunks.
      seed: the random seed.
      number: the number of chunks.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for chunk in range(number):
        path = directory / f"quantiles_{seed}_{chunk}.npz"
        if path.exists():
            continue
        rivers = _random_rivers(np.random.default_rng((seed, chunk)))
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, **rivers._asdict())
        path.with_suffix(".part").rename(path)


def _random_rivers(rng: np.random.Generator) -> Quantiles:
    """Rivers below one random turn with a trunk solved by showdown values, and other rivers."""
    board = rng.choice(52, 4, replace=False)
    stack = float(np.exp(rng.uniform(*np.log(_STACKS)))) * POT
    game = endgame(board, POT, stack)
    strength = strengths(game)
    weights = (random_range(rng, strength), random_range(rng, strength))
    solver = DLCFRSolver(
        with_weights(game, weights),
        ShowdownValue(),
        DepthLimit(rounds=1),
        variant=LINEAR_CFR,
    )
    minimizer, leaves = solver.minimizer, solver.trunk.leaves
    assert isinstance(leaves, HoldemLeaves)
    leaf_values = RiverNetwork().bind(leaves)
    assert isinstance(leaf_values, RiverLeafValues)
    samples = []
    stacks = ((stack + POT / 2 - leaves.spent) / (2 * leaves.spent))[leaves.is_open]
    for _ in range(_LOOKS):
        solver.run(int(rng.integers(1, 15)))
        if rng.random() < 0.3:
            plans = [minimizer.average_plan(player) for player in (0, 1)]
        else:
            plans = [learner.realization for learner in minimizer.learned]
        ranges = [plans[p][leaves.sequences[p]] for p in (0, 1)]
        leaf_values.update_shares(ranges[0], ranges[1])
        number, lines, _ = leaf_values.shares.shape
        for line in range(lines):
            count = min(number, -(-_OF_A_LOOK // lines))
            chosen = rng.choice(number, count, replace=False)
            samples.append((stacks[line], leaf_values.shares[chosen, line].copy()))
    river_stack = float(np.exp(rng.uniform(*np.log((0.05, _STACKS[1])))))
    samples.append((river_stack, _random_shares(rng, _LOOKS * _OF_A_LOOK // 2)))
    parts = []
    for size in np.unique([size for size, _ in samples]):
        shares = np.concatenate([rows for each, rows in samples if each == size])
        parts.append(solve_shares(float(size), shares))
    return Quantiles(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def main() -> None:
    """Makes what is asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=100, help="files")
    parser.add_argument("--output", type=Path, default=Path("build/rivers"))
    arguments = parser.parse_args()
    make_quantiles(arguments.output, arguments.seed, arguments.number)


if __name__ == "__main__":
    main()
