"""Whether all searches still play the same, bit for bit, as in another checkout of this project.

  python experiments/benchmarks/same_policies.py --other=OTHER/.venv/bin/python

Solves leduc_poker and Goofspiel with 4 cards by each search, here and with the other checkout's
Python, and compares the policies' arrays.
"""

import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import common
import numpy as np
import pyspiel

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy, SePoTPolicy
from spiel_dl.commands import script
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.opponent_models import cfr_average, random_policy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions import ExactValue, ZeroValue

GAMES = {"leduc_poker": "leduc_poker", "goofspiel_4": common.GOOFSPIEL.format(4)}
PLAYED = {"python_leduc": "python_leduc", "goofspiel_4": common.GOOFSPIEL.format(4)}
PLIES, MOVES = DepthLimit(plies=2), DepthLimit(moves=2)
Case = tuple[str, Callable[[], Any]]
"""A name, and what makes a policy."""


def _effort(iterations: int) -> Effort:
    return Effort(iterations, tolerance=1e-6)


def _resolving(tree: GameTree) -> Iterator[Case]:
    gadgets = ("resolving", "max_margin", "reach_max_margin", "unsafe")
    for gadget, (values, iterations) in itertools.product(
        gadgets, ((ZeroValue, 40), (ExactValue, 10))
    ):
        yield (
            f"resolving {gadget} {values.__name__}",
            lambda values=values, gadget=gadget, iterations=iterations: ContinualResolvingPolicy(
                tree, values(), MOVES, gadget=gadget, effort=Effort(iterations)
            ),
        )


def _responses(tree: GameTree) -> Iterator[Case]:
    model = random_policy(tree, 0)
    for player in (0, 1):
        for scheme, values in itertools.product(
            ("sliding", "block"), (None, ZeroValue, ExactValue)
        ):
            deep = values is None or tree.game.get_type().short_name == "leduc_poker"
            yield (
                f"cdbr {player} {scheme} {values and values.__name__}",
                lambda player=player, scheme=scheme, values=values, deep=deep: CDBRPolicy(
                    tree,
                    player,
                    model,
                    PLIES if deep else MOVES,
                    scheme=scheme,
                    value_function=values and values(),
                    effort=_effort(20 if values is ExactValue else 200),
                ),
            )
        gadgets = {"joint": 30, "full": 30}
        gadgets |= {"resolving": 60, "max_margin": 60, "reach_max_margin": 60}
        steps = [("block", None), ("block", ZeroValue), ("sliding", None)]
        cases = [(g, *step, n) for (g, n), step in itertools.product(gadgets.items(), steps)]
        for gadget, scheme, values, iterations in [*cases, ("resolving", "block", ExactValue, 5)]:
            limit = PLIES if gadget in ("joint", "full") else MOVES
            yield (
                f"cdrnr {player} {gadget} {scheme} {values and values.__name__}",
                lambda player=player, g=gadget, s=scheme, v=values, n=iterations, limit=limit: (
                    CDRNRPolicy(
                        tree,
                        player,
                        model,
                        limit,
                        p=0.5,
                        scheme=s,
                        gadget=g,
                        value_function=v and v(),
                        effort=_effort(n),
                    )
                ),
            )


def _sepot(tree: GameTree) -> Iterator[Case]:
    blueprint = cfr_average(tree, 5)
    transformations = transformations_by_name("paper", tree.game)
    critic = ExactCritic(tree, blueprint.strategies, transformations)
    choices, schemes = ("regret_matching", "best_response"), ("sliding", "block")
    configs = {
        f"{make.__name__} {choice} {scheme}": make(
            effort=Effort(40), leaf_choice=choice, scheme=scheme
        )
        for make in (SearchConfig.as_printed, SearchConfig)
        for choice, scheme in itertools.product(choices, schemes)
    }
    configs["best_response"] = SearchConfig(effort=Effort(40), given_cfvs="best_response")
    configs["first_level"] = SearchConfig(effort=Effort(40), first_level=1, max_root_histories=30)
    for name, config in configs.items():
        yield (
            f"sepot {name}",
            lambda config=config: SePoTPolicy(tree, blueprint, critic, MOVES, config=config),
        )


class _Counting(Critic):
    """Values by counting, different for all histories."""

    def values(self, tree: Any, histories: np.ndarray, player: int) -> np.ndarray:
        """A wave."""
        numbers = np.asarray(histories, np.float64)[:, None] + np.arange(4)
        return np.sin(numbers) * (1 if player == 0 else -1)

    def pair_values(self, tree: Any, histories: np.ndarray, player: int) -> np.ndarray:
        """Not known: raises ValueError."""
        raise ValueError("these values are of no pairs; search with two_sided=False")


def _played(game: pyspiel.Game) -> Iterator[Case]:
    def uniform(observation: Any, legal: Any) -> Any:
        return legal / legal.sum(dim=-1, keepdim=True)

    config = SearchConfig(max_histories=25_000, effort=Effort(40))
    yield (
        "played sepot",
        lambda: SePoTPlayPolicy(game, uniform, _Counting(), MOVES, config=config),
    )
    yield (
        "played particle",
        lambda: ParticlePolicy(game, ZeroValue(), MOVES, budget=40, effort=Effort(30)),
    )


def _along(policy: Any, game: pyspiel.Game) -> np.ndarray:
    """A policy's answers along random games."""
    rows = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions = [action for action, _ in state.chance_outcomes()]
            else:
                actions = state.legal_actions()
                answer = policy.action_probabilities(state)
                rows.append(np.array([answer[action] for action in actions]))
            state.apply_action(int(generator.choice(actions)))
    return np.concatenate(rows)


def write(path: str, only: str) -> None:
    """Writes the arrays of all cases whose names contain `only`."""
    arrays: dict[str, np.ndarray] = {}
    for short, string in GAMES.items():
        tree = GameTree.from_game(string)
        for name, make in (*_resolving(tree), *_responses(tree), *_sepot(tree)):
            if only in f"{short} {name}":
                strategies = make().to_array_policy().strategies
                arrays |= {f"{short} {name} {player}": strategies[player] for player in (0, 1)}
    for short, string in PLAYED.items():
        game = pyspiel.load_game(string)
        for name, make in _played(game):
            if only in f"{short} {name}":
                arrays[f"{short} {name}"] = _along(make(), game)
    np.savez(path, **arrays)


def main(*, other: str, only: str = "") -> None:
    """Compares, and says what differs.

    Args:
      other: the Python of the other checkout's environment.
      only: only cases whose name contains this.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("here.npz", "there.npz")]
        for python, file in zip((sys.executable, other), files, strict=True):
            common.by_python(python, f"import same_policies as s; s.write({file!r}, {only!r})")
        here, there = (np.load(file) for file in files)
        different = 0
        for name in there.files:
            if not np.array_equal(here[name], there[name]):
                different += 1
                distance = np.abs(here[name] - there[name]).max()
                print(f"differs by at most {distance:.1e}: {name}")
        print(f"{len(there.files) - different} of {len(there.files)} arrays are the same bits")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    script.run(main)
