"""Makes Figures 2 to 4 and Table 1 of the particle paper (Šustr et al. 2021), and plays by it.

Examples:
  python run/reproduce_particle.py --experiment=linear_targets --run_dir=runs/particle/linear
  python run/reproduce_particle.py --experiment=public_states --run_dir=runs/particle/sizes
  python run/reproduce_particle.py --experiment=architectures --run_dir=runs/particle/goofspiel \\
      --domain=goofspiel
  python run/reproduce_particle.py --experiment=on_policy --run_dir=runs/particle/goofspiel \\
      --domain=goofspiel --num_seeds=3 --on_policy_rounds=6 --on_policy_epochs=100,5,20,3
  python run/reproduce_particle.py --experiment=fractions --run_dir=runs/particle/fractions \\
      --game="python_goofspiel_ii(num_cards=5,points_order=descending)" --rounds=3 --samples=27000
  python run/reproduce_particle.py --experiment=self_play --run_dir=runs/particle/network \\
      --game="python_goofspiel_ii(num_cards=13,points_order=descending)" --num_games=1000
  python run/reproduce_particle.py --experiment=match --run_dir=runs/particle/match \\
      --game="python_goofspiel_ii(num_cards=13,points_order=descending)" --num_games=2000 \\
      --network=runs/particle/network/network.safetensors

The experiments `architectures` and `on_policy` (Figure 3, on random beliefs as in the paper, and on
those asked for) and `fractions` (Figure 4) go on where an earlier start in the same run directory
was stopped.
"""

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence

import on_policy_flags
from absl import app, flags

from spiel_dl import distributed
from spiel_dl.algorithms.particle_policy import ParticlePolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, SelfPlayConfig
from spiel_dl.experiments import particle_experiments, particle_study
from spiel_dl.experiments.dl_cfr_report import write_result
from spiel_dl.experiments.dl_cfr_study import Study
from spiel_dl.experiments.particle_architectures import architectures
from spiel_dl.experiments.particle_fractions import FractionsConfig, fractions
from spiel_dl.experiments.particle_linear_targets import LinearTargetsConfig
from spiel_dl.experiments.particle_on_policy import on_policy
from spiel_dl.io.run_directory import RunDirectory
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.training import TrainingConfig

