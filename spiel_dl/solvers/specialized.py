"""The compiled loops, with the functions of a variant in the places of those in `kernels`.

Variants that are numbers share the loops of `kernels`, `arranged_kernels` and
`continuation_kernels`, whose compiled code is kept on disk. For other functions the same source is
compiled anew, once in a process: a clone of each loop sees other functions by the same names. So no
loop knows that there are variants, and none is slower for it. Clones with functions of this package
are kept on disk, too, under names that change with these functions' modules.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import zlib
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
    label = _label(tuple(given.values()))
    seen: dict[str, Any] = {}
    for name in _ELEMENTS:
        own_part = given.get(name)
        seen[name] = _compiled(name, own_part, bool(label)) if own_part else getattr(kernels, name)
    own = _clones(kernels, _OF_KERNELS, seen, given, label)
    elementwise = given.keys() <= set(_ELEMENTS)
    arranged = _clones(arranged_kernels, _ARRANGED, seen, {}, label) if elementwise else {}
    matching = {"match_regrets": own["match_regrets"]}
    behind = _clones(continuation_kernels, _OF_CONTINUATIONS, matching, {}, label)
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


def _label(functions: tuple[Callable[..., Any], ...]) -> str:
    """A word that changes with the modules of these functions; "" if one is not of this package.

    A person's own functions may depend on what no file tells.
    """
    modules = sorted({function.__module__ for function in functions})
    if not all(name.partition(".")[0] == __package__.partition(".")[0] for name in modules):
        return ""
    sources = [inspect.getsource(sys.modules[name]) for name in modules]
    names = [function.__name__ for function in functions]
    return f"{zlib.crc32(repr((names, sources)).encode()):08x}"


def _clones(
    module: types.ModuleType,
    names: tuple[str, ...],
    seen: dict[str, Any],
    given: dict[str, Callable[..., Any]],
    label: str,
) -> dict[str, Any]:
    """Some functions of a module, compiled where they see each other's clones, and `seen`."""
    scope = {**vars(module), **seen}
    clones = {}
    for name in names:
        function = given.get(name) or _clone(getattr(module, name).py_func, scope, label)
        clones[name] = scope[name] = _compiled(name, function, bool(label))
    return clones


def _clone(function: Callable[..., Any], scope: dict[str, Any], label: str) -> Callable[..., Any]:
    """The same function in another scope, which is looked into when it is compiled."""
    clone = types.FunctionType(function.__code__, scope, function.__name__)
    # Compiled code is kept by this name.
    clone.__qualname__ = f"{function.__name__}_{label}"
    return clone


def _compiled(name: str, function: Callable[..., Any], cache: bool) -> Callable[..., Any]:
    plain = getattr(function, "py_func", function)
    jit: Callable[..., Callable[..., Any]] = functools.partial(
        numba.njit, cache=cache, boundscheck=False, error_model="numpy"
    )
    if name.endswith("parallel"):
        return jit(parallel=True)(plain)
    return jit(nogil=True, inline="always" if name in _INLINED else "never")(plain)
