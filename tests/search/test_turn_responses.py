"""Responses on a turn that is not listed are those on the listed one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import spiel_dl as dl
from spiel_dl.factored.families import factored_game
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree.factored_game import FactoredGame
from tests.search.test_turns import CUT_DECK, LIMIT

EFFORT = dl.Effort(iterations=2000, tolerance=3e-4)


@functools.cache
def games() -> tuple[FactoredGame, dl.GameTree, ArrayPolicy]:
    """The factored game, the listed one, and a model."""
    game = factored_game(CUT_DECK, num_threads=1)
    return game, dl.compile_game(CUT_DECK), dl.random_policy(game, seed=1)


def rnr(game: Any, player: int, model: ArrayPolicy, effort: dl.Effort) -> Any:
    return dl.RNR(game, player, model, p=0.6, effort=effort)


def cdbr(game: Any, player: int, model: ArrayPolicy, effort: dl.Effort) -> Any:
    return dl.CDBR(game, player, model, LIMIT, scheme="block", effort=effort)


def cdrnr(game: Any, player: int, model: ArrayPolicy, effort: dl.Effort) -> Any:
    return dl.CDRNR(game, player, model, LIMIT, p=0.6, scheme="block", effort=effort)


@pytest.mark.parametrize(("respond", "player"), [(rnr, 1), (cdbr, 0), (cdrnr, 0), (cdrnr, 1)])
def test_responses_earn_what_those_of_the_listed_game_do(
    respond: Callable[..., Any], player: int
) -> None:
    game, tree, model = games()
    listed = ArrayPolicy.from_policy(tree, model)
    found = respond(game, player, model, EFFORT).to_array_policy()
    expected = respond(tree, player, listed, EFFORT).to_array_policy()
    for policy in (found, expected):
        state = game.state(player, game.num_infosets(player) - 1)
        assert sum(policy.action_probabilities(state).values()) == pytest.approx(1.0)
    p = 1.0 if respond is cdbr else 0.6
    sums = []
    for each, response in ((game, found), (tree, expected)):
        earned = dl.expected_value(each, response) * (1 - 2 * player)
        lost = dl.best_response_value(each, response, 1 - player)
        sums.append(p * earned - (1 - p) * lost)
    # What a step maximises; solutions themselves may differ.
    assert sums[0] == pytest.approx(sums[1], abs=0.01)


def test_a_response_answers_from_the_steps_before() -> None:
    game, _, model = games()
    policy = cdbr(game, 1, model, EFFORT)
    state = game.state(1, 0)
    policy.action_probabilities(state)
    assert policy.num_searches == 1
    whole = cdbr(game, 1, model, EFFORT).to_array_policy()
    river = next(i for i in range(game.num_infosets(1)) if len(game.history(1, i)) > 6)
    state = game.state(1, river)
    found = policy.action_probabilities(state)
    assert list(found.values()) == pytest.approx(list(whole.action_probabilities(state).values()))


def test_without_an_effort_what_a_value_function_values_has_no_tolerance() -> None:
    model = dl.random_policy(dl.compile_game("kuhn_poker"), seed=1)
    arguments = ("kuhn_poker", 0, model, dl.DepthLimit(moves=1))
    for function, expected in (
        (None, dl.Effort(10_000, tolerance=1e-6)),
        (dl.ZeroValue(), dl.Effort(1000)),
    ):
        assert dl.CDBR(*arguments, value_function=function).effort == expected
        assert dl.CDRNR(*arguments, p=0.5, value_function=function).effort == expected


def test_what_large_games_do_not_have_is_refused() -> None:
    game, _, model = games()
    with pytest.raises(ValueError, match="exact=False"):
        dl.RNR(game, 0, model, p=0.5, exact=True)
    with pytest.raises(ValueError, match="gadget='joint'"):
        dl.CDRNR(game, 0, model, LIMIT, p=0.5, gadget="resolving")
    with pytest.raises(ValueError, match="rounds=1"):
        dl.CDBR(game, 0, model, dl.DepthLimit(moves=2))
    by_limit = {dl.DepthLimit(rounds=2): dl.ShowdownValue()}
    for use in (
        lambda: dl.CDBR(game, 0, model, LIMIT, value_function=by_limit),
        lambda: dl.ContinualResolving(game, by_limit, LIMIT),
    ):
        with pytest.raises(ValueError, match=r"no entry for .*rounds=1.* it has .*rounds=2"):
            use()
