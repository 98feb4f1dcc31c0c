"""The network's layout by hand, and how its values behave, trained or not."""

import numpy as np
import pytest
import torch

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.positional import PositionalLayout, PositionalNetwork
from tests.particle_networks import CASES, initialized, leaves_of, random_ranges


def small_network(leaves, **arguments):
    return initialized(PositionalNetwork(2, 16, **arguments), leaves)


def test_layout_of_kuhn_poker():
    """After one move: passed or bet. Each player has one of three cards in both."""
    layout = PositionalLayout.of_leaves(leaves_of("kuhn_poker", DepthLimit(moves=1)))
    assert layout.num_positions == (3, 3)
    # The 12 leaf infosets of a row are followed by a 0 at 12 and a 1 at 13.
    by_hand = [[13, 12, 0, 1, 2, 6, 7, 8], [12, 13, 3, 4, 5, 9, 10, 11]]
    np.testing.assert_array_equal(layout.input_index, by_hand)
    np.testing.assert_array_equal(layout.output_index, np.array(by_hand)[:, 2:])
    places = [0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11]
    np.testing.assert_array_equal(layout.output_of_infoset, places)


@pytest.mark.parametrize(("game", "limit"), CASES[1:])
def test_positions_mean_the_same_in_all_public_states(game, limit):
    """Infosets share a position exactly if they share the private tensor, state by state."""
    leaves = leaves_of(game, limit)
    tree = leaves.tree
    layout = PositionalLayout.of_leaves(leaves)
    rules = tree.game.rules
    start, position_of_tensor = 0, {}
    for player in (0, 1):
        for infoset in range(leaves.num_infosets(player)):
            history = leaves.histories[leaves.infoset_of_history[player].tolist().index(infoset)]
            batch = tree.state(int(history)).batch
            tensor = rules.private_tensor(batch, player, True).numpy().tobytes()
            position = layout.output_of_infoset[start + infoset] % layout.num_outputs
            assert position_of_tensor.setdefault((player, tensor), position) == position
        start += leaves.num_infosets(player)
    assert len(position_of_tensor) == len(set(position_of_tensor.values()))
    assert len(position_of_tensor) == layout.num_outputs


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_evaluation_is_the_module_public_state_by_public_state(game, limit):
    """A slow evaluation that follows the definition."""
    leaves = leaves_of(game, limit)
    network = small_network(leaves)
    ranges = random_ranges(leaves, seed=0)
    values = network.bind(leaves)
    found, layout = np.concatenate(values.evaluate(*ranges)), values.layout
    flat, split = np.concatenate(ranges), leaves.num_infosets(0)
    for inputs_from, outputs_for in zip(layout.input_index, layout.output_index, strict=True):
        is_possible = outputs_for < len(flat)
        owner = np.where(outputs_for < split, 0, 1)
        mass = [flat[outputs_for[is_possible & (owner == player)]].sum() for player in (0, 1)]
        inputs = (inputs_from == len(flat) + 1).astype(np.float32)
        num_bits = len(inputs_from) - len(outputs_for)
        for column in np.flatnonzero(is_possible):
            inputs[num_bits + column] = flat[outputs_for[column]] / mass[owner[column]]
        with torch.no_grad():
            outputs = network.module(torch.from_numpy(inputs)).numpy()
        for column in np.flatnonzero(is_possible):
            expected = outputs[column] * mass[1 - owner[column]]
            assert found[outputs_for[column]] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_network_of_a_subgame_is_for_no_other(tmp_path):
    tree = GameTree.from_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
    limit = DepthLimit(rounds=1)
    first, other = 3, 4
    layouts = [PositionalLayout.of_leaves(cut(tree, limit, s).leaves) for s in (first, other)]
    assert layouts[0].num_inputs == layouts[1].num_inputs
    assert layouts[0].num_outputs == layouts[1].num_outputs
    small_network(cut(tree, limit, first).leaves).save(tmp_path / "network")
    loaded = PositionalNetwork.load(tmp_path / "network")
    message = rf"start in public states is \[{first}\], but the leaves' is \[{other}\]"
    with pytest.raises(ValueError, match=message):
        loaded.initialize(cut(tree, limit, other).leaves)
    with pytest.raises(ValueError, match=r"the leaves' is"):
        loaded.initialize(cut(tree, limit).leaves)
    loaded.initialize(cut(tree, limit, first).leaves)
    whole = small_network(cut(tree, limit).leaves)
    assert list(whole.domain) == ["game", "depth limit", "number of inputs", "number of outputs"]
    # Also where sizes would fit: what a whole game's network lacks is compared.
    whole.domain = {name: loaded.domain[name] for name in whole.domain}
    with pytest.raises(ValueError, match=rf"is None, but the leaves' is \[{first}\]"):
        whole.initialize(cut(tree, limit, first).leaves)
