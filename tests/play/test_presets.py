"""Presets say the same as the configurations that they repeat."""

from spiel_dl.algorithms.rnad import PAPER, RNaDConfig
from spiel_dl.play.presets import PRESETS


def test_the_papers_preset_is_the_papers_configuration() -> None:
    assert RNaDConfig(**PRESETS["goofspiel_5_descending_paper"].of("rnad")) == PAPER
