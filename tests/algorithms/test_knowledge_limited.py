"""Knowledge-limited search that is to be safe, against the exploitability of the whole policy."""

from __future__ import annotations

import collections
import functools

import numpy as np
import pytest

from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.knowledge_limited import KnowledgeLimitedPolicy, ParticleConfig
from spiel_dl.algorithms.sepot import SearchConfig
from spiel_dl.learning.critics import ExactCritic, RecognisingCritic
from spiel_dl.learning.transformations import IDENTITY, PolicyTransformations
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from tests.untrained_blueprints import acting_of

LEDUC = "python_leduc(num_ranks=2,num_suits=2)"
TO_THE_END = DepthLimit(rounds=2)
# Where searches of all infosets do harm together, and by how much at least.
HARM = {("cfr+:100", 0, "none"): 0.005, ("cfr:20", 1, "values"): 0.02}


@functools.cache
def leduc():
    return GameTree.from_game(LEDUC)


@functools.cache
def blueprint_of(name):
    """Its table, the same as a policy of tensors, and its exact critic."""
    table = load_array_policy(name, leduc())
    critic = ExactCritic(leduc(), table.strategies, PolicyTransformations([IDENTITY]))
    return table, acting_of(table), RecognisingCritic(critic)


def search(blueprint, first_level=0, **particles):
    _, acting, critic = blueprint_of(blueprint)
    return KnowledgeLimitedPolicy(
        leduc().game,
        acting,
        critic,
        TO_THE_END,
        config=SearchConfig(effort=Effort(300), first_level=first_level),
        particles=ParticleConfig(budget=particles.pop("budget", 1000), **particles),
        max_kept=1000,
    )


def after(policy):
    return exploitability.exploitability(leduc(), ArrayPolicy.from_policy(leduc(), policy))


def before(blueprint):
    return exploitability.exploitability(leduc(), blueprint_of(blueprint)[0])


@pytest.mark.parametrize(("blueprint", "first_level", "safety"), HARM)
def test_searches_do_no_harm_where_they_are_to_be_safe(blueprint, first_level, safety):
    known = before(blueprint)
    unsafe = after(search(blueprint, first_level, safety=safety))
    assert unsafe > known + HARM[blueprint, first_level, safety]
    for each in ("allocated", "updated"):
        policy = search(blueprint, first_level, safety=each)
        assert after(policy) < known - 1e-4
        assert policy.num_searches > 0


def test_searched_infosets_share_none_of_the_opponents():
    """In the second round, where a search begins with the player's own first decision."""
    tree, policy = leduc(), search("uniform", 1, safety="allocated", seed=3)
    known = tree.public_states.augmented_infoset
    for player in (0, 1):
        own = (tree.rounds_over == 1) & (tree.player == player)
        earlier = own[tree.parent] | own[tree.parent[tree.parent]]
        tops, searched = np.flatnonzero(own & ~earlier), set()
        for history in tree.first_history[player].tolist():
            if tree.rounds_over[history] == 1:
                policy.action_probabilities(tree.state(history))
                while history not in tops:
                    history = int(tree.parent[history])
                if policy.answer_was_searched:
                    searched.add(int(known[player, history]))
        pairs = {(int(known[1 - player, top]), int(known[player, top])) for top in tops}
        meets = collections.Counter(theirs for theirs, own in pairs if own in searched)
        assert set(meets.values()) == {1}
        assert len(searched) < len({own for _, own in pairs})


@pytest.mark.parametrize("scheme", ["block", "sliding"])
def test_each_player_searches_however_few_levels_are_kept(scheme):
    tree, (_, acting, critic) = leduc(), blueprint_of("uniform")
    policy = KnowledgeLimitedPolicy(
        tree.game,
        acting,
        critic,
        DepthLimit(moves=1),
        config=SearchConfig(effort=Effort(10), scheme=scheme),
        particles=ParticleConfig(safety="allocated"),
    )
    searched = set()
    for player in (0, 1):
        for history in tree.first_history[player].tolist():
            policy.action_probabilities(tree.state(history))
            if policy.answer_was_searched:
                searched.add(player)
    assert searched == {0, 1}


def test_what_the_budget_does_not_hold_is_left_to_the_blueprint():
    for safety in ("allocated", "updated"):
        policy = search("cfr:5", safety=safety, budget=2)
        assert after(policy) == pytest.approx(before("cfr:5"))
        assert policy.num_searches == 0 < policy.num_left_to_blueprint


def test_errors():
    with pytest.raises(ValueError, match="safety='x' must be one of"):
        ParticleConfig(safety="x")
    for settings in ({"order": 2}, {"frozen": False}):
        with pytest.raises(ValueError, match="needs order=1 and frozen=True"):
            ParticleConfig(safety="updated", **settings)
