"""Particles and sparse trunks against whole trees, and against histories counted by hand."""

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.particles import Particles, sample_consistent, weighted_order
from spiel_dl.tree.sparse_tree import root_ranges, sparse_trunk

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order=descending)"
CASES = [
    (GOOFSPIEL.format(4), [], DepthLimit(rounds=1)),
    (GOOFSPIEL.format(4), [3, 2], DepthLimit(rounds=2)),
    (GOOFSPIEL.format(4), [3, 2], DepthLimit(moves=3)),
    ("python_goofspiel_ii(num_cards=3,points_order=random)", [0], DepthLimit(plies=3)),
    ("python_leduc", [0, 1], DepthLimit(rounds=1)),
    ("python_leduc", [0, 1, 1], DepthLimit(plies=2)),
]


def state_after(game_string, actions):
    state = pyspiel.load_game(game_string).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def whole_trunk(game_string, actions, limit):
    """The trunk of the whole tree that starts in the public state of a history."""
    tree = GameTree.from_game(game_string)
    history = 0
    for action in actions:
        children = np.flatnonzero(tree.parent == history)
        history = int(children[tree.action[children] == action][0])
    return cut(tree, limit, int(tree.public_states.of_history[history]))


def root_key(trunk, player):
    """From root sequence to infoset key."""
    inside = np.flatnonzero(trunk.root_of_history[player] >= 0)
    roots, first = np.unique(trunk.root_of_history[player, inside], return_index=True)
    assert roots.tolist() == list(range(len(trunk.root_infosets[player])))
    return trunk.tree.infoset_key[player, inside[first]].tolist()


def sequence_names(trunk, player):
    """From sequence of the trunk to (infoset key, action), or (root infoset key, None)."""
    tree, names = trunk.tree, [(key, None) for key in root_key(trunk, player)]
    for infoset in trunk.infosets[player].tolist():
        key = int(tree.infoset_key[player, tree.first_history[player][infoset]])
        names += [(key, action) for action in tree.legal_actions(player, infoset).tolist()]
    return names


def leaf_names(trunk, player):
    """Of each leaf infoset: its key, that of its public state, and the sequence it hangs from."""
    leaves, sequences = trunk.leaves, sequence_names(trunk, player)
    _, first = np.unique(leaves.infoset_of_history[player], return_index=True)
    history = leaves.histories[first]
    keys = trunk.tree.infoset_key[player, history].tolist()
    public = trunk.tree.public_key[history].tolist()
    return sorted(
        zip(keys, public, [sequences[s] for s in leaves.sequences[player]], strict=True), key=str
    )


@pytest.mark.parametrize(("game", "actions", "limit"), CASES)
def test_with_all_histories_it_is_the_whole_trunk(game, actions, limit):
    whole = whole_trunk(game, actions, limit)
    particles = Particles.of_public_state(state_after(game, actions))
    sparse = sparse_trunk(particles, limit)
    payoffs = []
    for trunk in (whole, sparse):
        names = [sequence_names(trunk, player) for player in (0, 1)]
        matrix = trunk.sequence_form.payoffs.tocoo()
        rows, columns = (c.tolist() for c in matrix.coords)
        entries = zip(rows, columns, matrix.data.tolist(), strict=True)
        payoffs.append({(names[0][r], names[1][c]): value for r, c, value in entries})
    assert payoffs[0] == pytest.approx(payoffs[1], rel=1e-12)
    for player in (0, 1):
        names = [sorted(sequence_names(trunk, player), key=str) for trunk in (whole, sparse)]
        assert names[0] == names[1]
        assert leaf_names(whole, player) == leaf_names(sparse, player)
    np.testing.assert_allclose(
        np.sort(whole.leaves.chance_reach), np.sort(sparse.leaves.chance_reach)
    )


def test_only_what_follows_the_particles_is_built():
    """Two of the particles after one round of 4 cards, won by player 0: 3 * 3 leaves below each."""
    particles = Particles.of_public_state(state_after(GOOFSPIEL.format(4), [3, 2]))
    assert particles.num_particles == 6
    trunk = sparse_trunk(particles.take(np.array([0, 5])), DepthLimit(rounds=1))
    assert len(trunk.leaves.histories) == 18
    assert trunk.tree.num_histories == 1 + 2 + 6 + 18


