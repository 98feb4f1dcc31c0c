"""Helpers for tests of responses: models, random games, and a step's definition as an LP."""

from __future__ import annotations

import random

import numpy as np
import pyspiel
import scipy.optimize
import scipy.sparse

from spiel_dl import ArrayPolicy, DepthLimit, GameTree
from spiel_dl.algorithms import exploitability
from spiel_dl.search.respond_to import ResponsePolicy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.sequence_form import Treeplex

GOOFSPIEL = (
    "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards={},"
    "points_order=descending,returns_type=point_difference))"
)
GOOFSPIEL_3 = "python_goofspiel_ii(num_cards=3,points_order=descending)"
LIARS_DICE = "liars_dice(numdice=1,dice_sides=4)"
GAMES = ["kuhn_poker", "leduc_poker", LIARS_DICE, GOOFSPIEL.format(4), "random 0", "random 1"]


def load(name: str) -> GameTree:
    """A game of OpenSpiel, or "random" and a seed."""
    if not name.startswith("random"):
        return GameTree.from_game(name)
    return GameTree.from_game(pyspiel.load_efg_game(random_efg(int(name.split()[1]))))


def random_efg(seed: int) -> str:
    """A game of chance and four moves, each seen by its player and by nobody else or by all."""
    generator = random.Random(seed)
    movers = [None, 0, 1, 0, 1]
    is_public = [generator.random() < 0.5 for _ in movers]
    chance_seen_by = generator.choice([(0,), (1,), (0, 1), ()])
    num_actions = [generator.choice([2, 3]) for _ in movers]
    infosets: tuple[dict[tuple, int], dict[tuple, int]] = ({}, {})
    lines, num_outcomes = ['EFG 2 R "random" { "P0" "P1" } ""\n'], 0

    def visit(history: tuple[int, ...]) -> None:
        nonlocal num_outcomes
        depth = len(history)
        if depth == len(movers):
            num_outcomes += 1
            utility = generator.randint(-9, 9)
            lines.append(f't "" {num_outcomes} "" {{ {utility}, {-utility} }}')
            return
        mover, names = movers[depth], [f"m{depth}a{a}" for a in range(num_actions[depth])]
        if mover is None:
            actions = " ".join(f'"{name}" {1 / len(names):.17g}' for name in names)
            lines.append(f'c "" 1 "" {{ {actions} }} 0')
        else:
            seen = [mover in chance_seen_by] + [
                is_public[d] or movers[d] == mover for d in range(1, depth)
            ]
            view = (depth, tuple(a if s else None for a, s in zip(history, seen, strict=True)))
            number = infosets[mover].setdefault(view, len(infosets[mover]) + 1)
            actions = " ".join(f'"{name}"' for name in names)
            lines.append(f'p "" {mover + 1} {number} "p{mover}i{number}" {{ {actions} }} 0')
        for action in range(num_actions[depth]):
            visit((*history, action))

    visit(())
    return "\n".join(lines) + "\n"


def random_model(tree: GameTree, seed: int) -> ArrayPolicy:
    """A policy with actions of very different probabilities."""
    generator = np.random.default_rng(seed)
    first, second = (
        behaviour_strategy(treeplex, generator.exponential(size=treeplex.num_sequences) ** 3)
        for treeplex in tree.treeplexes
    )
    return ArrayPolicy(tree, (first, second))


def named_model(tree: GameTree, probabilities: dict[str, float]) -> ArrayPolicy:
    """Player 1's model by the names of its actions; uniform where they are not named."""
    policy = ArrayPolicy.uniform(tree)
    for infoset in range(tree.num_infosets(1)):
        state = tree.state(int(tree.first_history[1][infoset]))
        first = tree.treeplexes[1].first_sequence[infoset]
        for i, action in enumerate(tree.legal_actions(1, infoset).tolist()):
            name = state.action_to_string(action)
            policy.strategies[1][first + i] = probabilities.get(
                name, policy.strategies[1][first + i]
            )
    return policy


def gain_and_exploitability(
    tree: GameTree, policy: ArrayPolicy, model: ArrayPolicy, player: int = 0
) -> tuple[float, float]:
    """Both in utility units, exactly."""
    gain = exploitability.gain(tree, policy, model, player)
    return gain, exploitability.player_exploitability(tree, policy, player)


