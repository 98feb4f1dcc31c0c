"""Parts of a long computation, each kept in a JSON file of its own as soon as it is finished."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spiel_dl.io.run_directory import write_json


def file_name(*words: object) -> str:
    """Words as the name of a file or folder: letters, digits, underscores, dots and dashes."""
    return re.sub(r"[^\w.]+", "-", " ".join(map(str, words))).strip("-")


class Parts:
    """A folder of finished parts; what is there is not done again.

    Attributes:
      directory: the folder.
      reused: names of the parts that were there already when they were asked for.
    """

    def __init__(self, directory: str | os.PathLike[str]):
        """Names a folder, which need not exist."""
        self.directory = Path(directory)
        self.reused: set[str] = set()

    def get(self, name: str, settings: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """A result that JSON can hold, from its file if there is one.

        Args:
          name: of the file.
          settings: what the result depends on; JSON must be able to hold it.
          compute: computes the result.

        Raises:
          ValueError: if the file holds a result of other settings.
        """
        path = self.directory / f"{name}.json"
        wanted = json.loads(json.dumps(dict(settings)))
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["settings"] != wanted:
                raise ValueError(
                    f"{path} is of {found['settings']}, not of {wanted}; use the same settings or "
                    "another directory"
                )
            self.reused.add(name)
            return found["result"]
        result = compute()
        write_json(path, {"settings": wanted, "result": result})
        return result
