"""Particle networks: milliseconds per evaluation, and seconds per move of the search with them.

An evaluation is of one public state with 1,000 infostates, by networks of the sizes in Šustr et al.
(2021), appendix F, whose layers are as wide as the game's features demand. "Bases known" is what an
iteration of CFR costs, because bases do not depend on ranges. There is no peer. Every figure is the
median over rounds. Moves are played with untrained networks, which take as long as trained ones, of
the paper's sizes and small ones. Writes particle.json and particle.md to --output.

  python benchmarks/particle.py --output=results/benchmarks
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import common
import pyspiel
import torch
from absl import app, flags
from open_spiel.python import policy as openspiel_policy

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.play.matches import play_match
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule, ParticleSizes

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Rounds per figure.", lower_bound=1)
_SECONDS = flags.DEFINE_float("seconds", 0.5, "Least seconds per figure and round.")
_GAMES = flags.DEFINE_integer("num_games", 2, "Games against a uniform player.", lower_bound=2)
_BUDGET = flags.DEFINE_integer("budget", 1000, "Particles, and infostates.", lower_bound=2)
_ITERATIONS = flags.DEFINE_integer("iterations", 100, "Of CFR+ in a search.", lower_bound=1)
_THREADS = flags.DEFINE_integer("threads", 1, "Threads of torch.", lower_bound=1)

_GOOFSPIEL_13 = "python_goofspiel_ii(num_cards=13,points_order=descending)"
SIZES = {
    "the paper's": ParticleSizes(),
    "small": ParticleSizes(base=32, basis_width=0.1, regression_width=1.0),
}
GAMES = {
    "python_leduc": "python_leduc",
    "goofspiel 5": "python_goofspiel_ii(num_cards=5,points_order=descending)",
    "goofspiel 13": _GOOFSPIEL_13,
}


def measure_evaluation(game_string: str, perfect_recall: bool) -> dict[str, Any]:
    """Milliseconds to value a public state, from the features on and with bases known."""
    rules = pyspiel.load_game(game_string).rules
    features, state = InfostateFeatures(perfect_recall), rules.initial_state()
    num_features = features.infostates(rules, state, 0).shape[1]
    num_public = features.public(rules, state).shape[1]
    module = ParticleModule(ParticleSizes(), num_features, num_public)
    generator = torch.Generator().manual_seed(0)
    size = _BUDGET.value
    batch = ParticleBatch(
        torch.randint(0, 2, (size, num_features), generator=generator).float(),
        torch.arange(size)[None],
        torch.rand((1, size), generator=generator) / size,
        torch.randint(0, 2, (1, num_public), generator=generator).float(),
    )
    with torch.inference_mode():
        bases = module.change_basis(batch.features)[batch.infostate]
        belief = batch.belief[None]
        return {
            "game": game_string,
            "perfect_recall": perfect_recall,
            "num_features": num_features,
            "all": _milliseconds(lambda: module(batch)),
            "bases_known": _milliseconds(lambda: module.values(bases, belief, batch.public)),
        }


def measure_moves(sizes: ParticleSizes, perfect_recall: bool) -> dict[str, float]:
    """Seconds per move in the largest of the games."""
    game = pyspiel.load_game(_GOOFSPIEL_13)
    policy = ParticlePolicy(
        game,
        ParticleNetwork(sizes, InfostateFeatures(perfect_recall)),
        DepthLimit(rounds=1),
        budget=_BUDGET.value,
        effort=Effort(_ITERATIONS.value),
    )
    uniform = openspiel_policy.UniformRandomPolicy(game)
    time = play_match(game, policy, uniform, _GAMES.value, seed=0).times[0]
    return {"seconds_per_move": time.seconds_per_move, "slowest_move": time.slowest}


def _milliseconds(function: Callable[[], object]) -> float:
    run = common.repeat(function)
    rounds = [common.seconds_per_call(run, _SECONDS.value) for _ in range(_ROUNDS.value)]
    return 1e3 * statistics.median(rounds)


def _recall(perfect_recall: bool) -> str:
    return "perfect recall" if perfect_recall else "imperfect recall"


def report(results: dict[str, Any]) -> str:
    """The whole report in Markdown."""
    machine = reports.describe_machine(results["environment"], f"{results['threads']} threads used")
    lines = [
        "# Particle networks\n",
        reports.describe_run(results["environment"]),
        f"{machine}. Medians of {results['rounds']} rounds. Wall-clock of the whole run: "
        f"{results['seconds']:.0f} s.\n",
        f"One public state with {results['budget']:,} infostates:\n",
        "| game | features | how many | ms | ms, bases known |",
        "|---|---|---:|---:|---:|",
    ]
    for name, result in results["evaluations"]:
        lines.append(
            f"| {name} | {_recall(result['perfect_recall'])} | {result['num_features']} | "
            f"{result['all']:.2f} | {result['bases_known']:.2f} |"
        )
    lines += [
        f"\n`{_GOOFSPIEL_13}`, searches of one round below {results['budget']:,} particles, "
        f"{results['iterations']} iterations of CFR+; {results['num_games']} games:\n",
        "| network | features | seconds per move | slowest |",
        "|---|---|---:|---:|",
    ]
    for name, perfect_recall, result in results["moves"]:
        lines.append(
            f"| {name} | {_recall(perfect_recall)} | {result['seconds_per_move']:.2f} | "
            f"{result['slowest_move']:.2f} |"
        )
    lines.append(f"\nThe small network: `{SIZES['small']}`.")
    return "\n".join([*lines, ""])


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    begin = time.perf_counter()
    torch.set_num_threads(_THREADS.value)
    results: dict[str, Any] = {
        "environment": describe_environment(),
        "threads": _THREADS.value,
        "rounds": _ROUNDS.value,
        "budget": _BUDGET.value,
        "iterations": _ITERATIONS.value,
        "num_games": _GAMES.value,
        "evaluations": [
            (name, measure_evaluation(game, perfect_recall))
            for name, game in GAMES.items()
            for perfect_recall in (True, False)
        ],
        "moves": [
            (name, perfect_recall, measure_moves(sizes, perfect_recall))
            for name, sizes in SIZES.items()
            for perfect_recall in (True, False)
        ],
    }
    results["seconds"] = time.perf_counter() - begin
    common.publish(f"{_OUTPUT.value}/particle", results, report)


if __name__ == "__main__":
    app.run(main)
