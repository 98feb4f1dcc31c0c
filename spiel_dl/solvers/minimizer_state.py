"""States of regret minimizers: initial states, checkpoints, and checks of checkpoints."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from spiel_dl.solvers import kernels
from spiel_dl.solvers.kernels import Learned
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex, TreeplexArrays

Pair = tuple[np.ndarray, np.ndarray]
GameArrays = tuple[
    tuple[TreeplexArrays, TreeplexArrays], tuple[kernels.SlicedPayoffs, kernels.SlicedPayoffs], Pair
]
FIELDS = ("regret", "strategy", "realization", "average")


def new_learned(treeplex: Treeplex) -> Learned:
    """A learner before the first iteration, with a reach of 1 everywhere."""
    return Learned(
        regret=np.zeros(treeplex.num_sequences),
        strategy=treeplex.uniform_strategy(),
        realization=np.ones(treeplex.num_sequences),
        average=np.zeros(treeplex.num_sequences),
        inflow=np.zeros(0),
        is_fixed=np.zeros(treeplex.num_infosets, np.bool_),
    )


def arrays_of(learned: tuple[Learned, ...]) -> dict[str, np.ndarray]:
    """The arrays that iterations change, by name and player, not copied."""
    return {
        f"{field}_{player}": getattr(learner, field)
        for player, learner in enumerate(learned)
        for field in FIELDS
    }


def game_arrays(form: SequenceForm | FactoredForm) -> GameArrays | None:
    """Treeplexes, payoffs and constants for compiled code; None for factored forms."""
    if isinstance(form, FactoredForm):
        return None
    first, second = (
        kernels.slice_payoffs(form.payoffs_for(player), part)
        for player, part in enumerate(kernels.parts(form.payoffs))
    )
    zeros = (np.zeros(form.treeplexes[0].num_sequences), np.zeros(form.treeplexes[1].num_sequences))
    treeplexes = (form.treeplexes[0].arrays, form.treeplexes[1].arrays)
    return treeplexes, (first, second), form.constants or zeros


def game_checksum(form: SequenceForm | FactoredForm) -> np.ndarray:
    """A checksum of treeplexes, payoffs and constants: uint8 [32].

    Factored payoffs enter by their values against a plan of ones.
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


def check_state(state: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    """Raises a ValueError if a state is of another game or variant than expected, or not finite.

    Args:
      state: the state to check.
      expected: a state of the regret minimizer that is to load it.
    """
    for name, array in expected.items():
        saved = np.asarray(state[name]) if name in state else None
        if saved is None or saved.shape != array.shape:
            shape = "nothing" if saved is None else saved.shape
            raise ValueError(
                f"the state's {name} has shape {shape}, but {array.shape} is needed: it was "
                "saved for another game or another variant of CFR"
            )
        if not np.issubdtype(saved.dtype, np.number):
            raise ValueError(f"the state's {name} has dtype {saved.dtype}, which are no numbers")
        if name != "variant" and not np.isfinite(saved).all():
            raise ValueError(f"the state's {name} has numbers that are not finite")
    if not np.array_equal(state["game"], expected["game"]):
        raise ValueError(
            "the state was saved for another game, of the same size: checksums of infosets and "
            "payoffs differ"
        )
    if not np.array_equal(state["variant"], expected["variant"]):
        raise ValueError(
            "the state was saved for another variant of CFR: its numbers are "
            f"{state['variant'].tolist()}, not {expected['variant'].tolist()}"
        )


def _add(digest: Any, array: np.ndarray, dtype: type) -> None:
    """Adds an array's length and entries to a checksum."""
    digest.update(len(array).to_bytes(8, "little"))
    digest.update(np.ascontiguousarray(array, dtype))
