"""Beliefs, exact and drawn, against the reach of histories in compiled games."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pyspiel
import pytest

from spiel_dl.policies.array_policy import plans_of
from spiel_dl.search.beliefs import Belief, Beliefs, DrawnBelief, ListedBelief
from spiel_dl.search.policy_rows import TensorPolicy
from spiel_dl.tree import GameTree
from spiel_dl.tree.beam import drawn_by_policies, sample_consistent
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.particles import Particles
from tests.reference import state_after
from tests.untrained_blueprints import Blueprint

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"
SHIPS = "python_battleships(board_width=3,board_height=3,ship_sizes=[2;2])"
PLACES = {
    GOOFSPIEL: [3, 2, 0, 1],
    "python_goofspiel_ii(num_cards=3,points_order=random)": [0, 1, 2, 1],
    "python_leduc": [0, 3, 1, 1, 4],
}
NUM_DRAWN = 150


def total_variation(exact: Particles, sample: Particles) -> float:
    """The total variation distance of a sample's belief from the exact one."""
    masses: dict[tuple[int, int], float] = {}
    for particles, sign in ((exact, 1.0), (sample, -1.0)):
        total = particles.total_reach
        if not total.any():
            return 1.0
        pairs = particles.infoset_keys.T.tolist()
        for pair, mass in zip(pairs, (total / total.sum()).tolist(), strict=True):
            name = (pair[0], pair[1])
            masses[name] = masses.get(name, 0.0) + sign * mass
    return 0.5 * sum(abs(mass) for mass in masses.values())


def beliefs(game_string: str, actions: list[int]) -> tuple[pyspiel.State, ListedBelief, Belief]:
    """A state, the exact belief of its public state, and one that draws."""
    state = state_after(game_string, actions)
    game = state.get_game()
    rows = TensorPolicy(game.rules, Blueprint(game))
    public = game.rules.public_tensor(state.batch, True)[0]
    listed = Beliefs(game, max_listed=1000).of(0, public, rows)
    drawn = Beliefs(game, max_listed=2).of(0, public, rows)
    assert isinstance(listed, ListedBelief)
    assert isinstance(drawn, DrawnBelief)
    return state, listed, drawn


@pytest.mark.parametrize(("game_string", "actions"), PLACES.items())
def test_a_listed_belief_is_that_of_the_compiled_game(game_string, actions):
    _, belief, _ = beliefs(game_string, actions)
    tree = GameTree.from_game(game_string)
    plans = plans_of(tree, Blueprint(tree.game).tabulate(tree).strategies)
    rows = {tuple(pair): row for row, pair in enumerate(tree.infoset_key.T.tolist())}
    histories = [rows[tuple(pair)] for pair in belief.infoset_keys.T.tolist()]
    found = belief.particles
    assert found.num_particles > 2
    np.testing.assert_allclose(found.chance_reach, tree.chance_reach[histories])
    for player in (0, 1):
        expected = plans[player][tree.sequence[player, histories]]
        np.testing.assert_allclose(found.reach[player], expected, rtol=1e-5)


def average_masses(belief: ListedBelief, samples: list[Particles]) -> np.ndarray:
    """The mean mass of each history over samples, those where it was not drawn included."""
    place = {tuple(pair): i for i, pair in enumerate(belief.infoset_keys.T.tolist())}
    total = np.zeros(len(place))
    for sample in samples:
        keys = keys_of(sample)
        assert len(set(keys)) == len(keys), "no history is drawn twice"
        total[[place[key] for key in keys]] += sample.total_reach
    return total / len(samples)


def keys_of(particles: Particles) -> list[tuple[int, int]]:
    """Both players' infosets in each particle."""
    keys = InfosetKeys(particles.game.rules).of_level(particles.states)[0]
    return [(first, second) for first, second in keys.T.tolist()]


