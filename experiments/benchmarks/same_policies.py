"""Whether all searches still play the same, to 1e-12, as in another checkout of this project.

  python experiments/benchmarks/same_policies.py --other=OTHER/.venv/bin/python

Solves leduc_poker and Goofspiel with 4 cards by each search, compiled and along played games, here
and with the other checkout's Python, and compares the policies' arrays.
"""

import functools
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import common
import numpy as np
import pyspiel
import torch

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.algorithms.sepot import (
    ParticleConfig,
    SearchConfig,
    SePoTPlayPolicy,
    SePoTPolicy,
)
from spiel_dl.algorithms.ses import safe_exploitation_search
from spiel_dl.commands import script
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.opponent_models import cfr_average, random_policy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions import ExactValue, ValueFunction, ZeroValue

TOLERANCE = 1e-12
_GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"
GAMES = {"leduc_poker": "leduc_poker", "goofspiel_4": _GOOFSPIEL}
PLAYED = {"python_leduc": "python_leduc", "goofspiel_4": _GOOFSPIEL}
PLIES, MOVES, ROUNDS = DepthLimit(plies=2), DepthLimit(moves=2), DepthLimit(rounds=1)
Case = tuple[str, Callable[[], Any]]
"""A name, and what makes a policy."""


def _effort(iterations: int, values: type[ValueFunction] | None = None) -> Effort:
    # The gap is looked at where it is known, and nothing stops early by it.
    return Effort(iterations, tolerance=0.0 if values is None else None)


def _values_of(kind: type[ValueFunction] | None) -> ValueFunction | None:
    """A value function; the optimal one to a thousandth of the largest utility."""
    return ExactValue(1e-3) if kind is ExactValue else kind and kind()


def _resolving(tree: GameTree) -> Iterator[Case]:
    gadgets = [(each, "none") for each in ("resolving", "max_margin", "reach_max_margin", "unsafe")]
    gadgets += [("resolving", "prior"), ("max_margin", "ones"), ("reach_max_margin", "mixed")]
    for (gadget, refinement), (values, iterations) in itertools.product(
        gadgets, ((ZeroValue, 40), (ExactValue, 10))
    ):
        how = {"gadget": gadget, "refinement": refinement, "effort": Effort(iterations)}
        make = functools.partial(ContinualResolvingPolicy, tree, _values_of(values), MOVES, **how)
        yield f"resolving {gadget} {refinement} {values.__name__}", make


def _responses(tree: GameTree, player: int) -> Iterator[Case]:
    model, schemes = random_policy(tree, 0), ("sliding", "block")

    def of(kind: Callable[..., Any], *limits: DepthLimit, **how: Any) -> Callable[[], Any]:
        return functools.partial(kind, tree, player, model, *limits, **how)

    yield f"rnr {player}", of(RNRPolicy, p=0.5, effort=_effort(100))
    for alpha in (0.0, 0.5):
        yield f"ses {player} {alpha}", of(safe_exploitation_search, PLIES, alpha=alpha)
    for scheme in schemes:
        make = of(ABDPolicy, MOVES, p=0.5, scheme=scheme, effort=_effort(50))
        yield f"abd {player} {scheme}", make
    for scheme, values in itertools.product(schemes, (None, ZeroValue, ExactValue)):
        deep = values is None or tree.game.get_type().short_name == "leduc_poker"
        how = {"scheme": scheme, "value_function": _values_of(values)}
        effort = _effort(20 if values is ExactValue else 200, values)
        make = of(CDBRPolicy, PLIES if deep else MOVES, effort=effort, **how)
        yield f"cdbr {player} {scheme} {values and values.__name__}", make
    gadgets = {"joint": 30, "full": 30}
    gadgets |= {"resolving": 60, "max_margin": 60, "reach_max_margin": 60}
    steps = [("block", None), ("block", ZeroValue), ("sliding", None)]
    cases = [(g, *step, n) for (g, n), step in itertools.product(gadgets.items(), steps)]
    for gadget, scheme, values, iterations in [*cases, ("resolving", "block", ExactValue, 5)]:
        limit = PLIES if gadget in ("joint", "full") else MOVES
        how = {"scheme": scheme, "gadget": gadget, "value_function": _values_of(values)}
        make = of(CDRNRPolicy, limit, p=0.5, effort=_effort(iterations, values), **how)
        yield f"cdrnr {player} {gadget} {scheme} {values and values.__name__}", make


