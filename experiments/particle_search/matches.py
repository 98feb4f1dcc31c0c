"""Search on top of strong networks in large games: against the network, and against a script.

The network without search plays the same script for comparison.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Annotated, Any

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.learners.strength import Preset
from experiments.settings import Checked, as_json
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.play import registry
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs import head_to_head
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.system.parameters import Bounds, Seed
from spiel_dl.tree.depth_limit import DepthLimit


@dataclasses.dataclass(frozen=True)
class Search:
    """A search method with its options.

    Attributes:
      method: the prefix of the network's name in `play.kinds`.
      options: names and values of the method's options.
      called: its name in reports.
    """

    method: str
    options: tuple[tuple[str, Any], ...]
    called: str


CAREFUL = Search(
    "mmds",
    (("stepsize", 0.3), ("depth", 2), ("num_rollouts", 512), ("budget", 200)),
    "mirror descent, stepsize 0.3, depth 2",
)
AUTHORS = Search(
    "mmds",
    (
        ("stepsize", 20.0),
        ("temperature", 0.003),
        ("depth", 10),
        ("num_rollouts", 512),
        ("budget", 200),
    ),
    "mirror descent as its authors run it",
)
SEPOT = Search("sepot", (("max_histories", 10_000),), "SePoT below 10,000 histories")
# Options that were defaults when the first of these matches were declared.
_FIXED: dict[str, dict[str, Any]] = {
    "sepot": {
        "given_cfvs": "transformations",
        "refinement": "none",
        "depth_limit": DepthLimit(rounds=1),
    }
}


def _by_defaults(depth_limit: DepthLimit, called: str) -> tuple[Search, ...]:
    """SePoT in listed public states and in samples of them, by its defaults and a depth limit."""
    options = (
        ("depth_limit", depth_limit),
        ("given_cfvs", "best_response"),
        ("refinement", "prior"),
    )
    return (
        Search(
            "sepot",
            (("max_histories", 25_000), *options),
            f"SePoT below 25,000 histories, {called}, cfvs of a best response",
        ),
        Search(
            "particle_sepot",
            (("budget", 1_000), *options),
            f"particle SePoT with 1,000 histories, {called}, cfvs of a best response",
        ),
    )


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Game, players and matches.

    Attributes:
      game: a preset.
      network: the name of a policy.
      script: likewise.
      searches: on top of the network.
      num_games: of each match, half in each seat.
      seed: of chance and of both players' choices.
    """

    game: Preset
    network: str
    script: str
    searches: tuple[Search, ...] = (CAREFUL, AUTHORS, SEPOT)
    num_games: Annotated[int, Bounds(2)] = 2_000
    seed: Seed = 1

    @property
    def networks(self) -> tuple[str, ...]:
        """See `Checked.networks`."""
        return (self.network,)


Study = experiment.Study[Settings]
_NO_SEARCH = "the network, no search"
_NOTES = {
    "mmds": "Mirror-descent search plays at least 512 games from at most 200 histories. Stepsizes "
    "are in units of 1 / utility range; its authors' 10, with utilities from -1 to 1, is 20 here, "
    "with temperature 0.003 and depth 10.",
    "sepot": "SePoT leaves larger searches to the network; if no more is said, its given cfvs are "
    "those of the best transformation, and its gadgets are not refined.",
}
"""What is said of a method where it plays."""


