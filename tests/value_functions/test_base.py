"""Value functions as such: answers of wrong shapes are refused wherever values are asked for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.tree import cut
from spiel_dl.value_functions import LeafValues
from spiel_dl.value_functions.base import PartOfLeaves, evaluate_checked
from spiel_dl.value_functions.generation import value_ranges
from tests.made_up_values import MadeUpValue

TREE = GameTree.from_game("kuhn_poker")
LIMIT = DepthLimit(moves=1)
LEAVES = cut(TREE, LIMIT).leaves
WRONG = {
    "one player's": lambda first, second: first,
    "none": lambda first, second: None,
    "too short": lambda first, second: (first[1:], second[1:]),
    "lists": lambda first, second: (list(first), list(second)),
    "tensors": lambda first, second: (torch.tensor(first), torch.tensor(second)),
    "one number each": lambda first, second: (0.0, 0.0),
    "three": lambda first, second: (first, second, first),
    "objects": lambda first, second: (first.astype(object), second.astype(object)),
}


def solve_trunk(function, *, alternating_updates):
    DLCFRSolver(TREE, function, LIMIT, alternating_updates=alternating_updates).run(1)


def respond(function):
    model = ArrayPolicy.uniform(TREE)
    response = CDBRPolicy(TREE, 0, model, LIMIT, value_function=function, effort=Effort(1))
    response.to_array_policy()


def resolve(function):
    ContinualResolvingPolicy(TREE, function, LIMIT, effort=Effort(1)).to_array_policy()


def ones():
    return np.ones(LEAVES.num_infosets(0)), np.ones(LEAVES.num_infosets(1))


USES = {
    "dl_cfr": lambda function: solve_trunk(function, alternating_updates=True),
    "dl_cfr at once": lambda function: solve_trunk(function, alternating_updates=False),
    "resolving": resolve,
    "cdbr": respond,
    "part": lambda function: PartOfLeaves(function.bind(LEAVES), LEAVES).evaluate(*ones()),
    "data": lambda function: value_ranges(LEAVES, tuple(own[None] for own in ones()), function),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_answers_of_wrong_shapes_are_refused(wrong):
    with pytest.raises(ValueError, match=r"_MadeUpLeafValues answered .*let evaluate return"):
        evaluate_checked(MadeUpValue(wrong).bind(LEAVES), (0, 1), *ones())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_whoever_uses_values_refuses_them(use):
    with pytest.raises(ValueError, match=r"_MadeUpLeafValues answered .*let evaluate return"):
        use(MadeUpValue(WRONG["too short"]))


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_right_answers_are_taken(use):
    use(MadeUpValue(lambda first, second: (0 * first, 0 * second)))
    use(MadeUpValue(lambda first, second: [np.zeros_like(first), np.zeros(second.shape, "f4")]))


def test_the_values_of_one_player_are_looked_at_as_well():
    class Alone(LeafValues):
        def evaluate(self, range_0, range_1):
            return range_0, range_1

        def values_for(self, player, range_0, range_1):
            return self.evaluate(range_0, range_1)

    class Function(MadeUpValue):
        def bind(self, leaves):
            return Alone(leaves)

    with pytest.raises(ValueError, match="Alone answered"):
        solve_trunk(Function(None), alternating_updates=True)
