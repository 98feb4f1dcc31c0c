"""SePoT's search beside its authors' own, infoset by infoset.

  git clone --branch sepot https://github.com/holeto/open_spiel_aic ../open_spiel_aic
  python experiments/referees/sepot_search.py --program=../open_spiel_aic --packages=PEERS

Theirs is `SePoTCFR` of `open_spiel/python/algorithms/sepot/cfr_sepot.py`; it needs jax and chex,
which may lie in a folder of their own (PEERS). It gets the root histories of one of our searches,
both reaches, given cfvs and the critic's values; the searching player's strategies are compared.

The opponent takes its best response at the leaves anew in every iteration (equation 3). Their later
way, regret matching there, is not compared: it keeps negative regrets, where ours are clipped as
everywhere, and it takes a game that ends exactly at the depth limit for a draw.
"""

import importlib.util
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import common

from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import (
    IDENTITY,
    PolicyTransformations,
    transformations_by_name,
)
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.search.spec import Solution
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.game_tree import GameTree

_MODULES = {
    "open_spiel.python.jax.cfr.jax_cfr": "open_spiel/python/jax/cfr/jax_cfr.py",
    "their_cfr_sepot": "open_spiel/python/algorithms/sepot/cfr_sepot.py",
}
_SAME = 1e-6


def measure(
    *,
    program: str,
    packages: str = "",
    game: str = "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    blueprint_seed: int = 0,
    moves: int = 2,
    iterations: int = 100,
) -> Report:
    """Compares all searches that begin at a move of the searching player: player 0, in Goofspiel.

    Args:
      program: where the authors' repository lies.
      packages: a folder with jax and chex; "": they are installed.
      game: a game string.
      blueprint_seed: of the random blueprint of which the critic is exact.
      moves: how deep a search looks.
      iterations: of CFR+ in each search.
    """
    theirs = _load(Path(program), packages)
    tree = GameTree.from_game(load_turn_based(game))
    blueprint = random_policy(tree, blueprint_seed)
    config = SearchConfig.as_printed(
        leaf_choice="best_response", effort=Effort(iterations, variant=CFR_PLUS)
    )
    rows = []
    for name, transformations in (
        ("identity", PolicyTransformations([IDENTITY])),
        ("paper", transformations_by_name("paper", tree.game)),
    ):
        critic = ExactCritic(tree, blueprint, transformations)
        policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(moves=moves), config=config)
        solutions: list[Solution] = []
        policy.watch = solutions.append
        policy.to_array_policy()
        for solution in solutions:
            root, given = solution.root, None
            if not (tree.player[root.histories] == solution.player).all():
                continue  # Theirs searches where the player is to move.
            if not root.is_first:
                assert policy.spec.given_cfvs is not None
                given = policy.spec.given_cfvs(root, solution.values)
            strategies = _by_theirs(theirs, solution, given, critic, moves, iterations)
            labels = {"transformations": name, "gadget": given is not None}
            rows.append({**labels, **_compared(solution, strategies)})
    worst = {
        name: max(row["largest difference"] for row in rows if row["transformations"] == name)
        for name in ("identity", "paper")
    }
    same = max(worst.values()) <= _SAME
    return Report(
        "SePoT's search beside its authors' own",
        [
            f"`{tree.game}`, a random blueprint of seed {blueprint_seed} with exact critics: of "
            "the identity alone, and of the paper's transformations. Their values are rounded to "
            "float32, as our searches keep them: what is tied in one program is then tied in the "
            f"other. Searches look {moves} moves ahead, {iterations} iterations of alternating "
            "CFR+ with linear averaging, the resolving gadget with the identity's cfvs, the "
            "opponent's best transformation in each of its leaf infosets in every iteration.",
        ],
        {"Searches": Table.of(rows)},
        headline="largest difference of a probability: "
        + ", ".join(f"{value:.2g} with {name}" for name, value in worst.items())
        + f", in {len(rows)} searches",
        verdict=f"{'the same' if same else 'not the same'} to {_SAME:g}",
    )


