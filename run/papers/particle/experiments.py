"""The particle paper's experiments (Šustr et al. 2021), by name."""

from papers.particle.figure_3 import ARCHITECTURES, ON_POLICY
from papers.particle.fractions import FRACTIONS
from papers.particle.iterations import ITERATIONS
from papers.particle.learned_values import VALUES
from papers.particle.linear_targets import LINEAR_TARGETS
from papers.particle.play import MATCH, SELF_PLAY
from papers.particle.public_state_counts import PUBLIC_STATES
from papers.study import by_name

EXPERIMENTS = by_name(
    LINEAR_TARGETS,
    PUBLIC_STATES,
    ARCHITECTURES,
    ON_POLICY,
    FRACTIONS,
    SELF_PLAY,
    MATCH,
    ITERATIONS,
    VALUES,
)