def objective(
    tree: GameTree,
    response: ArrayPolicy | ResponsePolicy,
    model: ArrayPolicy,
    player: int,
    p: float,
) -> float:
    """The objective of a restricted Nash response; not negative if it is safe."""
    policy = response if isinstance(response, ArrayPolicy) else response.to_array_policy()
    gain, exploitable = gain_and_exploitability(tree, policy, model, player)
    return p * gain - (1 - p) * exploitable


def largest_step_regret(
    tree: GameTree,
    policy: ArrayPolicy,
    model: ArrayPolicy,
    player: int,
    p: float,
    depth_limit: DepthLimit,
    scheme: str,
) -> float:
    """The largest suboptimality of a step's decisions, given those of the steps above.

    By the definition: with the decisions above fixed, the optimum that a step could reach, less
    what can still be reached after the decisions that it kept, under the same horizon.
    """
    depths = depth_limit.depths(tree)
    own = depths[tree.first_history[player]]
    kept = 1 if scheme == "sliding" else depth_limit.value
    regrets = []
    for start in range(0, int(own.max()) + 1, kept):
        horizon = start + depth_limit.value
        before, after = (
            step_optimum(tree, policy, model, player, p, own < fixed_above, depths, horizon)
            for fixed_above in (start, start + kept)
        )
        regrets.append(before - after)
    return max(regrets)


def step_optimum(
    tree: GameTree,
    policy: ArrayPolicy,
    model: ArrayPolicy,
    player: int,
    p: float,
    fixed: np.ndarray,
    depths: np.ndarray,
    horizon: int,
) -> float:
    """The value of a step for its player, as the opponent's linear program.

    The opponent chooses a realization plan y that is at least p times the model's above the horizon
    so as to minimise the sum of what the player's fixed sequences earn and of the values v of its
    free infosets: v is at least what each action earns, with the values of what follows.
    """
    own, other = tree.treeplexes[player], tree.treeplexes[1 - player]
    payoffs = tree.sequence_form.payoffs_for(player)
    is_fixed = np.concatenate([[True], np.repeat(fixed, own.num_actions)])
    weight = np.where(is_fixed, realization_plan(own, policy.strategies[player]), 0.0)
    free = np.flatnonzero(~fixed)
    follows, values = _free_infosets(own, free)
    rows = np.flatnonzero(~is_fixed)
    above = depths[tree.first_history[1 - player]] < horizon
    modelled = np.concatenate([[True], np.repeat(above, other.num_actions)])
    least = np.where(modelled, p * realization_plan(other, model.strategies[1 - player]), 0.0)
    lower = np.concatenate([least, np.full(len(free), -np.inf)])
    constraints = other.constraints()
    result = scipy.optimize.linprog(
        c=np.concatenate([payoffs.T @ weight, follows.T @ weight]),
        A_ub=scipy.sparse.hstack([payoffs[rows], follows[rows] - values[rows]]).tocsc(),
        b_ub=np.zeros(len(rows)),
        A_eq=scipy.sparse.hstack(
            [constraints, scipy.sparse.csr_array((constraints.shape[0], len(free)))]
        ).tocsc(),
        b_eq=np.concatenate([[1.0], np.zeros(other.num_infosets)]),
        bounds=np.stack([lower, np.full(len(lower), np.inf)], axis=1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return float(result.fun)


def _free_infosets(
    treeplex: Treeplex, free: np.ndarray
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Which of the free infosets (int [F]) follow a sequence, and of which a sequence is.

    Returns:
      Two sparse matrices of zeros and ones, float64 [S, F].
    """
    shape, ones = (treeplex.num_sequences, len(free)), np.ones(len(free))
    columns = np.arange(len(free))
    follows = scipy.sparse.coo_array((ones, (treeplex.parent_sequence[free], columns)), shape)
    rows = treeplex.sequences_of(np.isin(np.arange(treeplex.num_infosets), free))
    infosets = np.repeat(columns, treeplex.num_actions[free])
    values = scipy.sparse.coo_array((np.ones(len(rows)), (rows, infosets)), shape)
    return follows.tocsr(), values.tocsr()
