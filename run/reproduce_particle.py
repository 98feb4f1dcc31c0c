"""Makes Figure 2 and Table 1 of the particle paper (Šustr et al. 2021), trains by self-play, plays.

Examples:
  python run/reproduce_particle.py --experiment=linear_targets --run_dir=runs/particle/linear
  python run/reproduce_particle.py --experiment=public_states --run_dir=runs/particle/sizes
  python run/reproduce_particle.py --experiment=self_play --run_dir=runs/particle/network \\
      --game="python_goofspiel_ii(num_cards=13,points_order=descending)" --num_games=1000
  python run/reproduce_particle.py --experiment=match --run_dir=runs/particle/match \\
      --game="python_goofspiel_ii(num_cards=13,points_order=descending)" --num_games=2000 \\
      --network=runs/particle/network/network.safetensors
"""

import sys
from collections.abc import Callable, Sequence

from absl import app, flags

from spiel_dl.algorithms import particle_experiments
from spiel_dl.algorithms.particle_policy import ParticlePolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, SelfPlayConfig
from spiel_dl.io.run_directory import RunDirectory
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_linear_targets import LinearTargetsConfig
from spiel_dl.value_functions.particle_module import ParticleSizes

_LINEAR, _SIZES = LinearTargetsConfig(), ParticleSizes()
_PLAY = SelfPlayConfig(DepthLimit(rounds=1))
_EXPERIMENT = flags.DEFINE_enum(
    "experiment",
    None,
    ["linear_targets", "public_states", "self_play", "match"],
    "What to do.",
    required=True,
)
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Run directory.", required=True)
_SEED = flags.DEFINE_integer("seed", 0, "Seed.", lower_bound=0)
_DIMENSION = flags.DEFINE_integer("dimension", _LINEAR.dimension, "linear_targets: n.")
_STEPS = flags.DEFINE_integer("num_steps", _LINEAR.num_steps, "linear_targets: steps of Adam.")
_SEEDS = flags.DEFINE_integer("num_seeds", 3, "linear_targets: runs of each architecture.")
_CARDS = flags.DEFINE_integer("num_cards", 13, "public_states: cards of Goofspiel.")
_GAME = flags.DEFINE_string(
    "game",
    "python_goofspiel_ii(num_cards=13,points_order=descending)",
    "self_play, match: game string.",
)
_MOVES = flags.DEFINE_integer("moves", None, "self_play, match: depth limit in moves.")
_PLIES = flags.DEFINE_integer("plies", None, "self_play, match: depth limit in plies.")
_ROUNDS = flags.DEFINE_integer("rounds", None, "self_play, match: depth limit in rounds.")
_GAMES = flags.DEFINE_integer("num_games", 100, "self_play, match: games, of each opponent.")
_BUDGET = flags.DEFINE_integer("budget", _PLAY.budget, "self_play, match: particles at most.")
_ITERATIONS = flags.DEFINE_integer(
    "iterations", _PLAY.iterations, "self_play, match: iterations of CFR+ in a search."
)
_RATE = flags.DEFINE_float("learning_rate", _PLAY.learning_rate, "self_play: of Adam.")
_RECALL = flags.DEFINE_bool("perfect_recall", True, "self_play: features remember the past.")
_BASE = flags.DEFINE_integer("base", _SIZES.base, "self_play: length of a base.")
_BASIS = flags.DEFINE_float(
    "basis_width", _SIZES.basis_width, "self_play: hidden units of the change of basis per input."
)
_REGRESSION = flags.DEFINE_float(
    "regression_width",
    _SIZES.regression_width,
    "self_play: hidden units of the regression per input.",
)
_NETWORK = flags.DEFINE_string("network", None, "match: file of a network.")


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


def _self_play() -> None:
    config = SelfPlayConfig(
        _limit(),
        budget=_BUDGET.value,
        iterations=_ITERATIONS.value,
        learning_rate=_RATE.value,
        seed=_SEED.value,
    )
    sizes = ParticleSizes(
        base=_BASE.value, basis_width=_BASIS.value, regression_width=_REGRESSION.value
    )
    network = ParticleNetwork(sizes, InfostateFeatures(_RECALL.value), seed=_SEED.value)
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
        iterations=_ITERATIONS.value,
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
    "self_play": _self_play,
    "match": _match,
}


if __name__ == "__main__":
    app.run(main)
