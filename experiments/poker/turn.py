"""DL-CFR on the turn with a river network: Figure 2 of Kovařík et al. (2021), in poker."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from pathlib import Path
from typing import Any, NamedTuple

from experiments.experiment import Experiment, Row, Study
from experiments.poker import networks, rivers, spots
from experiments.settings import check_least
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.river import RiverNetwork, ShowdownValue

_ROWS, _SPOTS = "By value function", "By spot"
_BOUND = 10.0  # thousandths of the pot
_SHOWDOWN, _WHOLE, _RANDOM = "showdowns, no network", "whole turn", "random features"
_LOSS, _EXPLOITABILITY = "loss", "exploitability"
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Data, networks, and what they are judged on.

    Attributes:
      data_seeds: of solved rivers.
      num_files: of them with each seed, each with about 800 of one turn and 400 by themselves.
      num_apart: how many of these networks do not learn from: for the loss.
      seeds: of networks that learn from all others.
      fewer: from how many files networks of the first seed learn.
      num_steps: of training.
      num_spots: random turns.
      num_hands: of each player there; some may have no weight.
      num_iterations: of linear CFR, in trunks and in whole turns.
      tolerance: the most that a trunk's NashConv may be off, in pots.
    """

    data_seeds: tuple[int, ...] = (41, 42)
    num_files: int = 12
    num_apart: int = 3
    seeds: tuple[int, ...] = (0, 1, 2)
    fewer: tuple[int, ...] = (2, 8)
    num_steps: int = 3000
    num_spots: int = 20
    num_hands: int = 100
    num_iterations: int = 100
    tolerance: float = 0.003

    def __post_init__(self) -> None:
        check_least(self, num_files=2, num_apart=1, num_steps=1, num_spots=1, num_hands=2)


class Network(NamedTuple):
    """What is trained."""

    name: str
    seed: int
    num_files: int
    only_last: bool


def _networks(settings: Settings) -> list[Network]:
    """All networks."""
    most = len(settings.data_seeds) * settings.num_files - settings.num_apart
    first = settings.seeds[0]
    found = [Network(f"seed {seed}", seed, most, False) for seed in settings.seeds]
    found += [Network(f"{n} files", first, n, False) for n in settings.fewer]
    return [*found, Network(_RANDOM, first, most, True)]


def _trained(study: Study[Settings], network: Network) -> dict[str, Any]:
    """Trains a network, writes it, and says its loss on rivers set apart."""
    settings, folder = study.settings, study.workspace.directory
    files = [
        folder / "rivers" / f"quantiles_{seed}_{number}.npz"
        for number in range(settings.num_files)
        for seed in settings.data_seeds
    ]
    data = networks.read(files[: network.num_files])
    apart = networks.read(files[-settings.num_apart :])
    found = networks.train(data, network.seed, settings.num_steps, only_last=network.only_last)
    found.save(_file(folder, network))
    return {
        "samples": len(data.inputs),
        _LOSS: networks.error(found, apart),
        "loss in training": networks.error(found, data),
    }


def _file(folder: Path, network: Network) -> Path:
    return folder / f"{file_name('network', network.name)}.safetensors"


def _judged(study: Study[Settings], number: int) -> dict[str, Any]:
    """All value functions on a spot."""
    settings = study.settings
    functions: dict[str, ValueFunction] = {_SHOWDOWN: ShowdownValue()}
    for network in _networks(settings):
        functions[network.name] = RiverNetwork.load(_file(study.workspace.directory, network))
    game = spots.spot(number, settings.num_hands)
    found = spots.judge(
        game, functions, num_iterations=settings.num_iterations, tolerance=settings.tolerance
    )
    return {"game": str(game.game)[:200], **found}


