"""Adds decisions of the opponent above a subgame: the common form of all gadgets."""

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
      new_sequences: for each player, int32 [S_p], the number in `sequence_form` of each of the
        subgame's sequences. Those of the player who resolves are unchanged; the opponent's root
        sequences become the decisions to enter the subgame.
      inflows: for each player, float64 [I_p of `sequence_form`], the weight that enters each
        infoset in addition to that of its parent sequence: the floors. None: there are none.
    """

    sequence_form: SequenceForm | FactoredForm
    root_ranges: Pair
    new_sequences: Pair
    inflows: Pair | None = None


class Decisions(NamedTuple):
    """The opponent's infosets above a subgame: G infosets with N actions in total.

    Attributes:
      parents: int [G], the root sequence that leads to each infoset.
      num_actions: int [G].
      payoffs: float64 [N], the opponent's payoff of each action itself.
      root_range: float64 [num_root_sequences], the weights of the root sequences.
      entrances: int [R_-p], the action, of all N, that leads to each root infoset of the subgame.
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
    """Adds infosets of the opponent above a subgame.

    Floors enter through infosets of one action each, between these and the subgame.

    Args:
      subgame: the subgame.
      player: who resolves.
      player_range: float64 [R_p].
      decisions: the infosets to add.
      floors: float64 [R_-p]; None: there are none.
      entry_payoffs: float64 [R_-p], the opponent's payoff per unit of reach that enters a root
        infoset with a floor; None: 0.
    """
    old = subgame.treeplexes[1 - player]
    num_roots, num_new_roots = old.num_root_sequences, len(decisions.root_range)
    num_actions, parents, payoffs = decisions.num_actions, decisions.parents, decisions.payoffs
    entrances = num_new_roots + decisions.entrances
    if floors is not None:
        num_actions = np.concatenate([num_actions, np.ones(num_roots, np.int64)])
        parents = np.concatenate([parents, entrances])
        entrances = num_new_roots + len(payoffs) + np.arange(num_roots)
        entry = np.zeros(num_roots) if entry_payoffs is None else entry_payoffs
        payoffs = np.concatenate([payoffs, entry])
    shift = num_new_roots + len(payoffs) - num_roots
    new_sequences = np.arange(old.num_sequences) + shift
    new_sequences[:num_roots] = entrances
    first = num_new_roots + np.cumsum(num_actions) - num_actions
    treeplex = Treeplex(
        np.concatenate([parents, new_sequences[old.parent_sequence]]).astype(np.int32),
        np.concatenate([first, old.first_sequence + shift]).astype(np.int32),
        np.concatenate([num_actions, old.num_actions]).astype(np.int32),
        num_root_sequences=num_new_roots,
    )
    own = subgame.treeplexes[player]
    constants, own_constants = np.zeros(treeplex.num_sequences), np.zeros(own.num_sequences)
    constants[num_new_roots : num_new_roots + len(payoffs)] = payoffs
    if subgame.constants is not None:
        constants[new_sequences] += subgame.constants[1 - player]
        own_constants = subgame.constants[player]
    both_constants = by_player(player, own_constants, constants)
    own_sequences, player_range = np.arange(own.num_sequences), np.asarray(player_range, np.float64)
    no_inflow = np.zeros(own.num_infosets)
    inflows = None
    if floors is not None:
        inflow = np.zeros(treeplex.num_infosets)
        inflow[len(decisions.num_actions) :][:num_roots] = floors
        inflows = by_player(player, no_inflow, inflow)
    return Gadget(
        subgame.embedded(1 - player, treeplex, new_sequences, both_constants),
        by_player(player, player_range, decisions.root_range),
        by_player(player, own_sequences.astype(np.int32), new_sequences.astype(np.int32)),
        inflows,
    )


def by_player(player: int, own: np.ndarray, other: np.ndarray) -> Pair:
    """The arrays of a player and its opponent in the order of players 0 and 1."""
    return (own, other) if player == 0 else (other, own)
