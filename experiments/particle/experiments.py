"""The particle paper's experiments (Šustr et al. 2021), by name."""

from experiments.particle.figure_3 import ARCHITECTURES
from experiments.particle.fractions import FRACTIONS
from experiments.particle.linear_targets import LINEAR_TARGETS
from experiments.particle.public_state_counts import PUBLIC_STATES
from experiments.study import by_name

EXPERIMENTS = by_name(LINEAR_TARGETS, PUBLIC_STATES, ARCHITECTURES, FRACTIONS)
