"""Parts of a long computation, each kept in a JSON file of its own as soon as it is finished."""

from __future__ import annotations

import datetime
import functools
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spiel_dl.runs.run_directory import describe_environment, write_json

_UNKNOWN = "unknown"


def file_name(*words: object) -> str:
    """Words as the name of a file or folder: letters, digits, underscores, dots and dashes."""
    return re.sub(r"[^\w.]+", "-", " ".join(map(str, words))).strip("-")


class Parts:
    """A folder of finished parts; what is there is not done again.

    Attributes:
      directory: the folder.
      reused: names of the parts that were there already when they were asked for.
      commits: of the code that made the parts that were asked for; "unknown" for the code of a part
        that does not say it, and for code that is in no git repository.
    """

    def __init__(self, directory: str | os.PathLike[str]):
        """Names a folder, which need not exist."""
        self.directory = Path(directory)
        self.reused: set[str] = set()
        self.commits: set[str] = set()
        self._commit = _git_commit()

    def start_anew(self) -> None:
        """Forgets which parts were asked for."""
        self.reused.clear()
        self.commits.clear()

    def get(self, name: str, settings: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """A result that JSON can hold, not None, from its file if there is one.

        Args:
          name: of the file.
          settings: what the result depends on; JSON must be able to hold it.
          compute: computes the result.

        Raises:
          ValueError: if the file holds a result of other settings.
        """
        found = self.find(name, settings)
        return self.keep(name, settings, compute()) if found is None else found

    def find(self, name: str, settings: Mapping[str, Any]) -> Any:
        """A result from its file; None if there is no such file. Otherwise as `get`."""
        path = self._path(name)
        if not path.exists():
            return None
        found = json.loads(path.read_text(encoding="utf-8"))
        wanted = json.loads(json.dumps(dict(settings)))
        if found["settings"] != wanted:
            raise ValueError(
                f"{path} is of {found['settings']}, not of {wanted}; use the same settings or "
                "another directory"
            )
        self.reused.add(name)
        self.commits.add(found.get("git_commit", _UNKNOWN))
        return found["result"]

    def keep(self, name: str, settings: Mapping[str, Any], result: Any) -> Any:
        """Writes a result to its file, completely or not at all, and returns it."""
        finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        made = {"git_commit": self._commit, "finished": finished}
        write_json(self._path(name), {"settings": dict(settings), "result": result, **made})
        self.commits.add(self._commit)
        return result

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.json"


@functools.cache
def _git_commit() -> str:
    """The commit of the code, as it was when this process first asked."""
    return describe_environment()["git_commit"] or _UNKNOWN
