"""A row of the manifest: an experiment as it is to be run, and where its report goes."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Any

from experiments.paper import PAPERS, Paper
from experiments.study import Experiment


@dataclasses.dataclass(frozen=True)
class Row:
    """One experiment of a paper, in one of its games.

    Attributes:
      paper: name of one of `PAPERS`.
      experiment: name of one of its experiments.
      place: where the paper has it, such as "Figure 3"; "ours" if it has no such experiment.
      domain: of the paper, by name; None where games are settings.
      changes: settings that differ from the defaults, as `Paper.settings` takes them.
      minutes: what it may take on two cores.
      folder: where the report goes, below results/; None: PAPER/DOMAIN.
      short_of: what the protocol asks for and the budget does not allow; "" if nothing.
    """

    paper: str
    experiment: str
    place: str
    domain: str | None = None
    changes: tuple[str, ...] = ()
    minutes: float = 5
    folder: str | None = None
    short_of: str = ""

    @property
    def of(self) -> Paper:
        """The paper."""
        return PAPERS[self.paper]

    @property
    def declared(self) -> Experiment[Any]:
        """The experiment."""
        return self.of.experiments[self.experiment]

    @property
    def directory(self) -> str:
        """Where finished parts are, below runs/, and where the report is, below results/."""
        return self.folder or "/".join(filter(None, (self.paper, self.domain)))

    @property
    def name(self) -> str:
        """What the row is called on the command line."""
        return f"{self.directory}/{self.experiment}"

    def report(self, results: Path) -> Path:
        """The JSON file of the report, which need not exist."""
        return results / self.directory / f"{self.experiment}.json"

    def settings(self) -> Any:
        """The settings to run it with."""
        return self.of.settings(self.domain, self.changes)

    @property
    def command(self) -> str:
        """What runs it."""
        words = ["python", "run/reproduce.py", f"--paper={self.paper}", f"--only={self.experiment}"]
        if self.domain:
            words.append(f"--domain={self.domain}")
        words += [f"--set={change}" for change in self.changes]
        if self.folder:
            words += [f"--run_dir=runs/{self.folder}", f"--output=results/{self.folder}"]
        return shlex.join(words)
