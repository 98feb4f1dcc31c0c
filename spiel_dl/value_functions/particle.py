"""`ParticleNetwork`: a value function of sparse beliefs, without positions.

Šustr et al. (2021), "Particle Value Functions in Imperfect Information Games", section 5. The
network sees features of infostates instead of a place for each, so it takes any subset of a public
state's infostates, and one network serves all trunks of a game: whole or sparse, at any depth.

In a sparse belief an infoset shares histories with few of the opponent's, so its counterfactual
value is mostly their probability. A *conditional* network need not learn that: its module gives the
value of an infoset once it is reached, which is multiplied by the computed counterfactual reach.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Self

import numpy as np
import torch

from spiel_dl.tree.histories import counts_before, first_occurrence_ids
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.row_hash import RowHash
from spiel_dl.value_functions.base import NormalizedLeafValues, Values, check_leaves
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.particle_features import InfostateFeatures, LeafFeatures
from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule, ParticleSizes
from spiel_dl.value_functions.samples import Batch, Samples
from spiel_dl.value_functions.value_network import ValueNetwork


class ParticleNetwork(ValueNetwork):
    """A value network of sets of infostates. It has parameters after `initialize` or `load`.

    Values do not depend on the order of infosets, nor, where a player's range is not 0 everywhere,
    on infosets of range 0.

    Attributes:
      module: the torch module: values at beliefs that sum to 1 for each player, in utility units.
      conditional: whether the module's values are divided by the counterfactual reach: values of
        infosets once they are reached.
      features: its inputs, features of infostates and public states.
      device: where it computes.
    """

    kind = "particle_network"
    one_limit = False
    module: ParticleModule

    def __init__(
        self,
        sizes: ParticleSizes | None = None,
        features: InfostateFeatures | None = None,
        *,
        conditional: bool = False,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ):
        """Describes an untrained network.

        Args:
          sizes: sizes of its blocks; None: the paper's.
          features: its inputs; None: perfect-recall features.
          conditional: see the class; the paper's network is not.
          seed: seed of the initial parameters, which are the same on every device.
          device: where to compute.
        """
        super().__init__(device)
        self.features = features or InfostateFeatures()
        self.conditional = conditional
        self._sizes = sizes or ParticleSizes()
        self._seed = seed

    def bind(self, leaves: LeafSet) -> ParticleLeafValues:
        """The network at a trunk's leaves, whose features it reads.

        Raises:
          ValueError: if there are no leaves, if the game has no features, if the network has no
            parameters yet, or if they are for another game or other features.
        """
        features = self._features_of(leaves)
        self.check_domain(self._describe(leaves, features), leaves.tree.game)
        return ParticleLeafValues(self, leaves, features)

    def describe(self, leaves: LeafSet) -> dict[str, Any]:
        """See `ValueNetwork`."""
        return self._describe(leaves, self._features_of(leaves))

    def make_module(self, domain: dict[str, Any]) -> ParticleModule:
        """See `ValueNetwork`."""
        num_features = domain["number of features"], domain["number of public features"]
        return ParticleModule(self._sizes, *num_features, self._seed)

    def settings(self) -> dict[str, Any]:
        """The sizes of the blocks, and `conditional`, as JSON can hold them."""
        return {"sizes": dataclasses.asdict(self._sizes), "conditional": self.conditional}

    @classmethod
    def of_header(cls, header: dict[str, Any], device: torch.device | str) -> Self:
        """See `ValueNetwork`."""
        return cls(
            ParticleSizes(**header["sizes"]),
            InfostateFeatures.named(header["domain"]["features"]),
            conditional=header.get("conditional", False),
            device=device,
        )

    def samples(self, dataset: Dataset) -> ParticleSamples:
        """A dataset's samples; see `ValueNetwork.samples`."""
        leaves = dataset.trunk.leaves
        tensors = LeafTensors.of_infosets(
            public_state_of_infoset(leaves), self.features.of_leaves(leaves), self.device
        )
        return ParticleSamples(tensors, dataset, self.device, conditional=self.conditional)

    def _features_of(self, leaves: LeafSet) -> LeafFeatures:
        check_leaves(leaves)
        return self.features.of_leaves(leaves)

    def _describe(self, leaves: LeafSet, features: LeafFeatures) -> dict[str, Any]:
        """The network's domain; see `ValueNetwork.describe`."""
        return {
            "game": str(leaves.tree.game),
            "features": self.features.name,
            "number of features": features.infostates.shape[1],
            "number of public features": features.public.shape[1],
        }


