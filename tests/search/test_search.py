"""The one search: its gap, where it stops, and what it refuses."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree, ZeroValue
from spiel_dl.algorithms.sepot import SearchConfig, sepot_spec
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.search.leaf_values import ByCritic
from spiel_dl.search.search import search
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.variants import CFR_PLUS, PREDICTIVE_CFR_PLUS
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from spiel_dl.tree.trunk import cut
from tests.untrained_blueprints import random_table

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"


@functools.cache
def made() -> tuple[GameTree, ArrayPolicy, ExactCritic]:
    tree = GameTree.from_game(GOOFSPIEL)
    blueprint = random_table(tree, 3, 0.2, 0.2)
    transformations = transformations_by_name("paper", tree.game)
    return tree, blueprint, ExactCritic(tree, blueprint.strategies, transformations)


def root_at(player: int, is_first: bool) -> Root:
    """The root of the game, or of a public state to which both players come alike."""
    tree, _, _ = made()
    state = None if is_first else int(tree.public_states.of_history[tree.num_histories // 50])
    trunk = cut(tree, DepthLimit(rounds=1), state)
    sizes = [len(infosets) for infosets in trunk.root_infosets]
    ranges = [np.full(size, 1 / len(trunk.extent.starts)) for size in sizes]
    return Root(trunk, player, (ranges[0], ranges[1]), is_first=is_first)


def opponent_cfvs(solution: Solution) -> np.ndarray:
    """The opponent's best-response cfvs at the roots, where it chooses best at the leaves, too."""
    player, opponent, trunk = solution.player, 1 - solution.player, solution.trunk
    ranges = [np.zeros(trunk.leaves.num_infosets(p)) for p in (0, 1)]
    cfvs = [each.copy() for each in ranges]
    ranges[player] = solution.leaf_ranges[player]
    cfvs[opponent] = solution.values.values_for(opponent, ranges[0], ranges[1])
    form = trunk.sequence_form.with_constants(trunk.leaves.sequences, (cfvs[0], cfvs[1]))
    found = best_response(form, opponent, solution.plans[player]).cfv
    return found[: len(solution.root.ranges[opponent])]


def blueprint_of(root: Root) -> np.ndarray:
    return made()[1].strategies[root.player][root.trunk.sequences[root.player]]


def searched(
    player: int, is_first: bool, effort: Effort, config: SearchConfig | None = None
) -> tuple[float, Solution]:
    """The value that a search guarantees in the gadget game, and the solution."""
    spec = sepot_spec(made()[2], config or SearchConfig(), blueprint_of)
    root = root_at(player, is_first)
    found = search(root, spec, effort)
    cfvs = opponent_cfvs(found)
    return -float(
        (cfvs if is_first else np.maximum(cfvs, spec.given_cfvs(root, found.values))).sum()
    ), found


@pytest.mark.parametrize("variant", [CFR_PLUS, PREDICTIVE_CFR_PLUS], ids=["cfr+", "pcfr+"])
@pytest.mark.parametrize(("player", "is_first"), [(0, True), (1, False)])
def test_the_gap_bounds_what_is_missing(player, is_first, variant):
    best, _ = searched(player, is_first, Effort(3000, variant=variant))
    for tolerance in (0.1, 0.01, 0.001):
        effort = Effort(5000, tolerance=tolerance, variant=variant)
        value, solution = searched(player, is_first, effort)
        assert solution.gap <= tolerance
        assert best - value <= solution.gap + 1e-6  # payoffs at leaves are of single precision


