"""Presets: games by name, with settings for learners.

    python run/train.py --algorithm=rnad --preset=goofspiel_5_descending

The games are those of Kubíček et al. (2023), smaller ones, and large ones whose exploitability can
be computed exactly, see `runs.large_games`. The defaults of learners are meant for all of them. The
paper's own parameters, its Table 2, are a separate preset.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from spiel_dl.learning.config import PAPER_RNAD, RNaDConfig

_GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order={},returns_type=win_loss)"
_BATTLESHIPS = "python_battleships(board_width={0},board_height={0},ship_sizes={1})"


@dataclasses.dataclass(frozen=True)
class Preset:
    """A game, with settings for learners.

    Attributes:
      game: the game string.
      settings: by algorithm, the fields of its configuration that differ from the defaults.
    """

    game: str
    settings: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    def of(self, algorithm: str) -> dict[str, Any]:
        """The settings of an algorithm that differ from the defaults."""
        return dict(self.settings.get(algorithm, {}))


_PAPER_RNAD = {
    name: value for name, value in vars(PAPER_RNAD).items() if value != getattr(RNaDConfig(), name)
}
PRESETS: dict[str, Preset] = {
    "leduc": Preset("python_leduc"),
    "leduc_poker": Preset("leduc_poker"),
    "oshi_zumo": Preset("python_oshi_zumo_ii"),
    "goofspiel_4_descending": Preset(_GOOFSPIEL.format(4, "descending")),
    **{
        f"goofspiel_{cards}_{order}": Preset(_GOOFSPIEL.format(cards, order))
        for cards in (5, 8, 13)
        for order in ("descending", "random")
    },
    "goofspiel_5_descending_paper": Preset(
        _GOOFSPIEL.format(5, "descending"), {"rnad": _PAPER_RNAD}
    ),
    # With history values, a step of R-NaD takes about one and a half times as long here.
    "goofspiel_13_descending": Preset(
        _GOOFSPIEL.format(13, "descending"), {"rnad": {"history_values": False}}
    ),
    "battleships_2x2": Preset(_BATTLESHIPS.format(2, "[2]")),
    # In games of dozens of moves regularisation is weak, as a move changes the value little. MMD's
    # temperature is constant: with the default annealing and magnet it would become too small, and
    # ships would always be placed on the same tiles. On the small board, a step takes at most half
    # as long without history values, and R-NaD's pull to the uniform policy fades ten times as fast
    # as by default: what is left of it bounds what can be learned.
    "battleships_3x3": Preset(
        _BATTLESHIPS.format(3, "[2;2]"),
        {
            "rnad": {"eta": 0.1, "annealing_steps": 200.0, "history_values": False},
            "mmd": {
                "magnet_weight": 0.1,
                "temperature": 0.003,
                "annealing_steps": math.inf,
                "history_values": False,
            },
        },
    ),
    "battleships_5x5": Preset(
        _BATTLESHIPS.format(5, "[3;2;2]"),
        {
            "rnad": {"eta": 0.02},
            "mmd": {"magnet_weight": 0.04, "temperature": 0.01, "annealing_steps": math.inf},
        },
    ),
    "phantom_ttt": Preset("python_phantom_ttt"),
    "dark_hex_3x3": Preset("python_dark_hex"),
    "dark_hex_2x2": Preset("python_dark_hex(num_rows=2,num_cols=2)"),
    "abrupt_phantom_ttt": Preset("python_abrupt_phantom_ttt"),
    "abrupt_dark_hex_3x3": Preset("python_abrupt_dark_hex"),
    "abrupt_dark_hex_2x2": Preset("python_abrupt_dark_hex(num_rows=2,num_cols=2)"),
}
"""All presets, by name."""


def game_string(name: str) -> str:
    """The game string of a preset's name; any other string is returned as it is."""
    return PRESETS[name].game if name in PRESETS else name