class LeafTensors(NamedTuple):
    """A trunk's leaves as the module takes them, on the network's device.

    U is the number of leaf infosets, or of their classes (`FeatureClasses`). A row of ranges or
    values holds U numbers and a 0. Q is the largest number of these in a leaf public state.

    Attributes:
      features: float32 [U, F].
      public: float32 [P, G], features of the leaf public states.
      entry: int64 [P, Q], the index in a row of each infoset of a public state, in order; U, where
        the row is 0, for entries without infoset.
      place: int64 [U], the index of each infoset among the P * Q entries.
    """

    features: torch.Tensor
    public: torch.Tensor
    entry: torch.Tensor
    place: torch.Tensor

    @staticmethod
    def of_infosets(state: np.ndarray, features: LeafFeatures, device: torch.device) -> LeafTensors:
        """The tensors of infosets in public states `state` (int64 [U]) with these features."""
        within = counts_before(state)
        entry = np.full((len(features.public), within.max() + 1), len(state))
        entry[state, within] = np.arange(len(state))
        place = state * entry.shape[1] + within
        arrays = (features.infostates, features.public, entry, place)
        return LeafTensors(*(torch.from_numpy(array).to(device) for array in arrays))

    @property
    def infostate(self) -> torch.Tensor:
        """As in `ParticleBatch`: int64 [P, Q]."""
        return self.entry.clamp(max=len(self.features) - 1)


class FeatureClasses:
    """Classes of leaf infosets with the same features in the same public state.

    With imperfect recall many infosets share a class, as features leave out what was forgotten. The
    beliefs of a class are summed, and its infosets have the same value.

    Attributes:
      first: int64 [U], the first infoset of each class.
    """

    def __init__(self, features: np.ndarray, state: np.ndarray):
        """Groups infosets by features (float32 [L, F]) and public states (int64 [L])."""
        bits = np.ascontiguousarray(features).view(np.int32)
        row_ids = first_occurrence_ids(RowHash(bits.shape[1], seed=0)(bits))[0]
        pairs = row_ids * (state.max() + 1) + state
        self._class_of_infoset, self.first = first_occurrence_ids(pairs)

    def sum(self, beliefs: np.ndarray) -> np.ndarray:
        """Sums beliefs (float64 [L]) over each class, and appends a 0: float32 [U + 1]."""
        return np.bincount(self._class_of_infoset, beliefs, len(self.first) + 1).astype(np.float32)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Copies values of classes ([U]) to all of their infosets: [L]."""
        return values[self._class_of_infoset]


def public_state_of_infoset(leaves: LeafSet) -> np.ndarray:
    """The leaf public states of both players' infosets: int64 [L_0 + L_1]."""
    return np.concatenate([leaves.public_state_of_infoset(player) for player in (0, 1)])


