"""Checks of devices."""

from __future__ import annotations

import torch


def check_device(device: torch.device | str) -> None:
    """Raises a ValueError if torch cannot compute on a device."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"device={str(device)!r} cannot be used here; take 'cpu', or 'cuda' where torch finds "
            "a GPU"
        ) from error
