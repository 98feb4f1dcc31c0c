"""Variants of CFR: three small functions, or the numbers of those that most variants share.

A `Variant` says what happens to one action of one infoset in one iteration:

  `accumulate(regret, newest, now)`: its cumulative regret, from the one before and the iteration's.
  `derive(regret, newest, now)`: what the next strategy is proportional to, where it is positive.
  `average(iteration, numbers)`: the weight of the iterate, counted from 1.0, in the average.

`now` is what `rates(iteration, numbers)` makes of the iteration and the variant's numbers, once for
all actions. All of them are compiled into the loops, so they may use what numba compiles: numbers,
branches, `math`. Where no action has a positive weight, the next strategy is uniform.

```python
def accumulate(regret, newest, now):  # predictive CFR+
    return max(regret + newest, 0.0)

def derive(regret, newest, now):
    return regret + newest

def average(iteration, numbers):
    return iteration ** 2.0

solver = dl.CFR("leduc_poker", variant=Variant(accumulate, derive, average))
```

A `Weighting` is a variant by numbers: discounts of positive and of negative cumulative regrets, the
exponent of the average, and how much of the newest regret is taken as a prediction, each of which
may change over the run.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import math
import types
import zlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numba
from numba.core import errors
from numba.core import types as numba_types

from spiel_dl.solvers import kernels


class Parts(NamedTuple):
    """The functions of a variant, by the names of those in `solvers.kernels` that they replace.

    None: those there. Whoever replaces one from `match_regrets` on says what happens in a whole
    infoset, to a whole player, or in whole iterations.
    """

    rates: Callable[..., Any] | None = None
    accumulate: Callable[..., Any] | None = None
    derive: Callable[..., Any] | None = None
    average: Callable[..., Any] | None = None
    match_regrets: Callable[..., Any] | None = None
    update_regrets: Callable[..., Any] | None = None
    update_player: Callable[..., Any] | None = None
    run_iterations: Callable[..., Any] | None = None


class FromFunctions(abc.ABC):
    """What variants by functions share.

    Attributes:
      parts: what is compiled into the loops.
      numbers: what the functions depend on, as floats.
      memory: how many numbers they remember for each sequence.
      drops_negative: whether cumulative regrets are never negative.
      averages_plans: whether the average is one of realization plans.
      first_averaged: the first iteration that is averaged, counted from 1.
    """

    numbers: tuple[float, ...]
    memory: int = 0
    drops_negative: bool = False
    averages_plans: bool = True
    first_averaged: int = 1

    @property
    @abc.abstractmethod
    def parts(self) -> Parts:
        """What is compiled into the loops."""

    @property
    def loop_numbers(self) -> tuple[float, ...]:
        """What the loops are given; never empty, for it must have a type."""
        return tuple(float(number) for number in self.numbers) or (0.0,)

    @property
    def identity(self) -> tuple[float, ...]:
        """What a state says of its variant, so that no other one goes on from it."""
        code = repr([_code_of(part) for part in self.parts if part is not None])
        return (*self.loop_numbers, float(zlib.crc32(code.encode())))

    def weight(self, iteration: int) -> float:
        """The weight of an iterate (counted from 1) in the average."""
        average = self.parts.average
        assert average is not None
        return float(_plain(average)(float(iteration), self.loop_numbers))


@dataclasses.dataclass(frozen=True)
class Variant(FromFunctions):
    """A variant of CFR by functions of a person's own.

    Attributes:
      accumulate, derive, average: as in the module's docstring; plain functions, or compiled ones.
      rates: from (iteration, numbers) to what `accumulate` and `derive` get as `now`; None: the
        numbers themselves.
      numbers: what the functions depend on, as floats. A saved state tells variants apart by the
        functions' code and these numbers, not by the values of global or enclosing variables.
      first_averaged: the first iteration, counted from 1, to which `average` gives a weight.
    """

    accumulate: Callable[..., Any]
    derive: Callable[..., Any]
    average: Callable[..., Any]
    rates: Callable[..., Any] | None = None
    numbers: tuple[float, ...] = ()
    first_averaged: int = 1

    def __post_init__(self) -> None:
        rates = self.rates or _numbers_themselves
        for name, arity in (("accumulate", 3), ("derive", 3), ("average", 2)):
            _check_function(name, getattr(self, name), arity)
        _check_function("rates", rates, 2)
        if any(math.isnan(number) for number in self.numbers):
            raise ValueError(f"numbers={self.numbers} must not be NaN")
        functions = tuple(map(_plain, (rates, self.accumulate, self.derive, self.average)))
        _check_compiled(functions, len(self.loop_numbers))

    def __str__(self) -> str:
        functions = (self.accumulate, self.derive, self.average)
        return f"Variant({', '.join(_plain(function).__name__ for function in functions)})"

    @property
    def parts(self) -> Parts:
        """What is compiled into the loops."""
        rates = self.rates or _numbers_themselves
        return Parts(rates, self.accumulate, self.derive, self.average)


@dataclasses.dataclass(frozen=True)
class Weighting:
    """A variant of CFR by numbers.

    After the update of iteration t, positive cumulative regrets are multiplied by
    t^alpha / (t^alpha + offset) and negative ones by t^beta / (t^beta + offset); iterates enter the
    average with weight t^gamma (Brown and Sandholm 2019, "Solving Imperfect-Information Games via
    Discounted Regret Minimization", section 4). An exponent of inf means a factor of 1, one of
    -inf a factor of 0.

    Exponents may change in equal steps up to a horizon, and stay there (Zhang, McAleer, Sandholm
    2024, "Faster Game Solving via Hyperparameter Schedules"). If gamma does, the average is
    multiplied by ((t - 1) / t)^gamma_t before iterate t is added, as there.

    Attributes:
      alpha: exponent of the discount of positive cumulative regrets.
      beta: exponent of the discount of negative cumulative regrets.
      gamma: exponent of the averaging weight.
      predictive: regret matching adds the newest regrets once more, as a prediction of the next
        ones (Farina, Kroer, Sandholm 2021, "Faster Game Solving via Predictive Blackwell
        Approachability", section 5; here the prediction is the newest regret itself, so the values
        of what lies behind an infoset are those of the strategies that were played there).
      offset: see above; positive.
      alpha_change, beta_change, gamma_change: what is added to the exponents by the horizon.
      horizon: the iteration from which on the exponents stay as they are.
    """

    alpha: float = math.inf
    beta: float = math.inf
    gamma: float = 0.0
    predictive: bool = False
    offset: float = 1.0
    alpha_change: float = 0.0
    beta_change: float = 0.0
    gamma_change: float = 0.0
    horizon: float = math.inf

    memory: ClassVar[int] = 0
    averages_plans: ClassVar[bool] = True
    first_averaged: ClassVar[int] = 1

    def __post_init__(self) -> None:
        changes = (self.alpha_change, self.beta_change, self.gamma_change)
        finite = (self.gamma, self.offset, *changes)
        if math.isnan(self.alpha) or math.isnan(self.beta) or not all(map(math.isfinite, finite)):
            raise ValueError(
                f"{self}: alpha and beta must be numbers, all others but the horizon finite ones"
            )
        if not self.offset > 0:
            raise ValueError(f"offset={self.offset} must be positive")
        if not self.horizon >= 1 or (any(changes) and math.isinf(self.horizon)):
            raise ValueError(
                f"horizon={self.horizon} must be at least 1, and finite if exponents change"
            )

    @property
    def parts(self) -> Parts:
        """Those of `solvers.kernels`."""
        return Parts()

    @property
    def loop_numbers(self) -> tuple[float, ...]:
        """What the loops are given."""
        return (
            float(self.alpha),
            float(self.beta),
            float(self.gamma),
            float(self.predictive),
            float(self.offset),
            float(self.alpha_change),
            float(self.beta_change),
            float(self.gamma_change),
            float(self.horizon),
        )

    @property
    def identity(self) -> tuple[float, ...]:
        """What a state says of its variant."""
        return self.loop_numbers

    @property
    def drops_negative(self) -> bool:
        """Whether cumulative regrets are never negative."""
        return self.beta == -math.inf

    def weight(self, iteration: int) -> float:
        """The weight of an iterate (counted from 1) in the average."""
        return float(kernels.average(float(iteration), self.loop_numbers))


AnyVariant = Weighting | FromFunctions

CFR = Weighting()
CFR_PLUS = Weighting(beta=-math.inf, gamma=1.0)
LINEAR_CFR = Weighting(alpha=1.0, beta=1.0, gamma=1.0)
DISCOUNTED_CFR = Weighting(alpha=1.5, beta=0.0, gamma=2.0)
DISCOUNTED_CFR_PLUS = Weighting(alpha=1.5, beta=-math.inf, gamma=4.0, offset=1.5)
PREDICTIVE_CFR_PLUS = Weighting(beta=-math.inf, gamma=2.0, predictive=True)
PREDICTIVE_DISCOUNTED_CFR_PLUS = Weighting(2.3, -math.inf, 5.0, predictive=True)


def scheduled_discounted_cfr(gamma: float = 30.0, horizon: float = 1000.0) -> Weighting:
    """HS-DCFR(gamma): alpha from 1 to 4, beta from -1 to -3, gamma falls by 5 up to the horizon.

    Zhang, McAleer, Sandholm (2024), equation 4. The horizon is the number of iterations that a
    person is going to do.
    """
    return Weighting(
        alpha=1.0, beta=-1.0, gamma=gamma,
        alpha_change=3.0, beta_change=-2.0, gamma_change=-5.0, horizon=horizon,
    )  # fmt: skip


def scheduled_predictive_cfr_plus(gamma: float = 30.0, horizon: float = 1000.0) -> Weighting:
    """HS-PCFR+(gamma): predictive CFR+ whose exponent of the average falls by 5 up to the horizon.

    Zhang, McAleer, Sandholm (2024), section 3.
    """
    return dataclasses.replace(PREDICTIVE_CFR_PLUS, gamma=gamma, gamma_change=-5.0, horizon=horizon)


def scheduled_predictive_discounted_cfr_plus(horizon: float = 1000.0) -> Weighting:
    """Predictive CFR+ with a discount and an average that both change up to the horizon.

    Its exponents were found by `run/search_schedule.py`, in four games.
    """
    return Weighting(
        alpha=1.339, beta=-math.inf, gamma=19.145, predictive=True,
        alpha_change=1.989, gamma_change=-4.215, horizon=horizon,
    )  # fmt: skip


def check_infoset_by_infoset(variant: AnyVariant) -> None:
    """Raises a ValueError if a variant says more than what happens in one infoset."""
    parts = variant.parts
    if parts.update_regrets or parts.update_player or parts.run_iterations:
        raise ValueError(
            f"{variant} updates whole players at once, and choices at leaves are updated one by "
            "one; take another variant, for example 'pcfr+'"
        )


def check_goes_by_regrets(variant: AnyVariant) -> None:
    """Raises a ValueError if a variant cannot be started at a strategy by setting regrets."""
    if variant.parts.update_player or variant.parts.run_iterations:
        raise ValueError(
            f"{variant} does not play by its regrets alone, so it cannot go on from a strategy; "
            "leave out restarts, or take another variant, for example 'pcfr+'"
        )


def _numbers_themselves(_iteration: float, numbers: tuple[float, ...]) -> tuple[float, ...]:
    return numbers


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)


def _code_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    return _parts_of(_plain(function).__code__)


def _parts_of(code: types.CodeType) -> tuple[Any, ...]:
    """What tells code apart in any process: no addresses."""
    constants = [_parts_of(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.co_code, code.co_names, code.co_freevars, constants


def _check_function(name: str, function: Any, arity: int) -> None:
    """Functions must be Python functions, or what numba made of them, of so many arguments."""
    plain = _plain(function)
    if not inspect.isfunction(plain):
        raise ValueError(f"{name}={function!r} must be a function, which numba can compile")
    if len(inspect.signature(plain).parameters) != arity:
        raise ValueError(
            f"{name} must take {arity} arguments; {plain.__name__} takes "
            f"{len(inspect.signature(plain).parameters)}"
        )


@functools.lru_cache(maxsize=64)
def _check_compiled(functions: tuple[Callable[..., Any], ...], num_numbers: int) -> None:
    """Functions must be what numba compiles: here by themselves, as errors of loops tell nothing.

    Args:
      functions: `rates`, `accumulate`, `derive`, `average`.
      num_numbers: how many numbers they are given.
    """
    rates, accumulate, derive, average = functions
    number, numbers = numba.float64, numba_types.UniTuple(numba.float64, num_numbers)
    now = _compiled_type("rates", rates, (number, numbers))
    found = {
        "accumulate": (accumulate, _compiled_type("accumulate", accumulate, (number, number, now))),
        "derive": (derive, _compiled_type("derive", derive, (number, number, now))),
        "average": (average, _compiled_type("average", average, (number, numbers))),
    }
    for name, (function, kind) in found.items():
        if not isinstance(kind, numba_types.Integer | numba_types.Float | numba_types.Boolean):
            raise ValueError(f"{name} ({function.__name__}) returns {kind}; return a number")


def _compiled_type(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The type, as numba has it, of what a function returns for arguments of some types."""
    compiled = numba.njit(error_model="numpy")(function)
    try:
        compiled.compile(arguments)
    except errors.NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reasons = [line for line in lines if not line.startswith("Failed in nopython mode")]
        reason = " ".join(reasons[: 2 if reasons[0].endswith(":") else 1]) if reasons else lines[0]
        raise ValueError(
            f"{name} ({function.__name__}) cannot be compiled: {reason}; use numbers, branches and "
            "math, and as many numbers= as the function reads"
        ) from error
    return compiled.nopython_signatures[0].return_type