def _compute(study: Study) -> list[dict[str, Any]]:
    settings, network = study.settings, study.settings.network
    matches: list[tuple[str, str, dict[str, Any], str]] = [
        (_NO_SEARCH, network, {}, settings.script)
    ]
    for search in settings.searches:
        for opponent in (network, settings.script):
            first = f"{search.method}:{network}"
            options = {**_FIXED.get(search.method, {}), **dict(search.options)}
            matches.append((search.called, first, options, opponent))
    rows = []
    for called, first, options, opponent in matches:
        name = file_name("match", called, opponent, settings.num_games)
        digests = {each: registry.digest(each) for each in (first, opponent)}
        declared = {option: as_json(value) for option, value in options.items()}
        inputs = {"game": settings.game, "seed": settings.seed, **digests, **declared}
        measure = functools.partial(
            head_to_head.measure,
            settings.game,
            first,
            opponent,
            options=options,
            num_games=settings.num_games,
            seed=settings.seed,
            pairs_at_once=10,
            control_variates=network,
            workspace=study.workspace.within(name),
        )
        row = study.workspace.part(name, inputs, measure)
        opponent_name = "the network" if opponent == network else f"the script, {opponent}"
        rows.append({**row, "search": called, "opponent": opponent_name})
    return rows


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings = study.settings
    methods = {search.method for search in settings.searches}
    return Report(
        "",
        [
            f"{settings.game} is `{PRESETS[settings.game].game}`, and the network "
            f"`{settings.network}`. Returns are in utility units, of pairs of games with both "
            "seats and the same luck, less the luck that the network's values tell. Moves searched "
            "are those of several actions that a search chose, of all such moves.",
            *(note for method, note in _NOTES.items() if method in methods),
        ],
        {
            "Matches": Table(
                rows,
                {
                    "search": "search",
                    "opponent": "opponent",
                    "games": "games",
                    "without_luck": "mean return (utility)",
                    "half_width_without_luck": "± (95 %)",
                    "share_searched": "share of moves searched",
                    "seconds_per_move": "seconds per move",
                    "slowest_move": "slowest move (s)",
                },
            )
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Judges that a search of all moves, in a second each, wins against the network."""
    [rows] = tables.values()
    parts = {row["search"]: _holds(row) for row in rows if row["opponent"] == "the network"}
    return Judgement(
        verdict(parts),
        "; ".join(f"{row['search']} against {row['opponent']} {_mean_text(row)}" for row in rows),
    )


def _holds(row: Mapping[str, Any]) -> bool | None:
    """Whether a search does what is claimed; None if one pair of games does not tell."""
    if row["share_searched"] != 1 or row["seconds_per_move"] > 1:
        return False
    half_width: float | None = row["half_width_without_luck"]
    return None if half_width is None else row["without_luck"] > half_width


def _mean_text(row: Mapping[str, Any]) -> str:
    mean, half_width = f"{row['without_luck']:.3f}", row["half_width_without_luck"]
    return f"{mean} (one pair)" if half_width is None else f"{mean} ± {half_width:.3f}"


MATCHES = Experiment(
    name="matches",
    title="Search on top of strong networks, against the network and a script",
    metric="mean return (utility)",
    claim=(
        "has no such experiment; held is that each search wins against the network that it is on "
        "top of, the interval being above 0, searches every move, and takes a second a move at "
        "most."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    num_threads=1,
)
ROWS = (
    Row(
        MATCHES,
        "particle_search/strong_goofspiel_13",
        Settings(
            "goofspiel_13_descending", "rnad:goofspiel_13_descending", "highest", num_games=1_000
        ),
        minutes=90,
    ),
    Row(
        MATCHES,
        "particle_search/strong_battleships_5x5",
        Settings("battleships_5x5", "rnad:battleships_5x5", "hunter", num_games=250),
        minutes=75,
    ),
    Row(
        MATCHES,
        "particle_search/strong_battleships_5x5/one_move",
        Settings(
            "battleships_5x5",
            "rnad:battleships_5x5",
            "hunter",
            _by_defaults(DepthLimit(moves=1), "one move"),
            num_games=250,
        ),
        minutes=90,
    ),
    # Particle SePoT was tried in 40 games with seed 1 and in 160 with seed 2: too few.
    Row(
        MATCHES,
        "particle_search/strong_goofspiel_13/one_round",
        Settings(
            "goofspiel_13_descending",
            "rnad:goofspiel_13_descending",
            "highest",
            _by_defaults(DepthLimit(rounds=1), "one round"),
            num_games=1_000,
            seed=3,
        ),
        minutes=180,
    ),
)
