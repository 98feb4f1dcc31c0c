"""What the solution of a piece says about the places where the search starts anew below it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers.best_response import best_response
from spiel_dl.solvers.gifts import gifts_at_leaves
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.tree.trunk import Trunk


class Start(NamedTuple):
    """What a player knows when a public state is reached, per augmented infoset there.

    The player's range is scaled to sum 1, if it is not 0, and the opponent's cfvs and gifts with
    it, so that numbers do not vanish in long games.

    Attributes:
      player_range: float64 [R_p], by its own strategy so far.
      opponent_range: float64 [R_-p], by the opponent's strategies in the solutions before, or by
        the model of it.
      opponent_cfvs: float64 [R_-p], the given cfvs, in the opponent's utility.
      gifts: float64 [R_-p], by how much the opponent's cfvs may rise without harm.
    """

    player_range: np.ndarray
    opponent_range: np.ndarray
    opponent_cfvs: np.ndarray
    gifts: np.ndarray


def starts_below(
    trunk: Trunk,
    player: int,
    plans: Pair,
    opponent_cfvs: np.ndarray,
    root_limits: np.ndarray | None,
) -> dict[int, Start]:
    """What the solution of a piece says about its leaf public states.

    Args:
      trunk: the piece.
      player: who searches.
      plans: for each player, float64 [S_p], its realization plan in the piece.
      opponent_cfvs: float64 [L_-p], the opponent's counterfactual values at the leaves.
      root_limits: float64 [R_-p], what the opponent may get at most at the piece's roots, gifts
        included; what it lacks to that may be given to it below. None: nothing may.

    Returns:
      From leaf public state to what is known there.
    """
    opponent, leaves = 1 - player, trunk.leaves
    ranges = [plans[p][leaves.sequences[p]] for p in (0, 1)]
    reach = leaves.counterfactual_reach(ranges[0], ranges[1])[opponent]
    # Nothing can be earned where chance and the player never come; networks may say otherwise.
    opponent_cfvs = np.where(reach > 0, opponent_cfvs, 0.0)
    values = _opponent_values(trunk, player, plans[player], opponent_cfvs)
    root_gifts = np.zeros(trunk.sequence_form.treeplexes[opponent].num_root_sequences)
    if root_limits is not None:
        root_gifts = np.maximum(root_limits - values[: len(root_gifts)], 0.0)
    gifts = gifts_at_leaves(
        trunk.sequence_form.treeplexes[opponent],
        values,
        root_gifts,
        leaves.sequences[opponent],
        reach,
    )
    starts = {}
    for position, public_state in enumerate(leaves.public_states.tolist()):
        own, others = (
            slice(*leaves.infoset_offsets[p][position : position + 2]) for p in (player, opponent)
        )
        mass = ranges[player][own].sum()
        scale = 1.0 / mass if mass > 0 else 0.0
        starts[public_state] = Start(
            ranges[player][own] * scale,
            ranges[opponent][others],
            opponent_cfvs[others] * scale,
            gifts[others] * scale,
        )
    return starts


def _opponent_values(
    trunk: Trunk, player: int, plan: np.ndarray, opponent_cfvs: np.ndarray
) -> np.ndarray:
    """The opponent's best-response cfvs in a piece, leaves at their cfvs: float64 [S_-p]."""
    opponent, leaves = 1 - player, trunk.leaves
    cfvs = [np.zeros(leaves.num_infosets(p)) for p in (0, 1)]
    cfvs[opponent] = opponent_cfvs
    valued = trunk.sequence_form.with_constants(leaves.sequences, (cfvs[0], cfvs[1]))
    return best_response(valued, opponent, plan).cfv
