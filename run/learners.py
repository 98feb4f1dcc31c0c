"""The learners of `run/train.py`: their flags and constructors.

Names, types, defaults and texts are those of the learners' configurations. A preset's settings
replace defaults; flags that were given have precedence.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from absl import flags

from spiel_dl.commands import config_flags, script
from spiel_dl.learning.config import CriticConfig, LearnerConfig, MMDConfig, PPOConfig, RNaDConfig
from spiel_dl.play import presets, zoo
from spiel_dl.tree.depth_limit import default_depth_limit
from spiel_dl.tree.load import turn_based_game

if TYPE_CHECKING:
    from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
    from spiel_dl.learning.batch_learner import BatchLearner

# The flags belong to the script.
flags.disclaim_key_flags()


class NewLearner(NamedTuple):
    """A learner, and what identifies its run besides its settings."""

    learner: BatchLearner | ParticleSelfPlay
    identity: dict[str, Any]


class LearnerFlags(NamedTuple):
    """The flags of a learner.

    Attributes:
      build: makes the learner from the parsed flags; takes the values of the run's flags.
      games: flags that determine the game, exactly one of which must be given.
      defaults: of the flags of the run, if they differ from those of `train.train`.
    """

    build: Callable[[Mapping[str, Any]], NewLearner]
    games: tuple[str, ...] = ("game", "preset")
    defaults: Mapping[str, Any] = {}


def _self_play(name: str, config_class: type[LearnerConfig]) -> LearnerFlags:
    """R-NaD, MMD or PPO; with policy transformations, a critic is trained, too."""
    game_flags, preset = _game_flags(name)
    learner_flags = config_flags.define(config_class, names={"hidden_sizes": "hidden_size"})
    options = config_flags.define(_options)
    critic_flags = _critic_flags()

    def build(run: Mapping[str, Any]) -> NewLearner:
        from spiel_dl.algorithms.mmd import MMDSolver  # Imports torch, which --help does not need.
        from spiel_dl.algorithms.ppo import PPOSolver
        from spiel_dl.algorithms.rnad import RNaDSolver
        from spiel_dl.learning.transformations import transformations_by_name

        solver = {each.name: each for each in (RNaDSolver, MMDSolver, PPOSolver)}[name]
        game = turn_based_game(game_flags.build())
        config = learner_flags.build_over(preset())
        cuda_graph, transformations = options.build()
        settings: dict[str, Any] = {"device": run["device"], "cuda_graph": cuda_graph}
        if transformations is None:
            reason = "used with --transformations only, which train a critic"
            critic_flags.refuse(reason, but=["seed"])
            return NewLearner(solver(game, config, **settings), {})
        critic = critic_flags.build()
        settings["transformations"] = transformations_by_name(transformations, game)
        learner = solver(game, config, critic=critic, **settings)
        return NewLearner(learner, {"critic": critic.to_json(), "transformations": transformations})

    return LearnerFlags(build)


def _critic() -> LearnerFlags:
    """A critic of an existing policy, which is not changed."""
    from spiel_dl.learning import checkpoints
    from spiel_dl.learning.critic_learner import CriticLearner
    from spiel_dl.learning.transformations import transformations_by_name

    blueprint_flags = config_flags.define(_blueprint)
    critic_flags = _critic_flags()
    learner_flags = config_flags.define(
        CriticLearner, only=["batch_size", "exploration", "max_tree_histories", "cuda_graph"]
    )

    def build(run: Mapping[str, Any]) -> NewLearner:
        path, names = blueprint_flags.build()
        blueprint = checkpoints.load_blueprint(path, device=run["device"])
        learner = learner_flags.build(
            blueprint.game,
            blueprint,
            transformations_by_name(names, blueprint.game),
            critic_flags.build(),
            device=run["device"],
        )
        return NewLearner(learner, {"blueprint": str(Path(path)), "transformations": names})

    return LearnerFlags(build, games=("blueprint",))


def _particle() -> LearnerFlags:
    """A particle network, trained by self-play with search."""
    from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
    from spiel_dl.value_functions.particle import ParticleNetwork
    from spiel_dl.value_functions.particle_features import InfostateFeatures
    from spiel_dl.value_functions.particle_module import ParticleSizes

    game_flags, preset = _game_flags(ParticleSelfPlay.name)
    limit_flags = script.depth_limit("searches; default: one round, in Battleships one move")
    learner_flags = config_flags.define(
        ParticleSelfPlayConfig,
        defaults={"decay_steps": None},
        texts={"decay_steps": "steps over which the learning rate falls. Default: --num_steps."},
    )
    sizes = config_flags.define(ParticleSizes)
    network_flags = config_flags.define(
        ParticleNetwork, only=["conditional"], defaults={"conditional": True}
    )
    features = config_flags.define(InfostateFeatures, defaults={"positions": True})

    def build(run: Mapping[str, Any]) -> NewLearner:
        game = turn_based_game(game_flags.build())
        limit = limit_flags.build() if limit_flags.given else default_depth_limit(game)
        config = learner_flags.build_over({"decay_steps": run["num_steps"], **preset()})
        network = network_flags.build(
            sizes.build(), features.build(), seed=config.seed, device=run["device"]
        )
        learner = ParticleSelfPlay(game, network, limit, config)
        return NewLearner(learner, {"depth_limit": str(limit)})

    return LearnerFlags(build, defaults={"num_steps": 1000, "steps_per_evaluation": 50})


LEARNERS: dict[str, Callable[[], LearnerFlags]] = {
    **{
        name: functools.partial(_self_play, name, config_class)
        for name, config_class in (("rnad", RNaDConfig), ("mmd", MMDConfig), ("ppo", PPOConfig))
    },
    "critic": _critic,
    "particle": _particle,
}
"""Functions that define the flags of a learner, by the name of its algorithm."""


def _game_flags(algorithm: str) -> tuple[config_flags.Flags[str], Callable[[], dict[str, Any]]]:
    """The flags of the game, and a function that returns its preset's settings of an algorithm."""
    game = config_flags.define(_game, choices={"preset": presets.PRESETS})

    def preset() -> dict[str, Any]:
        chosen = presets.PRESETS.get(game.values["preset"])
        return chosen.of(algorithm) if chosen else {}

    return game, preset


