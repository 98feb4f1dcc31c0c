"""Features of games with and without rules of this package."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
import torch

from spiel_dl.games import rules as rules_module
from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.games.features import features, num_features
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from spiel_dl.games.leduc import LeducRules
from spiel_dl.games.liars_dice import LiarsDiceRules
from spiel_dl.games.oshi_zumo_ii import OshiZumoIIRules
from spiel_dl.games.phantom import phantom_ttt
from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.games import enumeration
from tests.games.openspiel_conformance import possible_actions


def _random_states(game: pyspiel.Game, num_games: int) -> list[pyspiel.State]:
    generator = np.random.default_rng(0)
    states = []
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            states.append(state.clone())
            state.apply_action(int(generator.choice(possible_actions(state))))
        states.append(state)
    return states


@pytest.mark.parametrize(
    "name",
    [
        "leduc_poker",
        "phantom_ttt",
        "goofspiel(imp_info=True,num_cards=3)",
        # With one tensor each: of observations, of observations, of information states.
        "oshi_zumo(coins=4)",
        "tic_tac_toe",
        "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[1],num_shots=3)",
    ],
)
def test_other_games_are_seen_by_their_tensors(name: str) -> None:
    """Those with simultaneous moves, converted."""
    game = load_turn_based(name)
    kind = game.get_type()
    for state in _random_states(game, 5):
        for player in (0, 1):
            seen = features(state, player)
            assert seen.dtype == np.float32
            assert len(seen) == num_features(game)
            expected: list[float] = []
            if kind.provides_observation_tensor:
                expected += state.observation_tensor(player)
            if kind.provides_information_state_tensor:
                expected += state.information_state_tensor(player)
            assert seen.tolist() == expected


def test_games_of_this_package_are_seen_by_their_rules() -> None:
    game = pyspiel.load_game("python_leduc")
    assert num_features(game) == game.rules.num_features
    for state in _random_states(game, 3):
        for player in (0, 1):
            seen = features(state, player)
            assert seen.tolist() == game.rules.features(state.batch, player)[0].tolist()


def test_what_has_no_tensors_is_refused() -> None:
    game = pyspiel.load_game("coordinated_mp")
    with pytest.raises(ValueError, match=r"coordinated_mp\(\) has neither an observation"):
        num_features(game)
    with pytest.raises(ValueError, match="player=2 cannot look; use 0 to 1"):
        features(pyspiel.load_game("kuhn_poker").new_initial_state(), 2)


def _pieces(rules: Rules, state: StateBatch, player: int) -> dict[str, np.ndarray]:
    """A single state's features by name, in the shapes that the pieces say."""
    row = rules.features(state, player)[0].numpy()
    seen, start = {}, 0
    for name, shape in rules.feature_pieces().items():
        size = int(np.prod(shape))
        seen[name] = row[start : start + size].reshape(shape)
        start += size
    return seen


