"""Learners of small networks before their first step."""

from __future__ import annotations

from typing import Any

from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.ppo import PPOSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.config import CriticConfig
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.tree.load import turn_based_game

CRITIC = CriticConfig(hidden_sizes=(8, 8))
SOLVERS: dict[str, type[SelfPlayLearner]] = {"rnad": RNaDSolver, "mmd": MMDSolver, "ppo": PPOSolver}


def small_learner(
    kind: str,
    game: Any = "kuhn_poker",
    *,
    critic: CriticConfig | None = None,
    transformations: str = "pure",
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """A solver of `SOLVERS`, by default with layers of 8 units and 8 games a step.

    Args:
      kind: the solver's name.
      game: the game, its game string, or the compiled game.
      critic: how a critic beside it learns; None: no critic.
      transformations: the name of those that the critic values.
      options: arguments of the solver: device, CUDA graph.
      settings: those of its configuration.
    """
    options = options or {}
    if critic is not None:
        named = transformations_by_name(transformations, turn_based_game(game))
        options = {"critic": critic, "transformations": named, **options}
    settings = {"batch_size": 8, "hidden_sizes": (8, 8), **settings}
    return SOLVERS[kind](game, SOLVERS[kind].default_config(**settings), **options)


def small_critic(
    game: Any = "kuhn_poker", blueprint: Any = None, config: CriticConfig = CRITIC, **options: Any
) -> CriticLearner:
    """A critic of the pure transformations; without a blueprint, of uniform play in a table."""
    if blueprint is None:
        game = GameTree.from_game(game)
        blueprint = ArrayPolicy.uniform(game)
    pure = transformations_by_name("pure", turn_based_game(game))
    return CriticLearner(game, blueprint, pure, config, **{"batch_size": 8, **options})
