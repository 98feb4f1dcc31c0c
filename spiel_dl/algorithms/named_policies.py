"""Policies and searches by the names that people give them on the command line."""

from __future__ import annotations

from pathlib import Path

from spiel_dl.algorithms import cfr, opponent_models, sepot, trained_blueprint
from spiel_dl.algorithms.array_policy import AnyGame, ArrayPolicy, compile_game
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.dl_cfr_run import load_value_function
from spiel_dl.algorithms.solver_run import POLICY_FILE
from spiel_dl.solvers.restricted_game import Effort
from spiel_dl.tree.depth_limit import DepthLimit

POLICY_NAMES = (
    "uniform, equilibrium, cfr+:K, cfr:K, cfr_last:K, random:SEED, a run directory, a policy file, "
    "or a learner's checkpoint"
)
SEARCH_NAMES = (
    "resolving:VALUES (VALUES: exact, zero or a network's file), cdbr:MODEL (MODEL: a policy's "
    "name) or sepot:CHECKPOINT"
)


def load_policy(name: str, game: AnyGame) -> ArrayPolicy:
    """The policy of a name, in all infosets.

    Args:
      name: what `opponent_models.load_model` knows; "cfr+:K" for the average of K iterations of
        CFR+; a run directory with a policy; or a learner's checkpoint.
      game: the game, its game string, or the compiled game.

    Raises:
      ValueError: if the game cannot be compiled, or there is no policy of this name for it.
    """
    tree = compile_game(game)
    kind, _, number = name.partition(":")
    if kind == "cfr+":
        if not number.isdecimal() or int(number) < 1:
            raise ValueError(f"policy {name!r}: give a number of iterations, such as cfr+:1000")
        solver = cfr.CFRPlusSolver(tree)
        solver.run(int(number))
        return solver.average_policy()
    path = Path(name)
    if path.is_dir():
        path /= POLICY_FILE
        if not path.is_file():
            raise ValueError(
                f"{name} holds no {POLICY_FILE}; give the run directory of a solver that has "
                "finished, or a learner's checkpoint"
            )
    if trained_blueprint.is_checkpoint(path):
        return ArrayPolicy.from_policy(tree, trained_blueprint.load_blueprint(path, tree))
    try:
        return opponent_models.load_model(str(path) if path.is_file() else name, tree)
    except ValueError as error:
        if path.is_file() or kind in ("random", "cfr", "cfr_last"):
            raise
        raise ValueError(f"no policy {name!r}; give one of {POLICY_NAMES}") from error


def load_search(
    name: str, game: AnyGame, look_ahead: DepthLimit, *, player: int = 0, iterations: int = 1000
) -> ArrayPolicy:
    """What a search plays, searched in every public state of the game.

    Args:
      name: "resolving:VALUES", continual resolving by DL-CFR; "cdbr:MODEL", `player`'s response to
        a model, which plays the opponent; "sepot:CHECKPOINT", SePoT with the rest by default.
      game: the game, its game string, or the compiled game.
      look_ahead: the depth limit of each search, counted from where it starts.
      player: who responds in "cdbr".
      iterations: of CFR in each search; at most so many in "cdbr".

    Raises:
      ValueError: if the game cannot be compiled or cut, there is no such search, or what it needs
        is not for this game.
    """
    tree = compile_game(game)
    kind, _, source = name.partition(":")
    if iterations < 1:
        raise ValueError(f"iterations={iterations} must be at least 1")
    if kind == "resolving" and source:
        return load_resolving(source, tree, look_ahead, iterations).to_array_policy()
    if kind == "cdbr" and source:
        model = load_policy(source, tree)
        effort = Effort(iterations=iterations)
        return CDBRPolicy(tree, player, model, look_ahead, effort=effort).to_array_policy()
    if kind == "sepot" and source:
        config = sepot.SearchConfig(effort=sepot.SearchEffort(iterations=iterations))
        return sepot.load(source, look_ahead, config, tree).to_array_policy()
    raise ValueError(f"no search {name!r}; give one of {SEARCH_NAMES}")


def load_resolving(
    values: str, game: AnyGame, look_ahead: DepthLimit, iterations: int = 1000
) -> ContinualResolvingPolicy:
    """Continual resolving, which searches where it is asked.

    Args:
      values: "exact", "zero" or a network's file, as in `dl_cfr_run.load_value_function`.
      game: the game, its game string, or the compiled game.
      look_ahead: the depth limit of each search, counted from where it starts.
      iterations: of CFR in each search.

    Raises:
      ValueError: if the game cannot be compiled or cut, or there are no such values for it.
    """
    return ContinualResolvingPolicy(
        compile_game(game), load_value_function(values), look_ahead, iterations=iterations
    )