def test_battleships_are_seen_as_boards() -> None:
    rules = BattleshipsRules(3, 1, "[2;1]", True, num_shots=3)
    begun = _pieces(rules, enumeration.play(rules, [3]), 1)
    assert not begun["own_ships"].any()
    assert begun["next_ship"].tolist() == [1, 0]
    # Player 0 has ships on tiles 0, 1 and 2, player 1 on 1, 2 and 0. Each shoots twice.
    state = enumeration.play(rules, [3, 4, 5, 3, 0, 0, 1, 0])
    first, second = _pieces(rules, state, 0), _pieces(rules, state, 1)
    assert first["own_ships"].tolist() == [[1, 1, 0], [0, 0, 1]]
    assert second["own_ships"].tolist() == [[0, 1, 1], [1, 0, 0]]
    hit_twice = [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert first["own_board"].tolist() == second["opponent_board"].tolist() == hit_twice
    sunk_and_hit = [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert first["opponent_board"].tolist() == second["own_board"].tolist() == sunk_and_hit
    # Tile 2 is left: ships on 1 and 2, through a hit, or on 2 alone. Three cover an empty tile 1.
    expected = [[0, 0, 2 / 3], [0, 0, 1 / 3]]
    np.testing.assert_allclose(first["placements_left"], expected, rtol=1e-6)
    np.testing.assert_allclose([first["shots_left"], second["shots_left"]], 1 / 3, rtol=1e-6)
    assert first["ships_sunk"].tolist() == [[0, 0], [1, 0]]
    assert second["ships_sunk"].tolist() == [[1, 0], [0, 0]]
    assert [first["player"].tolist(), second["player"].tolist()] == [[1, 0], [0, 1]]
    # A shot at a sunk ship sinks nothing more; the last one of all ends the game.
    again = _pieces(rules, enumeration.play(rules, [3, 4, 5, 3, 0, 0, 0]), 1)
    assert again["ships_sunk"].tolist() == [[1, 0], [0, 0]]
    ended = _pieces(rules, enumeration.play(rules, [3, 4, 5, 3, 0, 0, 1, 1, 2]), 0)
    assert ended["ships_sunk"].tolist() == [[1, 0], [1, 1]]
    np.testing.assert_allclose(ended["shots_left"], [0, 1 / 3], rtol=1e-6)


def test_battleships_features_show_no_hidden_ship() -> None:
    rules = BattleshipsRules(5, 5, "[3;2;2]")
    generator = np.random.default_rng(0)
    state = rules.initial_state()
    for move in range(30):
        legal = rules.legal_actions(state)[0].numpy().nonzero()[0]
        state = rules.apply(state, torch.tensor([generator.choice(legal)]))
        if move % 4 == 3:
            player = move // 4 % 2
            public, private = rules.public_tensor(state)[0], rules.private_tensor(state, player)[0]
            found, _ = rules.draw_histories(public, 50, generator, player, private)
            assert found.states.batch_size > 10
            seen = rules.features(found.states, player)
            assert torch.equal(seen, rules.features(state, player).expand_as(seen))


SIMULTANEOUS: dict[str, Rules] = {
    "goofspiel 5, descending": GoofspielIIRules(5, "descending"),
    "goofspiel 5, random": GoofspielIIRules(5),
    "goofspiel 4, last round": GoofspielIIRules(4, "ascending", forced_last_round=True),
    "oshi-zumo": OshiZumoIIRules(),
    "oshi-zumo, all coins are spent": OshiZumoIIRules(6, 0, 2, optimal_endgame=False, horizon=5),
}


@pytest.mark.parametrize("name", SIMULTANEOUS)
def test_seats_of_simultaneous_games_see_the_same(name: str) -> None:
    """At its decision each player sees what the other sees where all bids are exchanged."""
    rules = SIMULTANEOUS[name]
    generator = torch.Generator().manual_seed(0)
    state = mirrored = rules.initial_state(200)
    seen: list[torch.Tensor] = []

    def draw(weights: torch.Tensor) -> torch.Tensor:
        return (torch.rand(weights.shape, generator=generator) * (weights > 0)).argmax(dim=1)

    while True:
        player = rules.current_player(state)
        assert torch.equal(player, rules.current_player(mirrored))
        if bool((player == rules_module.TERMINAL_PLAYER).all()):
            break
        if bool((player == rules_module.CHANCE_PLAYER).any()):
            outcome = draw(rules.chance_probabilities(state))
            state, mirrored = rules.apply(state, outcome), rules.apply(mirrored, outcome)
            continue
        # Games that are over stay as they are, whatever is bid.
        first = draw(rules.legal_actions(state))
        after = rules.apply(state, first)
        second = draw(rules.legal_actions(after))
        mirrored_after = rules.apply(mirrored, second)
        goes_on = player == 0
        for ours, theirs in (((state, 0), (mirrored_after, 1)), ((after, 1), (mirrored, 0))):
            mine, other = rules.features(*ours), rules.features(*theirs)
            assert torch.equal(mine[goes_on], other[goes_on])
            seen.append(mine[goes_on])
        state, mirrored = rules.apply(after, second), rules.apply(mirrored_after, first)
        assert torch.equal(rules.features(state, 0), rules.features(mirrored, 1))
    assert torch.equal(rules.returns(state), -rules.returns(mirrored))
    assert len(torch.unique(torch.cat(seen), dim=0)) > 50


def test_goofspiel_is_seen_by_hand_points_and_rounds() -> None:
    rules = GoofspielIIRules(4, "descending")
    # Bids 3 and 1, then 2 and 4; player 0 bids 1.
    state = enumeration.play(rules, [2, 0, 1, 3, 0])
    first, second = _pieces(rules, state, 0), _pieces(rules, state, 1)
    assert first["hand"].tolist() == [0, 0, 0, 1]
    assert second["hand"].tolist() == [0, 1, 1, 0]
    assert first["point_card"].tolist() == [0, 1, 0, 0]
    assert first["point_cards_left"].tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(first["points"], [0.4, 0.3, 0.1], rtol=1e-6)
    np.testing.assert_allclose(second["points"], [0.3, 0.4, -0.1], rtol=1e-6)
    assert first["bids"].argmax(axis=1).tolist() == [2, 1, 0, 0]
    assert first["bids"].sum(axis=1).tolist() == [1, 1, 1, 0]
    assert second["bids"].sum(axis=1).tolist() == [1, 1, 0, 0]
    assert first["outcomes"].tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert second["outcomes"].tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]]
    ended = _pieces(rules, enumeration.play(rules, [2, 0, 1, 3, 0, 1]), 0)
    assert not ended["hand"].any()
    assert not ended["point_card"].any()
    assert ended["outcomes"].argmax(axis=1).tolist() == [0, 2, 2, 0]


