"""The games in which kubicon/rlg is a peer, as it names them.

Rlg's goofspiel is `python_goofspiel_ii` with the forced last round played out, its Leduc is
`leduc_poker` with ranks in place of suits, and in its battleships both shoot at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import peer_process

Environment = dict[str, Any]
"""A game as rlg's configurations name it."""


def goofspiel(num_cards: int) -> Environment:
    """Rlg's goofspiel with hidden bids, descending points and the returns 1, 0, -1."""
    return {
        "name": "goofspiel",
        "n_cards": num_cards,
        "prize_order": "descending",
        "reward_type": "binary",
    }


def battleships(side: int, ships: list[int]) -> Environment:
    """Rlg's battleships, with the returns 1, 0, -1."""
    return {
        "name": "battleship",
        "board_size": side,
        "ship_lengths": ships,
        "reward_type": "binary",
    }


LEDUC: Environment = {"name": "leduc", "reward_type": "difference"}


def command(peer_python: str, rlg: str, settings: Mapping[str, Any]) -> list[str]:
    """The command of `rlg_peer.py`."""
    script = str(Path(__file__).with_name("rlg_peer.py"))
    return [peer_python, script, str(Path(rlg).resolve()), json.dumps(settings)]


def peer_variables() -> dict[str, str]:
    """The environment variables of the peer's process: it has packages of its own, and one core."""
    return peer_process.own_variables() | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
