"""An effort that searches are given is checked at once."""

from __future__ import annotations

import pytest

from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions import ZeroValue

TREE = GameTree.from_game("kuhn_poker")
MODEL = ArrayPolicy.uniform(TREE)
LIMIT = DepthLimit(moves=1)
MAKERS = {
    "cdbr": lambda effort: CDBRPolicy(TREE, 0, MODEL, LIMIT, effort=effort),
    "cdrnr": lambda effort: CDRNRPolicy(TREE, 0, MODEL, LIMIT, p=0.5, effort=effort),
    "cdrnr, gadget": lambda effort: CDRNRPolicy(
        TREE, 0, MODEL, LIMIT, p=0.5, gadget="resolving", effort=effort
    ),
    "rnr": lambda effort: RNRPolicy(TREE, 0, MODEL, p=0.5, effort=effort),
    "abd": lambda effort: ABDPolicy(TREE, 0, MODEL, LIMIT, p=0.5, effort=effort),
    "resolving": lambda effort: ContinualResolvingPolicy(TREE, ZeroValue(), LIMIT, effort=effort),
    "particles": lambda effort: ParticlePolicy("python_leduc", None, LIMIT, effort=effort),
    "sepot": lambda effort: SearchConfig(effort=effort),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("effort", "message"),
    [
        (5, r"effort=5 must be an Effort, such as Effort\(5\)"),
        (0, r"effort=0 must be an Effort, such as Effort\(100\)"),
        ("long", r"effort='long' must be an Effort, such as Effort\(100\)"),
    ],
)
def test_a_number_alone_is_no_effort(make, effort, message):
    with pytest.raises(ValueError, match=message):
        make(effort)
