"""The particle paper's experiments that need no dataset, and play in a game it could not reach.

Šustr et al. (2021): Figure 2 (`linear_targets`), and Table 1 with Lemma 2 (`public_states`). Beyond
the paper, `self_play` trains a network by the full particle algorithm, and `match` plays it. Every
experiment writes NAME.md, the report, and NAME.json, all of its numbers, into a run directory.
"""

from __future__ import annotations

import dataclasses
import resource
import time
from typing import Any

from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.matches import HighestActionPolicy, play_match
from spiel_dl.algorithms.particle_policy import ParticlePolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
from spiel_dl.experiments import goofspiel_counts
from spiel_dl.experiments.particle_linear_targets import (
    ARCHITECTURES,
    LinearTargetsConfig,
    train_on_linear_targets,
)
from spiel_dl.io.plots import Panel, plot_panels
from spiel_dl.io.reports import Table, describe_machine, describe_run, write_report
from spiel_dl.io.run_directory import RunDirectory, describe_environment, log_spaced_steps

NETWORK_FILE = "network.safetensors"
_POINTS_PER_DECADE = 8


def linear_targets(directory: RunDirectory, config: LinearTargetsConfig, num_seeds: int) -> None:
    """Figure 2: the loss of every architecture over training, for seeds 0, 1, ...

    Raises:
      ValueError: if there are no seeds.
    """
    if num_seeds < 1:
        raise ValueError(f"num_seeds={num_seeds} must be at least 1")
    curves: dict[str, list[dict[str, Any]]] = {}
    rows = []
    for architecture in ARCHITECTURES:
        for seed in range(num_seeds):
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
    _report(directory, "linear_targets", title, rows, {"curves": curves})


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
        for row in goofspiel_counts.largest_public_states(num_cards)
    ]
    title = f"The largest public states of Goofspiel with {num_cards} cards and hidden bids"
    _report(directory, "public_states", title, rows, {})


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
    _report(directory, "self_play", f"Self-play in {learner.game}", rows, {})


def match(directory: RunDirectory, policy: ParticlePolicy, num_games: int, seed: int) -> None:
    """Plays a uniform player and one that always plays its highest action.

    Raises:
      ValueError: if there are fewer than two games.
    """
    game = policy.game
    opponents: dict[str, openspiel_policy.Policy] = {
        "uniform": openspiel_policy.UniformRandomPolicy(game),
        "highest action": HighestActionPolicy(game, [0, 1]),
    }
    rows = []
    for name, opponent in opponents.items():
        found = play_match(game, policy, opponent, num_games, seed)
        rows.append(
            {
                "opponent": name,
                "games": found.num_games,
                "mean return": found.mean_return,
                "± (95 %)": found.half_width,
                "seconds per move": found.efforts[0].seconds_per_move,
                "slowest move (s)": found.efforts[0].slowest,
                "peak memory of the process (MB)": _peak_memory(),
            }
        )
    _report(directory, "match", f"Particle search in {game}", rows, {})


def _report(
    directory: RunDirectory, name: str, title: str, rows: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    """Writes a table and what it was made with."""
    environment = describe_environment()
    text = "\n".join(
        [
            f"# {title}\n",
            describe_run(environment),
            describe_machine(environment, "one process") + "\n",
            Table(rows, {column: column for column in rows[0]}).to_markdown(),
        ]
    )
    results = {"title": title, "rows": rows, **more, "environment": environment}
    write_report(directory.path / name, results, text)


def _peak_memory() -> float:
    """In MB; Linux counts in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
