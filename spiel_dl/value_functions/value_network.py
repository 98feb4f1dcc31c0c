"""`ValueNetwork`: the base class of value functions with a torch module."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pyspiel
import torch

from spiel_dl.networks.devices import check_device
from spiel_dl.system import tensor_files
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import is_game_of
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import NormalizedLeafValues, ValueFunction
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.samples import Samples


class ValueNetwork(ValueFunction):
    """A value function with parameters, which exist after `initialize` or `load`.

    A network is for all leaves of one depth limit, unless its class serves several
    (`one_limit = False`). `network_files.load_network` reads the files of a class of one's own
    after `network_files.register_network`.

    Attributes:
      kind: the name of the class in its files, unique among classes.
      module: the torch module, float32, on `device`.
      device: where it computes.
      domain: the leaves that the parameters are for, in words for people; None without parameters.
    """

    kind: str
    one_limit = True
    module: torch.nn.Module
    device: torch.device
    domain: dict[str, Any] | None

    def __init__(self, device: torch.device | str):
        """A network without parameters yet; a ValueError if torch cannot compute on the device."""
        check_device(device)
        self.device = torch.device(device)
        self.domain = None

    @property
    def depth_limit(self) -> DepthLimit | None:
        """The depth limit that it was made for: "depth limit" of its domain, or None."""
        text = (self.domain or {}).get("depth limit")
        return None if text is None else DepthLimit.parse(text)

    @abc.abstractmethod
    def bind(self, leaves: LeafSet) -> NormalizedLeafValues:
        """The network at a trunk's leaves; later changes of its parameters change the values.

        Raises:
          ValueError: if there are no leaves, if the network has no parameters yet, or if they are
            for other leaves.
        """

    @abc.abstractmethod
    def describe(self, leaves: LeafSet) -> dict[str, Any]:
        """The leaves' domain, in words for people: the network serves leaves of an equal domain.

        Raises:
          ValueError: if the network cannot value these leaves.
        """

    @abc.abstractmethod
    def make_module(self, domain: dict[str, Any]) -> torch.nn.Module:
        """An untrained torch module for a domain, as `describe` returns it."""

    @abc.abstractmethod
    def settings(self) -> dict[str, Any]:
        """The arguments of the class, such as sizes, as JSON can hold them."""

    def initialize(self, leaves: LeafSet) -> None:
        """Makes the parameters for a trunk's leaves, if there are none yet.

        Raises:
          ValueError: if there are no leaves, or if the parameters are for other leaves.
        """
        domain = self.describe(leaves)
        if self.domain is None:
            self._make_parameters(domain)
        self.check_domain(domain, leaves.tree.game)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the header and the parameters to a file.

        Raises:
          ValueError: if there are no parameters yet.
        """
        tensor_files.save(path, self.parameter_arrays(), self.header())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: torch.device | str = "cpu") -> Self:
        """Reads what `save` wrote.

        Raises:
          ValueError: if there is no such file, or if it holds no such network.
        """
        arrays, header = tensor_files.load(path)
        if header.get("kind") != cls.kind:
            raise ValueError(
                f"{path} holds a {header.get('kind')}, not a {cls.kind}; give a file that "
                f"{cls.__name__}.save wrote"
            )
        network = cls.of_header(header, device)
        network._make_parameters(header["domain"])
        network.load_parameters(arrays)
        return network

    @classmethod
    def of_header(cls, header: dict[str, Any], device: torch.device | str) -> Self:
        """A network of a file's header, without parameters yet."""
        make: Callable[..., Self] = cls
        settings = {name: header[name] for name in header.keys() - {"kind", "domain"}}
        return make(**settings, device=device)

    def header(self) -> dict[str, Any]:
        """Kind, sizes and domain, as JSON can hold them.

        Raises:
          ValueError: if there are no parameters yet.
        """
        if self.domain is None:
            raise ValueError(
                "the network has no parameters yet; call initialize(leaves), or load one"
            )
        return {"kind": self.kind, **self.settings(), "domain": self.domain}

    @abc.abstractmethod
    def samples(self, dataset: Dataset) -> Samples:
        """A dataset's samples for the network's training.

        `module` maps the inputs of a batch to values of the targets' shape.

        Args:
          dataset: a dataset of leaves in the network's domain.
        """

    def parameter_arrays(self) -> dict[str, np.ndarray]:
        """Copies of the parameters, float32, by torch's names for them.

        Raises:
          ValueError: if there are no parameters yet.
        """
        self.header()
        state = self.module.state_dict()
        return {name: tensor.cpu().numpy().copy() for name, tensor in state.items()}

    def load_parameters(self, arrays: dict[str, np.ndarray]) -> None:
        """Replaces the parameters by `parameter_arrays` of a network of the same sizes.

        Raises:
          ValueError: if names or shapes differ; nothing has changed then.
        """
        own = {name: tuple(tensor.shape) for name, tensor in self.module.state_dict().items()}
        given = {name: array.shape for name, array in arrays.items()}
        if own != given:
            raise ValueError(f"the parameters have shapes {given}, but the network needs {own}")
        self.module.load_state_dict({name: torch.from_numpy(a) for name, a in arrays.items()})

    def check_domain(self, domain: dict[str, Any], game: pyspiel.Game) -> None:
        """Raises a ValueError if the parameters are for another domain, or if there are none.

        Args:
          domain: the leaves' domain, as `describe` returns it.
          game: the leaves' game, whose string may differ from that in the network's domain though
            the game is the same.
        """
        self.header()
        assert self.domain is not None
        for name in (*domain, *(self.domain.keys() - domain.keys())):
            own, value = self.domain.get(name), domain.get(name)
            if own != value and not (name == "game" and is_game_of(str(own), game)):
                raise ValueError(
                    f"the network's {name} is {own}, but the leaves' is {value}; "
                    "load or train a network for these leaves"
                )

    def _make_parameters(self, domain: dict[str, Any]) -> None:
        self.module = self.make_module(domain).to(self.device)
        self.domain = domain