def test_ranges_are_the_reaches_of_infosets():
    state = state_after(GOOFSPIEL.format(4), [3, 2])
    particles = Particles.of_public_state(state)
    # Player 0's bid is its infoset, and player 1's is its own.
    bids = [particles.states.played[:, column].numpy() for column in (0, 4)]
    reach = np.stack([bids[0] / 10, bids[1] / 100])
    particles = Particles(state.get_game(), particles.states, reach, particles.chance_reach)
    trunk = sparse_trunk(particles, DepthLimit(rounds=1))
    range_0, range_1 = root_ranges(trunk, particles)
    assert sorted(range_0.tolist()) == pytest.approx([0.2, 0.3, 0.4])
    assert sorted(range_1.tolist()) == pytest.approx([0.01, 0.02, 0.03])
    reach[0, -1] += 0.5
    with pytest.raises(ValueError, match="differ in its reach"):
        root_ranges(trunk, Particles(particles.game, particles.states, reach, np.ones(6)))


def test_selection_by_reach():
    state = state_after(GOOFSPIEL.format(4), [3, 2])
    found = Particles.of_public_state(state)
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
    found = Particles.of_public_state(state_after(GOOFSPIEL.format(6), [5, 4, 4, 3]))
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
    ("game", "actions"),
    [(GOOFSPIEL.format(4), [3, 2, 0, 1]), ("python_leduc", [0, 1, 1, 1, 2, 1])],
)
def test_random_histories_are_consistent(game, actions, player):
    """With a large budget all of them, of the public state or of one infoset; with less, some."""
    state = state_after(game, actions)
    rules = state.get_game().rules
    public = rules.public_tensor(state.batch, True)[0]
    everything = Particles.of_public_state(state)
    tensors = [rules.history_tensor(everything.states).numpy()]
    own = {}
    if player is not None:
        private = rules.private_tensor(state.batch, player, True)
        own = {"player": player, "private_tensor": private[0]}
        found = rules.private_tensor(everything.states, player, True)
        tensors[0] = tensors[0][(found == private).all(dim=1).numpy()]
    wanted = {row.tobytes() for row in tensors[0]}
    for budget in (1000, 2):
        generator = np.random.default_rng(0)
        particles = sample_consistent(state.get_game(), public, budget, generator, **own)
        rows = {row.tobytes() for row in rules.history_tensor(particles.states).numpy()}
        assert len(rows) == particles.num_particles == min(budget, len(wanted))
        assert rows <= wanted


def test_reaches_of_random_histories_are_those_of_uniform_play():
    """Goofspiel with random order: 4 cards, one bid each by both, and two deals."""
    state = state_after("python_goofspiel_ii(num_cards=4,points_order=random)", [0, 1, 2, 3])
    public = state.get_game().rules.public_tensor(state.batch, True)[0]
    particles = sample_consistent(state.get_game(), public, 100, np.random.default_rng(0))
    np.testing.assert_allclose(particles.reach, 1 / 4)
    np.testing.assert_allclose(particles.chance_reach, 1 / 12)


def test_errors():
    with pytest.raises(ValueError, match=r"kuhn_poker.*has no Rules"):
        Particles(pyspiel.load_game("kuhn_poker"), None, np.ones((2, 1)), np.ones(1))
    state = state_after(GOOFSPIEL.format(4), [3, 2])
    particles = Particles.of_public_state(state)
    with pytest.raises(ValueError, match=r"got shapes \(2, 5\)"):
        Particles(particles.game, particles.states, np.ones((2, 5)), np.ones(6))
    with pytest.raises(ValueError, match="budget=0"):
        particles.sample(0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="more than limit=3"):
        Particles.of_public_state(state, limit=3)
    with pytest.raises(ValueError, match="max_histories=20"):
        sparse_trunk(particles, DepthLimit(rounds=1), max_histories=20)
    leduc = pyspiel.load_game("python_leduc")
    root = Particles(leduc, leduc.rules.initial_state(), np.ones((2, 1)), np.ones(1))
    with pytest.raises(ValueError, match="a player must act"):
        sparse_trunk(root, DepthLimit(rounds=1))
    other = Particles.of_public_state(state_after(GOOFSPIEL.format(4), [2, 3]))
    with pytest.raises(ValueError, match="several public states"):
        sparse_trunk(particles.joined(other), DepthLimit(rounds=1))
    with pytest.raises(ValueError, match="ends at the depth limit of 1 rounds, so it has no sub"):
        _ = sparse_trunk(particles, DepthLimit(rounds=1)).leaves.subgames
    bits = state.get_game().rules.public_tensor(state.batch, True)[0]
    with pytest.raises(ValueError, match="found no history"):
        sample_consistent(state.get_game(), bits + 1, 10, np.random.default_rng(0))
