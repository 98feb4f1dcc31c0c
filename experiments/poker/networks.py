"""Networks of rivers, trained on rivers solved by quantiles; see `rivers`.

python -m experiments.poker.networks --data=build/rivers --output=build/river.safetensors
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.value_functions.river import RiverNetwork, balanced, stack_features

_BATCH = 128
_LEARNING_RATES = (2e-3, 2e-5)  # in the first step and, by a cosine, in the last one


class Data(NamedTuple):
    """Solved rivers.

    Attributes:
      inputs: float32 [n, B + 13], the networks' inputs.
      values: float32 [n, 2, B], what betting is worth, in pots.
    """

    inputs: torch.Tensor
    values: torch.Tensor


def read(paths: Sequence[Path]) -> Data:
    """Reads the rivers of some files."""
    files = [np.load(path) for path in paths]
    stacks, shares, values = (
        np.concatenate([file[name] for file in files]) for name in ("stacks", "shares", "values")
    )
    inputs = np.concatenate([np.clip(shares, 0.0, 1.0), stack_features(stacks)], axis=1)
    return Data(torch.from_numpy(inputs), torch.from_numpy(values))


def train(data: Data, seed: int, num_steps: int) -> RiverNetwork:
    """Trains a network by Adam on the mean squared error over both players' hands."""
    network = RiverNetwork(seed=seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.module.parameters(), lr=_LEARNING_RATES[0])
    first, last = _LEARNING_RATES
    for step in range(num_steps):
        rate = last + (first - last) * (1 + math.cos(math.pi * step / num_steps)) / 2
        optimizer.param_groups[0]["lr"] = rate
        rows = torch.randint(len(data.inputs), (_BATCH,), generator=generator)
        values = balanced(network.module, data.inputs[rows])
        loss = (values - data.values[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network


def main() -> None:
    """Trains a network on all rivers of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("build/rivers"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num_steps", type=int, default=3000)
    parser.add_argument("--output", type=Path, default=Path("build/river.safetensors"))
    arguments = parser.parse_args()
    data = read(sorted(arguments.data.glob("*.npz")))
    train(data, arguments.seed, arguments.num_steps).save(arguments.output)


if __name__ == "__main__":
    main()
