"""The Battleships position of section 2, by enumeration and by search."""

import itertools

import numpy as np
import pytest

from experiments.sepot import position as battleships
from experiments.sepot.position import POSITION, RATIONAL_TILES, position, tile
from spiel_dl.learning import checkpoints
from spiel_dl.play.presets import game_string
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.public_states import consistent_histories
from tests.reference import state_after
from tests.small_learners import small_learner
from tests.tiny_sepot import CRITIC, report
from tests.untrained_blueprints import network_critic, network_policy


def untrained(seed, scale=1.0):
    """Networks of the game before training; a scale above 1 makes them opinionated."""
    game = load_turn_based(game_string("battleships_5x5"))
    how = {"scale": scale, "seed": seed}
    return network_policy(game, (64,), **how), network_critic(game, (64,), **how)


def possible_states():
    """OpenSpiel's states of all histories of the public state."""
    state = position()
    game = state.get_game()
    found = consistent_histories(state, 25_000)
    assert found.complete
    return [state_after(game, actions) for actions in found.actions.tolist()]


def ships_left(state, player):
    """The open tiles of a player's board that hold a ship, of what is printed for people."""
    lines = str(state).splitlines()[2:7]
    columns = slice(2, 11) if player == 0 else slice(17, 26)
    rows = [line.ljust(26)[columns].split() for line in lines]
    return frozenset(
        5 * row + column
        for row, marks in enumerate(rows)
        for column, mark in enumerate(marks)
        if mark.islower()
    )


def tiles(*names):
    return frozenset(map(tile, names))


def test_there_are_the_papers_four_positions():
    states = possible_states()
    pairs = {(ships_left(state, 0), ships_left(state, 1)) for state in states}
    own = {tiles("A1", "A2"), tiles("A2", "B2")}
    expected = {tiles("A1", "A2", "A3"), tiles("A3", "B3", "C3")}
    assert pairs == set(itertools.product(own, expected))
    # Each player's two ships of two tiles may have been placed in either order.
    assert len(states) == 4 * 2 * 2
    assert all(state.current_player() == 0 for state in states)
    assert ships_left(position(), 0) == tiles("A1", "A2")


def test_only_the_rational_tiles_can_win():
    """By the game's own rules: three shots of player 0, and the opponent's two in between.

    The opponent wins with its third shot at the latest, wherever the ship is, by shooting at A2, A1
    and B2. So player 0 must have won with its third, which only these five tiles allow.
    """
    states, winners = possible_states(), set()
    answers = [tile("A2"), tile("A1"), tile("B2")]
    by_position = {(ships_left(state, 0), ships_left(state, 1)): state for state in states}
    assert len(by_position) == 4
    for own, _ in by_position:
        assert own <= set(answers)
    legal = position().legal_actions()
    for shots in itertools.permutations(legal, 3):
        for state in by_position.values():
            if wins(state.clone(), shots, answers):
                winners.add(shots[0])
    assert winners == tiles(*RATIONAL_TILES)
    assert len(legal) - len(winners) == 3


def wins(state, shots, answers):
    """Whether player 0's shots sink the fleet before the opponent's answers do."""
    for shot, answer in zip(shots, answers, strict=True):
        state.apply_action(shot)
        if state.is_terminal():
            return state.returns()[0] > 0
        state.apply_action(answer)
        if state.is_terminal():
            return state.returns()[0] > 0
    return False


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "scale"), [(0, 1.0), (1, 1.0), (2, 3.0)])
def test_search_shoots_where_ships_can_be(seed, scale):
    """Section 2: whatever the network says. The paper's R-NaD: 0.40 after three days."""
    answer = battleships.measure(*untrained(seed, scale=scale))
    assert answer.search > 0.95
    assert answer.network < 0.95
    assert np.isfinite(answer.seconds)


def test_the_report_asks_at_every_limit(tmp_path):
    game = load_turn_based(game_string("battleships_5x5"))
    sizes = {"critic": CRITIC, "hidden_sizes": (4,), "batch_size": 2}
    learner = small_learner("rnad", game, transformations="paper", **sizes)
    checkpoint = tmp_path / "network.safetensors"
    learner.save(checkpoint)
    limits = tuple(DepthLimit(moves=number) for number in (1, 2))
    found = report(POSITION, tmp_path, network=str(checkpoint), limits=limits)
    rows = found.tables["By seed"].rows
    assert [row["limit"] for row in rows] == ["1 moves", "2 moves"]
    blueprint, critic = checkpoints.load(checkpoint)
    for row, limit in zip(rows, limits, strict=True):
        answer = battleships.measure(blueprint, critic, limit)
        assert (row["network"], row["search"]) == (answer.network, answer.search)
    assert rows[0]["search"] != rows[1]["search"]
    assert found.verdict.startswith("see the tables")
    with pytest.raises(ValueError, match="there is no network none/battleships_5x5"):
        report(POSITION, tmp_path, network="none/{game}")
