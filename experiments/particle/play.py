"""Beyond the particle paper: `self_play` trains a network by the full particle algorithm.

And `match` plays with the network, against a uniform player and one that always plays its highest
action.
"""

from __future__ import annotations

import resource
from typing import Any

from experiments.particle.study import SIZES, Study
from experiments.study import Experiment, Judgement, Tables, verdict
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
from spiel_dl.runs import head_to_head, learner_run
from spiel_dl.runs.loop import log_spaced
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.value_functions.particle import ParticleNetwork

OPPONENTS = {"uniform": "uniform", "highest action": "highest"}
"""Whom `match` plays: what the report says, and the policy's name."""
_PAIRS_AT_ONCE = 5
_POINTS_PER_DECADE = 8
Rows = list[dict[str, Any]]


def _self_play(study: Study) -> Rows:
    """Trains a network by self-play, and writes it into the workspace."""
    settings = study.settings
    told = SELF_PLAY.settings(settings)

    def train() -> Rows:
        game, limit, play = study.game_and_play()
        if settings.network:
            network = ParticleNetwork.load(settings.network, device=settings.device)
        else:
            network = study.make_particle_network(settings.seeds[0])
        return learn(study, ParticleSelfPlay(game, network, limit, play), told)

    return study.workspace.part("self_play", told, train)


def learn(
    study: Study,
    learner: ParticleSelfPlay,
    identity: dict[str, Any],
    name: str = "self_play",
    num_games: int | None = None,
) -> Rows:
    """All games of a learner; its network is kept in the run directory of this name.

    Args:
      study: where it is kept.
      learner: plays them.
      identity: what the network depends on, as JSON can hold it.
      name: of the run directory.
      num_games: how many games; None: as the settings say.
    """
    directory = study.workspace.run_directory(name, identity)
    num_games = num_games or study.settings.num_games
    schedule = log_spaced(num_games, _POINTS_PER_DECADE)
    learner_run.run_learner(learner, directory, num_games, schedule=schedule, show_progress=False)
    return directory.read_metrics()


def _self_play_report(study: Study, rows: Rows) -> Report:
    titles = {"step": "games", **{name: name for name in ("loss", "samples", "seconds")}}
    game, *_ = study.game_and_play()
    return Report(
        f"Self-play in {game}",
        [],
        {"Learning": Table(rows, titles)},
        headline=f"loss {rows[-1]['loss']:.3g} after {rows[-1]['step']:,} games",
    )


def _match(study: Study) -> Rows:
    """Plays both opponents; a match that was stopped goes on where it was.

    Raises:
      ValueError: if there is no network, or as `head_to_head.play`.
    """
    settings = study.settings
    if settings.network is None:
        raise ValueError(
            "a match needs a network: make one by the experiment self_play, then set network="
        )
    game, limit, play = study.game_and_play()
    effort = Effort(iterations=play.iterations)
    options = {"depth_limit": limit, "effort": effort, "budget": play.budget}
    rows = []
    for name, opponent in OPPONENTS.items():
        found = head_to_head.play(
            game,
            f"particle:{settings.network}",
            opponent,
            num_games=settings.num_games,
            seed=play.seed,
            options=options,
            pairs_at_once=_PAIRS_AT_ONCE,
            device=settings.device,
            workspace=study.workspace.within(opponent),
            description=f"pairs against {name}",
        )
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
    return rows


def _match_report(study: Study, rows: Rows) -> Report:
    game, *_ = study.game_and_play()
    return Report(
        f"Particle search in {game}",
        ["Returns are in utility units, of pairs of games with both seats and the same luck."],
        {"Matches": Table.of(rows)},
    )


_USES = ("game", "depth_limit", "iterations", "play", "num_games", "network", "seeds", "device")


def _judge_match(tables: Tables) -> Judgement:
    """An equilibrium loses to nobody on average, nor may what is to come close to one."""
    [rows] = tables.values()
    parts = {
        f"does not lose to {row['opponent']}": row["mean return"] + row["± (95 %)"] >= 0
        for row in rows
    }
    told = (
        f"{row['mean return']:.3f} ± {row['± (95 %)']:.2g} against {row['opponent']}"
        for row in rows
    )
    return Judgement(verdict(parts), "; ".join(told))


SELF_PLAY = Experiment(
    "self_play", "Self-play", "loss", "", _self_play, _self_play_report, (*_USES, *SIZES)
)
MATCH = Experiment(
    "match",
    "Particle search",
    "mean return (utility)",
    "has no such experiment; held is that the player does not lose to one that plays at random, "
    "nor to one that always plays its highest action: no interval is wholly below 0.",
    _match,
    _match_report,
    _USES,
    _judge_match,
)


def _peak_memory() -> float:
    """Of this process or one of its workers, in MB; Linux counts in kB."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in whose) / 1024
