"""Particle networks: milliseconds per evaluation, and seconds per move of the search with them.

An evaluation is of one public state with 1,000 infostates, by networks of the sizes in Šustr et al.
(2021), appendix F, whose layers are as wide as the game's features demand. "Bases known" is what an
iteration of CFR costs, because bases do not depend on ranges. There is no peer. Every figure is the
median over rounds. Moves are played with untrained networks, which take as long as trained ones, of
the paper's sizes and small ones.

  python experiments/benchmarks/particle.py --output=results/benchmarks
"""

import itertools
from typing import Any

import common
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.play.matches import play_match
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule, ParticleSizes

SIZES = {
    "the paper's": ParticleSizes(),
    "small": ParticleSizes(base=32, basis_width=0.1, regression_width=1.0),
}
LARGEST = common.GOOFSPIEL.format(13)
GAMES = {
    "python_leduc": "python_leduc",
    "goofspiel 5": common.GOOFSPIEL.format(5),
    "goofspiel 13": LARGEST,
}
RECALL = {"perfect recall": True, "imperfect recall": False}


def measure_evaluation(
    game_string: str, perfect_recall: bool, size: int, rounds: int, seconds: float
) -> dict[str, Any]:
    """Milliseconds to value a public state, from the features on and with bases known."""
    rules = pyspiel.load_game(game_string).rules
    features, state = InfostateFeatures(perfect_recall), rules.initial_state()
    num_features = features.infostates(rules, state, 0).shape[1]
    num_public = features.public(rules, state).shape[1]
    module = ParticleModule(ParticleSizes(), num_features, num_public)
    generator = torch.Generator().manual_seed(0)
    batch = ParticleBatch(
        torch.randint(0, 2, (size, num_features), generator=generator).float(),
        torch.arange(size)[None],
        torch.rand((1, size), generator=generator) / size,
        torch.randint(0, 2, (1, num_public), generator=generator).float(),
    )
    with torch.inference_mode():
        bases = module.change_basis(batch.features)[batch.infostate]
        belief = batch.belief[None]
        ways = {
            "ms": lambda: module(batch),
            "ms, bases known": lambda: module.values(bases, belief, batch.public),
        }
        found = [
            {n: 1e3 * common.seconds_per_call(common.repeat(f), seconds) for n, f in ways.items()}
            for _ in range(rounds)
        ]
    return {"how many": num_features, **common.medians(found)}


def measure(
    *,
    rounds: int = 5,
    seconds: float = 0.5,
    num_games: int = 2,
    budget: int = 1000,
    iterations: int = 100,
) -> Report:
    """Measures evaluations and moves.

    Args:
      rounds: per figure.
      seconds: at least, per figure and round.
      num_games: against a uniform player.
      budget: particles, and infostates.
      iterations: of CFR+ in a search.
    """
    evaluations, moves = [], []
    for (name, string), (recall, is_perfect) in itertools.product(GAMES.items(), RECALL.items()):
        found = measure_evaluation(string, is_perfect, budget, rounds, seconds)
        evaluations.append({"game": name, "features": recall, **found})
    game, limit = pyspiel.load_game(LARGEST), DepthLimit(rounds=1)
    roots = Particles.of_public_state(game.new_initial_state())
    uniform = openspiel_policy.UniformRandomPolicy(game)
    for (name, sizes), (recall, is_perfect) in itertools.product(SIZES.items(), RECALL.items()):
        network = ParticleNetwork(sizes, InfostateFeatures(is_perfect))
        network.initialize(sparse_trunk(roots, limit).leaves)
        policy = ParticlePolicy(game, network, limit, budget=budget, effort=Effort(iterations))
        times = play_match(game, policy, uniform, num_games, seed=0).times[0]
        row = {"seconds per move": times.seconds_per_move, "slowest": times.slowest}
        moves.append({"network": name, "features": recall, **row})
    return Report(
        "Particle networks",
        [
            f"Medians of {rounds} rounds. Moves are in `{LARGEST}`, by searches of one round below "
            f"{budget:,} particles, {iterations} iterations of CFR+; {num_games} games. The small "
            f"network: `{SIZES['small']}`.",
        ],
        {
            f"One public state with {budget:,} infostates": Table.of(evaluations),
            "Moves": Table.of(moves),
        },
    )


if __name__ == "__main__":
    common.run(measure)
