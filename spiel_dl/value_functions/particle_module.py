"""`ParticleModule`: the torch module of a particle value network, a function of sets.

Šustr et al. (2021), section 5.2 and Figure 1, appendix C. A sample is a public state and a set of
infostates of both players, each with a belief. For infostate j of sample i:

  1. base b_ij = change_basis(features_ij), one network for all infostates;
  2. context c_i = sum over j of belief_ij * b_ij;
  3. regressed values y_i = regression([c_i, public features_i]);
  4. value_ij = <y_i, b_ij> / sqrt(base), or with concatenation, output([b_ij, y_i]).

The paper does not divide. What can be represented stays the same, but a step of Adam moves an inner
product the further the longer its vectors; divided ones learn to half the error in as many steps.

So a value does not depend on the order of infostates, nor on infostates of belief 0. Sets of
different sizes are therefore padded to one batch with entries of belief 0, whose values are to be
ignored.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import torch

from spiel_dl.networks.feed_forward import feed_forward
from spiel_dl.system.parameters import check_types
from spiel_dl.tree.counts import check_counts


@dataclasses.dataclass(frozen=True)
class ParticleSizes:
    """The sizes of a `ParticleModule`'s blocks.

    The defaults are the paper's (appendix F), which does not give the base's size.

    Attributes:
      base: length of a base, of the context and of the regressed values.
      basis_layers: linear layers of the change of basis; 1 makes it linear.
      basis_width: units of its hidden layers, as a multiple of its inputs.
      regression_layers: linear layers of the regression; 1 makes it linear.
      regression_width: units of its hidden layers, as a multiple of its inputs.
      concatenation_layers: hidden layers, as wide as their input, that make a value of [base,
        regressed values] (appendix C, for comparison); 0: the inner product.
    """

    base: int = 64
    basis_layers: int = 3
    basis_width: float = 3.0
    regression_layers: int = 5
    regression_width: float = 5.0
    concatenation_layers: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        check_counts(self, 1, "base", "basis_layers", "regression_layers")
        check_counts(self, 0, "concatenation_layers")
        if not all(0 < width < math.inf for width in (self.basis_width, self.regression_width)):
            raise ValueError(f"{self}: widths must be positive and finite")


class ParticleBatch(NamedTuple):
    """n samples of up to Q infostates each.

    Attributes:
      features: float32 [U, F], features of distinct infostates.
      infostate: int64 [n, Q], the row in `features` of each entry; any row for padding.
      belief: float32 [n, Q], 0 for padding.
      public: float32 [n, G], public features.
    """

    features: torch.Tensor
    infostate: torch.Tensor
    belief: torch.Tensor
    public: torch.Tensor


class ParticleModule(torch.nn.Module):
    """The network of this module's first lines.

    Attributes:
      change_basis: [..., F] to [..., base].
      regression: [..., base + G] to [..., base].
      output: [..., 2 base] to [..., 1]; None for the inner product.
    """

    output: torch.nn.Sequential | None

    def __init__(self, sizes: ParticleSizes, num_features: int, num_public: int, seed: int = 0):
        """Draws parameters, which are the same on every device.

        Args:
          sizes: the sizes of the blocks.
          num_features: F, features of an infostate.
          num_public: G, features of a public state.
          seed: the seed of the parameters.
        """
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        num_inputs = sizes.base + num_public
        basis_units = max(1, round(sizes.basis_width * num_features))
        units = max(1, round(sizes.regression_width * num_inputs))
        self.change_basis = feed_forward(
            [num_features, *[basis_units] * (sizes.basis_layers - 1), sizes.base], generator
        )
        # Untrained values are then small beside utilities, if they are inner products.
        self.regression = feed_forward(
            [num_inputs, *[units] * (sizes.regression_layers - 1), sizes.base], generator, 0.1
        )
        self.output = None
        if sizes.concatenation_layers:
            hidden = [2 * sizes.base] * sizes.concatenation_layers
            self.output = feed_forward([2 * sizes.base, *hidden, 1], generator)

    def forward(self, batch: ParticleBatch) -> torch.Tensor:
        """The values of all entries: float32 [n, Q]."""
        bases = self.change_basis(batch.features)[batch.infostate]
        return self.values(bases, batch.belief[None], batch.public)[0]

    def values(
        self, bases: torch.Tensor, belief: torch.Tensor, public: torch.Tensor
    ) -> torch.Tensor:
        """Steps 2 to 4 for many beliefs over the same sets.

        Args:
          bases: float32 [n, Q, base].
          belief: float32 [m, n, Q].
          public: float32 [n, G].

        Returns:
          float32 [m, n, Q].
        """
        context = torch.einsum("mnq,nqd->mnd", belief, bases)
        public = public.expand(len(belief), *public.shape)
        regressed = self.regression(torch.cat([context, public], dim=-1))
        if self.output is None:
            return torch.einsum("mnd,nqd->mnq", regressed / math.sqrt(bases.shape[-1]), bases)
        shape = (*belief.shape, bases.shape[-1])
        pairs = torch.cat([bases.expand(shape), regressed[:, :, None].expand(shape)], dim=-1)
        values: torch.Tensor = self.output(pairs)
        return values[..., 0]
