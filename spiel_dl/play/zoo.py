"""The model zoo: trained networks by name.

    policy = load_policy("rnad:goofspiel_5_descending")
    zoo.names()

A name is ALGORITHM:NAME, where NAME is usually a preset's. The networks are files of the package
`spiel_dl.models`, in a checkout the folder `models/`, beside an index in JSON: a `Model` for each
name. `runs.publishing` adds to it.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import filelock

from spiel_dl.system.json_files import read_json, write_json

INDEX_FILE = "index.json"
SOLVED = "solved"
"""The folder of policies that were computed, and the prefix of their names."""
ALGORITHMS = ("rnad", "mmd", "ppo", "particle")
"""The prefixes of the models' names."""


@dataclasses.dataclass(frozen=True)
class Model:
    """A trained network's entry in the index.

    Attributes:
      file: its file, in the folder of the zoo; a critic is in the same file.
      curve: the file of its metrics over training, likewise: a JSON object whose `metrics` are a
        run's lines.
      game: the complete game string.
      algorithm: that trained it; "critic" if only a critic was trained, for an existing policy.
      config: of the learner.
      critic: configuration and transformations of its critic; None: it has none.
      num_steps: learner steps.
      commit: of the code that trained it; None: not known.
      command: that trained it.
      dtype: of the stored parameters, float16 or float32.
      measured: its strength, and changes by float16.
      blueprint: the training of the policy of a critic that was trained alone: `algorithm` and
        `num_steps`, and of newer models `config`, `commit` and `command`. None: the fields above
        are of the policy itself, or it is not known.
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
    """The folder of the zoo of this installation."""
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
    index = models()
    if name not in index:
        raise ValueError(f"no model {name!r} in the zoo; {listing()}")
    return folder() / index[name].file


def solved(name: str) -> Path:
    """The file of a policy that was computed, not trained.

    Raises:
      ValueError: if there is none of that name; it lists those there are.
    """
    files = {path.stem: path for path in (folder() / SOLVED).glob("*.safetensors")}
    if name not in files:
        raise ValueError(f"no policy {SOLVED}:{name} in the zoo; there are {', '.join(files)}")
    return files[name]


def listing() -> str:
    """The names of all models, for errors."""
    all_names = ", ".join(names())
    return f"there are {all_names}" if all_names else "it is empty; run/publish.py adds to it"


def file_of(source: str, algorithm: str) -> str:
    """The path of a source, which is a path or the name of a model.

    Args:
      source: a path; or a model's name, or its NAME alone.
      algorithm: the algorithm of a NAME alone.

    Returns:
      The path of the model's file; a source that is not a model's name is returned unchanged.

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
    """Writes a model's entry into the index of a zoo; replaces an older one."""
    with filelock.FileLock(zoo / f".{INDEX_FILE}.lock"):
        entries = models(zoo) | {name: model}
        entries_json = {key: dataclasses.asdict(entries[key]) for key in sorted(entries)}
        write_json(zoo / INDEX_FILE, entries_json)
