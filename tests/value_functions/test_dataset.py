"""Datasets in memory and in files: what is refused, and what is joined."""

import dataclasses
import shutil

import numpy as np
import pytest

from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.dataset import Dataset
from tests.value_functions.datasets import CONFIGS, KUHN, make


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="holds no dataset"):
        Dataset.load(tmp_path)
    beyond = dataclasses.replace(KUHN, depth_limit=DepthLimit(moves=9))
    with pytest.raises(ValueError, match="choose a smaller limit"):
        make(tmp_path / "beyond", beyond)
    RunDirectory(tmp_path / "empty", KUHN.to_json())
    with pytest.raises(ValueError, match="no shards yet"):
        Dataset.load(tmp_path / "empty")
    dataset, _ = make(tmp_path / "kuhn", KUHN)
    make(tmp_path / "other", CONFIGS[1])
    shutil.copy(
        tmp_path / "other" / "random-00000.safetensors", tmp_path / "kuhn" / "x.safetensors"
    )
    with pytest.raises(ValueError, match="is no shard of"):
        Dataset.load(tmp_path / "kuhn")
    # A name is not taken letter by letter.
    one = Dataset.load(tmp_path / "kuhn", "random-0000*")
    assert one.num_strategies == dataset.num_strategies
    with pytest.raises(ValueError, match=r"called \['nothing\*.safetensors'\]"):
        Dataset.load(tmp_path / "kuhn", "nothing*")
    with pytest.raises(ValueError, match=r"called \['random-00001.safetensors'\]"):
        Dataset.load(tmp_path / "kuhn", ["random-00000", "random-00001"])
    with pytest.raises(ValueError, match=r"called \[\]"):
        Dataset.load(tmp_path / "kuhn", [])
    arrays, header = tensor_files.load(tmp_path / "other" / "random-00000.safetensors")
    del arrays["mass_1"]
    tensor_files.save(tmp_path / "other" / "random-00000.safetensors", arrays, header)
    with pytest.raises(ValueError, match=r"not \['cfv_0', .*'mass_1'.*make it again"):
        Dataset.load(tmp_path / "other")
    spoiled = dataset.cfvs[1].copy()
    spoiled[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"cfvs\[1\] must be finite"):
        dataclasses.replace(dataset, cfvs=(dataset.cfvs[0], spoiled))
    with pytest.raises(ValueError, match=r"gaps must be finite numbers of shape \(3,\)"):
        dataclasses.replace(dataset, gaps=dataset.gaps[1:])


def test_datasets_of_one_trunk_are_joined(tmp_path):
    first, _ = make(tmp_path / "first", KUHN)
    # The same game: two players are the default.
    spelled_out = dataclasses.replace(KUHN, game="kuhn_poker(players=2)", seed=1)
    second, _ = make(tmp_path / "second", spelled_out)
    joined = Dataset.join([first, second])
    for one, other, both in zip(first.cfvs, second.cfvs, joined.cfvs, strict=True):
        np.testing.assert_array_equal(np.concatenate([one, other]), both)
    with pytest.raises(ValueError, match="no datasets"):
        Dataset.join([])
    # Its arrays have the shapes of Kuhn poker's.
    other_game = dataclasses.replace(KUHN, game="python_leduc(num_ranks=3,num_suits=1)")
    other, _ = make(tmp_path / "other", other_game)
    with pytest.raises(ValueError, match="one game and depth limit"):
        Dataset.join([first, other])
    deeper, _ = make(
        tmp_path / "deeper", dataclasses.replace(KUHN, depth_limit=DepthLimit(moves=2))
    )
    with pytest.raises(ValueError, match=r"of kuhn_poker.* and 2 moves, but the first one of"):
        Dataset.join([first, deeper])
