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
those asked for), `fractions` (Figure 4) and `match` go on where an earlier start in the same run
directory was stopped.
"""

import dataclasses
import sys
from collections.abc import Sequence

import depth_limit_flags
import on_policy_flags
import script
import unused_flags
from absl import app, flags
from papers.particle import study as particle_study
from papers.particle.experiments import EXPERIMENTS, Options, run_experiment
from papers.particle.fractions import FractionsConfig
from papers.particle.linear_targets import LinearTargetsConfig

from spiel_dl.algorithms.particle_self_play import SelfPlayConfig
from spiel_dl.jobs.on_policy import OnPolicyConfig
from spiel_dl.runs import distributed
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.training import TrainingConfig

_DEFAULT = Options()
_LINEAR, _SIZES, _PLAY = _DEFAULT.linear, _DEFAULT.sizes.particle, _DEFAULT.play
_FRACTIONS, _TRAINING = _DEFAULT.fractions, _DEFAULT.training
_EXPERIMENT = flags.DEFINE_enum(
    "experiment", None, list(EXPERIMENTS), "Which experiment; see above.", required=True
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
    "num_seeds",
    _DEFAULT.num_seeds,
    "linear_targets, architectures, on_policy, fractions: runs.",
    lower_bound=1,
)
_CARDS = flags.DEFINE_integer("num_cards", _DEFAULT.num_cards, "public_states: cards of Goofspiel.")
_GAME = flags.DEFINE_string(
    "game",
    _DEFAULT.game,
    "Game string; of all experiments but linear_targets and public_states.",
)
_limit = depth_limit_flags.define("Depth limit of --game", has_default=True)
_GAMES = flags.DEFINE_integer(
    "num_games", _DEFAULT.num_games, "self_play, match: games, of each opponent."
)
_BUDGET = flags.DEFINE_integer("budget", _PLAY.budget, "self_play, match: particles at most.")
_ITERATIONS = flags.DEFINE_integer(
    "iterations",
    None,
    f"Iterations of DL-CFR+. Default: {_PLAY.iterations} in a search, 1000 in architectures.",
    lower_bound=1,
)
_RATE = flags.DEFINE_float(
    "learning_rate",
    None,
    f"Adam's at the first step. Default: {_LINEAR.learning_rate} in linear_targets, else "
    f"{_PLAY.learning_rate}.",
)
_RECALL = flags.DEFINE_bool("perfect_recall", True, "Particle features remember the past.")
_CONDITIONAL = flags.DEFINE_bool(
    "conditional", False, "Particle networks value infosets as if they were reached."
)
_BASE = flags.DEFINE_integer("base", _SIZES.base, "Length of a base.")
_BASIS = flags.DEFINE_float(
    "basis_width", _SIZES.basis_width, "Hidden units of the change of basis per input."
)
_REGRESSION = flags.DEFINE_float(
    "regression_width",
    _SIZES.regression_width,
    "Hidden units of the regression, and of a positional network, per input.",
)
_NETWORK = flags.DEFINE_string(
    "network",
    None,
    "File of a network. match: the one that plays; self_play: to go on with, not with a new one.",
)
_SIZES_OF_NETWORK = ("base", "basis_width", "regression_width", "perfect_recall", "conditional")
_BUFFER = flags.DEFINE_integer(
    "buffer_size", _PLAY.buffer_size, "self_play: samples to learn from, the newest."
)
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
    None,
    "Adam's at the last step; not in linear_targets. Default: "
    f"{_PLAY.final_learning_rate} in self_play, else {_TRAINING.final_learning_rate}, or the first "
    "step's if that is smaller.",
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
_ENGINE = script.workers().build
flags.adopt_module_key_flags(on_policy_flags)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device of networks, such as cpu or cuda.")


def main(argv: Sequence[str]) -> None:
    """Runs one experiment, and says where its report is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    if _DOMAIN.value:
        unused_flags.refuse(
            ["game", *depth_limit_flags.NAMES], "a --domain has its own game and depth limit"
        )
    if _NETWORK.value:
        unused_flags.refuse(_SIZES_OF_NETWORK, "a --network has its own")
    own = flags.FLAGS.get_key_flags_for_module(sys.argv[0])
    settings = {flag.name: flag.value for flag in own if flag.name != "run_dir"}
    try:
        report = run_experiment(_EXPERIMENT.value, _options(), _RUN_DIR.value, settings, _ENGINE())
    except (ValueError, distributed.WorkerDiedError) as error:
        sys.exit(f"error: {error}")
    print(f"report  {report}")


def _options() -> Options:
    """What the flags say."""
    given = _RATE.value
    rate = _PLAY.learning_rate if given is None else given
    return Options(
        num_seeds=_SEEDS.value,
        linear=LinearTargetsConfig(
            dimension=_DIMENSION.value,
            num_steps=_STEPS.value,
            learning_rate=_LINEAR.learning_rate if given is None else given,
            seed=_SEED.value,
        ),
        num_cards=_CARDS.value,
        domain=_domain(),
        training=TrainingConfig(
            batch_size=_BATCH.value,
            learning_rate=rate,
            final_learning_rate=_final_rate(rate, _TRAINING.final_learning_rate),
            networks_per_decade=_KEPT.value,
        ),
        iterations=_ITERATIONS.value,
        on_policy=_on_policy(rate),
        fractions=FractionsConfig(_PLAYED.value, tuple(_FRACTION.value)),
        sizes=particle_study.NetworkSizes(
            width=_REGRESSION.value,
            particle=ParticleSizes(
                base=_BASE.value, basis_width=_BASIS.value, regression_width=_REGRESSION.value
            ),
            perfect_recall=_RECALL.value,
            conditional=_CONDITIONAL.value,
        ),
        game=_GAME.value,
        play=SelfPlayConfig(
            _limit(_GAME.value),
            budget=_BUDGET.value,
            iterations=_ITERATIONS.value or _PLAY.iterations,
            buffer_size=_BUFFER.value,
            learning_rate=rate,
            final_learning_rate=_final_rate(rate, _PLAY.final_learning_rate),
            seed=_SEED.value,
        ),
        num_games=_GAMES.value,
        network=_NETWORK.value,
        device=_DEVICE.value,
    )


def _final_rate(rate: float, default: float) -> float:
    """The learning rate at the last step, from that at the first and a default."""
    return min(rate, default) if _FINAL_RATE.value is None else _FINAL_RATE.value


def _domain() -> particle_study.Domain | None:
    """Game, depth limit, samples and epochs; None if neither --domain nor --game was given."""
    if not _DOMAIN.value and not flags.FLAGS["game"].present:
        return None
    if _DOMAIN.value:
        domain = particle_study.DOMAINS[_DOMAIN.value]
    else:
        domain = particle_study.Domain(_GAME.value, _limit(_GAME.value), 9_000, 100)
    return domain._replace(
        num_samples=_SAMPLES.value or domain.num_samples,
        num_epochs=_EPOCHS.value or domain.num_epochs,
    )


def _on_policy(learning_rate: float) -> OnPolicyConfig:
    config = on_policy_flags.config(OnPolicyConfig().num_iterations)
    config = config.with_trainings(batch_size=_BATCH.value)
    final = min(learning_rate, config.first.final_learning_rate)
    first = dataclasses.replace(
        config.first, learning_rate=learning_rate, final_learning_rate=final
    )
    return dataclasses.replace(config, first=first)


if __name__ == "__main__":
    app.run(main)
