"""Who plays matches, by names that people type: for games of any size, unlike `named_policies`.

| name | who |
|---|---|
| uniform, or random | all legal actions alike |
| highest | the legal action with the highest id |
| a checkpoint of a learner, or its run directory | the policy network alone |
| sepot:CHECKPOINT, or sepot:RUN_DIRECTORY | SePoT on top of that network |
| particle:NETWORK | search among particles with a particle value network |
| resolving:exact, resolving:NETWORK | continual resolving by DL-CFR; the game is compiled for it |
| cfr+:1000, equilibrium, a policy file, ... | `named_policies`; the game is compiled for them |

SePoT is as printed in Kubíček et al. (2023): ranges of the blueprint, given cfvs of the critic,
nothing of earlier searches. In games with `Rules` it reconstructs public states
(`algorithms.sepot_play`); others are compiled.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms import named_policies, trained_blueprint
from spiel_dl.algorithms.matches import HighestActionPolicy
from spiel_dl.algorithms.network_policy import NetworkPolicy
from spiel_dl.algorithms.particle_policy import ParticlePolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.algorithms.sepot_play import SePoTPlayPolicy
from spiel_dl.algorithms.sepot_search import SearchEffort
from spiel_dl.io.run_directory import CHECKPOINT_FILE
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.particle import ParticleNetwork

CONTESTANT_NAMES = (
    "uniform, highest, a learner's checkpoint or run directory (its network alone), "
    "sepot:CHECKPOINT (SePoT on top of it), particle:NETWORK (search among particles), or, in "
    "games small enough to compile, "
    "resolving:exact, resolving:NETWORK, equilibrium, cfr+:K, cfr:K, cfr_last:K, random:SEED or a "
    "policy file"
)
_COMPILED = ("equilibrium", "cfr+", "cfr", "cfr_last", "random")


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """How those who search do so.

    Attributes:
      depth_limit: how deep each search looks.
      max_histories: SePoT leaves larger public states to the network.
      effort: how to solve; of it, the others take the iterations.
      budget: how many particles a search among particles starts with, at most.
    """

    depth_limit: DepthLimit = dataclasses.field(default_factory=lambda: DepthLimit(rounds=1))
    max_histories: int = 25_000
    effort: SearchEffort = dataclasses.field(default_factory=SearchEffort)
    budget: int = 1000


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
    device: torch.device | str = "cpu",
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
    if kind == "sepot" and source:
        return RememberingPolicy(_load_sepot(source, game, search, device))
    if kind == "particle" and source:
        return ParticlePolicy(
            game,
            ParticleNetwork.load(source, device=device),
            search.depth_limit,
            budget=search.budget,
            iterations=search.effort.iterations,
        )
    if kind == "resolving" and source:
        return named_policies.load_resolving(
            source, game, search.depth_limit, search.effort.iterations
        )
    checkpoint = _learner_checkpoint(name)
    if checkpoint is not None:
        return trained_blueprint.load_blueprint(checkpoint, game, device)
    if kind not in _COMPILED and not Path(name).exists():
        raise ValueError(
            f"nobody is called {name!r}, and there is no such file; give one of {CONTESTANT_NAMES}"
        )
    return named_policies.load_policy(name, game)


def _load_sepot(
    source: str, game: pyspiel.Game, search: SearchOptions, device: torch.device | str
) -> openspiel_policy.Policy:
    checkpoint = _learner_checkpoint(source)
    if checkpoint is None:
        raise ValueError(
            f"{source} is neither a learner's checkpoint nor a run directory with one; train one "
            "by run/train_sepot.py"
        )
    blueprint, critic = trained_blueprint.load(checkpoint, game, device)
    if hasattr(game, "rules") and isinstance(blueprint, NetworkPolicy):
        return SePoTPlayPolicy(
            game,
            blueprint.act,
            critic,
            search.depth_limit,
            max_histories=search.max_histories,
            effort=search.effort,
        )
    config = SearchConfig.as_printed(max_histories=search.max_histories, effort=search.effort)
    return SePoTPolicy(game, blueprint, critic, search.depth_limit, config)


def _learner_checkpoint(name: str) -> Path | None:
    """The checkpoint that a name leads to, if a learner has written it."""
    path = Path(name)
    if path.is_dir():
        path /= CHECKPOINT_FILE
    return path if trained_blueprint.is_checkpoint(path) else None
