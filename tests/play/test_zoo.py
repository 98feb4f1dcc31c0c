"""The zoo of this checkout: what the index says of every model holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.play import registry, zoo
from spiel_dl.play.presets import PRESETS
from spiel_dl.system import tensor_files
from spiel_dl.tree.load import turn_based_game
from spiel_dl.value_functions import river


def test_the_index_can_be_read() -> None:
    assert zoo.names() == sorted(zoo.models())
    assert (zoo.folder() / zoo.INDEX_FILE).is_file()
    files = {file for model in zoo.models().values() for file in (model.file, model.curve)}
    there = {
        path.name for path in zoo.folder().iterdir() if path.suffix in (".json", ".safetensors")
    }
    assert there == {zoo.INDEX_FILE, river.FILE, *files}


_LARGE = ("phantom_ttt", "dark_hex_3x3", "goofspiel_5_random")
"""Ends of names of models in games that take long to judge exactly."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name.endswith(_LARGE) else [])
        for name in zoo.names()
    ],
)
def test_a_model_is_as_strong_as_the_index_says(name: str) -> None:
    model = zoo.models()[name]
    assert json.loads((zoo.folder() / model.curve).read_text())["metrics"]
    policy = registry.load_policy(name)
    assert str(turn_based_game(model.game)) == model.game
    if "nash_conv" in model.measured:
        found = nash_conv(model.game, policy)
        assert found == pytest.approx(model.measured["nash_conv"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((zoo.folder() / zoo.SOLVED).iterdir()))
def test_a_solution_is_as_good_as_its_file_says(path: Path) -> None:
    header = tensor_files.load(path)[1]
    policy = registry.load_policy(f"solved:{path.stem}")
    assert str(policy.game) == header["game"]
    found = nash_conv(header["game"], policy) / 2
    assert found == pytest.approx(header["exploitability"], abs=1e-9)
    assert found < (1e-2 if path.stem.startswith("abrupt") else 1e-3)


def test_a_solution_that_there_is_not() -> None:
    with pytest.raises(ValueError, match=r"no policy solved:chess in the zoo; there are .*phantom"):
        registry.load_policy("solved:chess")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_games_with_settings_that_learners_take(name: str) -> None:
    configs = {
        "rnad": RNaDSolver.default_config,
        "mmd": MMDSolver.default_config,
        "particle": ParticleSelfPlayConfig,
    }
    turn_based_game(PRESETS[name].game)
    for algorithm, settings in PRESETS[name].settings.items():
        assert configs[algorithm](**settings)


def test_a_folder_without_an_index(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no index\.json; write \{\} into it to begin one"):
        zoo.models(tmp_path)
    (tmp_path / zoo.INDEX_FILE).write_text("{}")
    assert zoo.models(tmp_path) == {}
