"""Subgames with decisions of the opponent on top of them: the form that all gadgets have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex


class Gadget(NamedTuple):
    """A subgame with a gadget on top.

    Attributes:
      sequence_form: to be solved at `root_ranges`.
      root_ranges: for each player, float64 [num_root_sequences of `sequence_form`].
      new_sequences: for each player, int32 [S_p], from the subgame's sequences to those of
        `sequence_form`. The player who resolves keeps its own; the opponent's root sequences become
        the decisions to enter the subgame.
      inflows: for each player, float64 [I_p] of `sequence_form`, what its sequences in an infoset
        sum to besides the weight of their parent sequence: the floors. None: there are none.
    """

    sequence_form: SequenceForm | FactoredForm
    root_ranges: Pair
    new_sequences: Pair
    inflows: Pair | None = None


class Decisions(NamedTuple):
    """The opponent's infosets on top of a subgame, G of them with N actions altogether.

    Attributes:
      parents: int [G], the root sequence behind which each stands.
      num_actions: int [G].
      payoffs: float64 [N], what each action pays the opponent at once.
      root_range: float64, the weights of the root sequences.
      entrances: int [R_-p], which of the N actions leads to each root infoset of the subgame.
    """

    parents: np.ndarray
    num_actions: np.ndarray
    payoffs: np.ndarray
    root_range: np.ndarray
    entrances: np.ndarray


def with_decisions(
    subgame: SequenceForm | FactoredForm,
    player: int,
    player_range: np.ndarray,
    decisions: Decisions,
    floors: np.ndarray | None,
    entry_payoffs: np.ndarray | None = None,
) -> Gadget:
    """Puts infosets of the opponent on top of a subgame.

    Floors flow into infosets of one action between these and the subgame.

    Args:
      subgame: the subgame.
      player: who resolves.
      player_range: float64 [R_p].
      decisions: the infosets that start the game.
      floors: float64 [R_-p]; None: there are none.
      entry_payoffs: float64 [R_-p], what each unit of reach pays the opponent that enters a root
        infoset with a floor; None: nothing.
    """
    old = subgame.treeplexes[1 - player]
    num_roots, num_new = old.num_root_sequences, len(decisions.root_range)
    num_actions, parents, payoffs = decisions.num_actions, decisions.parents, decisions.payoffs
    entrances = num_new + decisions.entrances
    if floors is not None:
        num_actions = np.concatenate([num_actions, np.ones(num_roots, np.int64)])
        parents = np.concatenate([parents, entrances])
        entrances = num_new + len(payoffs) + np.arange(num_roots)
        paid = np.zeros(num_roots) if entry_payoffs is None else entry_payoffs
        payoffs = np.concatenate([payoffs, paid])
    shift = num_new + len(payoffs) - num_roots
    new = np.arange(old.num_sequences) + shift
    new[:num_roots] = entrances
    first = num_new + np.cumsum(num_actions) - num_actions
    treeplex = Treeplex(
        np.concatenate([parents, new[old.parent_sequence]]).astype(np.int32),
        np.concatenate([first, old.first_sequence + shift]).astype(np.int32),
        np.concatenate([num_actions, old.num_actions]).astype(np.int32),
        num_root_sequences=num_new,
    )
    own = subgame.treeplexes[player]
    constants, own_constants = np.zeros(treeplex.num_sequences), np.zeros(own.num_sequences)
    constants[num_new : num_new + len(payoffs)] = payoffs
    if subgame.constants is not None:
        constants[new] += subgame.constants[1 - player]
        own_constants = subgame.constants[player]
    same, player_range = np.arange(own.num_sequences), np.asarray(player_range, np.float64)
    none = np.zeros(own.num_infosets)
    inflows = None
    if floors is not None:
        inflow = np.zeros(treeplex.num_infosets)
        inflow[len(decisions.num_actions) :][:num_roots] = floors
        inflows = _in_order(player, none, inflow)
    return Gadget(
        subgame.behind(1 - player, treeplex, new, _in_order(player, own_constants, constants)),
        _in_order(player, player_range, decisions.root_range),
        _in_order(player, same.astype(np.int32), new.astype(np.int32)),
        inflows,
    )


def _in_order(player: int, own: np.ndarray, other: np.ndarray) -> Pair:
    """What a player and its opponent have, as players 0 and 1."""
    return (own, other) if player == 0 else (other, own)
