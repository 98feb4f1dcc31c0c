"""Declares experiments and their rows, and runs them.

An `Experiment` has the paper's claim and three functions: one computes the numbers in resumable
parts, one renders the report, one judges the claim by the report's tables. A `Row` is an experiment
with its settings; it has a report below results/. A `Study` is settings and the workspace that
keeps finished parts.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from experiments.settings import as_json, declared
from experiments.verdicts import FAILS, PARTLY, REPRODUCED, Judgement, Tables, qualified
from spiel_dl.play import registry
from spiel_dl.runs import reports
from spiel_dl.runs.reports import Picture, Report
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.environment import describe_environment

Settings = TypeVar("Settings")
OURS = "ours"
"""The `Row.place` of our own experiments, which no paper has."""


class Study(Generic[Settings]):
    """Settings and workspace; subclasses make what the experiments of one paper share.

    Attributes:
      settings: the experiment's settings.
      workspace: keeps finished parts and computes missing ones.
    """

    def __init__(self, settings: Settings, workspace: Workspace):
        """Makes a study; everything is computed on first use.

        Args:
          settings: sizes, seeds and what is varied.
          workspace: where the study continues if it was started before with the same settings.
        """
        self.settings = settings
        self.workspace = workspace


def measured_runs(
    study: Study[Settings],
    runs: Sequence[Any],
    names: Sequence[str],
    learn: Callable[[Settings, Workspace, Any], list[dict[str, Any]]],
) -> list[list[dict[str, Any]]]:
    """What was measured of each learner run; finished runs are read, not repeated.

    Args:
      study: its workspace keeps the runs, and its workers train.
      runs: named tuples; their entries name parts and run directories, see `file_name`.
      names: of all settings that a run depends on.
      learn: of settings, workspace and run; trains in the directory `file_name(*run)`.
    """
    settings, workspace = as_json(study.settings), study.workspace
    shared = {name: settings[name] for name in names}
    parts = [(file_name(*run), {**run._asdict(), **shared}) for run in runs]
    learn_one = functools.partial(learn, study.settings, workspace)
    measured = workspace.parts(parts, learn_one, runs, "learners")
    for name, _ in parts:
        workspace.note_run(name)
    return measured


AnyStudy = TypeVar("AnyStudy", bound=Study[Any])


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Experiment(Generic[AnyStudy]):
    """One experiment.

    Attributes:
      name: short, for files and the command line.
      title: one line.
      metric: what is measured, with its unit.
      claim: the paper's number or statement; "" if the paper has no such experiment.
      study: makes the study from settings and a workspace.
      compute: computes the results of a study; parts in the workspace are not computed again.
      render: makes the report from study and results. A report without title gets the
        experiment's; a picture without name gets the experiment's name and title.
      judge: finds verdict and headline from the rows of the report's tables.
      version: raise it with every change of results that the settings do not show; earlier reports
        are old then.
      num_threads: torch threads of this process, set by `run`; None: unchanged. Workers have one.
    """

    name: str
    title: str
    metric: str
    claim: str
    study: Callable[[Any, Workspace], AnyStudy]
    compute: Callable[[AnyStudy], Any]
    render: Callable[[AnyStudy, Any], Report]
    judge: Callable[[Tables], Judgement]
    version: int = 1
    num_threads: int | None = None

    def report(self, study: AnyStudy, qualify: Callable[[str], str] = str) -> Report:
        """Computes missing parts and returns the report, its verdict in words.

        Args:
          study: settings and workspace.
          qualify: turns the criterion's verdict into the report's, such as `Row.verdict`.
        """
        report = self.render(study, self.compute(study))
        judged = self.judge({heading: table.rows for heading, table in report.tables.items()})
        pictures = [each if each.name else self._named(each) for each in report.pictures]
        settings = {**as_json(study.settings), **report.more.get("settings", {})}
        return dataclasses.replace(
            report,
            title=report.title or self.title,
            pictures=pictures,
            verdict=self.in_words(qualify(judged.verdict)),
            headline=judged.headline,
            more={"metric": self.metric, "claim": self.claim, **report.more, "settings": settings},
        )

    def _named(self, picture: Picture) -> Picture:
        title = f"{self.title}\n{picture.title}"
        return dataclasses.replace(picture, name=self.name, title=title)

    def in_words(self, verdict: str) -> str:
        """The verdict with the claim, the first line of a report."""
        if not self.claim:
            return f"{verdict or 'none'}; the paper has no such experiment."
        return f"{verdict or 'see the tables'}. The paper: {self.claim}"


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """An experiment with its settings.

    Attributes:
      experiment: the experiment.
      folder: the folder of finished parts below runs/, and of the report below results/.
      settings: chosen before the run.
      place: figure or table of the paper, such as "Figure 3".
      minutes: expected time on two cores.
      short_of: what of the paper's protocol is cut, for the sake of the budget; "" if nothing.
      chosen: what the paper does not give and we chose, for the scoreboard; "" if nothing.
      paper: the paper's number, for the scoreboard.
      cause: the known cause of a difference: "paper", "ours", "smaller" or "reading", with a few
        words; "" if there is no difference.
      checked: the second implementation that our code was checked against; "" if none.
      why: explains a contradiction in two sentences.
    """

    experiment: Experiment[Any]
    folder: str
    settings: Any
    place: str = OURS
    minutes: float = 5
    short_of: str = ""
    chosen: str = ""
    paper: str = ""
    cause: str = ""
    checked: str = ""
    why: str = ""

    def verdict(self, criterion_verdict: str) -> str:
        """The row's verdict from the criterion's; our own goals are met or not met."""
        if self.place != OURS:
            return qualified(criterion_verdict, cut=self.short_of, checked=self.checked)
        for word, own in ((REPRODUCED, "met"), (PARTLY, "partly met"), (FAILS, "not met")):
            if criterion_verdict.startswith(word):
                return own + criterion_verdict.removeprefix(word)
        return criterion_verdict

    @property
    def name(self) -> str:
        """The row's name on the command line."""
        return f"{self.folder}/{self.experiment.name}"

    @property
    def inputs(self) -> str:
        """A hash of the report's inputs: `settings.declared`, and the files of trained networks."""
        declaration = {
            "experiment": self.experiment.name,
            "version": self.experiment.version,
            "settings": declared(self.settings),
        }
        if networks := self.settings.networks:
            declaration["networks"] = {name: registry.digest(name) for name in networks}
        text = json.dumps(declaration, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def report(self, results: Path) -> Path:
        """The path of the report's JSON file, which need not exist."""
        return results / f"{self.name}.json"


def run(
    experiment: Experiment[AnyStudy],
    study: AnyStudy,
    directory: str | os.PathLike[str],
    *,
    qualify: Callable[[str], str] = str,
) -> Path:
    """Runs an experiment and writes its report.

    Args:
      experiment: what to run.
      study: settings and workspace.
      directory: where the report is written.
      qualify: turns the criterion's verdict into the report's, such as `Row.verdict`.

    Returns:
      The report's path.

    Raises:
      ValueError: as the experiment does.
    """
    if experiment.num_threads is not None:
        torch.set_num_threads(experiment.num_threads)
    device = torch.device(getattr(study.settings, "device", "cpu"))
    used = study.workspace.engine.threads
    if device.type == "cuda":
        used += f", {torch.cuda.get_device_name(device)}"
    study.workspace.start_anew()
    environment, start = describe_environment(), time.perf_counter()
    report = experiment.report(study, qualify)
    return reports.write(
        report,
        Path(directory) / experiment.name,
        environment,
        seconds=time.perf_counter() - start,
        workspace=study.workspace,
        used=used,
    )
