"""Small particle networks, and leaves to bind them to."""

import numpy as np

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes

GOOFSPIEL_3 = "python_goofspiel_ii(num_cards=3,points_order=descending)"
CASES = [
    ("kuhn_poker", DepthLimit(moves=1)),
    (GOOFSPIEL_3, DepthLimit(rounds=1)),
    ("python_leduc", DepthLimit(rounds=1)),
]
SMALL = ParticleSizes(base=6, basis_layers=2, basis_width=1, regression_layers=2)


def leaves_of(game, limit):
    return cut(GameTree.from_game(game), limit).leaves


def small_network(leaves, sizes=SMALL, **arguments):
    network = ParticleNetwork(sizes, **arguments)
    network.bind(leaves)
    return network


def random_ranges(leaves, seed, batch=()):
    generator = np.random.default_rng(seed)
    return [generator.random((*batch, leaves.num_infosets(player))) for player in (0, 1)]
