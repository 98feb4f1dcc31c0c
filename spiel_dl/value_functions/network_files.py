"""Loads value functions by name, such as "exact", and networks from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spiel_dl.games.own import is_same_function
from spiel_dl.system import tensor_files
from spiel_dl.value_functions.base import ValueFunction, ZeroValue
from spiel_dl.value_functions.exact import ExactValue

if TYPE_CHECKING:  # Torch is imported with the first network, if there is one.
    import torch

    from spiel_dl.tree.depth_limit import DepthLimit
    from spiel_dl.value_functions.value_network import ValueNetwork

EXACT, ZERO, SHOWDOWN, RIVER = NAMES = ("exact", "zero", "showdown", "river")
"""Value functions that need no file."""
_registered: dict[str, type[ValueNetwork]] = {}


def load_network(path: str | os.PathLike[str], device: torch.device | str = "cpu") -> ValueNetwork:
    """The value network of a file that its `save` wrote.

    Raises:
      ValueError: if there is no such file, or if it holds no value network of a known kind.
    """
    kinds = {**_builtin_kinds(), **_registered}
    kind = tensor_files.header(path).get("kind", "")
    if kind not in kinds:
        raise ValueError(
            f"{path} holds a {kind or 'file of another kind'}, not one of {', '.join(kinds)}; give "
            "a file that a value network's save wrote, and make a class of your own known by "
            "register_network"
        )
    return kinds[kind].load(path, device=device)


def register_network(network: type[ValueNetwork]) -> None:
    """Lets `load_network` read the files of a class of networks, in this process.

    Args:
      network: a `ValueNetwork` with a `kind` of its own.

    Raises:
      ValueError: if it is no such class, or if another class has this kind.
    """
    from spiel_dl.value_functions.value_network import ValueNetwork

    is_network = isinstance(network, type) and issubclass(network, ValueNetwork)
    kind = getattr(network, "kind", None)
    if not (is_network and isinstance(kind, str)):
        raise ValueError(
            f"network={network!r} must be a subclass of ValueNetwork with a kind, such as "
            "kind = 'my_network'"
        )
    other = {**_builtin_kinds(), **_registered}.get(kind)
    if other is not None and not is_same_function(other, network):
        raise ValueError(f"kind={kind!r} is that of {other.__qualname__}; choose another one")
    _registered[kind] = network


def _builtin_kinds() -> dict[str, type[ValueNetwork]]:
    from spiel_dl.value_functions.particle import ParticleNetwork
    from spiel_dl.value_functions.positional import PositionalNetwork

    return {PositionalNetwork.kind: PositionalNetwork, ParticleNetwork.kind: ParticleNetwork}


def load_networks(
    paths: Sequence[str | os.PathLike[str]], device: torch.device | str = "cpu"
) -> dict[DepthLimit, ValueNetwork]:
    """Networks of one game, by their depth limits counted from the root.

    Raises:
      ValueError: as `load_network`, or if one of them is for no depth limit or for the same as
        another.
    """
    networks: dict[DepthLimit, ValueNetwork] = {}
    for path in paths:
        network = load_network(path, device)
        limit = network.depth_limit
        if limit is None:
            raise ValueError(
                f"the {type(network).__name__} of {path} says no depth limit that it was made for, "
                "so it serves several; give it alone"
            )
        if limit in networks:
            raise ValueError(
                f"two networks were made for a depth limit of {limit}, one of them in {path}; give "
                "one for each limit"
            )
        networks[limit] = network
    return networks


def load_value_function(
    name: str,
    *,
    exact_tolerance: float = 1e-4,
    device: str = "cpu",
) -> ValueFunction:
    """The value function of a name.

    Args:
      name: "exact" for the optimal value function, "zero" for a draw at every leaf, the path of a
        network's file; or for hold'em on the turn, "showdown" as if all checked from there on, and
        "river" for the network of the zoo.
      exact_tolerance: gap of the subgames that "exact" solves, a share of the largest utility.
      device: where a network computes; the river network computes on the CPU.

    Raises:
      ValueError: if there is no such file or it holds no network, or for a tolerance that is not
        positive.
    """
    if name == EXACT:
        return ExactValue(exact_tolerance)
    if name == ZERO:
        return ZeroValue()
    from spiel_dl.value_functions import river  # With torch.

    if name in (SHOWDOWN, RIVER):
        return river.ShowdownValue() if name == SHOWDOWN else river.RiverNetwork.pretrained()
    if tensor_files.header(name).get("kind") == river.RiverNetwork.kind:
        return river.RiverNetwork.load(name)
    return load_network(name, device)
