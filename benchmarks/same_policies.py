"""Whether all searches still play the same, bit for bit, as in another checkout of this project.

  python benchmarks/same_policies.py --other=OTHER/.venv/bin/python

Solves leduc_poker and Goofspiel with 4 cards by each search, here and with the other checkout's
Python, and compares the policies' arrays. The other checkout may be one in which a search was a
class with a loop of its own; `_searches_of_the_first_house` speaks to that one.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from absl import app, flags

_OTHER = flags.DEFINE_string("other", None, "The Python of the other checkout's environment.")
_WRITE = flags.DEFINE_string("write", None, "Only write the arrays of this checkout to a file.")
_ONLY = flags.DEFINE_string("only", "", "Only cases whose name contains this.")

GAMES = {
    "leduc_poker": "leduc_poker",
    "goofspiel_4": "python_goofspiel_ii(num_cards=4,points_order=descending)",
}


def _searches() -> SimpleNamespace:
    """How this project's searches are made."""
    from spiel_dl.algorithms.cdbr import CDBRPolicy
    from spiel_dl.algorithms.cdrnr import CDRNRPolicy
    from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
    from spiel_dl.algorithms.particle_search import ParticlePolicy
    from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy, SePoTPolicy
    from spiel_dl.policies import opponent_models
    from spiel_dl.solvers.effort import Effort

    return SimpleNamespace(
        random_policy=opponent_models.random_policy,
        cfr_average=opponent_models.cfr_average,
        resolving=lambda tree, values, limit, gadget, iterations: ContinualResolvingPolicy(
            tree, values, limit, gadget=gadget, effort=Effort(iterations)
        ),
        cdbr=lambda tree, player, model, limit, scheme, values, iterations: CDBRPolicy(
            tree,
            player,
            model,
            limit,
            scheme=scheme,
            value_function=values,
            effort=Effort(iterations, tolerance=1e-6),
        ),
        cdrnr=lambda tree, player, model, p, limit, scheme, gadget, values, iterations: CDRNRPolicy(
            tree,
            player,
            model,
            limit,
            p=p,
            scheme=scheme,
            gadget=gadget,
            value_function=values,
            effort=Effort(iterations, tolerance=1e-6),
        ),
        sepot=lambda tree, blueprint, critic, limit, printed, iterations, choice, **settings: (
            SePoTPolicy(
                tree,
                blueprint,
                critic,
                limit,
                config=(SearchConfig.as_printed if printed else SearchConfig)(
                    effort=Effort(iterations), leaf_choice=choice, **settings
                ),
            )
        ),
        sepot_play=lambda game, acting, critic, limit, iterations: SePoTPlayPolicy(
            game,
            acting,
            critic,
            limit,
            config=SearchConfig.as_printed(max_histories=25_000, effort=Effort(iterations)),
        ),
        particle=lambda game, values, limit, iterations: ParticlePolicy(
            game, values, limit, budget=40, effort=Effort(iterations)
        ),
    )


def _searches_of_the_first_house() -> SimpleNamespace:
    """How the searches of the first house are made."""
    from spiel_dl.algorithms import opponent_models, sepot
    from spiel_dl.algorithms.cdbr import CDBRPolicy
    from spiel_dl.algorithms.cdrnr import CDRNRPolicy
    from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
    from spiel_dl.algorithms.particle_policy import ParticlePolicy
    from spiel_dl.algorithms.sepot_play import SePoTPlayPolicy
    from spiel_dl.solvers.restricted_game import Effort

    def make_sepot(tree, blueprint, critic, limit, printed, iterations, choice, **settings):  # type: ignore[no-untyped-def]
        effort = sepot.SearchEffort(iterations, leaf_choice=choice)
        kind = sepot.SearchConfig.as_printed if printed else sepot.SearchConfig
        config = kind(effort=effort, **settings)
        return sepot.SePoTPolicy(tree, blueprint, critic, limit, config)

    return SimpleNamespace(
        random_policy=opponent_models.random_policy,
        cfr_average=opponent_models.cfr_average,
        resolving=lambda tree, values, limit, gadget, iterations: ContinualResolvingPolicy(
            tree, values, limit, gadget, iterations
        ),
        cdbr=lambda tree, player, model, limit, scheme, values, iterations: CDBRPolicy(
            tree, player, model, limit, scheme, values, effort=Effort(iterations)
        ),
        cdrnr=lambda tree, player, model, p, limit, scheme, gadget, values, iterations: CDRNRPolicy(
            tree, player, model, p, limit, scheme, gadget, values, effort=Effort(iterations)
        ),
        sepot=make_sepot,
        sepot_play=lambda game, acting, critic, limit, iterations: SePoTPlayPolicy(
            game, acting, critic, limit, effort=sepot.SearchEffort(iterations)
        ),
        particle=lambda game, values, limit, iterations: ParticlePolicy(
            game, values, limit, budget=40, iterations=iterations
        ),
    )


