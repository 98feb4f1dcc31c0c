"""The experiments on search below samples of public states, by name."""

from experiments.particle_search.beliefs import BELIEFS
from experiments.particle_search.curves import CURVES
from experiments.particle_search.matches import FIRST_MOVES, MATCHES
from experiments.particle_search.opponents import AGAINST_NETWORK, OPPONENTS
from experiments.study import by_name

EXPERIMENTS = by_name(BELIEFS, CURVES, MATCHES, FIRST_MOVES, OPPONENTS, AGAINST_NETWORK)
