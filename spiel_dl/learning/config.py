"""The configurations of learners by self-play and of critics; importing them imports no torch."""

from __future__ import annotations

import dataclasses
import math
import operator
from typing import TYPE_CHECKING, Any, TypeVar

from spiel_dl.networks.learning_rate import LearningRate
from spiel_dl.system.parameters import MAX_SEED, check_types

if TYPE_CHECKING:
    import torch

    from spiel_dl.networks.optimization import Descent

_MAX_WEIGHTS = 10**9
_MAX_FLOAT = 3e38
_Config = TypeVar("_Config")


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """The settings of a network and of the Adam that trains it.

    Attributes:
      hidden_sizes: units of the network's hidden layers.
      learning_rate: Adam's learning rate in the first step.
      final_learning_rate: the learning rate from step `decay_steps` on; it falls exponentially
        until then. None: it does not fall.
      decay_steps: for how many steps the learning rate falls.
      adam_beta1: decay of Adam's mean gradient.
      adam_beta2: decay of Adam's mean squared gradient.
      adam_epsilon: Adam's epsilon.
      gradient_clip: bound on every entry of the gradient.
      target_averaging: how far the target network, whose policy or values are returned, moves to
        the current one in a step.
      target_share: it moves by at least 1 / (1 + target_share * step), so that at first it is an
        average over about this share of all steps so far; infinite: `target_averaging` alone.
      seed: seed of the initial parameters and of everything else that is random.
    """

    hidden_sizes: tuple[int, ...] = (512, 512)
    learning_rate: float = 3e-4
    final_learning_rate: float | None = None
    decay_steps: int = 100_000
    adam_beta1: float = 0.0
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    gradient_clip: float = 10_000.0
    target_averaging: float = 1e-3
    target_share: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        self._check("seed", 0 <= self.seed <= MAX_SEED, f"from 0 to {MAX_SEED}")
        for name, value in vars(self).items():
            if isinstance(value, float) and math.isfinite(value):
                self._check(name, abs(value) <= _MAX_FLOAT, f"at most {_MAX_FLOAT}, as a float32")
        for name in ("adam_epsilon", "gradient_clip"):
            self._check(name, 0 < getattr(self, name) < math.inf, "positive and finite")
        for name in ("adam_beta1", "adam_beta2"):
            self._check(name, 0 <= getattr(self, name) < 1, "at least 0 and below 1")
        is_layers = len(self.hidden_sizes) > 0 and min(self.hidden_sizes) > 0
        self._check("hidden_sizes", is_layers, "one layer or more, of at least one unit")
        weights = sum(map(operator.mul, self.hidden_sizes, self.hidden_sizes[1:]))
        self._check("hidden_sizes", weights <= _MAX_WEIGHTS, "smaller: at most 10^9 weights")
        self._check("decay_steps", self.decay_steps > 0, "positive")
        self._rate()  # raises if the rates are wrong
        self._check("target_averaging", 0 < self.target_averaging <= 1, "above 0 and at most 1")
        self._check("target_share", self.target_share > 0, "positive")

    def _check(self, name: str, is_good: bool, remedy: str) -> None:
        if not is_good:
            raise ValueError(f"{name}={getattr(self, name)} must be {remedy}")

    def _rate(self) -> LearningRate:
        return LearningRate(self.learning_rate, self.final_learning_rate, self.decay_steps)

    def descent(self, parameters: torch.Tensor, descents_per_step: int = 1) -> Descent:
        """Adam on the flat parameters of a network, float32 [P]; they are not copied."""
        from spiel_dl.networks.optimization import Descent  # imports torch

        rate = self._rate()
        return Descent(
            [parameters],
            dataclasses.replace(rate, num_steps=rate.num_steps * descents_per_step),
            betas=(self.adam_beta1, self.adam_beta2),
            epsilon=self.adam_epsilon,
            gradient_clip=self.gradient_clip,
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        fields = {**dataclasses.asdict(self), "hidden_sizes": list(self.hidden_sizes)}
        return {n: str(v) if v in (math.inf, -math.inf) else v for n, v in fields.items()}


@dataclasses.dataclass(frozen=True)
class LearnerConfig(NetworkConfig):
    """The settings common to all learners by self-play; `NetworkConfig` has more.

    Weights of regularisation are in units of `SelfPlayLearner.utility_scale`: `utility_unit`, or
    else the game's largest absolute utility, so that they mean about the same in every game.

    Attributes:
      batch_size: games per learner step.
      max_tree_histories: games of at most so many histories are compiled and played by tables.
      utility_unit: the unit of utilities; None: the game's largest absolute one.
      history_values: whether action values of whole histories are learned, too, to estimate the
        policy's action values with less noise.
      history_trace_decay: lambda of the targets of these action values. 1: the return of the game
        as it was played; 0: their own values one move later.
    """

    hidden_sizes: tuple[int, ...] = (128, 128)
    learning_rate: float = 2e-3
    final_learning_rate: float | None = 2e-4
    adam_beta1: float = 0.9
    batch_size: int = 64
    max_tree_histories: int = 200_000
    target_averaging: float = 1e-4
    utility_unit: float | None = None
    history_values: bool = True
    history_trace_decay: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("batch_size", self.batch_size > 0, "positive")
        decay = self.history_trace_decay
        self._check("history_trace_decay", 0 <= decay <= 1, "between 0 and 1")
        unit = self.utility_unit
        self._check("utility_unit", unit is None or 0 < unit < math.inf, "positive and finite")

    @property
    def descents_per_step(self) -> int:
        """Steps of Adam per learner step."""
        return 1

    def target_rate(self, step: int) -> float:
        """How far the target network moves to the current one in this step, the first being 0."""
        if self.target_share == math.inf:
            return self.target_averaging
        return max(self.target_averaging, 1 / (1 + self.target_share * step))


def annealed(value: float, step: int, annealing_steps: float) -> float:
    """A number that has fallen by a factor of sqrt(2) after `annealing_steps` steps."""
    return value / math.sqrt(1 + step / annealing_steps)


@dataclasses.dataclass(frozen=True)
class RNaDConfig(LearnerConfig):
    """The settings of R-NaD; `LearnerConfig` has more.

    Attributes:
      eta: weight of the reward regularisation, in units of `utility_unit`.
      first_period: learner steps per regularisation policy at first.
      num_first_periods: how many periods are of this length.
      period: learner steps per regularisation policy later.
      neurd_threshold: beta, how far logits are pushed from their mean.
      neurd_clip: bound on the advantages that push logits.
      neurd_max_gain: bound on NeuRD's force on a logit, as a multiple of the policy gradient's; it
        divides that by the action's probability, which is noisy if small. Infinite: plain NeuRD.
      uniform_share: how far a regularisation policy is moved to the uniform policy in the first
        step: it is taken to the power of 1 minus this, and normalised. 0: not at all.
      annealing_steps: learner steps until that has fallen by a factor of sqrt(2); infinite: it does
        not fall.
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      rho_bar: v-trace's bound on the ratios that correct values.
    """

    eta: float = 0.2
    first_period: int = 2000
    num_first_periods: int = 200
    period: int = 10_000
    neurd_threshold: float = 5.0
    neurd_clip: float = 10_000.0
    neurd_max_gain: float = 5.0
    uniform_share: float = 0.5
    annealing_steps: float = 2000.0
    c_bar: float = 1.0
    rho_bar: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("eta", 0 <= self.eta < math.inf, "finite and not negative")
        for name in (
            "first_period",
            "period",
            "neurd_threshold",
            "neurd_clip",
            "neurd_max_gain",
            "annealing_steps",
            "c_bar",
            "rho_bar",
        ):
            self._check(name, getattr(self, name) > 0, "positive")
        self._check("uniform_share", 0 <= self.uniform_share < 1, "at least 0 and below 1")
        self._check("num_first_periods", self.num_first_periods >= 0, "0 or more")

    def place_in_period(self, step: int) -> tuple[int, int]:
        """After `step` steps: the steps done in the current period, and its length."""
        steps_of_first = self.first_period * self.num_first_periods
        if step < steps_of_first:
            return step % self.first_period, self.first_period
        return (step - steps_of_first) % self.period, self.period


PAPER_RNAD = RNaDConfig(
    hidden_sizes=(512, 512),
    batch_size=128,
    learning_rate=3e-4,
    final_learning_rate=None,
    adam_beta1=0.0,
    first_period=500,
    target_averaging=1e-3,
    target_share=math.inf,
    utility_unit=1.0,
    neurd_threshold=2.0,
    neurd_max_gain=math.inf,
    uniform_share=0.0,
    history_values=False,
)
"""The settings of Kubíček et al. (2023), Table 2: `algorithms.rnad.PAPER`."""


@dataclasses.dataclass(frozen=True)
class PolicyGradientConfig(LearnerConfig):
    """The settings of policy gradients; `LearnerConfig` has more.

    Attributes:
      gae_lambda: how far advantages trust rewards rather than values; 1: rewards alone.
      num_epochs: steps of Adam per batch of games.
      value_weight: weight of the value's squared error.
      temperature: weight of the entropy in the first step, in units of `utility_unit`.
      annealing_steps: learner steps until the temperature has fallen by a factor of sqrt(2);
        infinite: it does not fall.
    """

    gae_lambda: float = 0.95
    num_epochs: int = 1
    value_weight: float = 0.5
    temperature: float = 0.1
    annealing_steps: float = 2000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("gae_lambda", 0 <= self.gae_lambda <= 1, "between 0 and 1")
        self._check("temperature", 0 <= self.temperature < math.inf, "finite and not negative")
        for name in ("num_epochs", "annealing_steps"):
            self._check(name, getattr(self, name) > 0, "positive")
        self._check("value_weight", 0 < self.value_weight < math.inf, "positive and finite")

    @property
    def descents_per_step(self) -> int:
        """As `LearnerConfig.descents_per_step`."""
        return self.num_epochs


@dataclasses.dataclass(frozen=True)
class MMDConfig(PolicyGradientConfig):
    """The settings of MMD; `PolicyGradientConfig` has more.

    Attributes:
      magnet_weight: weight of the distance to the magnet, in units of `utility_unit`.
      magnet_period: learner steps until the magnet is renewed.
      stepsize: inverse weight of the distance to the policy that played. Without effect if there is
        one epoch, whose gradient is taken where that distance is 0.
    """

    magnet_weight: float = 0.2
    magnet_period: int = 2000
    stepsize: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("magnet_weight", 0 <= self.magnet_weight < math.inf, "finite and not negative")
        self._check("magnet_period", self.magnet_period > 0, "positive")
        self._check("stepsize", 0 < self.stepsize < math.inf, "positive and finite")


@dataclasses.dataclass(frozen=True)
class PPOConfig(PolicyGradientConfig):
    """The settings of PPO; `PolicyGradientConfig` has more.

    Attributes:
      clip: how far the ratio to the policy that played may gain from leaving 1. Without effect if
        there is one epoch, whose gradient is taken where that ratio is 1.
    """

    num_epochs: int = 2
    temperature: float = 0.3
    clip: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("clip", 0 < self.clip < math.inf, "positive and finite")


@dataclasses.dataclass(frozen=True)
class CriticConfig(NetworkConfig):
    """The settings of a critic; `NetworkConfig` has more.

    Attributes:
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      bounded: whether values cannot be larger than the game's largest utility.
    """

    hidden_sizes: tuple[int, ...] = (256, 256)
    learning_rate: float = 1e-2
    final_learning_rate: float | None = 5e-4
    decay_steps: int = 20_000
    adam_beta1: float = 0.9
    c_bar: float = 1.0
    bounded: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("c_bar", self.c_bar > 0, "positive")


def checked_config(config: object, kind: type[_Config], taker: str) -> _Config:
    """`config`, or the defaults of `kind` if it is None; a ValueError if it is of another kind."""
    config = kind() if config is None else config
    if not isinstance(config, kind):
        raise ValueError(
            f"config is a {type(config).__name__}; {taker} takes a {kind.__name__}, or None"
        )
    return config
