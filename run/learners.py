"""The learners of `run/train.py`: each defines its flags, and makes the learner that is asked for.

Names, types and defaults are those of the learners' configurations. What a preset says takes the
place of defaults; flags that were given win.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.algorithms.ppo import PPOSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.commands import config_flags, script
from spiel_dl.learning import checkpoints
from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.learning.transformations import check_name, transformations_by_name
from spiel_dl.play import presets, zoo
from spiel_dl.tree.depth_limit import default_depth_limit
from spiel_dl.tree.load import turn_based_game
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes

# What the papers fix, and no flag changes.
_FIXED_OF_ADAM = ("adam_beta1", "adam_beta2", "adam_epsilon", "gradient_clip")
_OF_TARGET = ("target_averaging", "target_share", "utility_unit", "history_trace_decay")
_OF_NEURD = ("neurd_clip", "neurd_threshold", "neurd_max_gain", "uniform_share")
_OF_CRITIC = ("target_share", "c_bar", "rho_bar", "bounded", "expected", "trace_decay")
_FIXED = (*_FIXED_OF_ADAM, *_OF_TARGET, *_OF_NEURD, "annealing_steps", "c_bar", "rho_bar")
_RATES = {
    "learning_rate": "Adam's, of the first step.",
    "final_learning_rate": "Adam's, when it has fallen. None: it does not fall.",
    "max_tree_histories": "larger games are not compiled, and nothing is measured exactly.",
    "history_values": "learn values of histories, too; if not said, in compiled games.",
}
_UNITS = "units of each hidden layer."


class Made(NamedTuple):
    """A learner, and what its run is identified by besides its settings."""

    learner: Learner | ParticleSelfPlay
    also: dict[str, Any]


class LearnerFlags(Protocol):
    """The flags of a learner.

    Attributes:
      games: flags of which exactly one is to be given: they say which game.
      defaults: of the flags of the run, where they are not those of `train.train`.
    """

    games: tuple[str, ...]
    defaults: Mapping[str, Any]

    def of_run(self, given: Collection[str]) -> dict[str, int]:
        """What the preset says of the run, but for what flags have given."""

    def build(self, run: Mapping[str, Any]) -> Made:
        """The learner that the parsed flags ask for.

        Args:
          run: the flags of the run.

        Raises:
          ValueError: as the learner and its configuration do.
        """


class SelfPlayFlags:
    """R-NaD, MMD or PPO; with policy transformations, a critic beside it."""

    games: tuple[str, ...] = ("game", "preset")
    defaults: Mapping[str, Any] = {}

    def __init__(self, solver: type[SelfPlayLearner]):
        """Defines the flags."""
        self._solver = solver
        self._game = _define_game()
        self._config: config_flags.Flags[LearnerConfig] = config_flags.define(
            solver.default_config,
            solver.__name__.removesuffix("Solver"),
            leave_out=_FIXED,
            names={"hidden_sizes": "hidden_size"},
            texts={"hidden_sizes": _UNITS, **_RATES},
        )
        shared = inspect.signature(SelfPlayLearner).parameters
        texts = {
            "cuda_graph": "do each learner step as one CUDA graph.",
        }
        self._own = config_flags.define(solver, leave_out=list(shared), texts=texts)
        self._transformations = config_flags.define(_transformations, "Critic")
        self._critic = _define_critic()

    def of_run(self, given: Collection[str]) -> dict[str, int]:
        """See `LearnerFlags`."""
        return _settings(self._game, self._solver.name, given)[1]

    def build(self, run: Mapping[str, Any]) -> Made:
        """See `LearnerFlags`."""
        game = turn_based_game(self._game.build())
        config = self._config.build_over(_settings(self._game, self._solver.name)[0])
        others: dict[str, Any] = {}
        also: dict[str, Any] = {}
        names = self._transformations.build()
        if names is None:
            self._critic.refuse(
                "used with --transformations only, which train a critic", but=["seed"]
            )
        else:
            critic = self._critic.build()
            others = {"critic": critic, "transformations": transformations_by_name(names, game)}
            also = {"critic": critic.to_json(), "transformations": names}
        learner = self._own.build(game, config, device=run["device"], **others)
        return Made(learner, also)


class CriticFlags:
    """A critic of a policy that is there already, and stays as it is."""

    games: tuple[str, ...] = ("blueprint",)
    defaults: Mapping[str, Any] = {}

    def __init__(self) -> None:
        """Defines the flags."""
        self._blueprint = config_flags.define(_blueprint, "Blueprint")
        self._config = _define_critic()
        self._games = config_flags.define(
            CriticLearner, "Games", only=["batch_size", "exploration", "max_tree_histories"]
        )

    def of_run(self, given: Collection[str]) -> dict[str, int]:
        """See `LearnerFlags`: a blueprint comes with no preset."""
        del given
        return {}

    def build(self, run: Mapping[str, Any]) -> Made:
        """See `LearnerFlags`."""
        path, names = self._blueprint.build()
        blueprint = checkpoints.load_blueprint(path, device=run["device"])
        learner = self._games.build(
            blueprint.game,
            blueprint,
            transformations_by_name(names, blueprint.game),
            self._config.build(),
            device=run["device"],
        )
        return Made(learner, {"blueprint": path, "transformations": names})


class ParticleFlags:
    """A particle network, by the search that uses it."""

    games: tuple[str, ...] = ("game", "preset")
    defaults: Mapping[str, Any] = {"num_steps": 1000, "steps_per_evaluation": 50}

    def __init__(self) -> None:
        """Defines the flags."""
        self._game = _define_game()
        self._limit = script.depth_limit("Depth limit of searches; default: one round")
        self._config = config_flags.define(
            ParticleSelfPlayConfig,
            "Self-play",
            defaults={"decay_steps": None},
            texts={**_RATES, "decay_steps": "steps over which it falls. Default: --num_steps."},
        )
        self._sizes = config_flags.define(ParticleSizes, "Network")
        self._kind = config_flags.define(
            ParticleNetwork,
            only=["conditional"],
            texts={"conditional": "values are those of infosets that are reached."},
        )
        self._features = config_flags.define(InfostateFeatures)

    def of_run(self, given: Collection[str]) -> dict[str, int]:
        """See `LearnerFlags`."""
        return _settings(self._game, ParticleSelfPlay.name, given)[1]

    def build(self, run: Mapping[str, Any]) -> Made:
        """See `LearnerFlags`."""
        game = turn_based_game(self._game.build())
        limit = self._limit.build() if self._limit.given else default_depth_limit(game)
        settings, _ = _settings(self._game, ParticleSelfPlay.name)
        config = self._config.build_over({"decay_steps": run["num_steps"], **settings})
        network = self._kind.build(
            self._sizes.build(), self._features.build(), seed=config.seed, device=run["device"]
        )
        learner = ParticleSelfPlay(game, network, limit, config)
        return Made(learner, {"depth_limit": str(limit)})


LEARNERS: dict[str, Callable[[], LearnerFlags]] = {
    **{
        solver.name: functools.partial(SelfPlayFlags, solver)
        for solver in (RNaDSolver, MMDSolver, PPOSolver)
    },
    CriticLearner.name: CriticFlags,
    ParticleSelfPlay.name: ParticleFlags,
}
"""What defines the flags of a learner, by the name of its algorithm."""


def _game(*, game: str | None = None, preset: str | None = None) -> str:
    """The game that is asked for.

    Args:
      game: OpenSpiel game string, with parameters.
      preset: a game by name, with settings for it.
    """
    return presets.PRESETS[preset].game if preset else game or ""


def _define_game() -> config_flags.Flags[str]:
    return config_flags.define(_game, "Game", choices={"preset": presets.PRESETS})


def _settings(
    game: config_flags.Flags[str], algorithm: str, given: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, int]]:
    """What the preset says of the learner, and of its run but for what flags have given."""
    preset = presets.PRESETS.get(game.values["preset"])
    settings = preset.of(algorithm) if preset else {}
    num_steps = settings.pop("num_steps", None)
    return settings, {} if num_steps is None or "num_steps" in given else {"num_steps": num_steps}


def _define_critic() -> config_flags.Flags[CriticConfig]:
    return config_flags.define(
        CriticConfig,
        leave_out=[*_FIXED_OF_ADAM, *_OF_CRITIC],
        prefix="critic_",
        names={"hidden_sizes": "critic_hidden_size", "seed": "seed"},
        texts={"hidden_sizes": _UNITS, **_RATES},
    )


def _transformations(*, transformations: str | None = None) -> str | None:
    """The policy transformations of a critic that is trained beside the policy.

    Args:
      transformations: train a critic, too: paper (22), pure (in Leduc), or your own.

    Raises:
      ValueError: if there are none of this name.
    """
    if transformations is not None:
        check_name(transformations)  # Here, as a person's own are known once modules are imported.
    return transformations


def _blueprint(*, blueprint: str | None = None, transformations: str = "paper") -> tuple[str, str]:
    """The checkpoint of the policy to train a critic for, and the transformations.

    Args:
      blueprint: checkpoint of the policy, its run directory, or a model of the zoo.
      transformations: what opponents may do: the paper's 22 (paper), the pure actions (pure), as
        in Leduc, or your own by name.

    Raises:
      ValueError: if there are no transformations of this name.
    """
    check_name(transformations)
    return zoo.file_of(blueprint or "", RNaDSolver.name), transformations
