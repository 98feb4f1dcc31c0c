"""Workspaces: directories of finished results, which are reused instead of computed again.

parts/NAME.json     a small JSON-serialisable result, with its settings and git commit
FOLDER/             run directories of longer computations, see `run_directory`
NAME/               nested workspaces, which share the records of reuse with the outer one
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from spiel_dl.system import distributed
from spiel_dl.system.distributed import IN_PROCESS, Engine
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.json_files import read_json, write_json
from spiel_dl.system.run_directory import RunDirectory, capped, differences, first_start, set_aside

Item = TypeVar("Item")

_UNKNOWN = "unknown"


def file_name(*words: object) -> str:
    """The name of a file or folder from words: letters, digits, underscores, dots and dashes."""
    return capped(re.sub(r"[^\w.]+", "-", " ".join(map(str, words))).strip("-"))


class Workspace:
    """A directory of finished parts and runs, and the engine that computes missing ones.

    Attributes:
      directory: the directory; it is created when the first part is finished.
      engine: computes missing parts. No result depends on it.
      show_progress: whether progress bars are shown on standard error.
      reused: names of requested parts that had been finished before.
      commits: git commits that made the requested parts and began the requested runs; "unknown" if
        it was not recorded, or the code was in no git repository.
      finished: when these parts were finished and these runs begun, in `datetime.isoformat`'s
        format, in UTC.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        engine: Engine = IN_PROCESS,
        *,
        show_progress: bool = False,
        commit: str | None = None,
        only_own: bool = False,
    ):
        """Names a directory; nothing is written before a part is finished.

        Args:
          directory: the directory.
          engine: computes missing parts.
          show_progress: show progress bars.
          commit: of the running code; None: as git says.
          only_own: recompute results of other commits; parts are replaced, run directories renamed.
        """
        self.directory = Path(directory)
        self.engine = engine
        self.show_progress = show_progress
        self.reused: set[str] = set()
        self.commits: set[str] = set()
        self.finished: set[str] = set()
        self._prefix = ""
        self._commit = commit or _git_commit()
        self._only_own = only_own

    def within(self, name: str) -> Workspace:
        """A workspace in a folder of this one; what it reuses is recorded here as well."""
        inner = Workspace(
            self.directory / name,
            self.engine,
            show_progress=self.show_progress,
            commit=self._commit,
            only_own=self._only_own,
        )
        inner.reused, inner.commits = self.reused, self.commits
        inner.finished = self.finished
        inner._prefix = f"{self._prefix}{name}/"
        return inner

    def start_anew(self) -> None:
        """Clears the records of requested parts: `reused`, `commits` and `finished`."""
        self.reused.clear()
        self.commits.clear()
        self.finished.clear()

    def part(self, name: str, settings: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """A JSON-serialisable result, not None: from its file, or computed and written to it.

        Args:
          name: of the file.
          settings: that the result depends on; JSON-serialisable.
          compute: computes the result.

        Raises:
          ValueError: if the file holds a result of other settings.
        """
        result = self.find(name, settings)
        return self.keep(name, settings, compute()) if result is None else result

    def parts(
        self,
        keys: Sequence[tuple[str, Mapping[str, Any]]],
        function: Callable[[Item], Any],
        items: Sequence[Item],
        description: str | None = None,
    ) -> list[Any]:
        """The results of a function for some items, each of them a part; the engine computes.

        Args:
          keys: for each item, the name and the settings of its part.
          function: of one item; see `distributed.for_each`.
          items: the function's arguments.
          description: label of the progress bar.

        Raises:
          ValueError: if a part has other settings.
          Exception: as `distributed.for_each` raises; what was finished before is kept.
        """
        results = [self.find(*key) for key in keys]
        missing = [number for number, result in enumerate(results) if result is None]

        def keep(number: int, result: Any) -> None:
            results[missing[number]] = self.keep(*keys[missing[number]], result)

        self.for_each(function, [items[number] for number in missing], keep, description)
        return results

    def for_each(
        self,
        function: Callable[[Item], Any],
        items: Sequence[Item],
        on_result: Callable[[int, Any], object] = lambda number, result: None,
        description: str | None = None,
    ) -> None:
        """Calls `distributed.for_each` with this workspace's engine and progress bar."""
        shown = description if self.show_progress else None
        distributed.for_each(function, items, on_result, self.engine, description=shown)

    def find(self, name: str, settings: Mapping[str, Any]) -> Any:
        """The result in a file; None if there is no such file. Otherwise as `part`."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            part = read_json(path)
        except ValueError:
            part = {}
        if not {"settings", "result"} <= part.keys():
            raise ValueError(f"{path} is no finished part; delete it, and it is made again")
        if self._only_own and part.get("git_commit") != self._commit:
            return None
        json_settings = json.loads(json.dumps(dict(settings)))
        if changes := differences(part["settings"], json_settings):
            raise ValueError(
                f"{path} has other settings: its {', its '.join(changes)}; use the same settings "
                "or another directory"
            )
        self.note_reused(name)
        self.commits.add(part.get("git_commit", _UNKNOWN))
        if "finished" in part:
            self.finished.add(part["finished"])
        return part["result"]

    def keep(self, name: str, settings: Mapping[str, Any], result: Any) -> Any:
        """Writes a result to its file, completely or not at all.

        Returns:
          The result as `find` will return it: JSON has lists for tuples, and strings for keys.
        """
        finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        origin = {"git_commit": self._commit, "finished": finished}
        write_json(self._path(name), {"settings": dict(settings), "result": result, **origin})
        self.commits.add(self._commit)
        self.finished.add(finished)
        return json.loads(json.dumps(result))

    def note_reused(self, *names: str) -> None:
        """Adds names of parts or runs that were finished before to `reused`."""
        self.reused.update(f"{self._prefix}{name}" for name in names)

    def run_directory(self, name: str, config: Mapping[str, Any]) -> RunDirectory:
        """A run directory in this workspace, new or resumed; raises as `RunDirectory` does.

        The commit and time of its first start are added to `commits` and `finished`.
        """
        path = self.directory / name
        if self._only_own and path.exists() and _first_start(path)[0] != self._commit:
            set_aside(path)
        directory = RunDirectory(path, config, resume=True)
        self.note_run(name)
        return directory

    def note_run(self, name: str) -> None:
        """Records the commit and time of a run's first start; workers may have begun the run."""
        commit, started = _first_start(self.directory / name)
        if started is not None:
            self.commits.add(commit)
            self.finished.add(started)

    def _path(self, name: str) -> Path:
        return self.directory / "parts" / f"{name}.json"


def _first_start(directory: Path) -> tuple[str, str | None]:
    """The git commit and the time of a run's first start."""
    environment = first_start(directory) or {}
    return environment.get("git_commit") or _UNKNOWN, environment.get("started")


@functools.cache
def _git_commit() -> str:
    """The commit of the code, read once per process."""
    return describe_environment()["git_commit"] or _UNKNOWN