@pytest.mark.parametrize("player", [0, 1])
def test_cfvs_of_best_responses_can_be_kept_and_those_of_transformations_need_not(player):
    missing = []
    for given_cfvs in ("best_response", "transformations"):
        config = SearchConfig(given_cfvs=given_cfvs)
        value, found = searched(player, False, Effort(3000), config)
        given = sepot_spec(made()[2], config, blueprint_of).given_cfvs(found.root, found.values)
        missing.append(-given.sum() - value)
    assert missing[0] == pytest.approx(0.0, abs=1e-4)
    assert missing[1] > 1e-3


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_the_gap_against_a_model_bounds_what_is_missing(p):
    """The model comes to the leaves as well, and whoever comes there chooses how to go on."""
    tree, blueprint, critic = made()
    root, opponent = root_at(0, True), tree.treeplexes[1]
    sequences, infosets = root.trunk.sequences[1], np.ones(len(root.trunk.infosets[1]), np.bool_)
    model = realization_plan(opponent, blueprint.strategies[1])[sequences]
    root = dataclasses.replace(root, model_plan=model, modelled=infosets)

    def searched_by(effort: Effort) -> tuple[float, Solution]:
        spec = dataclasses.replace(sepot_spec(critic, SearchConfig(), blueprint_of), p=p)
        found = search(root, spec, effort)
        trunk, zero = found.trunk, np.zeros(found.trunk.leaves.num_infosets(1))
        cfvs = found.values.values_for(1, found.leaf_ranges[0], zero)
        own = np.zeros(trunk.leaves.num_infosets(0))
        form = trunk.sequence_form.with_constants(trunk.leaves.sequences, (own, cfvs))
        free = best_response(form, 1, found.plans[0]).value
        return -(1 - p) * free - p * float(form.values_against(1, found.plans[0]) @ model), found

    best, _ = searched_by(Effort(3000, variant=PREDICTIVE_CFR_PLUS))
    value, solution = searched_by(Effort(5000, tolerance=0.01, variant=PREDICTIVE_CFR_PLUS))
    assert 0 <= solution.gap <= 0.01
    assert best - value <= solution.gap + 1e-6


def test_a_solution_tells_what_it_is_worth():
    """To each player, what both plans earn, by the cfvs of its roots."""
    tree = made()[0]
    trunk = cut(tree, BEYOND_THE_GAME)
    solution = search(Root(trunk, 0, (np.ones(1), np.ones(1)), is_first=True), Spec(), Effort(50))
    value = float(solution.plans[0] @ (tree.sequence_form.payoffs @ solution.plans[1]))
    for player, sign in ((0, 1), (1, -1)):
        assert solution.root_cfvs[player] == pytest.approx([sign * value])
        assert set(solution.seconds) == {"values", "solution"}


class _OwnCritic(Critic):
    """A critic with constant values."""

    def __init__(self, found):
        self._found = found

    def values(self, tree, histories, player):
        return self._found(len(histories))


def test_values_of_a_critic_have_a_shape_and_are_numbers():
    root, one_for_each = root_at(0, is_first=True), ByCritic(_OwnCritic(np.zeros))
    size = len(root.trunk.leaves.histories)
    message = rf"_OwnCritic\.values returns the shape \[{size}\]; return \[{size}, K\]"
    with pytest.raises(ValueError, match=message):
        one_for_each(root)
    with pytest.raises(ValueError, match=r"returns the shape \[1\]; return \[1, K\]"):
        one_for_each.best_cfvs(root, None)

    def values(size: int) -> np.ndarray:
        found = np.zeros((size, 2))
        found[3, 1] = np.nan
        return found

    message = rf"values of 1 of {size} leaves are not finite, such as \[0\.0, nan\] of leaf 3"
    with pytest.raises(ValueError, match=message):
        ByCritic(_OwnCritic(values))(root)


def test_what_is_missing_is_told():
    spec = Spec(ByCritic(made()[2]), gadget="max_margin")
    with pytest.raises(ValueError, match="pass given_cfvs="):
        search(root_at(0, is_first=False), spec, Effort(1))
    with pytest.raises(ValueError, match="no value function was given; pass values="):
        search(root_at(0, is_first=True), Spec(), Effort(1))
    with pytest.raises(ValueError, match=r"goofspiel.* needs the values .* pass critic="):
        ByCritic(None)(root_at(0, is_first=True))
    with pytest.raises(ValueError, match="leave out one of them"):
        Spec(ByCritic(None), exact=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gadget": "Resolving"}, "gadget='Resolving' must be one of"),
        ({"gadget": "full"}, "gadget='full' is for responses to a model; give p"),
        ({"refinement": "ones"}, "gadget='unsafe' is none"),
        ({"leaf_choice": "best"}, "leaf_choice='best' must be one of"),
        ({"values": ZeroValue()}, r"ByValueFunction\(pieces, V\) is one"),
        ({"given_cfvs": "critic"}, "given_cfvs='critic' must be a function of a Root"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Spec(**settings)
