"""How an experiment is declared, in which rows it is, and how it is run.

An `Experiment` is what is asked, what the paper says about it, how the answer is computed in parts,
how it is shown, and how it is judged by its numbers. A `Row` is an experiment with its settings: it
has a report below results/. A `Study` is settings and a workspace, in which what is finished is not
done again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from experiments.settings import as_json, declared
from experiments.verdicts import FAILS, PARTLY, REPRODUCED, Judgement, Tables, weighed
from spiel_dl.runs import reports
from spiel_dl.runs.reports import Picture, Report
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.environment import describe_environment

Settings = TypeVar("Settings")
OURS = "ours"
"""The place of rows that a paper does not have."""


class Study(Generic[Settings]):
    """What an experiment works with; a paper's own study makes what its experiments share, once.

    Attributes:
      settings: of the experiment.
      workspace: where finished parts are, and who makes the others.
      num_threads: of torch in this process, as `run` sets it; None: as it is. Workers have one.
    """

    num_threads: int | None = None

    def __init__(self, settings: Settings, workspace: Workspace):
        """Describes a study; nothing is made before it is asked for.

        Args:
          settings: sizes, seeds and what is varied.
          workspace: that of an earlier start with the same settings goes on.
        """
        self.settings = settings
        self.workspace = workspace


def curves_of(
    workspace: Workspace,
    runs: Sequence[Any],
    settings: Mapping[str, Any],
    learn: Callable[[Any], list[dict[str, Any]]],
) -> list[list[dict[str, Any]]]:
    """The lines of metrics of some runs of learners; finished runs are not done again.

    Args:
      workspace: where they are, and who learns.
      runs: named tuples; their entries name parts and run directories, see `file_name`.
      settings: all else that they depend on.
      learn: does a run, in the run directory `file_name(*run)` of the workspace.
    """
    named = [(file_name(*run), {**run._asdict(), **settings}) for run in runs]
    found = workspace.parts(named, learn, runs, "learners")
    for name, _ in named:
        workspace.note_run(name)
    return found


AnyStudy = TypeVar("AnyStudy", bound=Study[Any])


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Experiment(Generic[AnyStudy]):
    """One experiment.

    Attributes:
      name: short, for files and the command line.
      title: in one line.
      metric: what is measured, with its unit.
      claim: the paper's number or what it says; "" if it has no such experiment; then the report
        says what is held.
      study: from settings and a workspace to a study.
      compute: from a study to what was found; what its workspace holds is not done again.
      render: from a study and what was found to tables and pictures. A report without title gets
        the experiment's, and a picture without name its name, and its title as the first line.
      judge: from the rows of the report's tables to its verdict and headline; None: as `render`
        says them.
      version: of what the experiment comes to. Whoever changes that, but for the settings, raises
        it; then earlier reports are old.
    """

    name: str
    title: str
    metric: str
    claim: str
    study: Callable[[Any, Workspace], AnyStudy]
    compute: Callable[[AnyStudy], Any]
    render: Callable[[AnyStudy, Any], Report]
    judge: Callable[[Tables], Judgement] | None = None
    version: int = 1

    def report(self, study: AnyStudy, weigh: Callable[[str], str] = str) -> Report:
        """Computes what is missing, and says what was found, with the verdict in words.

        Args:
          study: where it is made.
          weigh: from what the criterion found to the verdict, such as `Row.verdict`.
        """
        found = self.render(study, self.compute(study))
        if self.judge is not None:
            judged = self.judge({heading: table.rows for heading, table in found.tables.items()})
            found = dataclasses.replace(found, **judged._asdict())
        pictures = [each if each.name else self._named(each) for each in found.pictures]
        settings = {**as_json(study.settings), **found.more.get("settings", {})}
        return dataclasses.replace(
            found,
            title=found.title or self.title,
            pictures=pictures,
            verdict=self.in_words(weigh(found.verdict)),
            more={"metric": self.metric, "claim": self.claim, **found.more, "settings": settings},
        )

    def _named(self, picture: Picture) -> Picture:
        title = f"{self.title}\n{picture.title}"
        return dataclasses.replace(picture, name=self.name, title=title)

    def in_words(self, verdict: str) -> str:
        """The verdict as the first line of a report has it, with the claim."""
        if not self.claim:
            return f"{verdict or 'none'}; the paper has no such experiment."
        return f"{verdict or 'see the tables'}. The paper: {self.claim}"


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """An experiment as it is to be run.

    Attributes:
      experiment: the experiment.
      folder: where finished parts are, below runs/, and where the report is, below results/.
      settings: chosen before it is run.
      place: where the paper has it, such as "Figure 3".
      minutes: what it may take on two cores.
      short_of: what the protocol asks for and the budget does not allow; "" if nothing.
      paper: the paper's number, for the scoreboard.
      cause: what a difference is due to, as far as that is known: "paper", "ours", "smaller" or
        "reading", with a few words; "" where there is none.
      checked: by what second implementation our code was checked; "" if by none.
      why: of a contradiction, what was found, in two sentences.
    """

    experiment: Experiment[Any]
    folder: str
    settings: Any
    place: str = OURS
    minutes: float = 5
    short_of: str = ""
    paper: str = ""
    cause: str = ""
    checked: str = ""
    why: str = ""

    def verdict(self, found: str) -> str:
        """The verdict from what the criterion found; goals of our own are met or not."""
        if self.place != OURS:
            return weighed(found, cut=self.short_of, checked=self.checked)
        for word, own in ((REPRODUCED, "met"), (PARTLY, "partly met"), (FAILS, "not met")):
            if found.startswith(word):
                return own + found.removeprefix(word)
        return found

    @property
    def name(self) -> str:
        """What the row is called on the command line."""
        return f"{self.folder}/{self.experiment.name}"

    @property
    def inputs(self) -> str:
        """A hash of all that a report depends on and that is declared: see `settings.declared`."""
        told = {
            "experiment": self.experiment.name,
            "version": self.experiment.version,
            "settings": declared(self.settings),
        }
        text = json.dumps(told, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def report(self, results: Path) -> Path:
        """The JSON file of the report, which need not exist."""
        return results / f"{self.name}.json"


def run(
    experiment: Experiment[AnyStudy],
    study: AnyStudy,
    directory: str | os.PathLike[str],
    *,
    weigh: Callable[[str], str] = str,
) -> Path:
    """Runs an experiment and writes what it found.

    Args:
      experiment: what to run.
      study: settings and workspace.
      directory: where the report goes.
      weigh: from what the criterion found to the verdict, such as `Row.verdict`.

    Returns:
      The report's path.

    Raises:
      ValueError: as the experiment does.
    """
    if study.num_threads is not None:
        torch.set_num_threads(study.num_threads)
    device = torch.device(getattr(study.settings, "device", "cpu"))
    used = study.workspace.engine.threads
    if device.type == "cuda":
        used += f", {torch.cuda.get_device_name(device)}"
    study.workspace.start_anew()
    environment, start = describe_environment(), time.perf_counter()
    report = experiment.report(study, weigh)
    return reports.write(
        report,
        Path(directory) / experiment.name,
        environment,
        seconds=time.perf_counter() - start,
        workspace=study.workspace,
        used=used,
    )
