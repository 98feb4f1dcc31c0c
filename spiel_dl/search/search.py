"""The one search: solves the game that a spec defines below a root.

    solution = search(root, spec, effort)

A search puts a gadget on top of the trunk, binds the opponent to its model with some probability
and the player to its earlier decisions, values the leaves, and runs CFR or a linear program.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers import depth_limited, gadgets
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.solvers.checks import check_values
from spiel_dl.solvers.depth_limited import Leaves
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.gadgets import Gadget
from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.solvers.regret_minimization import LeafCfvs, Pair
from spiel_dl.solvers.restricted_game import RestrictedGame, restrict, unrestricted
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.sequence_form import SequenceForm
from spiel_dl.value_functions.base import LeafValues, check_value_function, evaluate_checked
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves


def search(root: Root, spec: Spec, effort: Effort) -> Solution:
    """Solves the game below a root.

    Args:
      root: where the search starts.
      spec: the game to solve.
      effort: how long to iterate. The tolerance counts where the gap is known: at multi-valued
        leaves that keep regrets, and in responses to a model that have no leaves, or matrices at
        them. Elsewhere all iterations are done.

    Raises:
      ValueError: if the game goes on below the trunk and the spec has no values, if an array of the
        root does not fit its trunk, or values are not finite.
    """
    check_value_function(root.trunk, spec.values, argument="values")
    started = time.perf_counter()
    values = None
    if spec.values is not None and root.trunk.leaves.num_public_states:
        values = spec.values(root)
    given_cfvs = _given_cfvs(root, spec, values)
    valued = time.perf_counter()
    form = root.trunk.sequence_form
    if root.order == (1, 0):
        form = form.swapped()
    num_choices = 0
    if isinstance(values, np.ndarray):
        form, num_choices = _with_choices(form, root, values), values.shape[2]
    gadget = _with_gadget(form, root, spec, given_cfvs)
    game = _restricted_game(gadget, root, spec, num_choices)
    solution = _solve(game, gadget, root, spec, effort.in_unit(root.unit), values)
    seconds = {
        **root.seconds,
        "values": valued - started,
        "solution": time.perf_counter() - valued,
    }
    return dataclasses.replace(_in_trunk(solution, game, gadget, root, values), seconds=seconds)


def _given_cfvs(
    root: Root, spec: Spec, values: LeafValues | np.ndarray | None
) -> np.ndarray | None:
    if root.is_first or not spec.resolves:
        return None
    if root.given_cfvs is not None:
        return root.given_cfvs
    if spec.given_cfvs is None:
        raise ValueError(
            f"gadget={spec.gadget!r} needs to know what the opponent may have instead of entering; "
            "pass given_cfvs=, or gadget='unsafe'"
        )
    return spec.given_cfvs(root, values)


def _with_choices(form: SequenceForm, root: Root, utilities: np.ndarray) -> SequenceForm:
    """Adds both players' choice of a continuation in each leaf infoset below a trunk's game."""
    first, second = root.order
    leaves = root.trunk.leaves
    return with_leaf_choices(
        form,
        (leaves.sequences[first], leaves.sequences[second]),
        leaves.infoset_of_history[[first, second]],
        utilities if first == root.player else -utilities.transpose(0, 2, 1),
        leaves.chance_reach,
    )


def _with_gadget(
    form: SequenceForm, root: Root, spec: Spec, given_cfvs: np.ndarray | None
) -> Gadget:
    """Puts the gadget on top of a trunk's game whose players are in the root's order."""
    name, opponent_range, refinement = spec.gadget, root.prior, spec.refinement
    if given_cfvs is None:
        name, opponent_range, refinement = "unsafe", root.ranges[root.opponent], "none"
    own_range, player = root.ranges[root.player], root.order.index(root.player)
    roots = gadgets.Roots(own_range, opponent_range, given_cfvs, root.gifts, root.public_states)
    return gadgets.add_gadget(name, form, player, roots, refinement)


def _restricted_game(gadget: Gadget, root: Root, spec: Spec, num_choices: int) -> RestrictedGame:
    """A gadget's game in which the opponent is bound to its model and the player to decisions."""
    form, ranges = gadget.sequence_form, gadget.root_ranges
    if root.model_plan is None:
        game = unrestricted(form, ranges, gadget.inflows)
    else:
        assert spec.p is not None
        assert root.modelled is not None
        plan, modelled = root.model_plan, root.modelled
        if num_choices:
            # The model's continuation is the first choice.
            choices = np.zeros((len(root.trunk.leaves.sequences[root.opponent]), num_choices))
            choices[:, 0] = plan[root.trunk.leaves.sequences[root.opponent]]
            plan = np.concatenate([plan, choices.reshape(-1)])
            modelled = np.concatenate([modelled, np.ones(len(choices), np.bool_)])
        treeplex = form.treeplexes[1]
        full_plan = np.zeros(treeplex.num_sequences)
        full_plan[gadget.new_sequences[1]] = plan
        is_modelled = np.ones(treeplex.num_infosets, bool)
        # A gadget's infosets come first, and count as modelled.
        is_modelled[len(is_modelled) - len(modelled) :] = modelled
        game = restrict(form, ranges, full_plan, is_modelled, spec.p, inflows=gadget.inflows)
    if root.bound is None:
        return game
    # The player's own infosets come first, before its choices at leaves.
    infosets, strategy = np.zeros_like(game.fixed.infosets), game.fixed.strategy.copy()
    infosets[: len(root.bound.infosets)] = root.bound.infosets
    strategy[: len(root.bound.strategy)] = root.bound.strategy
    return game._replace(fixed=FixedStrategy(infosets, strategy))


