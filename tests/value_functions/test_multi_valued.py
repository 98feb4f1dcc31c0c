"""Multi-valued states against the ordinary game in which every choice at a leaf is a decision."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import LINEAR_CFR, PREDICTIVE_CFR_PLUS
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.sequence_form import SequenceForm
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves
from tests.particle_networks import leaves_of

GAMES = [
    ("python_leduc", DepthLimit(rounds=1)),
    ("python_goofspiel_ii(num_cards=4,points_order=descending)", DepthLimit(rounds=2)),
]


def random_utilities(leaves: LeafSet) -> np.ndarray:
    return np.random.default_rng(7).uniform(-1, 1, (len(leaves.histories), 5))


def with_decisions(trunk: Trunk, player: int, utilities: np.ndarray) -> SequenceForm:
    """The trunk with one more decision of the opponent behind each of its leaf infosets.

    In these games no two leaves share both infosets, so each payoff is of a single history, and is
    rounded as blocks are.
    """
    leaves = trunk.leaves
    weighted = (leaves.chance_reach[:, None] * utilities).astype(np.float32).astype(np.float64)
    of_player_0 = weighted[:, None, :] if player == 0 else -weighted[:, :, None]
    ones = np.ones(len(weighted))
    infosets = leaves.infoset_of_history
    return with_leaf_choices(trunk.sequence_form, leaves.sequences, infosets, of_player_0, ones)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("game", "limit"), GAMES)
def test_regret_matching_at_leaves_is_cfr_in_the_larger_game(game, limit, player):
    trunk = cut(GameTree.from_game(game), limit)
    leaves = trunk.leaves
    utilities = random_utilities(leaves)
    larger = with_decisions(trunk, player, utilities)
    for variant in (LINEAR_CFR, PREDICTIVE_CFR_PLUS):
        expected = RegretMinimizer(larger, variant)
        expected.run(20)
        function = MultiValuedLeaves(leaves, player, utilities)
        choices = function.choices(variant)
        minimizer = RegretMinimizer(trunk.sequence_form, variant)

        def leaf_cfvs(players, plans, choices=choices):
            ranges = [plans[p][leaves.sequences[p]] for p in (player, 1 - player)]
            return [choices.update(int(players[0] != player), (ranges[0], ranges[1]))]

        minimizer.run_with_leaves(20, leaves.sequences, leaf_cfvs)
        for p in (0, 1):
            whole = expected.average_strategy(p)
            size = trunk.sequence_form.treeplexes[p].num_sequences
            np.testing.assert_allclose(minimizer.average_strategy(p), whole[:size], atol=1e-9)
            if p != player:
                found = choices.average_choices().reshape(-1)
                np.testing.assert_allclose(found, whole[size:], atol=1e-9)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("game", "limit"), GAMES)
def test_best_responses_at_leaves_by_brute_force(game, limit, player):
    """Equation 3: the opponent's best choice at each of its leaf infosets, history by history."""
    leaves = leaves_of(game, limit)
    utilities = random_utilities(leaves)
    function = MultiValuedLeaves(leaves, player, utilities)
    generator = np.random.default_rng(8)
    ranges = [generator.random(leaves.num_infosets(p)) for p in (0, 1)]
    found = function.evaluate(ranges[0], ranges[1])
    opponent = 1 - player
    own_cfv = np.zeros(leaves.num_infosets(player))
    for infoset in range(leaves.num_infosets(opponent)):
        histories = np.flatnonzero(leaves.infoset_of_history[opponent] == infoset)
        own = leaves.infoset_of_history[player, histories]
        reach = leaves.chance_reach[histories] * ranges[player][own]
        values = [-sum(reach * utilities[histories, t]) for t in range(5)]
        assert found[opponent][infoset] == pytest.approx(max(values), abs=1e-6)
        worst = utilities[histories, int(np.argmax(values))]
        others = leaves.chance_reach[histories] * ranges[opponent][infoset]
        np.add.at(own_cfv, own, others * worst)
    np.testing.assert_allclose(found[player], own_cfv, atol=1e-6)


def test_errors():
    leaves = leaves_of(*GAMES[0])
    function = MultiValuedLeaves(leaves, 0, random_utilities(leaves))
    ranges = (np.ones(leaves.num_infosets(0)), np.ones(leaves.num_infosets(1)))
    with pytest.raises(ValueError, match="the ranges have shapes"):
        function.evaluate(ranges[0][1:], ranges[1])
    with pytest.raises(ValueError, match="give finite numbers"):
        MultiValuedLeaves(leaves, 0, np.full((len(leaves.histories), 2), np.nan))
