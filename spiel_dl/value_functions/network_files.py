"""Reads the file of a value network, whatever its kind."""

from __future__ import annotations

import os

import torch

from spiel_dl.runs import tensor_files
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.value_network import ValueNetwork

_KINDS: dict[str, type[PositionalNetwork | ParticleNetwork]] = {
    kind.kind: kind for kind in (PositionalNetwork, ParticleNetwork)
}


def load_network(path: str | os.PathLike[str], device: torch.device | str = "cpu") -> ValueNetwork:
    """The network that `save` wrote to a file.

    Raises:
      ValueError: if there is no such file, if it holds no value network, or if it holds a particle
        network with features of somebody's own; `ParticleNetwork.load` takes these.
    """
    _, header = tensor_files.load(path)
    kind = header.get("kind")
    if kind not in _KINDS:
        raise ValueError(
            f"{path} holds a {kind}, not one of {', '.join(_KINDS)}; give a file that a value "
            "network's save wrote"
        )
    return _KINDS[kind].load(path, device=device)
