"""Bad inputs, given to scripts as people give them: one line, no traceback, nothing spoiled.

What the library refuses is tested where it does so; here is one of each kind, and all that scripts
refuse by themselves. A case is a command line in a folder that a fixture makes, and what standard
error must have in it.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.run.scripts import run_script, succeed


class Bad(NamedTuple):
    """A command line, and the error message that it must have."""

    words: str
    message: str


SOLVE = "solve.py --game=kuhn_poker --iterations=10"
GO_ON = "solve.py --game=kuhn_poker --iterations=100 --resume --run_dir="
TRUNK = "dl_cfr.py --game=kuhn_poker --iterations=10 --run_dir=new"
DATA = "generate_data.py --game=kuhn_poker --run_dir=new"
FIT = "train_value_network.py --data=data --num_epochs=1 --num_units=4 --run_dir=new"
TRAIN = "train.py --run_dir=new --num_steps=1"
KUHN = f"{TRAIN} --game=kuhn_poker"
PLAY = "play.py --game=kuhn_poker"
SHOW = "show.py --game=kuhn_poker --output=new/page.html"
MATCH = "head_to_head.py --game=kuhn_poker --first=uniform"

GAMES = [
    Bad("solve.py --game=", "OpenSpiel has no game ''"),
    Bad("solve.py --game", "Missing value for flag --game"),
    Bad("solve.py --game=my_game", "is imported, in scripts by --import=MODULE"),
    Bad("solve.py --import=my_game", "--import=my_game: there is no such module here"),
    Bad("solve.py --game=kuhn_poker(jokers=1,solver=2)", "kuhn_poker(jokers=1,solver=2)"),
    Bad("head_to_head.py --preset=chess --first=uniform --second=uniform", "should be one of <"),
    Bad(f"{MATCH} --second=uniform --game=battleships_2x2", "no game 'battleships_2x2'"),
]

NUMBERS = [
    Bad(f"{SOLVE} --iterations=0", "--iterations=0: must be at least 1"),
    Bad(f"{SOLVE} --points_per_decade=1000000000", "must be between 1 and 1000"),
    Bad("solve.py --poker=QsJh2h4d8c --page=.", "--page=. is a folder; give a file"),
    Bad("solve.py --poker=QsJh2h4d --range_0=AA --range_1=KK --page=new/a", "400 nodes, too many"),
    Bad(f"{TRUNK} --moves=1 --value_function=zero --exact_tolerance=1", "used with --value_fun"),
    Bad(f"{DATA} --plies=-3", "--plies=-3: must be at least 1"),
    Bad(f"{DATA} --moves=1 --num_workers=1000000", "--num_workers=1000000 are too many processes"),
    Bad(f"{PLAY} --seed=-1", "--seed=-1: must be"),
    Bad("serve.py --policies=nowhere", "no policy 'nowhere'"),
    Bad("serve.py --num_workers=1000000", "--num_workers=1000000 are too many processes"),
    Bad("serve.py --seconds=inf", "--seconds=inf must be positive and finite"),
    Bad(f"{FIT} --learning_rate=nan", "--learning_rate=nan: must be a number"),
    Bad(f"{SHOW} --policy=cdbr:uniform --moves=3 --look_ahead=0", "--look_ahead=0"),
    Bad(f"{SHOW} --policy=resolving:zero --moves=3 --player=1", "--player: not used by resolving"),
]

CHOICES = [
    Bad(f"{SOLVE} --solver=fictitious_play", "value should be one of <cfr|cfr+|"),
    Bad(f"{KUHN} --algorithm=alphazero", "value should be one of <rnad|mmd|ppo|critic|particle>"),
    Bad("reproduce.py --only=dl_cfr/* --output=new", "--output is for one row"),
]

FLAGS = [
    Bad("solve.py leduc_poker", "unexpected arguments: ['leduc_poker']"),
    Bad(f"{SOLVE} --iteratons=3", "Did you mean: iterations"),
    Bad(f"{SOLVE} --run_dir=", "--run_dir is empty"),
    Bad(f"{SOLVE} --poker=QsJh2h4d8c", "are two games; leave one of them out"),
    Bad(f"{SOLVE} --pot=9", "--pot: of an endgame of hold'em; give its board by --poker"),
    Bad(f"{TRUNK} --moves=1 --plies=1", "give exactly one of moves, plies and rounds"),
    Bad("dl_cfr.py --game=kuhn_poker --moves=1", "give --run_dir: "),
    Bad("train_value_network.py --run_dir=new", "give --data: "),
    Bad(TRAIN, "give one of --game and --preset"),
    Bad(f"{KUHN} --preset=leduc", "give one of --game and --preset"),
    Bad(f"{SHOW} --moves=3", "give --policy: what to show"),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3", "give --output: "),
    Bad(f"{MATCH} --second=uniform --rounds=1 --plies=2", "--plies, --rounds: not used by"),
    Bad(MATCH, "give --second: "),
    Bad("reproduce.py", "give --all or --only; --list says which rows there are"),
    Bad("reproduce.py --all --set=seeds=3", "take --output: results/ is the rows'"),
    Bad("large_games.py --games=kuhn_poker", "python_phantom_ttt, python_dark_hex,"),
]

FILES = [
    Bad(f"{PLAY} --opponent=folder", "folder holds no average_policy.safetensors; give the run"),
    Bad(f"{SOLVE} --run_dir=file/run", "--run_dir=file/run: file is a file"),
    Bad(f"{SOLVE} --run_dir=/proc/no", "No such file or directory: /proc/no"),
    Bad(f"{GO_ON}torn_config", "torn_config/config.json is damaged"),
    Bad(f"{GO_ON}torn_metrics", "torn_metrics/metrics.jsonl, line 2 is damaged"),
    Bad(f"{GO_ON}other_checkpoint", "other_checkpoint/checkpoint.safetensors: the state's"),
    Bad(f"{FIT} --network=file", "--num_units: of a new network; leave --network out, or them"),
    Bad(
        f"{TRAIN} --algorithm=critic --blueprint=nowhere",
        "cannot read the file nowhere: No such file",
    ),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3 --output=folder", "a directory"),
    Bad("show.py --game=kuhn_poker --policy=uniform --moves=3 --output=", "--output is empty"),
    Bad(
        f"{MATCH} --second=uniform --num_games=2 --run_dir=file",
        "--run_dir=file is a file; choose another path",
    ),
    Bad("publish.py --run_dir=nowhere", "nowhere holds no run: there is no config.json"),
]
ALL = [*GAMES, *NUMBERS, *CHOICES, *FLAGS, *FILES]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    # Copies of the run, each with one file that is not as it should be.
    for name in ("torn_config", "torn_metrics", "other_checkpoint"):
        shutil.copytree(place / "run", place / name)
    config = place / "torn_config" / "config.json"
    config.write_bytes(config.read_bytes()[:9])
    metrics = place / "torn_metrics" / "metrics.jsonl"
    lines = metrics.read_text().splitlines(keepends=True)
    metrics.write_text("".join([lines[0], lines[1][:9] + "\n", *lines[2:]]))
    policy = (place / "run" / "average_policy.safetensors").read_bytes()
    (place / "other_checkpoint" / "checkpoint.safetensors").write_bytes(policy)
    return place


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
        assert bad.message in errors.splitlines()[-1]
        assert code == 1
        assert errors.count("error: ") == 1
        assert contents(place) == before
        assert not (place / "new").exists()
    finally:
        shutil.rmtree(place / "new", ignore_errors=True)
