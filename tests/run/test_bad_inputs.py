"""Bad inputs, given to scripts as people give them: one line, no traceback, nothing spoiled.

A case is a command line in a folder that a fixture makes, and what standard error must have in it.
"""

from __future__ import annotations

import contextlib
import fcntl
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from spiel_dl.adapters.onnx import write_onnx
from spiel_dl.play.registry import load_policy
from tests.run.scripts import run_script, succeed


class Bad(NamedTuple):
    """A command line, and what it is answered."""

    words: str
    told: str


REPRODUCE = "reproduce.py --only=dl_cfr/leduc/checkpoints --output=new"
LEARNERS = "reproduce.py --only=learners/leduc/strength --output=new"
SOLVE = "solve.py --game=kuhn_poker --iterations=10"
GO_ON = "solve.py --game=kuhn_poker --iterations=100 --resume --run_dir="
TRUNK = "dl_cfr.py --game=kuhn_poker --iterations=10 --run_dir=new"
DATA = "generate_data.py --game=kuhn_poker --run_dir=new"
FIT = "train_value_network.py --data=data --num_epochs=1 --num_units=4 --run_dir=new"
FROM = "train_value_network.py --data=data --num_epochs=1 --run_dir=new"
ON_POLICY = "train_on_policy.py --data=data --run_dir=new"
TRAIN = "train.py --run_dir=new --num_steps=1"
KUHN = f"{TRAIN} --game=kuhn_poker"
PLAY = "play.py --game=kuhn_poker"
SHOW = "show.py --game=kuhn_poker --output=new/page.html"
MATCH = "head_to_head.py --game=kuhn_poker --first=uniform"

GAMES = [
    Bad("solve.py --game=", "OpenSpiel has no game ''"),
    Bad("solve.py --game", "Missing value for flag --game"),
    Bad("solve.py --game=no_such_game", "OpenSpiel has no game 'no_such_game'"),
    Bad("solve.py --game=leduc", "did you mean 'leduc_poker'"),
    Bad("solve.py --game=my_game", "is imported, in scripts by --import=MODULE"),
    Bad("solve.py --import=my_game", "--import=my_game: there is no such module here"),
    Bad("solve.py --game=matrix_pd", "not zero-sum"),
    Bad("solve.py --game=kuhn_poker(jokers=1)", "jokers"),
    Bad("solve.py --game=kuhn_poker(jokers=1,solver=2)", "kuhn_poker(jokers=1,solver=2)"),
    Bad("solve.py --game=python_battleships(ship_sizes=3)", "Wrong type for parameter ship_sizes"),
    Bad("head_to_head.py --preset=chess --first=uniform --second=uniform", "should be one of <"),
]

NUMBERS = [
    Bad(f"{SOLVE} --iterations=0", "--iterations=0: must be at least 1"),
    Bad(f"{SOLVE} --points_per_decade=1000000000", "must be between 1 and 1000"),
    Bad(f"{SOLVE} --num_threads=100000", "num_threads=100000 is more than"),
    Bad(f"{TRUNK} --moves=1 --value_function=zero --exact_tolerance=1", "used with --value_fun"),
    Bad(f"{DATA} --plies=-3", "--plies=-3: must be at least 1"),
    Bad(f"{DATA} --moves=1 --num_workers=1000000", "--num_workers=1000000 are too many processes"),
    Bad(f"{KUHN} --hidden_size=1000000,1000000", "at most 10^9 weights"),
    Bad(f"{KUHN} --seed=99999999999999999999", "seed=99999999999999999999 must be from 0 to"),
    Bad(f"{KUHN} --seed=-1", "seed=-1 must be from 0 to"),
    Bad(f"{KUHN} --learning_rate=1e9", "must be above 0 and at most 1"),
    Bad(f"{PLAY} --seed=-1", "--seed=-1: must be"),
    Bad("serve.py --policies=nowhere", "no policy 'nowhere'"),
    Bad(f"{FIT} --learning_rate=nan", "--learning_rate=nan: must be a number"),
    Bad(f"{FIT} --left_out_state=99", "left_out_states=(99,) must be some, and not all"),
    Bad(f"{FIT} --max_strategies=1000000", "make more data"),
    Bad(f"{ON_POLICY} --num_epochs=1,2", "--num_epochs=[1, 2] must be three numbers"),
    Bad(f"{SHOW} --policy=cdbr:uniform --moves=3 --look_ahead=0", "--look_ahead=0"),
    Bad(f"{SHOW} --policy=resolving:zero --moves=3 --player=1", "--player: not used by resolving"),
    Bad(f"{MATCH} --second=uniform --num_games=5", "num_games=5"),
]

