"""The experiments on search below samples of public states, by name."""

from papers.particle_search.beliefs import BELIEFS
from papers.particle_search.curves import CURVES
from papers.particle_search.matches import FIRST_MOVES, MATCHES
from papers.particle_search.opponents import AGAINST_NETWORK, OPPONENTS
from papers.study import by_name

EXPERIMENTS = by_name(BELIEFS, CURVES, MATCHES, FIRST_MOVES, OPPONENTS, AGAINST_NETWORK)
