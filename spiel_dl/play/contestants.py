"""Who plays matches, by names that people type: for games of any size, unlike `named_policies`.

| name | who |
|---|---|
| uniform, or random | all legal actions alike |
| highest | the legal action with the highest id |
| a checkpoint of a learner, or its run directory | the policy network alone |
| sepot:CHECKPOINT, or sepot:RUN_DIRECTORY | SePoT on top of that network, as printed |
| sepot_continual:CHECKPOINT | the same, going on from earlier searches; the game is compiled |
| particle:NETWORK | search among particles with a particle value network |
| resolving:exact, resolving:NETWORK | continual resolving by DL-CFR; the game is compiled for it |
| cfr+:1000, equilibrium, a policy file, ... | `named_policies`; the game is compiled for them |

SePoT as printed in Kubíček et al. (2023) has ranges of the blueprint and given cfvs of the critic,
nothing of earlier searches. In games with `Rules` it reconstructs public states
(`algorithms.sepot`); others are compiled.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.play import named_policies
from spiel_dl.play.matches import HighestActionPolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.opponent_models import MODEL_KINDS, MODEL_NAMES
from spiel_dl.search.sepot_config import DEFAULT_EFFORT, MAX_HISTORIES
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.value_functions.particle import ParticleNetwork

CONTESTANT_NAMES = (
    "highest, a learner's checkpoint or run directory (its network alone), sepot:CHECKPOINT (SePoT "
    "on top of it), particle:NETWORK (search among particles), or, in games small enough to "
    "compile, sepot_continual:CHECKPOINT, resolving:exact, resolving:NETWORK, "
    f"{MODEL_NAMES} or a policy file"
)
_USED = {
    "sepot": ("depth_limit", "max_histories", "iterations", "leaf_choice"),
    "sepot_continual": ("depth_limit", "max_histories", "iterations", "leaf_choice"),
    "particle": ("depth_limit", "budget", "iterations"),
    "resolving": ("depth_limit", "iterations"),
}
"""What of the search options each kind of contestant uses."""


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """How those who search do so.

    Attributes:
      depth_limit: how deep each search looks.
      max_histories: SePoT leaves larger public states to the network.
      effort: how to solve; of it, the others take the iterations.
      budget: how many particles a search among particles starts with, at most.
      leaf_choice: as in SePoT's `SearchConfig`.
    """

    depth_limit: DepthLimit = dataclasses.field(default_factory=lambda: DepthLimit(rounds=1))
    max_histories: int = MAX_HISTORIES
    effort: Effort = DEFAULT_EFFORT
    budget: int = 1000
    leaf_choice: str = "regret_matching"

    def used_by(self, *names: str) -> dict[str, Any]:
        """What some contestants use of it, as reports say it; empty if none of them searches."""
        values = {
            "depth_limit": str(self.depth_limit),
            "max_histories": self.max_histories,
            "budget": self.budget,
            "iterations": self.effort.iterations,
            "leaf_choice": self.leaf_choice,
        }
        used = {each for name in names for each in _USED.get(name.partition(":")[0], ())}
        return {each: value for each, value in values.items() if each in used}


class RememberingPolicy(openspiel_policy.Policy):
    """Another policy, asked only once in every infoset.

    For policies whose answer is the same in all histories of an infoset, and takes long.
    """

    def __init__(self, policy: openspiel_policy.Policy, max_kept: int = 100_000):
        """Wraps a policy; all is forgotten once more than `max_kept` answers are remembered."""
        super().__init__(policy.game, policy.player_ids)
        self._policy = policy
        self._max_kept = max_kept
        self._answers: dict[tuple[int, str], dict[int, float]] = {}

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """The wrapped policy's; arguments and errors are its own."""
        player = state.current_player() if player_id is None else player_id
        if player not in (0, 1):
            return self._policy.action_probabilities(state, player_id)
        key = (player, state.information_state_string(player))
        if key not in self._answers:
            if len(self._answers) >= self._max_kept:
                self._answers.clear()
            self._answers[key] = self._policy.action_probabilities(state, player_id)
        return self._answers[key]


def load_contestant(
    name: str,
    game: pyspiel.Game,
    search: SearchOptions | None = None,
    device: str = "cpu",
) -> openspiel_policy.Policy:
    """The policy of a name.

    Args:
      name: as in the module's table.
      game: the turn-based game.
      search: how to search, for those who do; None: the defaults.
      device: where networks live.

    Raises:
      ValueError: if there is no such policy for this game, or the game is too large for it.
    """
    if name in ("uniform", "random"):
        return openspiel_policy.UniformRandomPolicy(game)
    if name == "highest":
        return HighestActionPolicy(game, [0, 1])
    search = search or SearchOptions()
    kind, _, source = name.partition(":")
    if kind in named_policies.SEPOT and source:
        return RememberingPolicy(_load_sepot(name, game, search, device))
    if kind == "particle" and source:
        return ParticlePolicy(
            game,
            ParticleNetwork.load(source, device=device),
            search.depth_limit,
            budget=search.budget,
            effort=Effort(search.effort.iterations),
        )
    if kind == "resolving" and source:
        return named_policies.load_resolving(
            source, game, search.depth_limit, search.effort.iterations, device
        )
    if checkpoints.is_checkpoint(name):
        return checkpoints.load_blueprint(name, game, device)
    if kind not in MODEL_KINDS and not Path(name).exists():
        raise ValueError(
            f"nobody is called {name!r}, and there is no such file; give one of {CONTESTANT_NAMES}"
        )
    return named_policies.load_policy(name, game)


def _load_sepot(
    name: str, game: pyspiel.Game, search: SearchOptions, device: str
) -> openspiel_policy.Policy:
    kind, _, source = name.partition(":")
    if kind == "sepot" and hasattr(game, "rules") and checkpoints.is_checkpoint(source):
        blueprint, critic = checkpoints.load(source, game, device)
        if isinstance(blueprint, NetworkPolicy):
            return SePoTPlayPolicy(
                game,
                blueprint.act,
                critic,
                search.depth_limit,
                config=SearchConfig.as_printed(
                    max_histories=search.max_histories,
                    leaf_choice=search.leaf_choice,
                    effort=search.effort,
                ),
            )
    try:
        return named_policies.load_sepot(
            name,
            game,
            search.depth_limit,
            max_histories=search.max_histories,
            effort=search.effort,
            leaf_choice=search.leaf_choice,
            device=device,
        )
    except TooManyHistoriesError as error:
        raise ValueError(
            f"{name} searches in compiled games only, and this one is too large to compile; in "
            f"games with Rules, take sepot:{source} ({error})"
        ) from error
