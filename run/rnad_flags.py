"""Flags of scripts that train by R-NaD: how it learns."""

from absl import flags

from spiel_dl.algorithms.rnad import RNaDConfig

_DEFAULT = RNaDConfig()
BATCH = flags.DEFINE_integer("batch_size", _DEFAULT.batch_size, "Games per learner step.")
HIDDEN = flags.DEFINE_multi_integer(
    "hidden_size", list(_DEFAULT.hidden_sizes), "Units of a hidden layer; repeated for each."
)
_RATE = flags.DEFINE_float("learning_rate", _DEFAULT.learning_rate, "Adam's.")
_FINAL_RATE = flags.DEFINE_float(
    "final_learning_rate", None, "Adam's at the last step. Default: it does not fall."
)
_ETA = flags.DEFINE_float("eta", _DEFAULT.eta, "Weight of the reward regularisation.")
_FIRST = flags.DEFINE_integer(
    "first_period", _DEFAULT.first_period, "Steps per regularisation policy at first."
)
_NUM_FIRST = flags.DEFINE_integer(
    "num_first_periods", _DEFAULT.num_first_periods, "How many periods are of this length."
)
_PERIOD = flags.DEFINE_integer("period", _DEFAULT.period, "Steps per regularisation policy later.")
MAX_TREE = flags.DEFINE_integer(
    "max_tree_histories",
    _DEFAULT.max_tree_histories,
    "Games of at most so many histories are compiled: they are played by tables, and NashConv is "
    "measured while learning.",
)
_THRESHOLD = flags.DEFINE_float("neurd_threshold", _DEFAULT.neurd_threshold, "NeuRD's beta.")


def config(num_steps: int, seed: int) -> RNaDConfig:
    """How R-NaD is to learn, in a run of so many learner steps."""
    return RNaDConfig(
        batch_size=BATCH.value,
        hidden_sizes=tuple(HIDDEN.value),
        learning_rate=_RATE.value,
        final_learning_rate=_FINAL_RATE.value,
        decay_steps=num_steps if _FINAL_RATE.value else _DEFAULT.decay_steps,
        eta=_ETA.value,
        first_period=_FIRST.value,
        num_first_periods=_NUM_FIRST.value,
        period=_PERIOD.value,
        neurd_threshold=_THRESHOLD.value,
        max_tree_histories=MAX_TREE.value,
        seed=seed,
    )
