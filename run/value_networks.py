"""The flags of a new positional network."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spiel_dl.value_functions.positional import PositionalNetwork


class NewNetwork(NamedTuple):
    """The configuration of a new network; only `make` imports torch.

    Attributes:
      num_layers: number of hidden layers (the paper: 4 to 6).
      num_units: units in each of them (the paper: 200 to 500).
      seed: of the initial parameters, which are the same on every device.
      device: torch device.
    """

    num_layers: int = 5
    num_units: int = 400
    seed: int = 0
    device: str = "cpu"

    def make(self) -> PositionalNetwork:
        """Makes the network.

        Raises:
          ValueError: if a size is not positive.
        """
        from spiel_dl.value_functions.positional import PositionalNetwork

        return PositionalNetwork(**self._asdict())
