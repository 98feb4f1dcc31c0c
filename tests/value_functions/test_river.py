"""Values of hold'em on the turn: showdowns, and what a network adds to them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import spiel_dl as dl
from spiel_dl import ArrayPolicy, RiverNetwork, ShowdownValue
from spiel_dl.algorithms import trunk_exploitability
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.factored import river_quantiles
from spiel_dl.factored.families import cut_any, factored_game
from spiel_dl.factored.holdem_trunk import HoldemTrunk
from spiel_dl.games.holdem_cards import hand_strengths
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.network_files import load_value_function
from spiel_dl.value_functions.river import NUM_PARTS, RiverLeafValues, balanced, stack_features
from tests.search.test_turns import LIMIT, turn_of

# Hands that block each other and the river.
RANGES = "range_0=AhAd;7s6s:0.5;7h6h;QcJc,range_1=AsAd;7s6s;JcJd:2;QcJc"


def turn(bets: str = "pot allin") -> str:
    return (
        "python_holdem(board=QsJh2h4d,board_cards=[0;1],stacks=[40;40],blinds=[10;10],"
        f"min_wager=0.0,bets={bets},{RANGES})"
    )


ONE_CARD = (
    "python_holdem(num_ranks=4,num_suits=2,num_hole_cards=1,board_cards=[0;1],stacks=[5;5],"
    "blinds=[1;1])"
)


def ranges_of(trunk: HoldemTrunk, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first, second = (rng.random(trunk.leaves.num_infosets(player)) for player in (0, 1))
    return first, second


@pytest.mark.parametrize("alternating_updates", [True, False])
def test_where_nobody_bets_on_the_river_showdowns_are_exact(alternating_updates: bool) -> None:
    game = factored_game(turn("pot allin|none"), num_threads=1)
    how = {"variant": "lcfr", "alternating_updates": alternating_updates}
    limited = dl.DLCFR(game, ShowdownValue(), LIMIT, **how)
    whole = dl.CFR(game, **how)
    limited.run(20)
    whole.run(20)
    for player in (0, 1):
        own = limited.trunk.sequences[player]
        np.testing.assert_allclose(
            limited.average_policy().strategies[player][own],
            whole.average_policy().strategies[player][own],
            atol=1e-9,
        )


def test_a_trunk_is_as_exploitable_as_that_of_the_listed_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trunk_exploitability, "_MAX_LP_PAYOFFS", np.inf)
    game = factored_game(turn(), num_threads=1)
    tree = dl.compile_game(turn())
    policy = ArrayPolicy.uniform(game)
    exact = trunk_losses(cut(tree, LIMIT), ArrayPolicy.uniform(tree))
    found = trunk_losses(cut_any(game, LIMIT), policy, tolerance=1e-3)
    assert found.gap <= 0.05
    assert abs(found.nash_conv - exact.nash_conv) <= found.gap + 1e-6


@pytest.mark.parametrize("game", [turn(), ONE_CARD])
def test_what_a_network_says_is_weighed_by_the_hands_that_are_left(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trunk = turn_of(game)
    leaves, deals, rules = trunk.leaves, trunk.tree.deals, trunk.tree.rules
    outputs = np.array([0.3, -0.7], np.float32)
    network = RiverNetwork()
    monkeypatch.setattr(
        network, "betting", lambda x: np.tile(outputs[:, None], (len(x), 1, NUM_PARTS))
    )
    ranges = ranges_of(trunk)
    found = network.bind(leaves).evaluate(*ranges)
    plain = ShowdownValue().bind(leaves).evaluate(*ranges)
    hands = [deals.hands[player].cards[:, : rules.num_hole].tolist() for player in (0, 1)]
    weights = [deals.hands[player].weights for player in (0, 1)]
    chance = deals.scale * deals.boards[1].chance
    for player in (0, 1):
        shape = (len(leaves.lines), len(hands[player]))
        expected, added = np.zeros(shape), np.zeros(shape)
        other = ranges[1 - player].reshape(len(leaves.lines), -1)
        for (k, own), (j, theirs) in itertools.product(
            enumerate(hands[player]), enumerate(hands[1 - player])
        ):
            for river in set(range(rules.num_cards)) - set(rules.board):
                if len({*own, *theirs, river}) < 2 * rules.num_hole + 1:
                    continue
                cards = [[*each, *rules.board, river] for each in (own, theirs)]
                mine, other_one = hand_strengths(torch.tensor(cards), rules.num_suits).tolist()
                weight = weights[player][k] * weights[1 - player][j] * chance * leaves.spent
                expected[:, k] += weight * other[:, j] * np.sign(mine - other_one)
                added[:, k] += weight * other[:, j] * 2 * outputs[player] * leaves.is_open
        np.testing.assert_allclose(plain[player].reshape(shape), expected, atol=1e-9)
        np.testing.assert_allclose(found[player].reshape(shape), expected + added, atol=1e-6)


def test_shares_are_those_of_quantiles() -> None:
    rng = np.random.default_rng(1)
    masses = rng.random((2, 9, 1)) * (rng.random((2, 9, 1)) < 0.7)
    masses /= masses.sum(axis=1, keepdims=True)
    row = np.zeros(16, np.float32)
    river_quantiles.fill_shares(masses[0], masses[1], 0, row)
    # Each class as very many hands, one player's between the other's.
    weight = masses[:, :, 0].sum(axis=0) / 2
    place = np.searchsorted(np.cumsum(weight), (np.arange(160_000) + 0.5) / 160_000)
    share = masses[0, place, 0] / (2 * weight[place])
    np.testing.assert_allclose(row, share.reshape(16, -1).mean(axis=1), atol=1e-3)


def test_both_players_values_sum_to_zero() -> None:
    network = RiverNetwork(seed=4)
    shares = torch.rand(5, NUM_PARTS, generator=torch.Generator().manual_seed(0))
    inputs = torch.cat([shares, torch.from_numpy(stack_features(np.ones(5)))], dim=1)
    with torch.no_grad():
        first, second = balanced(network.module, inputs).unbind(dim=1)
    total = (first * shares + second * (1 - shares)).mean(dim=1)
    np.testing.assert_allclose(total.numpy(), 0.0, atol=1e-6)
    assert first.abs().max() > 1e-3


def test_files_and_what_is_refused(tmp_path) -> None:
    network = RiverNetwork(1, 8, seed=1)
    network.save(tmp_path / "river.safetensors")
    again = load_value_function(str(tmp_path / "river.safetensors"))
    trunk = turn_of(turn())
    ranges = ranges_of(trunk)
    for player in (0, 1):
        np.testing.assert_array_equal(
            network.bind(trunk.leaves).values_for(player, *ranges),
            again.bind(trunk.leaves).values_for(player, *ranges),
        )
    with pytest.raises(ValueError, match="bets"):
        network.bind(turn_of(turn("50%")).leaves)
    for other in ("first_players=[0;1]", "max_wagers=[9;0]"):
        with pytest.raises(ValueError, match="that player 0 begins, with any number of wagers"):
            network.bind(turn_of(turn(f"pot allin,{other}")).leaves)
    with pytest.raises(ValueError, match="between turn and river only"):
        turn_of(ONE_CARD.replace("[0;1]", "[0;2]"))
    with pytest.raises(ValueError, match="ExactValue"):
        ShowdownValue().bind(cut(dl.compile_game("python_leduc"), LIMIT).leaves)
    with pytest.raises(ValueError, match="RiverNetwork"):
        dl.DLCFR(factored_game(turn(), num_threads=1), dl.ExactValue(), LIMIT)
    with pytest.raises(ValueError, match="rounds=1"):
        cut_any(factored_game(turn(), num_threads=1), dl.DepthLimit(moves=2))
    assert isinstance(load_value_function("showdown").bind(trunk.leaves), RiverLeafValues)
