"""A workspace: a directory in which what is finished is not done again.

parts/NAME.json     a small result that JSON can hold, what it depends on and whose code made it
FOLDER/             run directories, see `run_directory`, for what takes longer
NAME/               workspaces within, which keep one account with the outer one
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
    """Words as the name of a file or folder: letters, digits, underscores, dots and dashes."""
    return capped(re.sub(r"[^\w.]+", "-", " ".join(map(str, words))).strip("-"))


class Workspace:
    """A directory of finished parts, and who makes those that are missing.

    Attributes:
      directory: the directory; it need not exist before something is finished.
      engine: who works. No result depends on it.
      show_progress: whether progress bars are shown on standard error.
      reused: names of what was there already when it was asked for.
      commits: of the code that made the parts, and began the runs, that were asked for; "unknown"
        for one that does not say it, and for code that is in no git repository.
      finished: when these parts were finished and these runs begun, as `datetime.isoformat` writes
        it in UTC.
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
          engine: who makes what is missing.
          show_progress: show progress bars.
          commit: of the code that makes it; None: git is asked.
          only_own: make again what another commit made; parts are replaced, run directories
            renamed.
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
        """A workspace in a folder of this one; what it reuses is counted here as well."""
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
        """Forgets which parts were asked for."""
        self.reused.clear()
        self.commits.clear()
        self.finished.clear()

    def part(self, name: str, settings: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
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

    def parts(
        self,
        named: Sequence[tuple[str, Mapping[str, Any]]],
        function: Callable[[Item], Any],
        items: Sequence[Item],
        description: str | None = None,
    ) -> list[Any]:
        """The results of a function for some items, each of them a part; the engine computes.

        Args:
          named: for each item, the name and the settings of its part.
          function: of one item; see `distributed.for_each`.
          items: what it is applied to.
          description: what the progress bar says.

        Raises:
          ValueError: if a part has other settings.
          Exception: as `distributed.for_each` raises; what was finished before is kept.
        """
        results = [self.find(*each) for each in named]
        missing = [number for number, result in enumerate(results) if result is None]

        def keep(number: int, result: Any) -> None:
            results[missing[number]] = self.keep(*named[missing[number]], result)

        self.for_each(function, [items[number] for number in missing], keep, description)
        return results

    def for_each(
        self,
        function: Callable[[Item], Any],
        items: Sequence[Item],
        on_result: Callable[[int, Any], object] = lambda number, result: None,
        description: str | None = None,
    ) -> None:
        """What `distributed.for_each` does, with the engine and progress bar of this workspace."""
        shown = description if self.show_progress else None
        distributed.for_each(function, items, on_result, self.engine, description=shown)

    def find(self, name: str, settings: Mapping[str, Any]) -> Any:
        """A result from its file; None if there is no such file. Otherwise as `part`."""
        path = self._path(name)
        if not path.exists():
            return None
        found = read_json(path)
        if not {"settings", "result"} <= found.keys():
            raise ValueError(f"{path} is no finished part; delete it, and it is made again")
        if self._only_own and found.get("git_commit") != self._commit:
            return None
        wanted = json.loads(json.dumps(dict(settings)))
        if other := differences(found["settings"], wanted):
            raise ValueError(
                f"{path} has other settings: its {', its '.join(other)}; use the same settings or "
                "another directory"
            )
        self.note_reused(name)
        self.commits.add(found.get("git_commit", _UNKNOWN))
        if "finished" in found:
            self.finished.add(found["finished"])
        return found["result"]

    def keep(self, name: str, settings: Mapping[str, Any], result: Any) -> Any:
        """Writes a result to its file, completely or not at all.

        Returns:
          The result as `find` will return it: JSON has lists for tuples, and strings for keys.
        """
        finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        made = {"git_commit": self._commit, "finished": finished}
        write_json(self._path(name), {"settings": dict(settings), "result": result, **made})
        self.commits.add(self._commit)
        self.finished.add(finished)
        return json.loads(json.dumps(result))

    def note_reused(self, *names: str) -> None:
        """Counts names of what was finished before among the reused."""
        self.reused.update(f"{self._prefix}{name}" for name in names)

    def run_directory(self, name: str, config: Mapping[str, Any]) -> RunDirectory:
        """A run directory within, begun or resumed; it raises as `RunDirectory` does.

        Whose code began it counts among `commits`, and when, among `finished`.
        """
        path = self.directory / name
        if self._only_own and path.exists() and _begun(path)[0] != self._commit:
            set_aside(path)
        found = RunDirectory(path, config, resume=True)
        self.note_run(name)
        return found

    def note_run(self, name: str) -> None:
        """Counts who began a run directory, which workers may have opened, and when."""
        commit, when = _begun(self.directory / name)
        if when is not None:
            self.commits.add(commit)
            self.finished.add(when)

    def _path(self, name: str) -> Path:
        return self.directory / "parts" / f"{name}.json"


def _begun(directory: Path) -> tuple[str, str | None]:
    """Whose code began a run, and when."""
    first = first_start(directory) or {}
    return first.get("git_commit") or _UNKNOWN, first.get("started")


@functools.cache
def _git_commit() -> str:
    """The commit of the code, as it was when this process first asked."""
    return describe_environment()["git_commit"] or _UNKNOWN