def _sepot_configs(**settings: Any) -> dict[str, SearchConfig]:
    """What of SePoT's search is varied, one thing or two at a time."""
    settings = {"effort": Effort(40), **settings}
    found = {
        f"{make.__name__} {choice}": make(leaf_choice=choice, **settings)
        for make in (SearchConfig.as_printed, SearchConfig)
        for choice in ("regret_matching", "best_response")
    }
    found |= {each: SearchConfig(gadget=each, **settings) for each in ("max_margin", "unsafe")}
    found["refined"] = SearchConfig(refinement="mixed", **settings)
    found["tolerance"] = SearchConfig(**{**settings, "effort": Effort(60, tolerance=0.0)})
    found["first_level"] = SearchConfig(first_level=1, **settings)
    return found


def _sepot(tree: GameTree) -> Iterator[Case]:
    blueprint = cfr_average(tree, 5)
    transformations = transformations_by_name("paper", tree.game)
    critic = ExactCritic(tree, blueprint.strategies, transformations)
    configs = _sepot_configs()
    configs["bound"] = SearchConfig(effort=Effort(40), max_histories=300)
    for name, config in configs.items():
        make = functools.partial(SePoTPolicy, tree, blueprint, critic, MOVES, config=config)
        yield f"sepot {name}", make


class _Counting(Critic):
    """Values by counting, different for all histories."""

    def values(self, tree: Any, histories: np.ndarray, player: int) -> np.ndarray:
        """A wave."""
        numbers = np.asarray(histories, np.float64)[:, None] + np.arange(4)
        return np.sin(numbers) * (1 if player == 0 else -1)


def _act(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """A policy of both players that is different in all infosets."""
    weights = torch.sin(torch.arange(observation.shape[-1] * legal.shape[-1]).double())
    logits = observation.double() @ weights.view(observation.shape[-1], -1)
    return torch.softmax(torch.where(legal > 0, logits, -torch.inf), dim=-1)


def _played(game: pyspiel.Game) -> Iterator[Case]:
    critic, few = _Counting(), Effort(40)
    for name, config in _sepot_configs(max_histories=25_000).items():
        make = functools.partial(SePoTPlayPolicy, game, _act, critic, MOVES, config=config)
        yield f"played sepot {name}", make
    for gadget in ("unsafe", "resolving", "max_margin"):
        how = {"budget": 40, "gadget": gadget, "effort": Effort(30)}
        make = functools.partial(ParticlePolicy, game, ZeroValue(), MOVES, **how)
        yield f"played particle {gadget}", make
    samples = {"all": {"budget": 500}, "some": {"budget": 20}}
    samples["drawn"] = {"budget": 20, "max_listed": 0}
    cases = [
        (f"{kind} {name} {gadget}", {"order": order, **sample}, {"gadget": gadget})
        for (kind, order), (name, sample), gadget in itertools.product(
            {"particle sepot": None, "knowledge limited": 1}.items(),
            samples.items(),
            ("resolving", "unsafe"),
        )
    ]
    for name, particles, how in [
        *cases,
        ("knowledge limited order 2", {"order": 2, "budget": 40}, {}),
    ]:
        below = {
            "config": SearchConfig(effort=few, **how),
            "particles": ParticleConfig(**particles),
        }
        yield (
            f"played {name}",
            functools.partial(SePoTPlayPolicy, game, _act, critic, ROUNDS, **below),
        )
    mirror_descent = MirrorDescentConfig(temperature=0.1, num_rollouts=100)
    yield (
        "played mirror descent",
        functools.partial(MirrorDescentPolicy, game, _act, mirror_descent),
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


def write(path: str, only: str = "") -> None:
    """Writes the arrays of all cases whose names contain `only`."""
    arrays: dict[str, np.ndarray] = {}
    for short, string in GAMES.items():
        tree = GameTree.from_game(string)
        responses = (*_responses(tree, 0), *_responses(tree, 1))
        for name, make in (*_resolving(tree), *responses, *_sepot(tree)):
            if only in f"{short} {name}":
                policy = make()
                strategies = getattr(policy, "to_array_policy", lambda p=policy: p)().strategies
                arrays |= {f"{short} {name} {player}": strategies[player] for player in (0, 1)}
    for short, string in PLAYED.items():
        game = pyspiel.load_game(string)
        for name, make in _played(game):
            if only in f"{short} {name}":
                arrays[f"{short} {name}"] = _along(make(), game)
    np.savez(path, **arrays)


def compare(first: str, second: str) -> float:
    """The largest distance of the arrays in two files; says where it is above the tolerance."""
    here, there = np.load(first), np.load(second)
    largest = 0.0
    for name in here.files:
        distance = float(np.abs(here[name] - there[name]).max())
        largest = max(largest, distance)
        if distance > TOLERANCE:
            print(f"differs by at most {distance:.1e}: {name}")
    print(f"{len(here.files)} arrays differ by at most {largest:.1e}")
    return largest


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
        sys.exit(compare(*files) > TOLERANCE)


if __name__ == "__main__":
    script.run(main)
