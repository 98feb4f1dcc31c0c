"""The particle paper's experiments by name, and those that need no dataset.

Šustr et al. (2021): Figure 2 (`linear_targets`), and Table 1 with Lemma 2 (`public_states`). Beyond
the paper, `self_play` trains a network by the full particle algorithm, and `match` plays it. Every
experiment writes NAME.md, the report, and NAME.json, all of its numbers, into a run directory.
Figures 3 and 4 are made by modules of their own.
"""

from __future__ import annotations

import dataclasses
import os
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from papers.dl_cfr.report import Result, write_result
from papers.dl_cfr.study import Study
from papers.particle import public_state_counts
from papers.particle import study as particle_study
from papers.particle.architectures import architectures
from papers.particle.fractions import FractionsConfig, fractions
from papers.particle.linear_targets import (
    ARCHITECTURES,
    LinearTargetsConfig,
    train_on_linear_targets,
)
from papers.particle.on_policy import on_policy
from papers.particle.study import Domain, NetworkSizes
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, SelfPlayConfig
from spiel_dl.jobs import head_to_head
from spiel_dl.jobs.head_to_head import HeadToHeadConfig
from spiel_dl.jobs.on_policy import OnPolicyConfig
from spiel_dl.play.requests import SearchOptions
from spiel_dl.runs.distributed import IN_PROCESS, Engine
from spiel_dl.runs.parts import Parts
from spiel_dl.runs.plots import Panel, plot_panels
from spiel_dl.runs.reports import (
    Table,
    describe_machine,
    describe_parts,
    describe_run,
    write_report,
)
from spiel_dl.runs.run_directory import RunDirectory, describe_environment, log_spaced_steps
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.training import TrainingConfig

EXPERIMENTS = (
    "linear_targets",
    "public_states",
    "architectures",
    "on_policy",
    "fractions",
    "self_play",
    "match",
)
OPPONENTS = {"uniform": "uniform", "highest action": "highest"}
"""Whom `match` plays: what the report says, and the policy's name."""
NETWORK_FILE = "network.safetensors"
_COMMITS = "commits_of_parts"
_PAIRS_AT_ONCE = 5
_TRUNK_ITERATIONS = 1000
_POINTS_PER_DECADE = 8


@dataclasses.dataclass(frozen=True)
class Options:
    """What the experiments are told.

    Attributes:
      num_seeds: linear_targets, architectures, on_policy, fractions: runs.
      linear: linear_targets: the task, and the first seed.
      num_cards: public_states: cards of Goofspiel.
      domain: architectures, on_policy, fractions: game, depth limit, samples and epochs; None: they
        cannot be run.
      training: the same: how networks are trained otherwise.
      iterations: of DL-CFR+; None: as `play` says in a search, 1000 in a trunk.
      on_policy: on_policy: how ranges are collected and learned from.
      fractions: fractions: what is searched.
      sizes: of all networks but those of linear_targets.
      game: self_play, match: the game string.
      play: the same: how to search; self_play: how to learn, too. Its seed is the network's, and
        the first of the networks' in architectures, on_policy and fractions.
      num_games: the same: games, of each opponent.
      network: match: the file of the network that plays; self_play: of one to go on with; None: a
        new one, of `sizes`.
      device: where networks compute.
    """

    num_seeds: int = 10
    linear: LinearTargetsConfig = dataclasses.field(default_factory=LinearTargetsConfig)
    num_cards: int = 13
    domain: Domain | None = None
    training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)
    iterations: int | None = None
    on_policy: OnPolicyConfig = dataclasses.field(default_factory=OnPolicyConfig)
    fractions: FractionsConfig = dataclasses.field(default_factory=FractionsConfig)
    sizes: NetworkSizes = dataclasses.field(default_factory=NetworkSizes)
    game: str = "python_goofspiel_ii(num_cards=13,points_order=descending)"
    play: SelfPlayConfig = dataclasses.field(
        default_factory=lambda: SelfPlayConfig(DepthLimit(rounds=1))
    )
    num_games: int = 100
    network: str | None = None
    device: str = "cpu"


