"""States of regret minimizers: how they begin, what of them is saved, and whether that is whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from spiel_dl.solvers import kernels
from spiel_dl.solvers.kernels import Learned
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex, TreeplexArrays

Pair = tuple[np.ndarray, np.ndarray]
GameArrays = tuple[
    tuple[TreeplexArrays, TreeplexArrays], tuple[kernels.SlicedPayoffs, kernels.SlicedPayoffs], Pair
]
FIELDS = ("regret", "strategy", "realization", "average")
# States are saved and loaded as they are, but perhaps on machines that round differently.
_TOLERANCE = 1e-6


def new_learned(treeplex: Treeplex) -> Learned:
    """A learner that has learned nothing yet, with a reach of 1 everywhere."""
    return Learned(
        regret=np.zeros(treeplex.num_sequences),
        strategy=treeplex.uniform_strategy(),
        realization=np.ones(treeplex.num_sequences),
        average=np.zeros(treeplex.num_sequences),
        inflow=np.zeros(0),
        is_fixed=np.zeros(treeplex.num_infosets, np.bool_),
    )


def arrays_of(learned: tuple[Learned, ...]) -> dict[str, np.ndarray]:
    """What changes from iteration to iteration, by its name and player: no copies."""
    return {
        f"{field}_{player}": getattr(learner, field)
        for player, learner in enumerate(learned)
        for field in FIELDS
    }


def game_arrays(form: SequenceForm | FactoredForm) -> GameArrays | None:
    """Treeplexes, payoffs and constants for compiled code; None: payoffs are not listed."""
    if isinstance(form, FactoredForm):
        return None
    first, second = (kernels.slice_payoffs(form.payoffs_for(player)) for player in (0, 1))
    zeros = (np.zeros(form.treeplexes[0].num_sequences), np.zeros(form.treeplexes[1].num_sequences))
    treeplexes = (form.treeplexes[0].arrays, form.treeplexes[1].arrays)
    return treeplexes, (first, second), form.constants or zeros


def game_checksum(form: SequenceForm | FactoredForm) -> np.ndarray:
    """A checksum of treeplexes, payoffs and constants: uint8 [32].

    Factored payoffs are what they give against an opponent who plays every sequence.
    """
    digest = hashlib.sha256()
    for treeplex in form.treeplexes:
        roots = np.array([treeplex.num_root_sequences])
        for indices in (roots, treeplex.parent_sequence, treeplex.num_actions):
            _add(digest, indices, np.int64)
    if isinstance(form, FactoredForm):
        for player, opponent in ((0, form.treeplexes[1]), (1, form.treeplexes[0])):
            plan = np.ones(opponent.num_sequences)
            _add(digest, form.values_against(player, plan), np.float64)
        return np.frombuffer(digest.digest(), np.uint8)
    for indices in (form.payoffs.indptr, form.payoffs.indices):
        _add(digest, indices, np.int64)
    _add(digest, form.payoffs.data, np.float64)
    for constants in form.constants or ():
        _add(digest, constants, np.float64)
    return np.frombuffer(digest.digest(), np.uint8)


def check_state(
    state: Mapping[str, np.ndarray],
    own: Mapping[str, np.ndarray],
    treeplexes: tuple[Treeplex, Treeplex],
    learned: tuple[Learned, ...],
    variant: Weighting,
) -> None:
    """Holds a state to the game, the variant and the definitions of what is in it.

    Args:
      state: the one to check.
      own: that of the regret minimizer that is to go on from it.
      treeplexes, learned: of this regret minimizer; nothing of them is changed.
      variant: its variant of CFR.

    Raises:
      ValueError: if the state is of another game or variant, or if it is none.
    """
    for name, array in own.items():
        found = np.asarray(state[name]) if name in state else None
        if found is None or found.shape != array.shape:
            shape = "nothing" if found is None else found.shape
            raise ValueError(
                f"the state's {name} has shape {shape}, but {array.shape} is needed: it was "
                "saved for another game or another variant of CFR"
            )
        _check_numbers(name, found, np.issubdtype(array.dtype, np.integer))
    if not np.array_equal(state["game"], own["game"]):
        raise ValueError(
            "the state was saved for another game, of the same size: checksums of infosets and "
            "payoffs differ"
        )
    if not np.array_equal(state["variant"], own["variant"]):
        raise ValueError(
            f"the state was saved for another variant of CFR than {variant}: its numbers are "
            f"{state['variant'].tolist()}, not {own['variant'].tolist()}"
        )
    if state["num_averaged"][0] > state["iteration"][0]:
        raise ValueError(
            f"the state has averaged {state['num_averaged'][0]} iterations of only "
            f"{state['iteration'][0]}"
        )
    for player, treeplex in enumerate(treeplexes):
        if variant.drops_negative and (state[f"regret_{player}"] < 0).any():
            raise ValueError(
                f"the state's regret_{player} is negative somewhere, which this variant of CFR "
                "drops"
            )
        _check_player(state, player, treeplex, learned[player])


def _add(digest: Any, array: np.ndarray, dtype: type) -> None:
    """Adds an array, after its length, to a checksum."""
    digest.update(len(array).to_bytes(8, "little"))
    digest.update(np.ascontiguousarray(array, dtype))


def _check_numbers(name: str, array: np.ndarray, is_count: bool) -> None:
    """Counts are integers >= 0; all but the exponents of a variant is finite."""
    if not np.issubdtype(array.dtype, np.number):
        raise ValueError(f"the state's {name} has dtype {array.dtype}, which are no numbers")
    if is_count and (not np.issubdtype(array.dtype, np.integer) or (array < 0).any()):
        raise ValueError(f"the state's {name}, {array}, must consist of integers >= 0")
    if name != "variant" and not np.isfinite(array).all():
        raise ValueError(f"the state's {name} has numbers that are not finite")


def _check_player(
    state: Mapping[str, np.ndarray],
    player: int,
    treeplex: Treeplex,
    learner: Learned,
) -> None:
    """Strategies are distributions, plans and averages nonnegative, and they fit together."""
    arrays = {field: np.asarray(state[f"{field}_{player}"], np.float64) for field in FIELDS}
    check_strategy(treeplex, arrays["strategy"], np.ones(treeplex.num_infosets, np.bool_))
    fixed = treeplex.sequences_of(learner.is_fixed)
    if not _are_close(arrays["strategy"][fixed], learner.strategy[fixed]):
        raise ValueError(
            f"the state's strategy_{player} is another one in infosets that are held fixed"
        )
    for field in ("realization", "average"):
        if (arrays[field] < 0).any():
            raise ValueError(f"the state's {field}_{player} is negative somewhere")
    realized = arrays["realization"].copy()
    kernels.realize(
        treeplex.arrays, learner._replace(strategy=arrays["strategy"], realization=realized)
    )
    if not _are_close(realized, arrays["realization"]):
        raise ValueError(
            f"the state's realization_{player} is not that of its strategy_{player}; it was saved "
            "with another inflow, or changed"
        )
    average = arrays["average"]
    if not state["num_averaged"][0] and average.any():
        raise ValueError(f"the state's average_{player} is of no iterations, but not zero")
    entered = average[treeplex.parent_sequence]
    left = treeplex.sum_per_infoset(average)
    if not learner.inflow.size and not _are_close(entered, left):
        raise ValueError(f"the state's average_{player} is not a sum of realization plans")


def _are_close(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether numbers are equal but for rounding."""
    size = max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0))
    return bool((np.abs(first - second) <= _TOLERANCE * size).all())
