"""Turns to judge trunks on: random boards, stacks and ranges that no network was trained on."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyspiel
import torch

from experiments.poker.rivers import POT, random_range
from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.factored.families import cut_any, factored_game
from spiel_dl.games.holdem_cards import card_text, hand_strengths
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.value_functions.base import ValueFunction

LIMIT = DepthLimit(rounds=1)
_SEED = 1_000_000  # far from those of data
_STACKS = (0.5, 8.0)  # in pots
_MILLI = 1000.0 / POT
_MOST = 400  # iterations of a judge


def spot(number: int, num_hands: int) -> FactoredGame:
    """A turn with so many hands a player; bets of the pot and all-in."""
    rng = np.random.default_rng((_SEED, number))
    board = rng.choice(52, 4, replace=False).tolist()
    stack = float(np.exp(rng.uniform(*np.log(_STACKS)))) * POT
    left = [card for card in range(52) if card not in board]
    hands = np.array(list(itertools.combinations(left, 2)))
    ranges = []
    for _ in range(2):
        chosen = hands[rng.choice(len(hands), num_hands, replace=False)]
        now = torch.from_numpy(np.concatenate([chosen, np.tile(board, (len(chosen), 1))], axis=1))
        weights = random_range(rng, hand_strengths(now, 4).numpy())
        ranges.append(
            ";".join(
                f"{card_text(a)}{card_text(b)}:{weight!r}"
                for (a, b), weight in zip(chosen.tolist(), weights.tolist(), strict=True)
                if weight > 0
            )
        )
    game = pyspiel.load_game(
        "python_holdem",
        {
            "board": "".join(map(card_text, board)),
            "board_cards": "[0;1]",
            "stacks": f"[{POT / 2 + stack!r};{POT / 2 + stack!r}]",
            "blinds": f"[{POT / 2!r};{POT / 2!r}]",
            "min_wager": 0.0,
            "range_0": ranges[0],
            "range_1": ranges[1],
        },
    )
    return factored_game(game, num_threads=1)


def judge(
    game: FactoredGame,
    value_functions: dict[str, ValueFunction],
    *,
    num_iterations: int,
    tolerance: float,
) -> dict[str, Any]:
    """Trunk exploitability of DL-CFR with each value function, in thousandths of the pot.

    Also that of a solution of the whole turn, which is what a perfect value function leaves, and
    the exploitability of all of it.

    Args:
      game: a turn.
      value_functions: by what the report calls them.
      num_iterations: of linear CFR, in trunks and in the whole turn.
      tolerance: the most that a number may be off, in pots.
    """
    trunk = cut_any(game, LIMIT)
    share = tolerance * POT / game.sequence_form.utility_range
    whole = CFRSolver(game, variant="lcfr")
    whole.run(num_iterations)
    policies = {"whole turn": whole.average_policy()}
    for name, function in value_functions.items():
        solver = DLCFRSolver(game, function, LIMIT, variant="lcfr", alternating_updates=False)
        solver.run(num_iterations)
        policies[name] = solver.average_policy()
    found: dict[str, Any] = {
        "exploitability": _MILLI * exploitability(game, whole.average_policy())
    }
    for name, policy in policies.items():
        losses = trunk_losses(
            trunk, policy, tolerance=share, max_iterations=_MOST, solved=whole.minimizer
        )
        found[name] = _MILLI * losses.nash_conv / 2
        found[f"{name}, gap"] = _MILLI * losses.gap / 2
    return found
