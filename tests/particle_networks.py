"""Small particle networks, and leaves to bind them to."""

import numpy as np
import pyspiel

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from tests.public_states import particles_of

GOOFSPIEL_3 = "python_goofspiel_ii(num_cards=3,points_order=descending)"
CASES = [
    ("kuhn_poker", DepthLimit(moves=1)),
    (GOOFSPIEL_3, DepthLimit(rounds=1)),
    ("python_leduc", DepthLimit(rounds=1)),
]
SMALL = ParticleSizes(base=6, basis_layers=2, basis_width=1, regression_layers=2)


def leaves_of(game, limit):
    return cut(GameTree.from_game(game), limit).leaves


def initialized(network, leaves):
    """A network, with parameters for the leaves."""
    network.initialize(leaves)
    return network


def small_network(leaves, sizes=SMALL, **arguments):
    return initialized(ParticleNetwork(sizes, **arguments), leaves)


def network_for(game_string, sizes=SMALL):
    """An untrained network of a game, which need not be compiled."""
    state = pyspiel.load_game(game_string).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    particles = particles_of(state)
    return small_network(sparse_trunk(particles, DepthLimit(rounds=1)).leaves, sizes)


def random_ranges(leaves, seed, batch=()):
    generator = np.random.default_rng(seed)
    return [generator.random((*batch, leaves.num_infosets(player))) for player in (0, 1)]
