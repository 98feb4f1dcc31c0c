"""Rivers that are solved again below a turn: of the whole game, of the listed one, and safe."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import spiel_dl as dl
from spiel_dl.factored.families import cut_any, factored_game
from spiel_dl.factored.holdem_rivers import HoldemRivers, RiverStarts
from spiel_dl.factored.holdem_trunk import HoldemTrunk
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.search import search
from spiel_dl.search.spec import Root, Spec
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.gadgets import GADGETS
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from spiel_dl.tree.trunk import cut
from tests.factored_checks import random_plan

LIMIT = dl.DepthLimit(rounds=1)
CUT_DECK = (
    "python_holdem(num_ranks=3,num_suits=3,num_hole_cards=1,board_cards=[0;1],stacks=[12;12],"
    "blinds=[2;2],range_0=2c;3c:0.5;4d;3d,range_1=4c;2d;3h:2;2h)"
)
TURN = (
    "python_holdem(board=QsJh2h4d,board_cards=[0;1],stacks=[40;40],blinds=[10;10],min_wager=0.0,"
    "range_0=AhAd;7s6s:0.5;7h6h;QcJc;KsTs,range_1=AsAd;7s6s;JcJd:2;QcJc;Th9h)"
)


@functools.cache
def turn_of(game: str) -> HoldemTrunk:
    found = cut_any(factored_game(game, num_threads=1), LIMIT)
    assert isinstance(found, HoldemTrunk)
    return found


@functools.cache
def blueprint_of(game: str) -> ArrayPolicy:
    solver = dl.CFR(turn_of(game).tree, variant="lcfr")
    solver.run(10)
    return solver.average_policy()


@pytest.mark.parametrize(("lines", "boards"), [(slice(None), slice(None)), ([1], [0, 5])])
def test_rivers_pay_what_the_whole_game_does(lines: object, boards: object) -> None:
    turn = turn_of(TURN)
    some = np.flatnonzero(turn.leaves.is_open)[lines]
    starts = RiverStarts.of(turn, some, np.arange(48)[boards])
    rivers, game = HoldemRivers.of(starts), turn.tree
    for player in (0, 1):
        opponent = 1 - player
        plan = random_plan(game, opponent, seed=player)
        whole = game.sequence_form.values_against(player, plan)
        found = rivers.sequence_form.values_against(player, plan[rivers.sequences[opponent]])
        roots = rivers.sequence_form.treeplexes[player].num_root_sequences
        assert not found[:roots].any()
        own = rivers.sequences[player][roots:]
        np.testing.assert_allclose(found[roots:], whole[own], atol=1e-12)
        own_plan = np.arange(game.treeplexes[player].num_sequences, dtype=float)
        parents = game.treeplexes[player].parent_sequence[rivers.infosets[player]]
        treeplex = rivers.sequence_form.treeplexes[player]
        np.testing.assert_array_equal(
            own_plan[rivers.sequences[player]][treeplex.parent_sequence], own_plan[parents]
        )


@pytest.mark.parametrize("function", [dl.ShowdownValue(), dl.RiverNetwork(1, 8)])
def test_values_by_cards_sum_to_those_of_lines(function: dl.ValueFunction) -> None:
    turn, rng = turn_of(TURN), np.random.default_rng(1)
    starts = RiverStarts.of(turn, range(len(turn.leaves.lines)), range(48))
    flat = [rng.random(turn.leaves.num_infosets(player)) for player in (0, 1)]
    expected = function.bind(turn.leaves).evaluate(*flat)
    ranges = [flat[player][starts.entries[player]] for player in (0, 1)]
    found = function.bind(starts).evaluate(*ranges)
    for player in (0, 1):
        summed = np.bincount(starts.entries[player], found[player])
        np.testing.assert_allclose(summed, expected[player], atol=1e-9)


@pytest.mark.parametrize("gadget", GADGETS[:2])
def test_resolved_rivers_are_those_of_the_listed_game(gadget: str) -> None:
    turn, tree = turn_of(CUT_DECK), dl.compile_game(CUT_DECK)
    blueprint, effort = blueprint_of(CUT_DECK), dl.Effort(iterations=200)
    found = dl.resolve_rivers(turn.tree, blueprint, gadget=gadget, effort=effort)
    listed = ArrayPolicy.from_policy(tree, blueprint)
    strategies = [strategy.copy() for strategy in listed.strategies]
    for player in (0, 1):
        for state in cut(tree, LIMIT).leaves.public_states.tolist():
            _resolve_listed(tree, player, state, listed, strategies[player], gadget)
    expected = ArrayPolicy(tree, (strategies[0], strategies[1]))
    before = dl.exploitability(tree, listed)
    after = dl.exploitability(tree, expected)
    assert after < 0.9 * before
    assert dl.exploitability(turn.tree, found.to_array_policy()) == pytest.approx(after, rel=1e-3)


def _resolve_listed(
    tree: dl.GameTree,
    player: int,
    public_state: int,
    blueprint: ArrayPolicy,
    strategy: np.ndarray,
    gadget: str,
) -> None:
    """Solves one river of the listed game."""
    subgame, opponent = cut(tree, BEYOND_THE_GAME, public_state), 1 - player
    form = subgame.sequence_form
    plans = [realization_plan(tree.treeplexes[p], blueprint.strategies[p]) for p in (0, 1)]
    ranges = [subgame.root_range(p, plans[p]) for p in (0, 1)]
    ranges[player] = ranges[player] / ranges[player].sum()
    sequences = subgame.sequences[player]
    old = realization_plan(
        form.treeplexes[player], blueprint.strategies[player][sequences], ranges[player]
    )
    cfvs = best_response(form, opponent, old).cfv[: len(ranges[opponent])]
    root = Root(subgame, player, (ranges[0], ranges[1]), given_cfvs=cfvs, prior=ranges[opponent])
    found = search(root, Spec(gadget=gadget), dl.Effort(iterations=200)).strategy
    below = slice(form.treeplexes[player].num_root_sequences, None)
    strategy[sequences[below]] = found[below]


@pytest.mark.parametrize(
    ("gadget", "refinement"),
    [("resolving", "none"), ("max_margin", "prior"), ("reach_max_margin", "none")],
)
def test_safe_gadgets_lose_nothing_one_river_at_a_time_or_all_at_once(
    gadget: str, refinement: str
) -> None:
    turn, blueprint = turn_of(TURN), blueprint_of(TURN)
    how = {"gadget": gadget, "refinement": refinement, "effort": dl.Effort(iterations=300)}
    policy = dl.resolve_rivers(turn.tree, blueprint, **how)
    whole = policy.to_array_policy()
    for player in (0, 1):
        strategies = list(blueprint.strategies)
        strategies[player] = whole.strategies[player]
        alone = ArrayPolicy(turn.tree, (strategies[0], strategies[1]))
        # A hundredth of a chip of a pot of 20 for what is left to iterate.
        best = dl.best_response_value(turn.tree, alone, 1 - player)
        assert best < dl.best_response_value(turn.tree, blueprint, 1 - player) + 0.01
    lazy = dl.resolve_rivers(turn.tree, blueprint, **how)
    game = turn.tree
    infoset = next(
        i
        for i in range(game.num_infosets(0))
        if game.rules.tree.round[game.parts(0, i)[0]] == 1 and len(game.legal_actions(0, i)) > 1
    )
    state = game.state(0, infoset)
    expected = list(whole.action_probabilities(state).values())
    assert list(lazy.action_probabilities(state).values()) == pytest.approx(expected, abs=1e-6)
    assert lazy.num_searches == 1


def test_a_card_may_leave_no_hands() -> None:
    game = TURN.replace("AhAd;7s6s:0.5;7h6h;QcJc;KsTs", "AhAd").replace(
        "AsAd;7s6s;JcJd:2;QcJc;Th9h", "KsKh"
    )
    tree = turn_of(game).tree
    blueprint = ArrayPolicy.uniform(tree)
    resolved = dl.resolve_rivers(tree, blueprint, gadget="max_margin", effort=dl.Effort(100))
    better = dl.exploitability(tree, resolved.to_array_policy())
    assert better < 0.9 * dl.exploitability(tree, blueprint)


def test_continual_resolving_of_a_large_turn() -> None:
    game = turn_of(TURN).tree
    policy = dl.ContinualResolving(
        game, dl.ShowdownValue(), LIMIT, effort=dl.Effort(iterations=100)
    )
    state = game.state(1, 0)
    before = policy.action_probabilities(state)
    trunk = dl.DLCFR(game, dl.ShowdownValue(), LIMIT)
    trunk.run(100)
    expected = trunk.average_policy().action_probabilities(state)
    # Averages of other iterates: those that values were asked at.
    assert before == pytest.approx(expected, abs=0.05)
    found = policy.to_array_policy()
    assert found.action_probabilities(state) == before
    assert dl.exploitability(game, found) < 0.5 * dl.exploitability(game, trunk.average_policy())
    with pytest.raises(ValueError, match="no value function was given"):
        dl.ContinualResolving(game, None, LIMIT)


def test_what_cannot_be_resolved_is_refused() -> None:
    tree = dl.compile_game(CUT_DECK)
    uniform = ArrayPolicy.uniform(tree)
    with pytest.raises(ValueError, match="use ContinualResolvingPolicy"):
        dl.resolve_rivers(tree, uniform)
    game = turn_of(CUT_DECK).tree
    with pytest.raises(ValueError, match="gadget='none'"):
        dl.resolve_rivers(game, ArrayPolicy.uniform(game), gadget="none")