@pytest.mark.parametrize("source", ["listed", "drawn"])
@pytest.mark.parametrize(("game_string", "actions"), [*PLACES.items()][:2])
def test_sums_over_samples_are_right_on_average(game_string, actions, source):
    _, listed, drawn = beliefs(game_string, actions)
    belief = listed if source == "listed" else drawn
    budget = max(2, listed.particles.num_particles // 3)
    samples = [belief.whole(budget, np.random.default_rng(s)) for s in range(NUM_DRAWN)]
    assert {sample.num_particles for sample in samples} <= set(range(1, budget + 1))
    exact = listed.particles.total_reach
    error = np.abs(average_masses(listed, samples) - exact).sum() / exact.sum()
    single = np.mean([total_variation(listed.particles, sample) for sample in samples])
    assert error < 0.25
    assert single > 0.05, "one sample alone says less"


@pytest.mark.parametrize(("game_string", "actions"), [*PLACES.items()][1:2])
def test_regenerated_histories_have_the_policies_reach(game_string, actions, monkeypatch):
    regenerated = mock.Mock(wraps=sample_consistent)
    monkeypatch.setattr("spiel_dl.search.beliefs.drawn_by_policies", lambda *_: None)
    monkeypatch.setattr("spiel_dl.search.beliefs.sample_consistent", regenerated)
    _, listed, belief = beliefs(game_string, actions)
    everything = listed.particles
    budget = max(2, everything.num_particles // 2)
    samples = [belief.whole(budget, np.random.default_rng(s)) for s in range(NUM_DRAWN)]
    assert regenerated.call_count == NUM_DRAWN
    place = {pair: i for i, pair in enumerate(keys_of(everything))}
    for sample in samples:
        same = [place[pair] for pair in keys_of(sample)]
        np.testing.assert_allclose(sample.reach, everything.reach[:, same], rtol=1e-5)
        np.testing.assert_allclose(sample.chance_reach, everything.chance_reach[same])
    # These draws never died out, so they are right on average.
    masses = average_masses(listed, samples)
    assert masses.sum() == pytest.approx(everything.total_reach.sum(), rel=0.25)


def test_draws_that_die_out_make_all_sums_larger_by_one_factor(monkeypatch):
    died = []

    def draw(*arguments):
        found = drawn_by_policies(*arguments)
        died.append(found is None)
        return found

    monkeypatch.setattr("spiel_dl.search.beliefs.drawn_by_policies", draw)
    _, listed, drawn = beliefs("python_oshi_zumo_ii(coins=4)", [1, 2, 1])
    samples = [drawn.whole(2, np.random.default_rng(seed)) for seed in range(120)]
    share, exact = sum(died) / len(samples), listed.particles.total_reach
    masses = average_masses(listed, samples)
    assert 0.1 < share < 0.4
    assert masses.sum() / exact.sum() == pytest.approx(1 + share, rel=0.2)
    np.testing.assert_allclose(masses / masses.sum(), exact / exact.sum(), atol=0.1)


@pytest.mark.parametrize("source", ["listed", "drawn"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("game_string", "actions"), PLACES.items())
def test_an_infoset_is_drawn_alone(game_string, actions, player, source):
    state, listed, drawn = beliefs(game_string, actions)
    belief = listed if source == "listed" else drawn
    found = belief.infoset(player, state.batch, 1000, np.random.default_rng(0))
    own = keys_of(Particles(found.game, state.batch, np.ones((2, 1)), np.ones(1)))[0][player]
    expected = {tuple(p) for p in listed.infoset_keys.T.tolist() if p[player] == own}
    assert set(keys_of(found)) == expected
    np.testing.assert_array_equal(found.stands_for, 1.0)


def test_fleets_are_drawn():
    state = state_after(SHIPS, [9, 9, 12, 12, 0, 8])
    game = state.get_game()
    public = game.rules.public_tensor(state.batch, True)[0]
    everything = game.rules.consistent_histories(public, 100_000)
    assert everything.complete
    histories_of_state = set(map(tuple, everything.actions.tolist()))
    assert len(histories_of_state) > 100
    for count in (60, len(histories_of_state)):
        found, copies = game.rules.draw_histories(public, count, np.random.default_rng(1))
        actions = set(map(tuple, found.actions.tolist()))
        assert len(actions) == len(found.actions) == count
        assert actions <= histories_of_state
        np.testing.assert_allclose(copies, len(histories_of_state) / count)
    private = game.rules.private_tensor(state.batch, 1, True)
    found, _ = game.rules.draw_histories(public, 9999, np.random.default_rng(1), 1, private[0])
    same = game.rules.private_tensor(everything.states, 1, True) == private
    assert len(found.actions) == int(same.all(dim=1).sum())
    assert bool((game.rules.private_tensor(found.states, 1, True) == private).all())