def _load(program: Path, packages: str) -> Any:
    """Their module, from their files; the packages that it needs come after our own."""
    if packages:
        sys.path.append(packages)
    import jax

    jax.config.update("jax_enable_x64", True)
    for name, path in _MODULES.items():
        spec = importlib.util.spec_from_file_location(name, program / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules["their_cfr_sepot"]


def _by_theirs(
    theirs: Any,
    solution: Solution,
    given_cfvs: np.ndarray | None,
    critic: ExactCritic,
    moves: int,
    iterations: int,
) -> Mapping[str, np.ndarray]:
    """The strategies of their search from the same root, by infoset strings."""
    root, tree, player = solution.root, solution.trunk.tree, solution.player
    histories = root.histories
    leaves = solution.trunk.leaves.histories
    sign = 1 if player == 0 else -1  # Theirs are player 0's.
    values = {
        tuple(tree.state(int(history)).history()): sign * row
        for history, row in zip(leaves, _as_kept(critic, tree, leaves, player), strict=True)
    }
    reach = root.at_histories(player)
    chance = tree.chance_reach[histories]
    infoset = root.trunk.extent.roots_at(root.opponent, histories)
    given = np.zeros(len(histories))
    if given_cfvs is not None:
        # Theirs are player 0's, and per unit of reach of an infoset.
        mass = np.bincount(infoset, reach * chance, minlength=len(given_cfvs))
        given = (
            -sign * np.divide(given_cfvs, mass, out=np.zeros_like(mass), where=mass > 0)[infoset]
        )
    rnad = types.SimpleNamespace(
        _game=tree.game,
        config=types.SimpleNamespace(num_transformations=critic.strategies[0].shape[0] - 1),
        get_multi_valued_states=lambda state, _player: values[tuple(state.history())],
    )
    search = theirs.SePoTCFR(
        types.SimpleNamespace(rnad=rnad),
        [tree.state(int(history)) for history in histories],
        given.tolist(),
        reach.tolist(),
        chance.tolist(),
        player,
        moves,
        given_cfvs is not None,
    )
    regrets, averages = search.regrets, search.averages
    for iteration in range(1, iterations + 1):
        for updated in (0, 1):
            regrets, averages = search.jit_step(regrets, averages, iteration, updated)
    search.averages = averages
    strategies: Mapping[str, np.ndarray] = search.average_policy_dict(player)
    return strategies


def _as_kept(critic: ExactCritic, tree: GameTree, histories: np.ndarray, player: int) -> np.ndarray:
    """The critic's values as our searches keep them, float32: float64 [N, K]."""
    return critic.values(tree, histories, player).astype(np.float32).astype(np.float64)


def _compared(solution: Solution, strategies: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The distance of their strategies from ours, in infosets that the player reaches."""
    root, trunk, player = solution.root, solution.trunk, solution.player
    tree, treeplex = trunk.tree, trunk.sequence_form.treeplexes[player]
    largest, where, count = 0.0, "", 0
    reached = treeplex.sum_per_infoset(solution.plans[player]) > 0
    for number, name, actions in _infosets(trunk, player):
        if not reached[number] or len(actions) < 2:
            continue
        ours = solution.strategy[treeplex.sequences(number)]
        count += 1
        difference = float(np.abs(strategies[name][actions] - ours).max())
        if difference > largest:
            largest, where = difference, " ".join(name.split())
    return {
        "player": player,
        "starts at histories": len(root.histories),
        "infosets": count,
        "largest difference": largest,
        "where": where,
        "first move": int(tree.move_number[root.histories[0]]),
    }


def _infosets(trunk: Any, player: int) -> Iterator[tuple[int, str, list[int]]]:
    tree = trunk.tree
    for number, infoset in enumerate(trunk.infosets[player].tolist()):
        state = tree.state(int(tree.first_history[player][infoset]))
        yield number, state.information_state_string(player), state.legal_actions(player)


if __name__ == "__main__":
    common.run(measure)