def _game(*, game: str | None = None, preset: str | None = None) -> str:
    """The game string of the flags.

    Args:
      game: OpenSpiel game string, with parameters.
      preset: a game by name, with settings for it.
    """
    return presets.PRESETS[preset].game if preset else game or ""


def _critic_flags() -> config_flags.Flags[CriticConfig]:
    names = {"hidden_sizes": "critic_hidden_size", "seed": "seed"}
    return config_flags.define(CriticConfig, prefix="critic_", names=names)


def _options(
    *, cuda_graph: bool = False, transformations: str | None = None
) -> tuple[bool, str | None]:
    """Whether to use a CUDA graph, and the transformations of a critic that is trained, too.

    Args:
      cuda_graph: do a step as one CUDA graph, see `StepGraph`; on a CUDA device only.
      transformations: train a critic, too: paper (22), pure (in Leduc), or your own.

    Raises:
      ValueError: if there are none of this name.
    """
    if transformations is not None:
        from spiel_dl.learning.transformations import check_name

        check_name(transformations)  # At build time, after --import has registered others.
    return cuda_graph, transformations


def _blueprint(*, blueprint: str | None = None, transformations: str = "paper") -> tuple[str, str]:
    """The checkpoint of the policy to train a critic for, and the transformations.

    Args:
      blueprint: checkpoint of the policy, its run directory, or a model of the zoo.
      transformations: what opponents may do: the paper's 22 (paper), the pure actions (pure), as
        in Leduc, or your own by name.

    Raises:
      ValueError: if there are no transformations of this name.
    """
    from spiel_dl.learning.transformations import check_name

    check_name(transformations)
    return zoo.file_of(blueprint or "", "rnad"), transformations
