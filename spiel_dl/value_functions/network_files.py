"""Value functions by the names that people give them, and networks by their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spiel_dl.runs import tensor_files
from spiel_dl.value_functions.base import ValueFunction, ZeroValue
from spiel_dl.value_functions.exact import ExactValue

if TYPE_CHECKING:  # Otherwise torch comes with the first network, which may never be asked for.
    import torch

    from spiel_dl.value_functions.value_network import ValueNetwork

EXACT, ZERO = "exact", "zero"


def load_network(path: str | os.PathLike[str], device: torch.device | str = "cpu") -> ValueNetwork:
    """The network that `save` wrote to a file.

    Raises:
      ValueError: if there is no such file, if it holds no value network, or if it holds a particle
        network with features of somebody's own; `ParticleNetwork.load` takes these.
    """
    from spiel_dl.value_functions.particle import ParticleNetwork
    from spiel_dl.value_functions.positional import PositionalNetwork

    _, header = tensor_files.load(path)
    kinds: dict[str, type[PositionalNetwork | ParticleNetwork]] = {
        kind.kind: kind for kind in (PositionalNetwork, ParticleNetwork)
    }
    kind = header.get("kind", "")
    if kind not in kinds:
        raise ValueError(
            f"{path} holds a {kind or 'file of another kind'}, not one of {', '.join(kinds)}; give "
            "a file that a value network's save wrote"
        )
    return kinds[kind].load(path, device=device)


def load_value_function(
    name: str,
    *,
    exact_tolerance: float = 1e-4,
    warm_start: bool = False,
    device: str = "cpu",
) -> ValueFunction:
    """The value function that a person means.

    Args:
      name: "exact" for the optimal value function, "zero" for a draw at every leaf, or the path of
        a network's file.
      exact_tolerance: gap of the subgames that "exact" solves, in utility units.
      warm_start: "exact" begins with the regrets of the evaluation before.
      device: where a network computes.

    Raises:
      ValueError: if there is no such file or it holds no network, or for a tolerance that is not
        positive.
    """
    if name == EXACT:
        return ExactValue(exact_tolerance, warm_start=warm_start)
    if name == ZERO:
        return ZeroValue()
    return load_network(name, device)
