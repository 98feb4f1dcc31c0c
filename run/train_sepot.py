"""Trains what SePoT searches with: a policy network by R-NaD and, from the same games, a critic.

The critic says what histories are worth if the opponent follows each of some transformations of the
policy. With --frozen_blueprint, it is trained alone, for a policy that is there already.

Examples:
  python run/train_sepot.py --preset=goofspiel_5_descending --run_dir=runs/sepot/goofspiel_5
  python run/train_sepot.py --preset=leduc --transformations=pure
  python run/train_sepot.py --frozen_blueprint=runs/rnad/leduc/checkpoint.safetensors
"""

import config_flags
import learners
import script
import torch

from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.transformations import TRANSFORMATION_SETS, transformations_by_name
from spiel_dl.tree.from_openspiel import load_turn_based

_GAME = learners.define_game()
_RUN = config_flags.define(learners.train, "Run")
_DIRECTORY = script.run_directory()
_RNAD = learners.define_rnad()
_CRITIC = config_flags.define(
    CriticConfig,
    "Critic",
    leave_out=[*learners.OF_ADAM, "final_learning_rate"],
    prefix="critic_",
    names={"hidden_sizes": "critic_hidden_size", "seed": "seed"},
    texts={"hidden_sizes": "units of each hidden layer.", "learning_rate": "Adam's."},
)
_ALONE = config_flags.define(
    CriticLearner,
    "Critic of a frozen blueprint",
    only=["device", "batch_size", "exploration", "max_tree_histories"],
)


def main(*, frozen_blueprint: str | None = None, transformations: str = "paper") -> None:
    """Trains, and says how well and where the results are.

    Args:
      frozen_blueprint: checkpoint of a policy to train a critic for; it names the game.
      transformations: the paper's 22, or the pure actions, which it uses in Leduc.
    """
    torch.set_num_threads(_RUN.values["num_threads"])
    learner = _learner(frozen_blueprint, transformations)
    also = {
        "critic": _CRITIC.build().to_json(),
        "transformations": transformations,
        "frozen_blueprint": frozen_blueprint,
    }
    directory, last = _RUN.build(learner, also, _DIRECTORY.build, "sepot")
    print(f"game                        {learner.game}")
    print(f"learner steps               {last['step']:,}")
    print(f"seconds of learning         {last['seconds']:.1f}")
    print(f"critic's squared error      {last['critic_loss']:.4f}")
    if "nash_conv" in last:
        print(f"NashConv of the blueprint   {last['nash_conv']:.4f}")
        print(f"critic's mean error         {last['critic_error']:.4f} of the utility range")
    print(f"checkpoint                  {directory.checkpoint_path}")


def _learner(frozen_blueprint: str | None, transformations: str) -> Learner:
    """The learner that is asked for."""
    run = _RUN.values
    if frozen_blueprint is None:
        _ALONE.refuse("used with --frozen_blueprint only; R-NaD plays itself", ["exploration"])
        game = load_turn_based(_GAME.build())
        return RNaDSolver(
            game,
            learners.rnad_config(_RNAD, run["num_steps"]),
            device=run["device"],
            transformations=transformations_by_name(transformations, game),
            critic=_CRITIC.build(),
        )
    _RNAD.refuse(
        "not used with --frozen_blueprint, which is not trained",
        but=["batch_size", "max_tree_histories", "seed"],
    )
    blueprint = checkpoints.load_blueprint(frozen_blueprint, device=run["device"])
    found = transformations_by_name(transformations, blueprint.game)
    return _ALONE.build(blueprint.game, blueprint, found, _CRITIC.build())


if __name__ == "__main__":
    script.run(
        main,
        one_of=["game", "preset", "frozen_blueprint"],
        choices={"transformations": TRANSFORMATION_SETS},
    )