CHOICES = [
    Bad(f"{SOLVE} --solver=fictitious_play", "value should be one of <cfr|cfr_plus|"),
    Bad(f"{DATA} --moves=1 --engine=abacus", "value should be one of <in_process|processes|ray>"),
    Bad(f"{DATA} --moves=1 --ray_address=localhost:1 --engine=processes", "take ray"),
    Bad(f"{FIT} --device=tpu", "--device='tpu' cannot be used here; take 'cpu'"),
    Bad(f"{KUHN} --algorithm=alphazero", "value should be one of <rnad|mmd|ppo|critic|particle>"),
    Bad(f"{KUHN} --transformations=some", "--transformations='some' must be one of paper, pure"),
    Bad("reproduce.py --only=alphago --output=new", "'alphago' names no row"),
    Bad("reproduce.py --only=dl_cfr/* --output=new", "--output is for one row"),
    Bad(f"{REPRODUCE} --set=colour=red", "no setting 'colour'; there are data, num_shards"),
]

FLAGS = [
    Bad("solve.py leduc_poker", "unexpected arguments: ['leduc_poker']"),
    Bad(f"{SOLVE} --iteratons=3", "Did you mean: iterations"),
    Bad(f"{SOLVE} --run_dir=", "--run_dir is empty"),
    Bad(f"{SOLVE} --pot=9", "--pot: of an endgame of hold'em; give its board by --poker"),
    Bad(f"{TRUNK} --moves=1 --plies=1", "give exactly one of moves, plies and rounds"),
    Bad("dl_cfr.py --game=kuhn_poker --moves=1", "give --run_dir: "),
    Bad("train_value_network.py --run_dir=new", "give --data: "),
    Bad(TRAIN, "must have a value"),
    Bad(f"{KUHN} --preset=leduc", "Exactly one of (game, preset)"),
    Bad(f"{SHOW} --moves=3", "give --policy: what to show"),
    Bad(f"{SHOW} --moves=3 --policy=cfr:3 --look_ahead=2", "not used by cfr:3; leave it out"),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3", "give --output: "),
    Bad(f"{MATCH} --second=uniform --rounds=1 --plies=2", "--plies, --rounds: not used by"),
    Bad(f"{MATCH} --second=cfr:3 --iterations=9", "--iterations: not used by uniform and cfr:3;"),
    Bad(f"{PLAY} --opponent=uniform --budget=3", "--budget: not used by uniform; leave them out"),
    Bad(MATCH, "give --second: "),
    Bad("reproduce.py", "give --all or --only; --list says which rows there are"),
    Bad("reproduce.py --all --set=seeds=3", "take --output: results/ is the rows'"),
    Bad("large_games.py --games=kuhn_poker", "python_phantom_ttt, python_dark_hex,"),
]

POLICIES = [
    Bad(f"{PLAY} --opponent=resolving:nowhere", "cannot read the file nowhere: No such file"),
    Bad(f"{PLAY} --opponent=rnad:nowhere", "rnad:leduc"),
    Bad(
        f"{PLAY} --opponent=torn_policy.safetensors",
        "torn_policy.safetensors was not written by this package",
    ),
    Bad(f"{PLAY} --opponent=folder", "folder holds no average_policy.safetensors; give the run"),
    Bad(f"{PLAY} --opponent=onnx:other_game.onnx --seat=1", "the network is of python_leduc"),
    Bad(
        "play.py --game=leduc_poker --opponent=run",
        "holds a policy of kuhn_poker(), not of leduc_poker()",
    ),
]

