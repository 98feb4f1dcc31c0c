"""Networks that were trained before, and critics for those that have none.

The setting `network` says where they are: a name of `play.registry`, such as that of a model of the
zoo or a run directory of run/train.py, with {game} and {seed} in it. Without the setting, a study
trains its networks itself.
"""

from __future__ import annotations

from pathlib import Path

from experiments.sepot.study import GameStudy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play import registry
from spiel_dl.runs import learner_run
from spiel_dl.tree.from_openspiel import load_turn_based


class Networks:
    """The networks of one game.

    Attributes:
      study: of the game.
      seeds: those of the study whose networks are there.
      missing: the names of the others.
    """

    def __init__(self, study: GameStudy):
        """Finds them, or trains them if the study is to do so.

        Raises:
          ValueError: if different seeds would have the same network, or as `GameStudy.train`.
        """
        self.study = study
        pattern, seeds = study.settings.network, study.settings.seeds
        if pattern is None:
            study.train()
            self.seeds, self.missing = list(seeds), []
            return
        if len(seeds) > 1 and "{seed}" not in pattern:
            raise ValueError(f"network={pattern!r} must have {{seed}} in it, or seeds be only one")
        paths = {seed: registry.path_in(self.name(seed)) for seed in seeds}
        self.seeds = [seed for seed, path in paths.items() if path is not None]
        self.missing = [self.name(seed) for seed in seeds if seed not in self.seeds]

    def check(self) -> None:
        """Raises a ValueError if a network is missing."""
        if self.missing:
            raise ValueError(f"there are no networks {', '.join(self.missing)}; give other seeds")

    def name(self, seed: int) -> str:
        """What `play.registry` calls a network."""
        pattern = self.study.settings.network
        if pattern is None:
            return str(self.study.checkpoint(seed))
        return pattern.format(game=self.study.name, seed=seed)

    def file(self, seed: int) -> str:
        """The file or run directory of a network that is there."""
        found = registry.path_in(self.name(seed))
        assert found is not None
        return str(found)

    def with_critic(self, seed: int) -> str:
        """A checkpoint of a network and its critic; a critic is trained if there is none.

        Raises:
          ValueError: if there is none, and `critic_steps` says that none is to be trained.
        """
        found = self.file(seed)
        if checkpoints.has_critic(found):
            return found
        if not self.study.settings.critic_steps:
            raise ValueError(f"{self.name(seed)} has no critic; train one by critic_steps=")
        return str(self._train_critic(seed, found))

    def player(self, seed: int) -> str:
        """What `play.registry` calls a network with its critic: its own name if it has one.

        Raises:
          ValueError: as `with_critic`.
        """
        found = self.with_critic(seed)
        return self.name(seed) if found == self.file(seed) else found

    def _train_critic(self, seed: int, path: str) -> Path:
        study, settings = self.study, self.study.settings
        game = load_turn_based(study.game)
        config = settings.critic_of(seed)
        identity = {
            "game": study.game,
            "network": registry.digest(path),
            "critic": config.to_json(),
            "transformations": study.transformations,
            "exploration": settings.exploration,
            "batch_size": settings.learner.batch_size,
            "device": settings.device,
        }
        steps = settings.critic_steps
        directory = study.workspace.run_directory(f"critic-of-{seed}-{steps}", identity)
        learner = CriticLearner(
            game,
            checkpoints.load_blueprint(path, game, settings.device),
            transformations_by_name(study.transformations, game),
            config,
            device=settings.device,
            batch_size=settings.learner.batch_size,
            max_tree_histories=settings.learner.max_tree_histories,
            exploration=settings.exploration,
        )
        # What was done is kept now and then: in large games steps are slow.
        often = max(1, steps // 10)
        learner_run.run_learner(
            learner, directory, steps, steps_per_evaluation=often, show_progress=False
        )
        return directory.checkpoint_path
