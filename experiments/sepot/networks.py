"""Networks that were trained before, and their critics."""

from __future__ import annotations

from collections.abc import Sequence

from spiel_dl.learning import checkpoints
from spiel_dl.play import registry


class Networks:
    """The networks of one game.

    Attributes:
      seeds: those whose networks are there.
      missing: the names of the others.
    """

    def __init__(self, pattern: str, game: str, seeds: Sequence[int]):
        """Finds them.

        Args:
          pattern: a name of `play.registry`, such as that of a model of the zoo or a run directory
            of run/train.py, with {game} and {seed} in it.
          game: a preset's name.
          seeds: of the networks.

        Raises:
          ValueError: if different seeds would have the same network.
        """
        if len(seeds) > 1 and "{seed}" not in pattern:
            raise ValueError(f"network={pattern!r} must have {{seed}} in it, or seeds be only one")
        self._pattern, self._game = pattern, game
        paths = {seed: registry.path_in(self.name(seed)) for seed in seeds}
        self.seeds = [seed for seed, path in paths.items() if path is not None]
        self.missing = [self.name(seed) for seed in seeds if seed not in self.seeds]

    def check(self) -> None:
        """Raises a ValueError if a network is missing."""
        if self.missing:
            raise ValueError(f"there are no networks {', '.join(self.missing)}; give other seeds")

    def name(self, seed: int) -> str:
        """What `play.registry` calls a network."""
        return self._pattern.format(game=self._game, seed=seed)

    def file(self, seed: int) -> str:
        """The file or run directory of a network that is there, with its critic.

        Raises:
          ValueError: if it has no critic.
        """
        found = registry.path_in(self.name(seed))
        assert found is not None
        if not checkpoints.has_critic(str(found)):
            raise ValueError(
                f"{self.name(seed)} has no critic; train one by run/train.py --algorithm=critic"
            )
        return str(found)