FILES = [
    Bad(f"{SOLVE} --run_dir=file/run", "--run_dir=file/run: file is a file"),
    Bad(f"{SOLVE} --run_dir=/proc/no", "No such file or directory: /proc/no"),
    Bad(f"{SOLVE} --run_dir=folder", "the run directory folder is not empty"),
    Bad(f"{SOLVE} --run_dir=folder --resume", "folder is not empty and holds no run"),
    Bad(f"{SOLVE} --run_dir=run", "resume its run (--resume), or choose another directory"),
    Bad(f"{GO_ON}run --noalternating_updates", "its alternating_updates is True, not False"),
    Bad("solve.py --game=kuhn_poker --iterations=9 --resume --run_dir=run", "has done 100"),
    Bad(f"{GO_ON}torn_config", "torn_config/config.json is damaged"),
    Bad(f"{GO_ON}torn_metrics", "torn_metrics/metrics.jsonl, line 2 is damaged"),
    Bad(f"{GO_ON}torn_checkpoint", "torn_checkpoint/checkpoint.safetensors was not written by"),
    Bad(f"{GO_ON}other_checkpoint", "other_checkpoint/checkpoint.safetensors: the state's"),
    Bad(f"{GO_ON}no_checkpoint", "checkpoint.safetensors was deleted; put it back"),
    Bad(f"{GO_ON}in_use", "another process runs in in_use; wait until it has ended"),
    Bad(
        f"{TRUNK} --moves=1 --value_function=nowhere", "cannot read the file nowhere: No such file"
    ),
    Bad(f"{TRUNK} --moves=1 --value_function=run/checkpoint.safetensors", "run/checkpoint"),
    Bad("generate_data.py --game=kuhn_poker --moves=1 --resume --run_dir=run", "cannot resume run"),
    Bad(f"{FIT} --data=nothing", "nothing holds no dataset"),
    Bad(f"{FIT} --data=torn_shard", "torn_shard/random-00000.safetensors"),
    Bad(f"{FROM} --network=file", "file was not written by this package"),
    Bad(f"{FIT} --network=file", "--num_units: of a new network; leave --network out, or them"),
    Bad(
        f"{TRAIN} --algorithm=critic --blueprint=nowhere",
        "cannot read the file nowhere: No such file",
    ),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3 --output=folder", "a directory"),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3 --output=file/a.html", "a file"),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3 --output=", "--output is empty"),
    Bad(
        f"{MATCH} --second=uniform --num_games=2 --run_dir=file",
        "--run_dir=file is a file; choose another path",
    ),
    Bad(
        f"{MATCH} --second=uniform --num_games=2 --output=file/a",
        "--output=file/a: file is a file; choose another path",
    ),
    Bad(f"{GO_ON}empty_metrics", "has done 100 iterations, and its metrics are empty"),
    Bad("publish.py --run_dir=nowhere", "nowhere holds no run: there is no config.json"),
    Bad("publish.py --run_dir=run", "run holds no run of a learner; give one of run/train.py"),
    Bad(f"{LEARNERS} --set=peer=run/config.json", "run/config.json has no strengths of a peer"),
]
ALL = [*GAMES, *NUMBERS, *CHOICES, *FLAGS, *POLICIES, *FILES]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with finished runs, and with some that are damaged in one way each."""
    place = tmp_path_factory.mktemp("place")
    for words in (
        "solve.py --game=kuhn_poker --iterations=100 --run_dir=run",
        "generate_data.py --game=kuhn_poker --moves=1 --shards=1 --shard_size=8 --run_dir=data",
    ):
        succeed(*words.split(), directory=place)
    (place / "file").touch()
    (place / "folder").mkdir()
    (place / "folder" / "thesis.tex").write_text("important")
    policy = (place / "run" / "average_policy.safetensors").read_bytes()
    (place / "torn_policy.safetensors").write_bytes(policy[: len(policy) // 2])
    shutil.copytree(place / "data", place / "torn_shard")
    tear(place / "torn_shard" / "random-00000.safetensors")
    write_onnx(load_policy("rnad:leduc"), place / "other_game.onnx")
    damage_runs(place)
    with locked(place / "in_use"):
        yield place


def damage_runs(place: Path) -> None:
    """Copies of the run, each with one file that is not as it should be."""
    for name in (
        "torn_config", "torn_metrics", "torn_checkpoint", "other_checkpoint", "no_checkpoint",
        "empty_metrics", "in_use",
    ):  # fmt: skip
        shutil.copytree(place / "run", place / name)
    tear(place / "torn_config" / "config.json")
    (place / "empty_metrics" / "metrics.jsonl").write_text("")
    metrics = place / "torn_metrics" / "metrics.jsonl"
    lines = metrics.read_text().splitlines(keepends=True)
    metrics.write_text("".join([lines[0], lines[1][:9] + "\n", *lines[2:]]))
    tear(place / "torn_checkpoint" / "checkpoint.safetensors")
    policy = (place / "run" / "average_policy.safetensors").read_bytes()
    (place / "other_checkpoint" / "checkpoint.safetensors").write_bytes(policy)
    (place / "no_checkpoint" / "checkpoint.safetensors").unlink()


@contextlib.contextmanager
def locked(run: Path) -> Iterator[None]:
    """Meanwhile the run is that of another process."""
    with (run / "environment.jsonl").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tear(path: Path) -> None:
    """Leaves the first half of a file."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def contents(place: Path) -> dict[str, bytes]:
    """All files."""
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("bad", ALL, ids=lambda bad: bad.words)
def test_bad_input_is_told_in_one_line(bad: Bad, place: Path) -> None:
    before = contents(place)
    try:
        code, _, errors = run_script(*shlex.split(bad.words), directory=place)
        assert "Traceback" not in errors
        # OpenSpiel's C++ and progress bars may have written lines before.
        assert errors.splitlines()[-1:], bad.words
        assert errors.splitlines()[-1].startswith("error: ")
        assert bad.told in errors.splitlines()[-1]
        assert code == 1
        assert errors.count("error: ") == 1
        assert contents(place) == before
        assert not (place / "new").exists()
    finally:
        shutil.rmtree(place / "new", ignore_errors=True)