def run_experiment(
    name: str,
    options: Options,
    path: str | os.PathLike[str],
    settings: Mapping[str, Any],
    engine: Engine = IN_PROCESS,
) -> Path:
    """Runs an experiment in a run directory.

    Args:
      name: one of `EXPERIMENTS`.
      options: the rest.
      path: the run directory.
      settings: what identifies the run, for experiments that cannot be resumed.
      engine: who makes the data, and plays matches.

    Returns:
      The report's path.

    Raises:
      ValueError: if there is no such experiment, or as it says itself.
    """
    experiments: dict[str, Callable[[], None]] = {
        "linear_targets": lambda: linear_targets(
            RunDirectory(path, settings), options.linear, options.num_seeds
        ),
        "public_states": lambda: public_states(RunDirectory(path, settings), options.num_cards),
        "architectures": lambda: _figure(
            options, path, engine, lambda study: architectures(study, options.sizes)
        ),
        "on_policy": lambda: _figure(
            options, path, engine, lambda study: _on_policy(study, options)
        ),
        "fractions": lambda: _figure(
            dataclasses.replace(options, iterations=options.iterations or options.play.iterations),
            path,
            engine,
            lambda study: fractions(study, options.sizes, options.fractions),
        ),
        "self_play": lambda: _self_play(options, path, settings),
        "match": lambda: match(options, path, engine),
    }
    if name not in experiments:
        raise ValueError(f"experiment {name!r} must be one of {', '.join(experiments)}")
    experiments[name]()
    return Path(path) / f"{name}.md"


def _figure(
    options: Options,
    path: str | os.PathLike[str],
    engine: Engine,
    experiment: Callable[[Study], Result],
) -> None:
    """Runs an experiment of networks that are trained on data."""
    if options.domain is None:
        raise ValueError("give --domain, or --game and its depth limit")
    start, first = time.perf_counter(), options.play.seed
    config = particle_study.study_config(
        options.domain,
        options.training,
        seeds=tuple(range(first, first + options.num_seeds)),
        num_iterations=options.iterations or _TRUNK_ITERATIONS,
        device=options.device,
    )
    study = Study(config, Path(path) / "work", engine=engine)
    write_result(experiment(study), study, path, time.perf_counter() - start)


def _on_policy(study: Study, options: Options) -> Result:
    config = dataclasses.replace(options.on_policy, num_iterations=study.config.num_iterations)
    return on_policy(study, options.sizes, config)