_LINEAR, _SIZES = LinearTargetsConfig(), ParticleSizes()
_PLAY = SelfPlayConfig(DepthLimit(rounds=1))
_FRACTIONS, _TRAINING = FractionsConfig(), TrainingConfig()
_EXPERIMENT = flags.DEFINE_enum(
    "experiment",
    None,
    [
        "linear_targets",
        "public_states",
        "architectures",
        "on_policy",
        "fractions",
        "self_play",
        "match",
    ],
    "Which experiment; see above.",
    required=True,
)
_RUN_DIR = flags.DEFINE_string(
    "run_dir", None, "Run directory; the report goes there.", required=True
)
_SEED = flags.DEFINE_integer("seed", 0, "Seed of networks, data and games.", lower_bound=0)
_DIMENSION = flags.DEFINE_integer(
    "dimension", _LINEAR.dimension, "linear_targets: length n of a vector."
)
_STEPS = flags.DEFINE_integer("num_steps", _LINEAR.num_steps, "linear_targets: steps of Adam.")
_SEEDS = flags.DEFINE_integer(
    "num_seeds", 10, "linear_targets, architectures, on_policy, fractions: runs.", lower_bound=1
)
_CARDS = flags.DEFINE_integer("num_cards", 13, "public_states: cards of Goofspiel.")
_GAME = flags.DEFINE_string(
    "game",
    "python_goofspiel_ii(num_cards=13,points_order=descending)",
    "Game string; of all experiments but linear_targets and public_states.",
)
_MOVES = flags.DEFINE_integer(
    "moves", None, "Depth limit of --game in moves. Give one of --moves, --plies, --rounds."
)
_PLIES = flags.DEFINE_integer(
    "plies", None, "The same in moves, and chance events after the first of them."
)
_ROUNDS = flags.DEFINE_integer("rounds", None, "The same in rounds of the game.")
_GAMES = flags.DEFINE_integer("num_games", 100, "self_play, match: games, of each opponent.")
_BUDGET = flags.DEFINE_integer("budget", _PLAY.budget, "self_play, match: particles at most.")
_ITERATIONS = flags.DEFINE_integer(
    "iterations",
    None,
    f"Iterations of DL-CFR+. Default: {_PLAY.iterations} in a search, 1000 in architectures.",
    lower_bound=1,
)
_RATE = flags.DEFINE_float("learning_rate", _PLAY.learning_rate, "Adam's at the first step.")
_RECALL = flags.DEFINE_bool("perfect_recall", True, "Particle features remember the past.")
_BASE = flags.DEFINE_integer("base", _SIZES.base, "Length of a base.")
_BASIS = flags.DEFINE_float(
    "basis_width", _SIZES.basis_width, "Hidden units of the change of basis per input."
)
_REGRESSION = flags.DEFINE_float(
    "regression_width",
    _SIZES.regression_width,
    "Hidden units of the regression, and of a positional network, per input.",
)
_NETWORK = flags.DEFINE_string("network", None, "match: file of a network.")
_DOMAIN = flags.DEFINE_enum(
    "domain",
    None,
    list(particle_study.DOMAINS),
    "architectures, on_policy: game, depth limit, samples and epochs of the paper, not one's own.",
)
_SAMPLES = flags.DEFINE_integer(
    "samples",
    None,
    "Samples to train on. Default: 9000 for --game, else the domain's.",
    lower_bound=1,
)
_EPOCHS = flags.DEFINE_integer(
    "num_epochs",
    None,
    "Passes over the data. Default: 100 for --game, else the domain's.",
    lower_bound=1,
)
_BATCH = flags.DEFINE_integer("batch_size", _TRAINING.batch_size, "Samples in a step of Adam.")
_FINAL_RATE = flags.DEFINE_float(
    "final_learning_rate",
    _TRAINING.final_learning_rate,
    "Adam's at the last step; not in linear_targets and self_play.",
)
_KEPT = flags.DEFINE_integer("networks_per_decade", 4, "Networks kept per factor of 10 in steps.")
_PLAYED = flags.DEFINE_integer(
    "played",
    _FRACTIONS.played,
    "fractions: how deep play has come, in the depth limit's unit, before the search.",
)
_FRACTION = flags.DEFINE_multi_float(
    "fraction", list(_FRACTIONS.fractions), "fractions: of the histories; may be repeated."
)
_ENGINE = distributed.define_flags()
flags.adopt_module_key_flags(on_policy_flags)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device of networks, such as cpu or cuda.")


