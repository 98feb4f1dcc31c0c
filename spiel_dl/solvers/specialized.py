"""The compiled loops, with the functions of a variant in the places of those in `kernels`.

Variants that are numbers share the loops of `kernels`, `arranged_kernels` and
`continuation_kernels`, whose compiled code is kept on disk. For functions of a person's own the
same source is compiled anew, once in a process: a clone of each loop sees other functions by the
same names. So no loop knows that there are variants, and none is slower for it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numba

from spiel_dl.solvers import arranged_kernels, continuation_kernels, kernels
from spiel_dl.solvers.variants import Parts

# Each calls those before it.
_OF_KERNELS = (
    "total_weight", "match_regrets", "update_regrets", "update_player", "run_iterations"
)  # fmt: skip
_ARRANGED = ("_update_group", "_update_regrets", "run_iterations")
_OF_CONTINUATIONS = ("_update_second", "update_second", "update_second_parallel")
_ELEMENTS = ("rates", "accumulate", "derive", "average")
# Code that is put into the place of its call.
_INLINED = (*_ELEMENTS, "match_regrets")


class Loops(NamedTuple):
    """What runs a variant.

    Attributes:
      run_iterations, update_player: of `kernels`.
      run_arranged: `arranged_kernels.run_iterations`; None if the variant has its own way with
        whole infosets.
      update_second, update_second_parallel: of `continuation_kernels`.
      rates, average: of the variant, compiled.
      total_weight: of `kernels`.
    """

    run_iterations: Callable[..., Any]
    update_player: Callable[..., Any]
    run_arranged: Callable[..., Any] | None
    update_second: Callable[..., Any]
    update_second_parallel: Callable[..., Any]
    rates: Callable[..., Any]
    average: Callable[..., Any]
    total_weight: Callable[..., Any]


@functools.lru_cache(maxsize=64)
def loops_of(parts: Parts) -> Loops:
    """The loops with these functions in them."""
    given = {name: part for name, part in parts._asdict().items() if part is not None}
    if not given:
        return Loops(
            kernels.run_iterations,
            kernels.update_player,
            arranged_kernels.run_iterations,
            continuation_kernels.update_second,
            continuation_kernels.update_second_parallel,
            kernels.rates,
            kernels.average,
            kernels.total_weight,
        )
    seen: dict[str, Any] = {}
    for name in _ELEMENTS:
        seen[name] = _compiled(name, given[name]) if name in given else getattr(kernels, name)
    own = _clones(kernels, _OF_KERNELS, seen, given)
    elementwise = given.keys() <= set(_ELEMENTS)
    arranged = _clones(arranged_kernels, _ARRANGED, seen, {}) if elementwise else {}
    behind = _clones(
        continuation_kernels, _OF_CONTINUATIONS, {"match_regrets": own["match_regrets"]}, {}
    )
    return Loops(
        own["run_iterations"],
        own["update_player"],
        arranged.get("run_iterations"),
        behind["update_second"],
        behind["update_second_parallel"],
        seen["rates"],
        seen["average"],
        own["total_weight"],
    )


def _clones(
    module: types.ModuleType,
    names: tuple[str, ...],
    seen: dict[str, Any],
    given: dict[str, Callable[..., Any]],
) -> dict[str, Any]:
    """Some functions of a module, compiled where they see each other's clones, and `seen`."""
    scope = {**vars(module), **seen}
    clones = {}
    for name in names:
        function = given.get(name) or _clone(getattr(module, name).py_func, scope)
        clones[name] = scope[name] = _compiled(name, function)
    return clones


def _clone(function: Callable[..., Any], scope: dict[str, Any]) -> Callable[..., Any]:
    """The same function in another scope, which is looked into when it is compiled."""
    return types.FunctionType(function.__code__, scope, function.__name__)


def _compiled(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    plain = getattr(function, "py_func", function)
    jit: Callable[..., Callable[..., Any]] = functools.partial(
        numba.njit, boundscheck=False, error_model="numpy"
    )
    if name.endswith("parallel"):
        return jit(parallel=True)(plain)
    return jit(nogil=True, inline="always" if name in _INLINED else "never")(plain)