def _self_play(options: Options, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
    if options.network:
        network = ParticleNetwork.load(options.network, device=options.device)
    else:
        network = ParticleNetwork(
            options.sizes.particle,
            InfostateFeatures(options.sizes.perfect_recall),
            conditional=options.sizes.conditional,
            seed=options.play.seed,
            device=options.device,
        )
    config = dataclasses.replace(options.play, num_games=options.num_games)
    learner = ParticleSelfPlay(options.game, network, config)
    self_play(RunDirectory(path, settings), learner, options.num_games)


def linear_targets(directory: RunDirectory, config: LinearTargetsConfig, num_seeds: int) -> None:
    """Figure 2: the loss of every architecture over training, for the config's seed and the next.

    Raises:
      ValueError: if there are no seeds.
    """
    if num_seeds < 1:
        raise ValueError(f"num_seeds={num_seeds} must be at least 1")
    curves: dict[str, list[dict[str, Any]]] = {}
    rows = []
    for architecture in ARCHITECTURES:
        for seed in range(config.seed, config.seed + num_seeds):
            start = time.perf_counter()
            points = train_on_linear_targets(architecture, dataclasses.replace(config, seed=seed))
            curve = [{"step": point.step, "loss": point.loss} for point in points]
            curves[f"{architecture}, seed {seed}"] = curve
            rows.append(
                {
                    "architecture": architecture,
                    "seed": seed,
                    "final loss": curve[-1]["loss"],
                    "smallest loss": min(line["loss"] for line in curve),
                    "seconds": time.perf_counter() - start,
                }
            )
    title = f"Mean squared error on linear targets, n = {config.dimension}"
    plot_panels(
        directory.path / "linear_targets.png",
        [Panel("step", "loss", "steps of Adam", "mean squared error")],
        curves,
        title,
    )
    _report(directory.path, "linear_targets", title, rows, {"curves": curves})


def public_states(directory: RunDirectory, num_cards: int) -> None:
    """Table 1: the largest public states of Goofspiel, bounds and exact counts.

    Raises:
      ValueError: if `num_cards` is not positive.
    """
    rows = [
        {
            "rounds": row.depth,
            "histories, at least": row.histories_bound,
            "histories, exactly": row.histories,
            "infosets, at least": row.infosets_bound,
            "infosets, exactly": row.infosets,
        }
        for row in public_state_counts.largest_public_states(num_cards)
    ]
    title = f"The largest public states of Goofspiel with {num_cards} cards and hidden bids"
    _report(directory.path, "public_states", title, rows, {})


def self_play(directory: RunDirectory, learner: ParticleSelfPlay, num_games: int) -> None:
    """Trains a network by self-play, and writes it.

    Raises:
      ValueError: if there is nothing to learn, or if `num_games` is not positive.
    """
    if num_games < 1:
        raise ValueError(f"num_games={num_games} must be at least 1")
    shown = set(log_spaced_steps(num_games, _POINTS_PER_DECADE))
    rows: list[dict[str, Any]] = []
    start = time.perf_counter()
    for number in range(1, num_games + 1):
        loss = learner.step()
        if number in shown:
            seconds = time.perf_counter() - start
            row = {"games": number, "loss": loss, "samples": len(learner.buffer)}
            rows.append({**row, "seconds": seconds})
            directory.append_metrics(rows[-1])
            learner.network.save(directory.path / NETWORK_FILE)
    _report(directory.path, "self_play", f"Self-play in {learner.game}", rows, {})


def match(options: Options, path: str | os.PathLike[str], engine: Engine = IN_PROCESS) -> None:
    """Plays a uniform player and one that always plays its highest action.

    A match that was stopped goes on where it was.

    Raises:
      ValueError: if there is no network, or as `head_to_head.play`.
    """
    if options.network is None:
        raise ValueError(
            "a match needs a network: make one with --experiment=self_play, then pass --network="
        )
    play = options.play
    search = SearchOptions(
        play.depth_limit, effort=Effort(iterations=play.iterations), budget=play.budget
    )
    rows, commits = [], set()
    for name, opponent in OPPONENTS.items():
        config = HeadToHeadConfig(
            options.game,
            f"particle:{options.network}",
            opponent,
            num_games=options.num_games,
            seed=play.seed,
            search=search,
            pairs_at_once=_PAIRS_AT_ONCE,
            device=options.device,
        )
        parts = Parts(Path(path) / "work" / opponent)
        found = head_to_head.play(config, engine, parts=parts, description=f"pairs against {name}")
        commits |= parts.commits
        rows.append(
            {
                "opponent": name,
                "games": found.num_games,
                "mean return": found.mean_return,
                "± (95 %)": found.half_width,
                "seconds per move": found.times[0].seconds_per_move,
                "slowest move (s)": found.times[0].slowest,
                "peak memory of a process (MB)": _peak_memory(),
            }
        )
    more = {_COMMITS: sorted(commits)}
    _report(path, "match", f"Particle search in {options.game}", rows, more, str(engine.threads))


def _report(
    path: str | os.PathLike[str],
    name: str,
    title: str,
    rows: list[dict[str, Any]],
    more: dict[str, Any],
    used: str = "one process",
) -> None:
    """Writes a table and what it was made with."""
    environment = describe_environment()
    text = "\n".join(
        [
            f"# {title}\n",
            describe_run(environment),
            f"{describe_machine(environment, used)}.{describe_parts(more.get(_COMMITS, ()))}\n",
            Table(rows, {column: column for column in rows[0]}).to_markdown(),
        ]
    )
    results = {"title": title, "rows": rows, **more, "environment": environment}
    write_report(Path(path) / name, results, text)


def _peak_memory() -> float:
    """Of this process or one of its workers, in MB; Linux counts in kB."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in whose) / 1024
