"""Particles: selected, joined, and found for a public state, against lists made by hand."""

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.tree import beam
from spiel_dl.tree.beam import sample_consistent
from spiel_dl.tree.particles import Particles, weighted_order
from tests import reference
from tests.public_states import history_tensor, particles_of

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order=descending)"


def test_a_public_state_by_hand():
    """Player 0 won the first of four rounds by the 4 or less, so it bid more than player 1."""
    particles = particles_of(reference.state_after(GOOFSPIEL.format(4), [3, 2]))
    bids = [particles.states.played[:, column].tolist() for column in (0, 4)]
    pairs = set(zip(*bids, strict=True))
    assert pairs == {(high, low) for high in range(1, 5) for low in range(1, high)}
    assert particles.num_particles == 6
    assert particles.total_reach.tolist() == [1.0] * 6


def test_rows_are_taken_and_joined_with_their_reaches():
    found = particles_of(reference.state_after("python_leduc", [0, 1]))
    reach = np.arange(2.0 * found.num_particles).reshape(2, -1)
    particles = Particles(found.game, found.states, reach, found.chance_reach)
    last_first = particles.take(np.array([5, 0]))
    np.testing.assert_array_equal(last_first.reach, reach[:, [5, 0]])
    both = last_first.joined(particles.take(np.array([2])))
    np.testing.assert_array_equal(both.reach, reach[:, [5, 0, 2]])
    of_both, of_found = (history_tensor(found.game.rules, each.states) for each in (both, found))
    assert of_both.equal(of_found[[5, 0, 2]])
    # Two of six cards are dealt, one after the other.
    assert found.num_particles == 30
    np.testing.assert_allclose(found.chance_reach, 1 / 30)


def test_selection_by_reach():
    state = reference.state_after(GOOFSPIEL.format(4), [3, 2])
    found = particles_of(state)
    reach = np.array([[1, 2, 3, 4, 5, 6], [1, 1, 1, 0, 1, 1]]) / 6
    particles = Particles(found.game, found.states, reach, np.ones(6))
    counts = np.zeros(6)
    generator = np.random.default_rng(0)
    for _ in range(4000):
        counts[np.rint(particles.sample(1, generator).reach[0] * 6).astype(int) - 1] += 1
    expected = 4000 * particles.total_reach / particles.total_reach.sum()
    assert counts[3] == 0
    np.testing.assert_allclose(counts, expected, atol=4 * np.sqrt(1000))
    assert particles.sample(10, generator).num_particles == 6