def test_leduc_is_seen_by_ranks_chips_and_betting() -> None:
    rules = LeducRules()
    # King and queen; check, raise, call; the other queen; raise.
    state = enumeration.play(rules, [4, 2, 1, 2, 1, 3, 2])
    first, second = _pieces(rules, state, 0), _pieces(rules, state, 1)
    assert first["private_rank"].tolist() == [0, 0, 1]
    assert second["private_rank"].tolist() == first["public_rank"].tolist() == [0, 1, 0]
    assert [first["is_pair"].item(), second["is_pair"].item()] == [0, 1]
    np.testing.assert_allclose(first["contributions"], [7 / 13, 3 / 13], rtol=1e-6)
    np.testing.assert_allclose(second["contributions"], [3 / 13, 7 / 13], rtol=1e-6)
    assert first["betting"][0].argmax(axis=1).tolist() == [1, 2, 1, 0]
    assert first["betting"][1].argmax(axis=1).tolist() == [2, 0, 0, 0]
    assert first["betting"].sum() == 4
    assert first["player"].tolist() == [1, 0]


def test_liars_dice_are_seen_by_counts_and_bids() -> None:
    rules = LiarsDiceRules(2, 3)
    # 1 and 1, 3 and 2; bids 1-2, 2-2, 3-1; called.
    state = enumeration.play(rules, [0, 0, 2, 1, 1, 4, 6, 12])
    first, second = _pieces(rules, state, 0), _pieces(rules, state, 1)
    assert first["dice"].tolist() == [1, 0, 0]
    assert second["dice"].tolist() == [0, 0.5, 0.5]
    assert first["quantity"].tolist() == [0, 0, 1, 0]
    assert first["face"].tolist() == [1, 0, 0]
    assert first["own_bids"].nonzero()[0].tolist() == [1, 6]
    assert first["opponent_bids"].nonzero()[0].tolist() == [4]
    assert second["own_bids"].nonzero()[0].tolist() == [4]
    assert first["called"].item() == 1
    begun = _pieces(rules, enumeration.play(rules, [0, 0, 2, 1]), 0)
    assert not any(begun[name].any() for name in ("quantity", "face", "own_bids", "called"))


def test_phantom_games_are_seen_by_own_and_found_stones() -> None:
    rules = phantom_ttt()
    # Player 0 lays 4. Player 1 fails there and lays 0.
    state = enumeration.play(rules, [4, 4, 0])
    first, second = _pieces(rules, state, 0), _pieces(rules, state, 1)
    assert first["own_stones"].nonzero()[0].tolist() == [4]
    assert not first["found_stones"].any()
    assert second["own_stones"].nonzero()[0].tolist() == [0]
    assert second["found_stones"].nonzero()[0].tolist() == [4]
    assert second["untried"].nonzero()[0].tolist() == [1, 2, 3, 5, 6, 7, 8]
    np.testing.assert_allclose(second["counts"], 1 / 9, rtol=1e-6)
    assert second["own_tries"][:3].argmax(axis=1).tolist() == [4, 0, 0]
    assert second["own_tries"].sum() == 2
    assert first["steps"].sum() == 3
    assert [first["player"].tolist(), second["player"].tolist()] == [[1, 0], [0, 1]]


def test_oshi_zumo_is_seen_by_location_coins_and_rounds() -> None:
    rules = OshiZumoIIRules(coins=5, start_location=2)
    state = enumeration.play(rules, [3, 1, 1, 2, 1])
    first, second = _pieces(rules, state, 0), _pieces(rules, state, 1)
    assert first["location"].tolist() == second["location"].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert first["coins"].tolist() == [0, 0, 0, 0, 0]
    assert second["coins"].tolist() == [1, 1, 0, 0, 0]
    assert first["bids"].argmax(axis=1).tolist() == [3, 1, 1, 0, 0]
    assert second["bids"].sum(axis=1).tolist() == [1, 1, 0, 0, 0]
    assert first["outcomes"].tolist() == [[1, 0, 0], [0, 0, 1], [0] * 3, [0] * 3, [0] * 3]
    pushed = enumeration.play(rules, [3, 1])
    assert _pieces(rules, pushed, 0)["location"].argmax() == 4
    assert _pieces(rules, pushed, 1)["location"].argmax() == 2
