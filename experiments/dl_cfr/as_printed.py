"""A positional network of ranges as they are, not scaled: the encoding as it is printed.

Kovařík et al. (2021), "Encoding of Inputs and Outputs": inputs are reach probabilities, and answers
are counterfactual values at these. The library's own network sees ranges that sum to 1.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import Values, check_ranges
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.network_files import register_network
from spiel_dl.value_functions.positional import (
    PositionalLayout,
    PositionalLeafValues,
    PositionalNetwork,
    PositionalSamples,
)


class UnscaledNetwork(PositionalNetwork):
    """A positional network whose module maps reach probabilities to counterfactual values."""

    kind = "unscaled_positional_network"

    def bind(self, leaves: LeafSet) -> _UnscaledLeafValues:
        """Lays out the leaves. See `ValueNetwork`."""
        return _UnscaledLeafValues(self, leaves, self._checked_layout(leaves))

    def samples(self, dataset: Dataset) -> PositionalSamples:
        """A dataset's samples; errors in either unit are then of values at ranges as they are."""
        leaves = dataset.trunk.leaves
        states = [leaves.public_state_of_infoset(player) for player in (0, 1)]
        masses = [dataset.masses[player][:, states[player]] for player in (0, 1)]
        others = [dataset.masses[1 - player][:, states[player]] for player in (0, 1)]
        ranges = (dataset.ranges[0] * masses[0], dataset.ranges[1] * masses[1])
        cfvs = (dataset.cfvs[0] * others[0], dataset.cfvs[1] * others[1])
        ones: Any = tuple(map(np.ones_like, dataset.masses))
        unscaled = dataclasses.replace(dataset, ranges=ranges, cfvs=cfvs, masses=ones)
        return PositionalSamples(self._checked_layout(leaves), unscaled, self.device)

    def _checked_layout(self, leaves: LeafSet) -> PositionalLayout:
        self.check_domain(self.describe(leaves), leaves.tree.game)
        return PositionalLayout.of_leaves(leaves)


class _UnscaledLeafValues(PositionalLeafValues):
    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`; where the opponent never comes, values are 0."""
        leaves = self.leaves
        check_ranges(leaves, range_0, range_1)
        found = self.normalized_values(range_0, range_1)
        first, second = (
            np.where(
                leaves.sum_by_public_state(1 - p, (range_1, range_0)[p]).take(
                    leaves.public_state_of_infoset(p), axis=-1
                )
                > 0,
                found[p].astype(np.float64),
                0.0,
            )
            for p in (0, 1)
        )
        return first, second


register_network(UnscaledNetwork)
