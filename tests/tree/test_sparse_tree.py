"""Sparse trunks against whole trees, and against histories counted by hand."""

import ast
import re

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.rules import StateBatch
from spiel_dl.tree import DepthLimit, GameTree, cut, from_rules
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sparse_tree import root_ranges, sparse_trunk
from tests import reference
from tests.public_states import particles_of

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order=descending)"
CASES = [
    (GOOFSPIEL.format(4), [3, 2], DepthLimit(rounds=2)),
    (GOOFSPIEL.format(4), [3, 2], DepthLimit(moves=3)),
    ("python_goofspiel_ii(num_cards=3,points_order=random)", [0], DepthLimit(plies=3)),
    ("python_leduc", [0, 1], DepthLimit(rounds=1)),
]


def whole_trunk(game_string, actions, limit):
    """The trunk of the whole tree that starts in the public state of a history."""
    tree = GameTree.from_game(game_string)
    history = 0
    for action in actions:
        children = np.flatnonzero(tree.parent == history)
        history = int(children[tree.action[children] == action][0])
    return cut(tree, limit, int(tree.public_states.of_history[history]))


def sequence_names(trunk, player):
    """From sequence of the trunk to (infoset key, action), or (root infoset key, None)."""
    tree = trunk.tree
    roots, first = np.unique(trunk.extent.start_roots[player], return_index=True)
    assert roots.tolist() == list(range(len(trunk.root_infosets[player])))
    keys = tree.infoset_key[player, trunk.extent.starts[first]].tolist()
    names = [(key, None) for key in keys]
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
    particles = particles_of(reference.state_after(game, actions))
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
    particles = particles_of(reference.state_after(GOOFSPIEL.format(4), [3, 2]))
    assert particles.num_particles == 6
    trunk = sparse_trunk(particles.take(np.array([0, 5])), DepthLimit(rounds=1))
    assert len(trunk.leaves.histories) == 18
    assert trunk.tree.num_histories == 1 + 2 + 6 + 18


def test_ranges_are_the_reaches_of_infosets():
    state = reference.state_after(GOOFSPIEL.format(4), [3, 2])
    particles = particles_of(state)
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


def test_what_a_player_knows_is_named():
    """As the whole game names it, in all infosets of the trunk."""
    state = reference.state_after("python_leduc", [0, 1])
    tree = sparse_trunk(particles_of(state), DepthLimit(rounds=1)).tree
    whole = GameTree.from_game("python_leduc")
    for player in (0, 1):
        keys = whole.infoset_key[player, whole.first_history[player]].tolist()
        for infoset, first in enumerate(tree.first_history[player].tolist()):
            same = keys.index(int(tree.infoset_key[player, first]))
            found = tree.infoset_string(player, infoset)
            assert found == whole.infoset_string(player, same)
    with pytest.raises(ValueError, match="infoset=-1 must be from 0 to"):
        tree.infoset_string(0, -1)


def test_a_sparse_tree_is_no_game_tree():
    """It answers for the part below its particles only, so whole games' solvers refuse it."""
    particles = particles_of(reference.state_after(GOOFSPIEL.format(4), [3, 2]))
    tree = sparse_trunk(particles, DepthLimit(rounds=1)).tree
    assert isinstance(tree, CompiledTree)
    assert not isinstance(tree, GameTree)
    with pytest.raises(ValueError, match="keeps no OpenSpiel states"):
        tree.state(1)


def test_what_is_too_large_is_refused_before_it_is_listed(monkeypatch):
    """Searches of a bounded size ask for trees of any size."""
    particles = particles_of(reference.state_after(GOOFSPIEL.format(4), [3, 2]))
    limit = DepthLimit(plies=1)
    size = sparse_trunk(particles, limit).tree.num_histories
    first = 1 + particles.num_particles
    monkeypatch.setattr(from_rules, "_CHUNK", 1)  # rows that are expanded at a time
    with pytest.raises(ValueError, match=rf"max_histories={first} ") as refused:
        sparse_trunk(particles, limit, max_histories=first)
    (seen,) = re.findall(r"\((\d+) seen", str(refused.value))
    assert first < int(seen) <= first + 4 < size


def test_errors():
    state = reference.state_after(GOOFSPIEL.format(4), [3, 2])
    particles = particles_of(state)
    leduc = pyspiel.load_game("python_leduc")
    root = Particles(leduc, leduc.rules.initial_state(), np.ones((2, 1)), np.ones(1))
    with pytest.raises(ValueError, match="a player must act"):
        sparse_trunk(root, DepthLimit(rounds=1))
    with pytest.raises(ValueError, match="ends at the depth limit of 1 rounds, so it has no sub"):
        _ = sparse_trunk(particles, DepthLimit(rounds=1)).leaves.subgames


def test_an_error_of_recall_names_the_infoset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infosets of the second round that forget the first one's bets."""
    particles = particles_of(reference.state_after("python_leduc", [0, 1]))
    tree = GameTree.from_game("python_leduc")
    of_level = from_rules.InfosetKeys.of_level

    def forgetful(self: from_rules.InfosetKeys, states: StateBatch) -> tuple[np.ndarray, ...]:
        infosets, public = of_level(self, states)
        rounds = particles.game.rules.round_index(states).numpy()
        return np.where(rounds == 1, rounds, infosets), public

    monkeypatch.setattr(from_rules.InfosetKeys, "of_level", forgetful)
    with pytest.raises(ValueError, match=r"legal actions differ|imperfect recall") as error:
        sparse_trunk(particles, DepthLimit(moves=6))
    named = re.search(r"layer (\d)'s infoset (.*?)(, so| is reached)", str(error.value))
    assert named is not None
    player = int(named[1])
    of_second_round = {
        tree.infoset_string(player, infoset)
        for infoset, history in enumerate(tree.first_history[player])
        if tree.round_number[history] == 1
    }
    assert ast.literal_eval(named[2]) in of_second_round