class ParticleLeafValues(NormalizedLeafValues):
    """A `ParticleNetwork` at the leaves of one trunk.

    Attributes:
      tensors: the leaves, with one infoset of each class (`FeatureClasses`).
    """

    def __init__(self, network: ParticleNetwork, leaves: LeafSet, features: LeafFeatures):
        """See `ParticleNetwork.bind`."""
        super().__init__(leaves)
        state = public_state_of_infoset(leaves)
        self._network = network
        self._classes = FeatureClasses(features.infostates, state)
        first = self._classes.first
        distinct = features._replace(infostates=features.infostates[first])
        self.tensors = LeafTensors.of_infosets(state[first], distinct, network.device)
        self._bases: torch.Tensor | None = None
        self._parameters_of_bases: list[torch.Tensor] = []

    @torch.inference_mode()
    def normalized_values(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `NormalizedLeafValues`."""
        tensors, network = self.tensors, self._network
        sums = self._classes.sum(np.concatenate([range_0, range_1]))
        beliefs = torch.from_numpy(sums).to(network.device)[tensors.entry]
        values = network.module.values(self._current_bases(), beliefs[None], tensors.public)
        cfvs = self._classes.spread(values.flatten()[tensors.place].cpu().numpy())
        cfv_0, cfv_1 = cfvs[: len(range_0)], cfvs[len(range_0) :]
        if network.conditional:
            reach_0, reach_1 = self.leaves.counterfactual_reach(range_0, range_1)
            return cfv_0 * reach_0, cfv_1 * reach_1
        return cfv_0, cfv_1

    def _current_bases(self) -> torch.Tensor:
        """The bases of all entries, [P, Q, base], recomputed when parameters have changed."""
        # They do not depend on ranges, of which a solver evaluates hundreds at one trunk. Torch
        # does not count all changes (not those by fused Adam), so the parameters are compared.
        change_basis = self._network.module.change_basis
        parameters = list(change_basis.parameters())
        if self._bases is None or not all(map(torch.equal, parameters, self._parameters_of_bases)):
            self._bases = change_basis(self.tensors.features)[self.tensors.infostate]
            self._parameters_of_bases = [parameter.clone() for parameter in parameters]
        return self._bases


class ParticleSamples(Samples):
    """Samples whose entries are the infosets of a public state, in the order of `LeafTensors`."""

    def __init__(
        self, tensors: LeafTensors, dataset: Dataset, device: torch.device, *, conditional: bool
    ):
        """Puts a dataset's samples on a device.

        Args:
          tensors: those of the dataset's leaves.
          dataset: the dataset.
          device: the device.
          conditional: as in `ParticleNetwork`; infosets that are not reached do not count then.
        """
        super().__init__(dataset, device)
        self._tensors = tensors
        reach: Values = (np.ones_like(dataset.ranges[0]), np.ones_like(dataset.ranges[1]))
        if conditional:
            reach = dataset.trunk.leaves.counterfactual_reach(*dataset.ranges)
        targets = [
            np.divide(cfv, weight, out=np.zeros_like(cfv), where=weight > 0)
            for cfv, weight in zip(dataset.cfvs, reach, strict=True)
        ]
        zeros = np.zeros((dataset.num_strategies, 1), np.float32)
        # A last entry of 0, for those without infoset.
        self._ranges, self._reach, self._targets = (
            torch.from_numpy(np.concatenate([*values, zeros], axis=1, dtype=np.float32)).to(device)
            for values in (dataset.ranges, reach, targets)
        )
        self._num_of_player_0 = dataset.ranges[0].shape[1]

    def batch(self, samples: np.ndarray) -> Batch:
        """A `ParticleBatch`; targets, float32 [b, Q]; a mask of those that count, bool [b, Q]."""
        tensors = self._tensors
        strategies, states = self._split(samples)
        entry, row = tensors.entry[states], strategies[:, None]
        belief, targets = self._ranges[row, entry], self._targets[row, entry]
        inputs = ParticleBatch(
            tensors.features, tensors.infostate[states], belief, tensors.public[states]
        )
        return inputs, targets, self._reach[row, entry] > 0

    def opponent_masses(self, samples: np.ndarray) -> torch.Tensor:
        """See `Samples`; for conditional networks with the counterfactual reach as a factor."""
        strategies, states = self._split(samples)
        masses = self._masses[strategies, states]
        entry = self._tensors.entry[states]
        reach = self._reach[strategies[:, None], entry]
        return reach * torch.where(entry < self._num_of_player_0, masses[:, :1], masses[:, 1:])
