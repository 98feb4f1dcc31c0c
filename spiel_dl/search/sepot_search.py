"""One search of SePoT: from a public state down to a depth limit, on top of a blueprint.

Kubíček et al. (2023), section 4.2. Given the searching player's range and what the opponent could
get in each of its infosets (its *given cfvs*):

  1. The opponent may leave at the root for its given cfv (the resolving gadget).
  2. At the leaves, the opponent chooses a transformation of its blueprint to follow to the end
     (`value_functions.multi_valued`), against the player's blueprint.
  3. CFR+ solves this game. The player's average strategy is the answer.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from spiel_dl.solvers import gadgets
from spiel_dl.solvers.best_response import best_response
from spiel_dl.solvers.checks import check_num_threads
from spiel_dl.solvers.continuations import ContinuationChoices
from spiel_dl.solvers.gadgets import Gadget
from spiel_dl.solvers.regret_minimization import (
    CFR_PLUS,
    Pair,
    RegretMinimizer,
    Weighting,
)
from spiel_dl.tree.sequence_form import SequenceForm
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedStates

LEAF_CHOICES = ("regret_matching", "best_response")


@dataclasses.dataclass(frozen=True)
class SearchEffort:
    """How a search solves its game.

    Attributes:
      iterations: of CFR.
      weighting: the variant of CFR.
      leaf_choice: how the opponent chooses at the leaves: "regret_matching", as everywhere else
        ("stateful"), or "best_response", anew in every iteration ("stateless", equation 3).
      num_threads: threads for payoffs: those at the leaves, unless best responses are chosen there,
        or the game's where there are no leaves. Results depend on it in the last digits only.
    """

    iterations: int = 1500
    weighting: Weighting = CFR_PLUS
    leaf_choice: str = "regret_matching"
    num_threads: int = 1

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ValueError(f"iterations={self.iterations} must be at least 1")
        if self.leaf_choice not in LEAF_CHOICES:
            raise ValueError(f"leaf_choice={self.leaf_choice!r} must be one of {LEAF_CHOICES}")
        check_num_threads(self.num_threads)


def search(
    trunk: Trunk,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray | None,
    leaf_values: MultiValuedStates,
    effort: SearchEffort,
) -> np.ndarray:
    """Solves a depth-limited subgame for one player.

    Args:
      trunk: the subgame.
      player_range: float64 [R_p], the searching player's own reach of its root infosets, of any
        scale.
      opponent_cfvs: float64 [R_-p], the opponent's given cfvs, in its utility and of the range's
        scale. None: it comes with a reach of 1 to all root infosets, as to the root of a game.
      leaf_values: values the leaves, if there are any, for its player, who searches.
      effort: how to solve.

    Returns:
      The player's average realization plan in the trunk, float64 [S_p].

    Raises:
      ValueError: if an argument does not fit the trunk.
    """
    player, form = leaf_values.player, trunk.sequence_form
    if opponent_cfvs is None:
        everywhere = np.ones(form.treeplexes[1 - player].num_root_sequences)
        ranges = (player_range, everywhere) if player == 0 else (everywhere, player_range)
        gadget = gadgets.unsafe(form, ranges)
    else:
        gadget = gadgets.resolving(form, player, player_range, opponent_cfvs)
    # Above leaves, games end rarely; threads would cost more than they save.
    num_threads = 1 if trunk.leaves.num_public_states else effort.num_threads
    minimizer = RegretMinimizer(gadget.sequence_form, effort.weighting, num_threads=num_threads)
    for each in (0, 1):
        minimizer.set_range(each, gadget.root_ranges[each])
    if trunk.leaves.num_public_states:
        leaf_values.bind(trunk.leaves)
        leaves = _Leaves(trunk, gadget, leaf_values, effort)
        minimizer.run_with_leaves(effort.iterations, leaves.values)
    else:
        minimizer.run(effort.iterations)
    return minimizer.average_plan(player)[gadget.new_sequences[player]]


def opponent_cfvs(
    trunk: Trunk, player_plan: np.ndarray, leaf_values: MultiValuedStates
) -> np.ndarray:
    """The opponent's best-response cfvs at the roots: float64 [R_-p], in its utility.

    Args:
      trunk: a subgame.
      player_plan: float64 [S_p], the realization plan of the player of `leaf_values`.
      leaf_values: values the leaves, if there are any; there, the opponent chooses best.
    """
    player, form = leaf_values.player, trunk.sequence_form
    if trunk.leaves.num_public_states:
        leaf_values.bind(trunk.leaves)
        form = _valued(trunk, leaf_values, player_plan)
    num_roots = form.treeplexes[1 - player].num_root_sequences
    return best_response(form, 1 - player, player_plan).cfv[:num_roots]


def _valued(trunk: Trunk, leaf_values: MultiValuedStates, player_plan: np.ndarray) -> SequenceForm:
    """A trunk's game against a player's plan, the opponent's leaf values as constants."""
    player, form, sequences = leaf_values.player, trunk.sequence_form, trunk.leaves.sequences
    nothing = np.zeros(trunk.leaves.num_infosets(1 - player))
    own_range = player_plan[sequences[player]]
    ranges = (own_range, nothing) if player == 0 else (nothing, own_range)
    cfvs = leaf_values.evaluate(*ranges)
    constants = [np.zeros(treeplex.num_sequences) for treeplex in form.treeplexes]
    np.add.at(constants[1 - player], sequences[1 - player], cfvs[1 - player])
    return dataclasses.replace(form, constants=(constants[0], constants[1]))


class _Leaves:
    """Values the leaves for a regret minimizer with alternating updates."""

    def __init__(
        self, trunk: Trunk, gadget: Gadget, leaf_values: MultiValuedStates, effort: SearchEffort
    ):
        first, second = (gadget.new_sequences[p][trunk.leaves.sequences[p]] for p in (0, 1))
        self._sequences = (first, second)
        self._leaf_values = leaf_values
        self._choices: ContinuationChoices | None = None
        if effort.leaf_choice == "regret_matching":
            self._choices = leaf_values.choices(effort.weighting, effort.num_threads)
        self._num_calls = 0

    def values(self, plans: Pair) -> tuple[Pair, Pair]:
        """See `RegretMinimizer.run_with_leaves`; only the player's who is updated next are read."""
        ranges = (plans[0][self._sequences[0]], plans[1][self._sequences[1]])
        updated = self._num_calls % 2
        self._num_calls += 1
        if self._choices is None:
            return self._sequences, self._leaf_values.evaluate(*ranges)
        side = int(updated != self._leaf_values.player)
        in_order = ranges if self._leaf_values.player == 0 else ranges[::-1]
        cfv = self._choices.update(side, in_order)
        other = np.zeros(len(ranges[1 - updated]))
        return self._sequences, (cfv, other) if updated == 0 else (other, cfv)
