"""Flags of scripts that train value networks on policy: rounds and epochs."""

from absl import flags

from spiel_dl.jobs.on_policy import OnPolicyConfig

_DEFAULT = OnPolicyConfig()
_ROUNDS = flags.DEFINE_integer(
    "on_policy_rounds", _DEFAULT.num_rounds, "on_policy: rounds after the first.", lower_bound=1
)
_POLISHES = flags.DEFINE_integer(
    "on_policy_polishes",
    _DEFAULT.num_polishes,
    "on_policy: rounds after --on_policy_rounds, at small learning rates.",
    lower_bound=0,
)
_EPOCHS = flags.DEFINE_list(
    "on_policy_epochs",
    [
        str(part.num_epochs)
        for part in (_DEFAULT.first, _DEFAULT.between, _DEFAULT.last, _DEFAULT.polish)
    ],
    "on_policy: epochs on the random data, per round, in the last round, and per polish.",
)
_MAX_RANGES = flags.DEFINE_integer(
    "max_ranges",
    _DEFAULT.max_ranges,
    "on_policy: pairs of ranges to keep per round.",
    lower_bound=1,
)


def config(num_iterations: int) -> OnPolicyConfig:
    """How to train on policy, with so many iterations of DL-CFR+ per round.

    Raises:
      ValueError: if the epochs are not four positive numbers.
    """
    return OnPolicyConfig(
        num_rounds=_ROUNDS.value,
        num_polishes=_POLISHES.value,
        num_iterations=num_iterations,
        max_ranges=_MAX_RANGES.value,
    ).with_epochs([int(number) for number in _EPOCHS.value])
