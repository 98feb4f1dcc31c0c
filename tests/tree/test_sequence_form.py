"""Treeplexes and payoffs against plain Python: constraints, orientations, expected utilities."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from spiel_dl.tree import GameTree, SequenceForm, Treeplex
from tests import reference

GAMES = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=4)",
    "goofspiel(num_cards=3,imp_info=True,points_order=random)",
    "matrix_rps",
]


@st.composite
def treeplexes(draw: st.DrawFn) -> Treeplex:
    """Any treeplex: each infoset hangs from any earlier sequence."""
    num_roots = draw(st.integers(1, 3))
    num_actions = draw(st.lists(st.integers(1, 4), max_size=8))
    parents, firsts, num_sequences = [], [], num_roots
    for actions in num_actions:
        parents.append(draw(st.integers(0, num_sequences - 1)))
        firsts.append(num_sequences)
        num_sequences += actions
    return Treeplex(
        np.array(parents, np.int32),
        np.array(firsts, np.int32),
        np.array(num_actions, np.int32),
        num_roots,
    )


@settings(max_examples=50, deadline=None)
@given(treeplexes(), st.integers(0, 2**32 - 1))
def test_constraints_hold_exactly_for_realization_plans(treeplex: Treeplex, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root_range = rng.random(treeplex.num_root_sequences)
    plan = list(root_range)
    for infoset in range(treeplex.num_infosets):
        row = rng.dirichlet(np.ones(treeplex.num_actions[infoset]))
        plan.extend(plan[treeplex.parent_sequence[infoset]] * row)
    constraints = treeplex.constraints()
    roots = treeplex.num_root_sequences
    assert constraints.shape == (roots + treeplex.num_infosets, treeplex.num_sequences)
    right = np.concatenate([root_range, np.zeros(treeplex.num_infosets)])
    np.testing.assert_allclose(constraints @ np.array(plan), right, rtol=0, atol=1e-14)
    # Any weight moved to one sequence alone breaks a constraint: the columns are not zero.
    assert (abs(constraints).sum(axis=0) > 0).all()
    assert np.linalg.matrix_rank(constraints.toarray()) == constraints.shape[0]


@settings(max_examples=50, deadline=None)
@given(treeplexes())
def test_a_treeplex_counts_and_finds_its_sequences(treeplex: Treeplex) -> None:
    roots = treeplex.num_root_sequences
    owner = [-1] * roots
    for infoset in range(treeplex.num_infosets):
        owner += [infoset] * int(treeplex.num_actions[infoset])
    assert treeplex.num_sequences == len(owner)
    assert treeplex.infoset_of_sequence.tolist() == owner
    uniform = treeplex.uniform_strategy()
    assert uniform[:roots].tolist() == [1.0] * roots
    values = np.arange(1.0, len(owner) + 1.0)
    sums = treeplex.sum_per_infoset(values)
    assert len(sums) == treeplex.num_infosets
    for infoset in range(treeplex.num_infosets):
        own = [s for s in range(len(owner)) if owner[s] == infoset]
        assert list(range(len(owner)))[treeplex.sequences(infoset)] == own
        assert uniform[own].tolist() == [1.0 / len(own)] * len(own)
        assert sums[infoset] == sum(values[own])


@pytest.mark.parametrize("name", GAMES)
def test_payoffs_give_the_expected_utility_of_a_plain_walk(name: str) -> None:
    nodes = reference.walk(pyspiel.load_game(name))
    policy = reference.random_policy(nodes, 0)
    tree = GameTree.from_game(name)
    plans = [realization_plan(tree, nodes, policy, player) for player in (0, 1)]
    expected = reference.expected_utility(nodes, policy)
    form = tree.sequence_form
    assert plans[0] @ form.payoffs @ plans[1] == pytest.approx(expected, abs=1e-12)
    # The other orientation is player 1's view: its own sequences as rows, its own utility.
    assert plans[1] @ form.payoffs_for(1) @ plans[0] == pytest.approx(-expected, abs=1e-12)
    for player in (0, 1):
        by_sequence = form.values_against(player, plans[1 - player])
        sign = 1 if player == 0 else -1
        assert plans[player] @ by_sequence == pytest.approx(sign * expected, abs=1e-12)


def test_payoffs_that_cancel_are_left_out() -> None:
    zero, one, two = (np.array([i], np.int32) for i in range(3))
    treeplex = Treeplex(zero, one, two, 1)
    # Two histories of one pair of sequences cancel, two others add up.
    sequences = np.array([[1, 1, 2, 2], [2, 2, 1, 1]], np.int32)
    form = SequenceForm.from_terminals(
        (treeplex, treeplex), sequences, np.array([0.5, -0.5, 0.25, 0.5]), 1.0
    )
    assert isinstance(form.payoffs, scipy.sparse.csr_array)
    assert form.payoffs.nnz == 1
    assert form.payoffs[2, 1] == 0.75


def test_constants_are_added_to_what_sequences_pay() -> None:
    tree = GameTree.from_game("matrix_rps")
    constants = (np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.5, 0.0, 0.0, -1.0]))
    form = SequenceForm(tree.treeplexes, tree.sequence_form.payoffs, 2.0, constants)
    always_rock = np.array([1.0, 1.0, 0.0, 0.0])
    # Against rock: rock draws, paper wins, scissors lose.
    assert form.values_against(0, always_rock).tolist() == [0.0, 1.0, 3.0, 2.0]
    assert form.values_against(1, always_rock).tolist() == [0.5, 0.0, 1.0, -2.0]
    again = form.values_against(0, always_rock)
    again += 1.0
    assert form.constants[0].tolist() == [0.0, 1.0, 2.0, 3.0], "values must be a fresh array"


def realization_plan(
    tree: GameTree, nodes: list[reference.Node], policy: reference.BehaviourPolicy, player: int
) -> np.ndarray:
    """The plan of a policy: at each sequence the product of the own probabilities on the way."""
    plan = np.zeros(tree.treeplexes[player].num_sequences)
    for history, node in enumerate(nodes):
        weight = 1.0
        for known, action in node.past[player]:
            weight *= policy[player, known][action]
        plan[tree.sequence[player, history]] = weight
    return plan
