"""Feed-forward blocks of value networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch


def feed_forward(
    sizes: Sequence[int],
    generator: torch.Generator,
    output_scale: float = 1.0,
    *,
    layer_norm: bool = False,
) -> torch.nn.Sequential:
    """Linear layers with ReLU between them, initialised the same for every device.

    Weights are He-uniform, biases 0.

    Args:
      sizes: the numbers of inputs, of each hidden layer's units, and of outputs.
      generator: makes the parameters; torch's global one is left alone.
      output_scale: multiplies the last layer's weights.
      layer_norm: normalise the outputs of each hidden layer (Ba et al. 2016).
    """
    layers: list[torch.nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
        bound = math.sqrt(6.0 / inputs)
        with torch.no_grad():
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
        if layer_norm:
            layers.append(torch.nn.LayerNorm(outputs))
    with torch.no_grad():
        layer.weight.mul_(output_scale)
    # Nothing follows the last linear layer.
    return torch.nn.Sequential(*layers[: layers.index(layer) + 1])