def main(argv: Sequence[str]) -> None:
    """Runs one experiment, and says where its report is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        _EXPERIMENTS[_EXPERIMENT.value]()
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"report  {_RUN_DIR.value}/{_EXPERIMENT.value}.md")


def _linear_targets() -> None:
    config = LinearTargetsConfig(dimension=_DIMENSION.value, num_steps=_STEPS.value)
    particle_experiments.linear_targets(_directory(), config, _SEEDS.value)


def _public_states() -> None:
    particle_experiments.public_states(_directory(), _CARDS.value)


def _architectures() -> None:
    start, study = time.perf_counter(), _study(1000)
    result = architectures(study, _sizes())
    write_result(result, study, _RUN_DIR.value, time.perf_counter() - start)


def _on_policy() -> None:
    start, study = time.perf_counter(), _study(1000)
    config = on_policy_flags.config(study.config.num_iterations)
    config = config.with_trainings(batch_size=_BATCH.value)
    config = dataclasses.replace(
        config, first=dataclasses.replace(config.first, learning_rate=_RATE.value)
    )
    result = on_policy(study, _sizes(), config)
    write_result(result, study, _RUN_DIR.value, time.perf_counter() - start)


def _fractions() -> None:
    start, study = time.perf_counter(), _study(_PLAY.iterations)
    config = FractionsConfig(_PLAYED.value, tuple(_FRACTION.value))
    result = fractions(study, _sizes(), config)
    write_result(result, study, _RUN_DIR.value, time.perf_counter() - start)


def _study(num_iterations: int) -> Study:
    """The study that the flags describe."""
    if not _DOMAIN.value and not flags.FLAGS["game"].present:
        raise ValueError("give --domain, or --game and its depth limit")
    if _DOMAIN.value:
        domain = particle_study.DOMAINS[_DOMAIN.value]
    else:
        domain = particle_study.Domain(_GAME.value, _limit(), 9_000, 100)
    domain = domain._replace(
        num_samples=_SAMPLES.value or domain.num_samples,
        num_epochs=_EPOCHS.value or domain.num_epochs,
    )
    training = TrainingConfig(
        batch_size=_BATCH.value,
        learning_rate=_RATE.value,
        final_learning_rate=_FINAL_RATE.value,
        networks_per_decade=_KEPT.value,
    )
    config = particle_study.study_config(
        domain,
        training,
        seeds=tuple(range(_SEED.value, _SEED.value + _SEEDS.value)),
        num_iterations=_ITERATIONS.value or num_iterations,
        device=_DEVICE.value,
    )
    return Study(config, f"{_RUN_DIR.value}/work", engine=_ENGINE())


def _sizes() -> particle_study.NetworkSizes:
    """Both networks' sizes."""
    return particle_study.NetworkSizes(
        width=_REGRESSION.value, particle=_particle_sizes(), perfect_recall=_RECALL.value
    )


def _particle_sizes() -> ParticleSizes:
    return ParticleSizes(
        base=_BASE.value, basis_width=_BASIS.value, regression_width=_REGRESSION.value
    )


def _self_play() -> None:
    config = SelfPlayConfig(
        _limit(),
        budget=_BUDGET.value,
        iterations=_ITERATIONS.value or _PLAY.iterations,
        learning_rate=_RATE.value,
        seed=_SEED.value,
    )
    network = ParticleNetwork(_particle_sizes(), InfostateFeatures(_RECALL.value), seed=_SEED.value)
    learner = ParticleSelfPlay(_GAME.value, network, config)
    particle_experiments.self_play(_directory(), learner, _GAMES.value)


def _match() -> None:
    if _NETWORK.value is None:
        raise ValueError(
            "a match needs a network: make one with --experiment=self_play, then pass --network="
        )
    policy = ParticlePolicy(
        _GAME.value,
        ParticleNetwork.load(_NETWORK.value),
        _limit(),
        budget=_BUDGET.value,
        iterations=_ITERATIONS.value or _PLAY.iterations,
        seed=_SEED.value,
    )
    particle_experiments.match(_directory(), policy, _GAMES.value, _SEED.value)


def _directory() -> RunDirectory:
    """The run directory, for the flags that were given."""
    own = flags.FLAGS.get_key_flags_for_module(sys.argv[0])
    settings = {flag.name: flag.value for flag in own if flag.name != "run_dir"}
    return RunDirectory(_RUN_DIR.value, settings)


def _limit() -> DepthLimit:
    """The depth limit that was given, or one round."""
    if _MOVES.value is None and _PLIES.value is None and _ROUNDS.value is None:
        return DepthLimit(rounds=1)
    return DepthLimit(_MOVES.value, _PLIES.value, _ROUNDS.value)


_EXPERIMENTS: dict[str, Callable[[], None]] = {
    "linear_targets": _linear_targets,
    "public_states": _public_states,
    "architectures": _architectures,
    "on_policy": _on_policy,
    "fractions": _fractions,
    "self_play": _self_play,
    "match": _match,
}


if __name__ == "__main__":
    app.run(main)
