"""`StateBatch`: the base class of batches of states, on which rules work; and their constants."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

import numpy as np
import torch

Tables = TypeVar("Tables")


@dataclasses.dataclass(frozen=True)
class StateBatch:
    """A batch of states. Subclasses add tensors, each with leading dimension B.

    The tensors are never written to, so copies share them.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def batch_size(self) -> int:
        """B, the number of states."""
        return self._tensors()[0].shape[0]

    @property
    def device(self) -> torch.device:
        """The device that holds every tensor of the batch."""
        return self._tensors()[0].device

    def take(self, rows: torch.Tensor | slice) -> Self:
        """The batch of the given rows: int64 [N], bool [B], or a slice, which copies nothing."""
        if isinstance(rows, torch.Tensor) and rows.dtype == torch.int64:
            # Much quicker than indexing, which does the same.
            return self._map(lambda tensor: tensor.index_select(0, rows))
        return self._map(lambda tensor: tensor[rows])

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        return self._map(lambda tensor: tensor.to(device))

    def repeated(self, count: int, device: torch.device | str) -> Self:
        """Copies of the only row, on a device."""
        return self.to(device).take(torch.zeros(count, dtype=torch.int64, device=device))

    def where(self, condition: torch.Tensor, other: Self) -> Self:
        """Row by row, this batch where `condition` (bool [B]) holds and `other` elsewhere."""
        pairs = zip(self._tensors(), other._tensors(), strict=True)
        return type(self)(
            *(torch.where(_broadcast(condition, first), first, second) for first, second in pairs)
        )

    @classmethod
    def concatenate(cls, batches: list[Self]) -> Self:
        """One batch of all rows of `batches`, in order."""
        columns = zip(*(batch._tensors() for batch in batches), strict=True)
        return cls(*(torch.cat(column) for column in columns))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The tensors, which are on a CPU, as arrays of the same memory."""
        return tuple(tensor.numpy() for tensor in self._tensors())

    def _tensors(self) -> list[torch.Tensor]:
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def _map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Self:
        return type(self)(*(function(tensor) for tensor in self._tensors()))


def _broadcast(condition: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return condition.reshape(condition.shape + (1,) * (like.dim() - 1))


class TablesByDevice(Generic[Tables]):
    """The constants of a game's rules as tensors, by device; copied there when first asked for."""

    def __init__(self, make: Callable[..., Tables], **constants: np.ndarray | torch.Tensor):
        """Notes the constants.

        Args:
          make: the class of the tables.
          **constants: its fields, on a CPU.
        """
        # Rows of a part of an array would be looked up slowly.
        self._constants = {
            name: torch.as_tensor(each).contiguous() for name, each in constants.items()
        }
        self._make = make
        self._by_device: dict[torch.device, Tables] = {}

    def __call__(self, device: torch.device) -> Tables:
        """The tables on a device."""
        if device not in self._by_device:
            tensors = {name: each.to(device) for name, each in self._constants.items()}
            self._by_device[device] = self._make(**tensors)
        return self._by_device[device]