def _solve(
    game: RestrictedGame,
    gadget: Gadget,
    root: Root,
    spec: Spec,
    effort: Effort,
    values: LeafValues | np.ndarray | None,
) -> depth_limited.Solution:
    if spec.exact:
        return depth_limited.solve_by_lp(game)
    if not isinstance(values, LeafValues):
        if root.model_plan is None:
            effort = dataclasses.replace(effort, tolerance=None)
        return depth_limited.solve(game, effort)
    first, second = (
        new[root.trunk.leaves.sequences[player]]
        for new, player in zip(gadget.new_sequences, root.order, strict=True)
    )
    if isinstance(values, MultiValuedLeaves):
        leaves = _multi_valued_leaves((first, second), values, root.order, spec.leaf_choice, effort)
    else:
        leaves = Leaves((first, second), _reordered(values, root.order))
    return depth_limited.solve_with_leaves(game, leaves, effort, record=spec.averages)


def _reordered(values: LeafValues, order: tuple[int, int]) -> LeafCfvs:
    """Values of leaves for a solver that has the players in a root's order."""

    def valuer(players: tuple[int, ...], ranges: Pair) -> Sequence[np.ndarray]:
        range_0, range_1 = ranges[order[0]], ranges[order[1]]
        if len(players) == 1:
            return evaluate_checked(values, (order[players[0]],), range_0, range_1)
        both = evaluate_checked(values, (0, 1), range_0, range_1)
        return [both[order[player]] for player in players]

    return valuer


def _multi_valued_leaves(
    sequences: Pair,
    values: MultiValuedLeaves,
    order: tuple[int, int],
    leaf_choice: str,
    effort: Effort,
) -> Leaves:
    """Leaves at which the opponent chooses its continuation."""
    if leaf_choice == "best_response":
        return Leaves(sequences, _reordered(values, order))
    player = order[values.player]
    choices = values.choices(effort.variant)

    def valuer(players: tuple[int, ...], ranges: Pair) -> Sequence[np.ndarray]:
        side = int(players[0] != player)
        return [choices.update(side, ranges if player == 0 else ranges[::-1])]

    def best_values(p: int, ranges: Pair) -> np.ndarray:
        return choices.best_values(int(p != player), ranges[1 - p])

    return Leaves(sequences, valuer, best_values)


def _in_trunk(
    solution: depth_limited.Solution,
    game: RestrictedGame,
    gadget: Gadget,
    root: Root,
    values: LeafValues | np.ndarray | None,
) -> Solution:
    """A solver's solution in the trunk's own sequences and order of players."""
    plans = list(solution.plans)
    if root.model_plan is not None:
        # The strategy need not be that of the average plan.
        treeplex = game.sequence_form.treeplexes[0]
        plans[0] = realization_plan(treeplex, solution.strategy, game.ranges[0], game.inflows[0])
        plans[1] = plans[1] + game.model_part
    treeplexes, by_player = root.trunk.sequence_form.treeplexes, root.order.index
    first, second = (
        # Choices at leaves come last.
        plans[by_player(p)][gadget.new_sequences[by_player(p)]][: treeplexes[p].num_sequences]
        for p in (0, 1)
    )
    own = treeplexes[root.player]
    if root.model_plan is not None:
        strategy = solution.strategy[: own.num_sequences]
    else:
        strategy = behaviour_strategy(own, (first, second)[root.player])
    cfvs = None
    if len(solution.cfvs[0]):
        cfvs = (solution.cfvs[by_player(0)], solution.cfvs[by_player(1)])
        for each in cfvs:
            check_values(each)
    leaf_values = values if isinstance(values, LeafValues) else None
    return Solution(root, (first, second), strategy, solution.gap, cfvs, leaf_values)