def test_selection_of_infosets():
    """Of a 10 x 10 table of histories, three of each of three rows, and so of columns."""
    found = particles_of(reference.state_after(GOOFSPIEL.format(6), [5, 4, 4, 3]))
    particles = found.take(np.arange(100))
    table = np.stack([np.arange(100) // 10, np.arange(100) % 10])
    particles.reach[0] = table[0] > 0
    particles.chance_reach[:] = np.arange(1, 101)
    generator = np.random.default_rng(0)
    drawn = np.zeros(10)
    for _ in range(200):
        chosen = particles.sample_infosets(table, 18, generator).chance_reach.astype(int) - 1
        assert len(np.unique(chosen)) == len(chosen)
        assert 9 <= len(chosen) <= 18
        rows, columns = (np.sort(np.bincount(ids, minlength=10)) for ids in table[:, chosen])
        assert rows[-3] >= 3
        assert columns[-3] >= 3
        drawn += np.bincount(table[0, chosen], minlength=10)
    # Rows are drawn by their reach, which grows from one to the next.
    assert drawn[0] == 0
    assert (np.diff(drawn) > 0).mean() > 0.7
    assert drawn[-1] > 2 * drawn[1]
    alone = np.stack([np.arange(100)] * 2)
    assert 9 <= particles.sample_infosets(alone, 18, generator).num_particles <= 18
    assert particles.sample_infosets(table, 100, generator) is particles
    with pytest.raises(ValueError, match="budget=0"):
        particles.sample_infosets(table, 0, generator)


def test_weightless_entries_come_last():
    order = weighted_order(np.array([0.0, 1e-300, 0.0, 1.0]), np.random.default_rng(0))
    assert sorted(order[:2].tolist()) == [1, 3]
    assert sorted(order.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("player", [None, 0, 1])
@pytest.mark.parametrize(
    ("game", "actions"), [(GOOFSPIEL.format(4), [3, 2, 0, 1]), ("python_leduc", [0, 1, 1, 1, 2, 1])]
)
def test_random_histories_are_consistent(game, actions, player):
    """With a large budget all of them, of the public state or of one infoset; with less, some."""
    state = reference.state_after(game, actions)
    rules = state.get_game().rules
    public = rules.public_tensor(state.batch, True)[0]
    everything = particles_of(state)
    tensors = [history_tensor(rules, everything.states).numpy()]
    own = {}
    if player is not None:
        private = rules.private_tensor(state.batch, player, True)
        own = {"player": player, "private_tensor": private[0]}
        found = rules.private_tensor(everything.states, player, True)
        tensors[0] = tensors[0][(found == private).all(dim=1).numpy()]
    tensors_of_state = {row.tobytes() for row in tensors[0]}
    for budget in (1000, 2):
        generator = np.random.default_rng(0)
        particles = sample_consistent(state.get_game(), public, budget, generator, **own)
        rows = {row.tobytes() for row in history_tensor(rules, particles.states).numpy()}
        assert len(rows) == particles.num_particles == min(budget, len(tensors_of_state))
        assert rows <= tensors_of_state


def test_reaches_of_random_histories_are_those_of_uniform_play():
    """Goofspiel with random order: 4 cards, one bid each by both, and two deals."""
    state = reference.state_after(
        "python_goofspiel_ii(num_cards=4,points_order=random)", [0, 1, 2, 3]
    )
    public = state.get_game().rules.public_tensor(state.batch, True)[0]
    particles = sample_consistent(state.get_game(), public, 100, np.random.default_rng(0))
    np.testing.assert_allclose(particles.reach, 1 / 4)
    np.testing.assert_allclose(particles.chance_reach, 1 / 12)


@pytest.mark.parametrize(
    ("game", "actions"),
    [
        ("python_dark_hex", [4, 2, 9, 2, 8, 4, 7, 9, 1, 9, 9, 8]),
        ("python_phantom_ttt", [6, 1, 9, 5, 9, 6, 0, 9, 4, 9, 9, 4, 5, 7]),
    ],
)
def test_small_budgets_find_what_few_random_histories_have_shown(
    game: str, actions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 of each length do not."""
    state = reference.state_after(game, actions)
    rules, player = state.get_game().rules, state.current_player()
    public = rules.public_tensor(state.batch, True)[0]
    private = rules.private_tensor(state.batch, player, True)

    def found() -> Particles:
        generator = np.random.default_rng(0)
        return sample_consistent(
            state.get_game(), public, 1, generator, player=player, private_tensor=private[0]
        )

    assert torch.equal(rules.private_tensor(found().states, player, True), private)
    monkeypatch.setattr(beam, "_LARGEST_BEAM", 64)
    with pytest.raises(ValueError, match="found no history with these observations among 64 "):
        found()


def test_errors():
    with pytest.raises(ValueError, match=r"kuhn_poker.*has no Rules; use one of"):
        Particles(pyspiel.load_game("kuhn_poker"), None, np.ones((2, 1)), np.ones(1))
    state = reference.state_after(GOOFSPIEL.format(4), [3, 2])
    particles = particles_of(state)
    with pytest.raises(ValueError, match=r"got shapes \(2, 5\)"):
        Particles(particles.game, particles.states, np.ones((2, 5)), np.ones(6))
    with pytest.raises(ValueError, match="budget=0"):
        particles.sample(0, np.random.default_rng(0))
    bits = state.get_game().rules.public_tensor(state.batch, True)[0]
    with pytest.raises(ValueError, match="found no history"):
        sample_consistent(state.get_game(), bits + 1, 10, np.random.default_rng(0))