def _cases(api: SimpleNamespace) -> dict[str, Callable[[], list[np.ndarray]]]:
    """By name, what computes a search's arrays."""
    import spiel_dl.games  # noqa: F401
    from spiel_dl.learning import transformations
    from spiel_dl.learning.critics import ExactCritic
    from spiel_dl.tree import DepthLimit, GameTree
    from spiel_dl.value_functions import ExactValue, ZeroValue

    cases: dict[str, Callable[[], list[np.ndarray]]] = {}
    limit, one = DepthLimit(plies=2), DepthLimit(moves=2)

    def add(name: str, make: Callable[[], Any]) -> None:
        cases[name] = lambda: list(make().to_array_policy().strategies)

    for short, game in GAMES.items():
        tree = GameTree.from_game(game)
        model = api.random_policy(tree, 0)
        for gadget in ("resolving", "max_margin", "reach_max_margin", "unsafe"):
            for values in (ZeroValue, ExactValue):
                iterations = 40 if values is ZeroValue else 10
                add(
                    f"{short} resolving {gadget} {values.__name__}",
                    lambda t=tree, g=gadget, v=values, i=iterations: api.resolving(
                        t, v(), one, g, i
                    ),
                )
        for player in (0, 1):
            for scheme in ("sliding", "block"):
                for values in (None, ZeroValue, ExactValue):
                    name = "none" if values is None else values.__name__
                    depth = limit if values is None or short == "leduc_poker" else one
                    add(
                        f"{short} cdbr {player} {scheme} {name}",
                        lambda t=tree, m=model, p=player, s=scheme, v=values, d=depth: api.cdbr(
                            t, p, m, d, s, v and v(), 20 if v is ExactValue else 200
                        ),
                    )
            for gadget in ("joint", "full", "resolving", "max_margin", "reach_max_margin"):
                for scheme, values in (("block", None), ("block", ZeroValue), ("sliding", None)):
                    name = "none" if values is None else values.__name__
                    deep = gadget in ("joint", "full")
                    add(
                        f"{short} cdrnr {player} {gadget} {scheme} {name}",
                        lambda t=tree, m=model, p=player, g=gadget, s=scheme, v=values, d=deep: (
                            api.cdrnr(
                                t, p, m, 0.5, limit if d else one, s, g, v and v(), 30 if d else 60
                            )
                        ),
                    )
            add(
                f"{short} cdrnr {player} resolving block ExactValue",
                lambda t=tree, m=model, p=player: api.cdrnr(
                    t, p, m, 0.5, one, "block", "resolving", ExactValue(), 5
                ),
            )
        blueprint = api.cfr_average(tree, 5)
        critic = ExactCritic(
            tree, blueprint.strategies, transformations.transformations_by_name("paper", tree.game)
        )
        for printed in (True, False):
            for choice in ("regret_matching", "best_response"):
                for scheme in ("sliding", "block"):
                    add(
                        f"{short} sepot {printed} {choice} {scheme}",
                        lambda t=tree, b=blueprint, c=critic, p=printed, k=choice, s=scheme: (
                            api.sepot(t, b, c, one, p, 40, k, scheme=s)
                        ),
                    )
        for name, settings in {
            "best_response": {"given_cfvs": "best_response"},
            "first_level": {"first_level": 1, "max_histories": 30},
        }.items():
            add(
                f"{short} sepot {name}",
                lambda t=tree, b=blueprint, c=critic, s=settings: api.sepot(
                    t, b, c, one, False, 40, "regret_matching", **s
                ),
            )
    cases |= _played_cases(api)
    return cases


def _played_cases(api: SimpleNamespace) -> dict[str, Callable[[], list[np.ndarray]]]:
    """Searches that are asked in states, along random games."""
    import pyspiel

    from spiel_dl.learning.critics import Critic
    from spiel_dl.tree import DepthLimit
    from spiel_dl.value_functions import ZeroValue

    class Counting(Critic):
        """Values by counting, different for all histories."""

        def values(self, tree: Any, histories: np.ndarray, player: int) -> np.ndarray:
            numbers = np.asarray(histories, np.float64)[:, None] + np.arange(4)
            return np.sin(numbers) * (1 if player == 0 else -1)

        def pair_values(self, tree: Any, histories: np.ndarray, player: int) -> np.ndarray:
            raise NotImplementedError

    def uniform(observation: Any, legal: Any) -> Any:
        return legal / legal.sum(dim=-1, keepdim=True)

    def along(policy: Any, game: Any) -> list[np.ndarray]:
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
        return [np.concatenate(rows)]

    cases: dict[str, Callable[[], list[np.ndarray]]] = {}
    played = {"python_leduc": "python_leduc", "goofspiel_4": GAMES["goofspiel_4"]}
    for short, string in played.items():
        game = pyspiel.load_game(string)
        cases[f"{short} played sepot"] = lambda g=game: along(
            api.sepot_play(g, uniform, Counting(), DepthLimit(moves=2), 40), g
        )
        cases[f"{short} played particle"] = lambda g=game: along(
            api.particle(g, ZeroValue(), DepthLimit(moves=2), 30), g
        )
    return cases


def _write(path: Path) -> None:
    is_first_house = importlib.util.find_spec("spiel_dl.policies") is None
    cases = _cases(_searches_of_the_first_house() if is_first_house else _searches())
    arrays = {}
    for name, compute in cases.items():
        if _ONLY.value in name:
            print(name, flush=True)
            for number, array in enumerate(compute()):
                arrays[f"{name} {number}"] = array
    np.savez(path, **arrays)


def main(argv: Sequence[str]) -> None:
    """Compares, and says what differs."""
    del argv
    if _WRITE.value:
        _write(Path(_WRITE.value))
        return
    if not _OTHER.value:
        raise app.UsageError("pass --other, the Python of another checkout's environment")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("here.npz", "there.npz")]
        for python, file in zip((sys.executable, _OTHER.value), files, strict=True):
            command = [python, __file__, f"--write={file}", f"--only={_ONLY.value}"]
            subprocess.run(command, check=True)
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
    app.run(main)
