"""How an experiment is declared, and how experiments are run.

An experiment is one `Experiment`: what is asked, what the paper says about it, how the answer is
computed in parts, and how it is shown. A `Study` is its settings and its workspace, in which what
is finished is not done again. `run` runs the experiments of a study and writes their reports.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch

from experiments.settings import as_json
from spiel_dl.play.tally import student_half_width
from spiel_dl.runs import reports
from spiel_dl.runs.reports import Picture, Report
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.environment import describe_environment

Settings = TypeVar("Settings")

MET, NOT_MET, PARTLY, CONTRADICTED = "met", "not met", "partly met", "contradicts the paper"
OPEN = "open"
"""What was measured cannot tell."""
_MOST_NAMES = 4
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of a report's tables, by heading."""


class Judgement(NamedTuple):
    """What a report says first.

    Attributes:
      verdict: as of `Experiment.render`.
      headline: the number that a reader asks for first.
    """

    verdict: str
    headline: str


def verdict(parts: Mapping[str, bool | None]) -> str:
    """The verdict on a claim from that on each of its parts.

    Args:
      parts: what is claimed, in a few words, and whether it holds; None where what was measured
        cannot tell.

    Returns:
      MET or NOT_MET if all parts say so, OPEN if none can tell, "" if there are none; otherwise
      PARTLY, or NOT_MET, and which parts do not hold and which are open.
    """
    known = {name: held for name, held in parts.items() if held is not None}
    if not known:
        return OPEN if parts else ""
    failed = [name for name, held in known.items() if not held]
    is_open = [name for name in parts if name not in known]
    if not is_open and len(failed) in (0, len(known)):
        return NOT_MET if failed else MET
    word = NOT_MET if len(failed) == len(known) else PARTLY
    told = f"{word}: {len(known) - len(failed)} of {len(parts)} parts hold"
    for what, names in (("not", failed), ("open", is_open)):
        if names:
            told += f"; {what}: {_listed(names)}"
    return told


def _listed(names: Sequence[str]) -> str:
    """Names, or the first of them and how many more there are."""
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join([*names[:_MOST_NAMES], *more])


def deviation(values: Sequence[float]) -> float:
    """The standard deviation that a sample tells of; 0 of a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def sign_of_difference(first: Sequence[float], second: Sequence[float]) -> int:
    """The sign of the mean difference of pairs, seed by seed; 0 if the 95 % interval holds 0."""
    pairs = [one - other for one, other in zip(first, second, strict=True)]
    mean, half_width = statistics.fmean(pairs), student_half_width(pairs)
    if half_width is None or abs(mean) <= half_width:
        return 0
    return 1 if mean > 0 else -1


def is_less(first: Sequence[float], second: Sequence[float]) -> bool | None:
    """Whether the first numbers are less, seed by seed; None if the 95 % interval holds 0."""
    sign = sign_of_difference(first, second)
    return None if sign == 0 else sign < 0


def told(values: Sequence[float], of: str) -> str:
    """Mean and spread of the numbers of some runs, for a report's headline.

    Args:
      values: one number of each run, at least one.
      of: what the runs are, such as "networks".
    """
    mean, half_width = f"{statistics.fmean(values):.3g}", student_half_width(values)
    if half_width is None:
        return f"{mean} (one {of.removesuffix('s')})"
    return f"{mean} ± {half_width:.2g} (95 %, {len(values)} {of})"


class Study(Generic[Settings]):
    """What the experiments of a paper share; a paper's own study makes what they need, once.

    Attributes:
      settings: of the experiments; a dataclass with `seeds`.
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


@dataclasses.dataclass(frozen=True)
class Experiment(Generic[AnyStudy]):
    """One experiment of a paper.

    Attributes:
      name: short, for files and the command line.
      title: in one line.
      metric: what is measured, with its unit.
      claim: the paper's number or what it says; "" if it has no such experiment; then the report
        says what is held.
      compute: from a study to what was found; what its workspace holds is not done again.
      render: from a study and what was found to tables, pictures and, as the report's verdict, MET,
        NOT_MET, CONTRADICTED, OPEN or what `verdict` says where the claim can be tested. A report
        without title gets the experiment's, and a picture without name its name, and its title as
        the first line.
      uses: names of the settings that the numbers depend on; empty: all.
      judge: from a report's tables to its verdict and headline, in the place of those of `render`;
        so that a report is judged anew when the criterion becomes another, see `judging`.
    """

    name: str
    title: str
    metric: str
    claim: str
    compute: Callable[[AnyStudy], Any]
    render: Callable[[AnyStudy, Any], Report]
    uses: tuple[str, ...] = ()
    judge: Callable[[Tables], Judgement] | None = None

    def settings(self, settings: Any) -> dict[str, Any]:
        """What the numbers depend on, as JSON can hold it."""
        told: dict[str, Any] = as_json(settings)
        return {name: value for name, value in told.items() if not self.uses or name in self.uses}

    def report(self, study: AnyStudy) -> Report:
        """Computes what is missing, and says what was found, with the verdict in words."""
        found = self.render(study, self.compute(study))
        if self.judge is not None:
            judged = self.judge({heading: table.rows for heading, table in found.tables.items()})
            found = dataclasses.replace(found, **judged._asdict())
        pictures = [each if each.name else self._named(each) for each in found.pictures]
        settings = {**self.settings(study.settings), **found.more.get("settings", {})}
        return dataclasses.replace(
            found,
            title=found.title or self.title,
            pictures=pictures,
            verdict=self.in_words(found.verdict),
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


Experiments = Mapping[str, Experiment[Any]]


def by_name(*experiments: Experiment[Any]) -> Experiments:
    """Experiments by their names, in this order."""
    return {experiment.name: experiment for experiment in experiments}


def check_names(names: Sequence[str], experiments: Collection[str]) -> None:
    """Raises a ValueError if there is no experiment of one of the names."""
    for name in names:
        if name not in experiments:
            raise ValueError(f"experiment {name!r} must be one of {', '.join(experiments)}")


def run(
    experiments: Experiments,
    study: Study[Any],
    directory: str | os.PathLike[str],
    only: Sequence[str] = (),
) -> list[Path]:
    """Runs experiments and writes what they found.

    Args:
      experiments: of a paper, by name.
      study: settings and workspace.
      directory: where the reports go.
      only: which; empty: all.

    Returns:
      The reports' paths.

    Raises:
      ValueError: if there is no such experiment; then none is run. Or as the experiment does.
    """
    names = only or list(experiments)
    check_names(names, experiments)
    if study.num_threads is not None:
        torch.set_num_threads(study.num_threads)
    device = torch.device(getattr(study.settings, "device", "cpu"))
    used = study.workspace.engine.threads
    if device.type == "cuda":
        used += f", {torch.cuda.get_device_name(device)}"
    paths = []
    for name in names:
        study.workspace.start_anew()
        environment, start = describe_environment(), time.perf_counter()
        report = experiments[name].report(study)
        paths.append(
            reports.write(
                report,
                Path(directory) / name,
                environment,
                seconds=time.perf_counter() - start,
                workspace=study.workspace,
                used=used,
            )
        )
    return paths
