"""Scripts and what only a module of one's own registers: a game, a policy, transformations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.games.test_own import GAME
from tests.run.scripts import succeed

OWN_NAMES = """
import dataclasses

from spiel_dl.learning.transformations import (
    IDENTITY, UNIFORM, PolicyTransformations, register_transformations
)
from spiel_dl.play.kinds import Kind, register_kind
from spiel_dl.play.options import Options
from spiel_dl.policies.array_policy import ArrayPolicy


@dataclasses.dataclass(frozen=True)
class Careful(Options):
    \"\"\"Options of a kind of one's own.

    Attributes:
      care: from 0 to 1.
    \"\"\"

    care: float = 0.0


def _mine(request):
    if request.options.care != 0.7:
        raise ValueError(f"careless: {request.options}")
    return ArrayPolicy.uniform(request.compiled())


def _transformations(game):
    return PolicyTransformations([IDENTITY, UNIFORM])


register_kind(Kind("mine", "all legal actions alike", _mine, compiles=True, options=Careful))
register_transformations("few", _transformations)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two modules."""
    directory = tmp_path_factory.mktemp("own")
    (directory / "my_games.py").write_text(GAME.format(name="my_leduc"))
    (directory / "my_names.py").write_text(OWN_NAMES)
    return directory


def script(place: Path, words: str) -> str:
    """The output of a script that succeeds."""
    output, _ = succeed(*words.split(), directory=place)
    return output


def test_a_run_is_solved_resumed_and_played_against(place: Path) -> None:
    solve = "solve.py --game=my_leduc --run_dir=run"
    script(place, f"{solve} --iterations=5 --import=my_games")
    script(place, f"{solve} --iterations=10 --import=./my_games.py --resume")
    starts = [json.loads(line) for line in (place / "run" / "environment.jsonl").open()]
    assert "--import=my_games" in starts[0]["command"]
    assert "--import=./my_games.py" in starts[1]["command"]
    match = "head_to_head.py --game=my_leduc --first=run --second=uniform --num_games=20"
    assert "| run " in script(place, f"{match} --import=my_games")


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["--run_dir=processes", "--run_dir=ray --ray_address=local"])
def test_workers_know_the_game(flags: str, place: Path) -> None:
    data = "generate_data.py --game=my_leduc --rounds=1 --shards=2 --shard_size=1 --num_workers=2"
    words = f"{data} --tolerance=0.1 --import=my_games.py {flags}"
    assert "samples            60\n" in script(place, words)


def test_policies_and_transformations_of_ones_own_have_names(place: Path) -> None:
    """In worker processes, too; the options of such a kind are flags."""
    match = "head_to_head.py --game=kuhn_poker --first=mine --second=uniform --num_games=20"
    words = f"{match} --import=my_names --care=0.7 --pairs_at_once=5 --num_workers=2"
    assert "| mine " in script(place, words)
    train = "train.py --game=kuhn_poker --num_steps=2 --batch_size=4 --hidden_size=4"
    script(place, f"{train} --transformations=few --run_dir=few --import=my_names")
