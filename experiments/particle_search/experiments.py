"""The experiment on search below samples of public states, by name."""

from experiments.particle_search.curves import CURVES
from experiments.study import by_name

EXPERIMENTS = by_name(CURVES)
