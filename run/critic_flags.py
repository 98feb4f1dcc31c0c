"""Flags of scripts that train SePoT's critic: how it learns."""

from absl import flags

from spiel_dl.learning.critic_training import CriticConfig

_DEFAULT = CriticConfig()
HIDDEN = flags.DEFINE_multi_integer(
    "critic_hidden_size",
    list(_DEFAULT.hidden_sizes),
    "Units of a hidden layer of the critic; repeated for each.",
)
_RATE = flags.DEFINE_float("critic_learning_rate", _DEFAULT.learning_rate, "Adam's for the critic.")
_AVERAGING = flags.DEFINE_float(
    "critic_target_averaging",
    _DEFAULT.target_averaging,
    "How far the critic's target network moves in a step, 0 to 1.",
)
_C_BAR = flags.DEFINE_float(
    "critic_c_bar", _DEFAULT.c_bar, "v-trace's c bar: bounds the ratios behind a move."
)
_RHO_BAR = flags.DEFINE_float(
    "critic_rho_bar", _DEFAULT.rho_bar, "v-trace's rho bar: bounds the ratio at a move."
)
EXPLORATION = flags.DEFINE_float(
    "exploration", 0.2, "Share of random decisions with a frozen blueprint."
)


def config(seed: int) -> CriticConfig:
    """How a critic is to learn."""
    return CriticConfig(
        hidden_sizes=tuple(HIDDEN.value),
        learning_rate=_RATE.value,
        target_averaging=_AVERAGING.value,
        c_bar=_C_BAR.value,
        rho_bar=_RHO_BAR.value,
        seed=seed,
    )
