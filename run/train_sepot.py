"""Trains what SePoT searches with: a policy network by R-NaD and, from the same games, a critic.

The critic says what histories are worth if the opponent follows each of some transformations of the
policy. With --frozen_blueprint, it is trained alone, for a policy that is there already.

Examples:
  python run/train_sepot.py --preset=goofspiel_5_descending --run_dir=runs/sepot/goofspiel_5
  python run/train_sepot.py --preset=leduc --transformations=pure
  python run/train_sepot.py --frozen_blueprint=runs/rnad/leduc/checkpoint.safetensors
"""

import sys
from collections.abc import Sequence

import critic_flags
import learner_flags
import rnad_flags
import torch
import unused_flags
from absl import app, flags

from spiel_dl.algorithms import rnad
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.transformations import TRANSFORMATION_SETS, transformations_by_name
from spiel_dl.tree.from_openspiel import load_turn_based

_FROZEN = flags.DEFINE_string(
    "frozen_blueprint", None, "Checkpoint of a policy to train a critic for; it names the game."
)
_TRANSFORMATIONS = flags.DEFINE_enum(
    "transformations", "paper", list(TRANSFORMATION_SETS),
    "The paper's 22, or the pure actions, which it uses in Leduc.",
)  # fmt: skip
flags.adopt_module_key_flags(learner_flags)
flags.adopt_module_key_flags(critic_flags)
flags.mark_flags_as_mutual_exclusive(["game", "preset", "frozen_blueprint"], required=True)


def make_learner() -> Learner:
    """The learner that is asked for."""
    device, critic = learner_flags.DEVICE.value, critic_flags.config(learner_flags.SEED.value)
    if not _FROZEN.value:
        game = load_turn_based(learner_flags.game_string())
        transformations = transformations_by_name(_TRANSFORMATIONS.value, game)
        config = learner_flags.rnad_config()
        return rnad.RNaDSolver(
            game, config, device=device, transformations=transformations, critic=critic
        )
    blueprint = checkpoints.load_blueprint(_FROZEN.value, device=device)
    transformations = transformations_by_name(_TRANSFORMATIONS.value, blueprint.game)
    return CriticLearner(
        blueprint.game,
        blueprint,
        transformations,
        critic,
        device=device,
        batch_size=rnad_flags.BATCH.value,
        max_tree_histories=rnad_flags.MAX_TREE.value,
        exploration=critic_flags.EXPLORATION.value,
    )


def _refuse_unused_flags() -> None:
    if not _FROZEN.value:
        unused_flags.refuse(
            [critic_flags.EXPLORATION.name], "used with --frozen_blueprint only; R-NaD plays itself"
        )
        return
    used = {rnad_flags.BATCH.name, rnad_flags.MAX_TREE.name}
    names = [flag.name for flag in flags.FLAGS.get_flags_for_module(rnad_flags)]
    unused_flags.refuse(
        [name for name in names if name not in used],
        "not used with --frozen_blueprint, which is not trained",
    )


def main(argv: Sequence[str]) -> None:
    """Trains, and says how well and where the results are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    _refuse_unused_flags()
    torch.set_num_threads(learner_flags.THREADS.value)
    try:
        learner = make_learner()
        also = {
            "critic": critic_flags.config(learner_flags.SEED.value).to_json(),
            "transformations": _TRANSFORMATIONS.value,
            "frozen_blueprint": _FROZEN.value,
        }
        directory, last = learner_flags.train(learner, "sepot", str(learner.game), also)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"game                        {learner.game}")
    print(f"learner steps               {last['step']:,}")
    print(f"seconds of learning         {last['seconds']:.1f}")
    print(f"critic's squared error      {last['critic_loss']:.4f}")
    if "nash_conv" in last:
        print(f"NashConv of the blueprint   {last['nash_conv']:.4f}")
        print(f"critic's mean error         {last['critic_error']:.4f} of the utility range")
    print(f"checkpoint                  {directory.checkpoint_path}")


if __name__ == "__main__":
    app.run(main)
