"""Policies and searches by the names that people give them on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from spiel_dl.algorithms import sepot
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.jobs.dl_cfr_run import load_value_function
from spiel_dl.jobs.solver_run import AVERAGE_POLICY_FILE
from spiel_dl.learning import checkpoints as trained_blueprint
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.opponent_models import MODEL_KINDS, MODEL_NAMES
from spiel_dl.search.sepot_config import DEFAULT_EFFORT, MAX_HISTORIES
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame, compile_game

POLICY_NAMES = f"{MODEL_NAMES}, a run directory, a policy file, or a learner's checkpoint"
SEARCH_NAMES = (
    "resolving:VALUES (VALUES: exact, zero or a network's file), cdbr:MODEL (MODEL: a policy's "
    "name), sepot:CHECKPOINT or sepot_continual:CHECKPOINT"
)
SEPOT: dict[str, Callable[..., SearchConfig]] = {
    "sepot": SearchConfig.as_printed,
    "sepot_continual": SearchConfig,
}
"""SePoT as printed, and with given cfvs and ranges of its own earlier searches."""


def load_policy(name: str, game: AnyGame) -> ArrayPolicy:
    """The policy of a name, in all infosets.

    Args:
      name: what `opponent_models.load_model` knows; a run directory, of a solver or of a learner;
        or a learner's checkpoint.
      game: the game, its game string, or the compiled game.

    Raises:
      ValueError: if the game cannot be compiled, or there is no policy of this name for it.
    """
    tree = compile_game(game)
    if trained_blueprint.is_checkpoint(name):
        return ArrayPolicy.from_policy(tree, trained_blueprint.load_blueprint(name, tree))
    path = Path(name)
    if path.is_dir():
        path /= AVERAGE_POLICY_FILE
        if not path.is_file():
            raise ValueError(
                f"{name} holds no {AVERAGE_POLICY_FILE}; give the run directory of a solver that "
                "has finished, or of a learner"
            )
    try:
        return opponent_models.load_model(str(path) if path.is_file() else name, tree)
    except ValueError as error:
        if path.is_file() or name.partition(":")[0] in MODEL_KINDS:
            raise
        raise ValueError(f"no policy {name!r}; give one of {POLICY_NAMES}") from error


def load_search(
    name: str,
    game: AnyGame,
    look_ahead: DepthLimit,
    *,
    player: int = 0,
    iterations: int = 1000,
    device: str = "cpu",
) -> ArrayPolicy:
    """What a search plays, searched in every public state of the game.

    Args:
      name: "resolving:VALUES", continual resolving by DL-CFR; "cdbr:MODEL", `player`'s response to
        a model, which plays the opponent; "sepot:CHECKPOINT", SePoT as printed; or
        "sepot_continual:CHECKPOINT", see `load_sepot`.
      game: the game, its game string, or the compiled game.
      look_ahead: the depth limit of each search, counted from where it starts.
      player: who responds in "cdbr".
      iterations: of CFR in each search; at most so many in "cdbr".
      device: where networks live.

    Raises:
      ValueError: if the game cannot be compiled or cut, there is no such search, or what it needs
        is not for this game.
    """
    tree = compile_game(game)
    kind, _, source = name.partition(":")
    if iterations < 1:
        raise ValueError(f"iterations={iterations} must be at least 1")
    if kind == "resolving" and source:
        return load_resolving(source, tree, look_ahead, iterations, device).to_array_policy()
    if kind == "cdbr" and source:
        model = load_policy(source, tree)
        effort = Effort(iterations, tolerance=1e-6)
        return CDBRPolicy(tree, player, model, look_ahead, effort=effort).to_array_policy()
    if kind in SEPOT and source:
        search = Effort(iterations)
        return load_sepot(name, tree, look_ahead, effort=search, device=device).to_array_policy()
    raise ValueError(f"no search {name!r}; give one of {SEARCH_NAMES}")


def load_resolving(
    values: str,
    game: AnyGame,
    look_ahead: DepthLimit,
    iterations: int = 1000,
    device: str = "cpu",
) -> ContinualResolvingPolicy:
    """Continual resolving, which searches where it is asked.

    Args:
      values: "exact", "zero" or a network's file, as in `dl_cfr_run.load_value_function`.
      game: the game, its game string, or the compiled game.
      look_ahead: the depth limit of each search, counted from where it starts.
      iterations: of CFR in each search.
      device: where a network computes.

    Raises:
      ValueError: if the game cannot be compiled or cut, or there are no such values for it.
    """
    function = load_value_function(values, device=device)
    return ContinualResolvingPolicy(
        compile_game(game), function, look_ahead, effort=Effort(iterations)
    )


def load_sepot(
    name: str,
    game: AnyGame,
    look_ahead: DepthLimit,
    *,
    max_histories: int = MAX_HISTORIES,
    effort: Effort | None = None,
    leaf_choice: str = "regret_matching",
    device: torch.device | str = "cpu",
) -> SePoTPolicy:
    """SePoT on a compiled game.

    Args:
      name: "sepot:CHECKPOINT", as printed: ranges of the blueprint, given cfvs of the critic; or
        "sepot_continual:CHECKPOINT", ranges and given cfvs of the searches before. A learner's run
        directory may stand for its checkpoint.
      game: the game, its game string, or the compiled game.
      look_ahead: how deep each search looks.
      max_histories: larger public states are left to the blueprint.
      effort: how to solve; None: the defaults.
      leaf_choice: as in SePoT's `SearchConfig`.
      device: where networks live.

    Raises:
      ValueError: if there is no such search, if the game cannot be compiled or taken apart so, or
        if there is no checkpoint with a critic for it.
    """
    kind, _, source = name.partition(":")
    if kind not in SEPOT:
        raise ValueError(f"no search {name!r}; give one of {SEARCH_NAMES}")
    if not trained_blueprint.is_checkpoint(source):
        raise ValueError(
            f"{source} is neither a learner's checkpoint nor a run directory with one; train one "
            "by run/train_sepot.py"
        )
    config = SEPOT[kind](
        max_histories=max_histories, leaf_choice=leaf_choice, effort=effort or DEFAULT_EFFORT
    )
    return sepot.load(source, look_ahead, config=config, game=compile_game(game), device=device)
