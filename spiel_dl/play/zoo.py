"""The model zoo: networks that were trained already, found by name.

    policy = load_policy("rnad:goofspiel_5_descending")
    zoo.names()

A name is ALGORITHM:NAME, where NAME is mostly that of a preset. The networks lie in the package
`spiel_dl.models`, in a checkout the folder `models/`, beside an index in JSON: from each name to
what `Model` says. `runs.publishing` adds to it.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spiel_dl.system.json_files import read_json, write_json

INDEX_FILE = "index.json"
SOLVED = "solved"
"""The folder of policies that were computed, and what stands before the colon of their names."""
ALGORITHMS = ("rnad", "mmd", "ppo", "particle")
"""What may stand before the colon of a name."""


@dataclasses.dataclass(frozen=True)
class Model:
    """A trained network, as the index says it.

    Attributes:
      file: its file, in the folder of the zoo; a critic is in the same file.
      curve: the file of its metrics over training, likewise: a JSON object whose `metrics` are a
        run's lines.
      game: the complete game string.
      algorithm: what trained it; "critic", where a critic was trained for a policy by itself.
      config: how it learned.
      critic: how its critic learned, and of which transformations; None: it has none.
      num_steps: learner steps.
      commit: that of the code that trained it; None: not known.
      command: what trained it.
      dtype: of the stored parameters, float16 or float32.
      measured: its strength, and what storing it changed.
      blueprint: where a critic was trained for a policy, how that one was: `algorithm` and
        `num_steps`, and of newer models `config`, `commit` and `command`. None: what stands above
        is of the policy itself, or it is not known.
    """

    file: str
    curve: str
    game: str
    algorithm: str
    config: Mapping[str, Any]
    critic: Mapping[str, Any] | None
    num_steps: int
    commit: str | None
    command: str
    dtype: str
    measured: Mapping[str, Any]
    blueprint: Mapping[str, Any] | None = None


def folder() -> Path:
    """Where the zoo of this installation lies."""
    return Path(str(importlib.resources.files("spiel_dl.models")))


def models(zoo: Path | None = None) -> dict[str, Model]:
    """All models by name.

    Args:
      zoo: the folder; None: that of this installation.

    Raises:
      ValueError: if the folder has no index.
    """
    path = (zoo or folder()) / INDEX_FILE
    if not path.is_file():
        raise ValueError(
            f"there is no model zoo in {path.parent}: it has no {INDEX_FILE}; write {{}} "
            "into it to begin one"
        )
    index = read_json(path)
    return {name: Model(**entry) for name, entry in index.items()}


def names() -> list[str]:
    """The names of all models of this installation."""
    return sorted(models())


def find(name: str) -> Path:
    """The file of a model.

    Raises:
      ValueError: if there is no model of that name; it lists those there are.
    """
    found = models()
    if name not in found:
        raise ValueError(f"no model {name!r} in the zoo; {described()}")
    return folder() / found[name].file


def solved(name: str) -> Path:
    """The file of a policy that was computed, not trained.

    Raises:
      ValueError: if there is none of that name; it lists those there are.
    """
    files = {path.stem: path for path in (folder() / SOLVED).glob("*.safetensors")}
    if name not in files:
        raise ValueError(f"no policy {SOLVED}:{name} in the zoo; there are {', '.join(files)}")
    return files[name]


def described() -> str:
    """The names that there are, for errors."""
    known = names()
    return f"there are {', '.join(known)}" if known else "it is empty; run/publish.py adds to it"


def file_of(source: str, algorithm: str) -> str:
    """What a person means by a path, or by the name of a model.

    Args:
      source: a path; or a model's name, or its NAME alone.
      algorithm: what stands before the colon of a NAME alone.

    Returns:
      The path of the model's file; a source that is no name of a model as it is.

    Raises:
      ValueError: if it is both a path and a name.
    """
    name = source if ":" in source else f"{algorithm}:{source}"
    if name not in models():
        return source
    if Path(source).exists():
        raise ValueError(
            f"{source!r} is both a path and the model {name} of the zoo; write ./{source} or {name}"
        )
    return str(find(name))


def add(name: str, model: Model, zoo: Path) -> None:
    """Writes a model's entry into the index of a zoo, in the place of an older one."""
    index = {each: dataclasses.asdict(known) for each, known in models(zoo).items()}
    index[name] = dataclasses.asdict(model)
    write_json(zoo / INDEX_FILE, dict(sorted(index.items())))