def _rows(study: Study[Settings]) -> tuple[Rows, Rows]:
    """Networks with their losses, and spots."""
    settings, workspace = study.settings, study.workspace
    for seed in settings.data_seeds:
        rivers.make_quantiles(workspace.directory / "rivers", seed, settings.num_files)
    of_data = {
        "data_seeds": list(settings.data_seeds),
        **{name: getattr(settings, name) for name in ("num_files", "num_apart", "num_steps")},
    }
    of_networks: Rows = []
    for network in _networks(settings):
        made = functools.partial(_trained, study, network)
        told = {**network._asdict(), **of_data}
        of_networks.append(
            {"name": network.name, **workspace.part(file_name("network", network.name), told, made)}
        )
    told = dataclasses.asdict(settings)
    del told["num_spots"]
    numbers = list(range(settings.num_spots))
    judged = workspace.parts(
        [(file_name("spot", number), {"number": number, **told}) for number in numbers],
        functools.partial(_judged, study),
        numbers,
        "spots",
    )
    return of_networks, judged


def _report(study: Study[Settings], found: tuple[Rows, Rows]) -> Report:
    of_networks, judged = found
    rows: Rows = []
    for name in (_WHOLE, _SHOWDOWN, *(row["name"] for row in of_networks)):
        numbers = [spot[name] for spot in judged]
        own = next((row for row in of_networks if row["name"] == name), {})
        rows.append(
            {
                "name": name,
                **{key: own[key] for key in ("samples", _LOSS, "loss in training") if own},
                _EXPLOITABILITY: statistics.fmean(numbers),
                "largest": max(numbers),
                "gap": statistics.fmean(spot[f"{name}, gap"] for spot in judged),
            }
        )
    titles = {
        "name": "value function",
        "samples": "rivers to learn from",
        _LOSS: "root of the mean squared error (pots)",
        "loss in training": "in training",
        _EXPLOITABILITY: "trunk exploitability (thousandths of the pot)",
        "largest": "of the worst spot",
        "gap": "may be off by",
    }
    settings = study.settings
    panel = Panel(_LOSS, _EXPLOITABILITY, titles[_LOSS], titles[_EXPLOITABILITY])
    groups = {row["name"]: [row] for row in rows if _LOSS in row}
    levels = {row["name"]: row for row in rows if _LOSS not in row}
    return Report(
        "",
        [
            f"{settings.num_spots} turns of random boards, stacks of half a pot to 8 pots, and "
            f"{settings.num_hands} random hands a player with random weights; bets of the pot and "
            "all-in. Trunks by linear CFR, both players updated at once, "
            f"{settings.num_iterations} iterations; their exploitability is certified: what comes "
            "after the turn is best for both, by CFR on the whole turn until its gap is small.",
            f"'{_WHOLE}' is the trunk of as many iterations of CFR on the whole game: what a "
            "perfect value function leaves.",
        ],
        {_ROWS: Table(rows, titles), _SPOTS: Table.of(judged)},
        [Picture("", "hold'em, turn", [panel], groups, levels, joined=False)],
    )


def _judge(tables: Tables) -> Judgement:
    rows = {row["name"]: row[_EXPLOITABILITY] for row in tables[_ROWS]}
    seeds = {name: value for name, value in rows.items() if name.startswith("seed ")}
    parts: dict[str, bool | None] = {name: value < _BOUND for name, value in seeds.items()}
    parts["better than without a network"] = max(seeds.values()) < rows[_SHOWDOWN]
    mean = statistics.fmean(seeds.values())
    return Judgement(
        verdict(parts),
        f"{mean:.2g} thousandths of the pot; {rows[_SHOWDOWN]:.3g} without a network",
    )


TURN = Experiment(
    name="turn",
    title="DL-CFR on the turn with a river network",
    metric="trunk exploitability (thousandths of the pot)",
    claim=(
        "smaller losses, smaller exploitability (Figure 2, in other games). Held: on average below "
        f"{_BOUND:g} thousandths of the pot by each seed's network, and below that without one."
    ),
    study=Study[Settings],
    compute=_rows,
    render=_report,
    judge=_judge,
)
ROWS = (Row(TURN, "poker", Settings(), minutes=12),)
