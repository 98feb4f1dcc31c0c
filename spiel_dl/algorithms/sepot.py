"""SePoT: look-ahead search on top of a policy, from any public state.

Kubíček, Burch, Lisý (2023), "Look-ahead Search on Top of Policy Networks in Imperfect Information
Games", section 4.2. To decide in a public state:

  1. The player's range is its own reach of its infosets there. The opponent's given cfvs are what
     it could get at most against the search before; where there was none, what the critic says of
     the identity transformation, summed over an infoset's histories with chance's and the player's
     reach.
  2. `search.sepot_search` solves the game from there to the depth limit.
  3. The player's strategy down to the next public state where it searches is kept.

    critic = ExactCritic(tree, blueprint.strategies, transformations)
    policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1))
    bot = SePoTBot(policy, player=0, seed=1)

    policy = load("runs/sepot/leduc/checkpoint.safetensors", DepthLimit(rounds=1))  # trained ones

`SePoTPolicy` searches in compiled games, `SePoTPlayPolicy` in games of any size with `Rules`, whose
public states are reconstructed.

What may be relied upon, if `own_range` is "played" and searches are `continual`:

  * If they look to the end of the game and `given_cfvs` is "best_response", no search makes its
    player more exploitable, up to the error of the solution: what the player would do otherwise
    keeps the opponent at its given cfvs, so the gadget can be solved.
  * If the blueprint is an equilibrium, the transformations are all continuations of the opponent,
    and the first search starts at the root, the searched policy is an equilibrium.

With given cfvs of the critic, nothing keeps the opponent at them where its own blueprint makes
mistakes. Without continual searches, the strategy down to the next search was made to go with one
that is given up there.

Two deviations. The paper's range is that of the network, replayed ("blueprint"). Where a player has
searched before, that is not the range with which it comes; "played" takes the strategy it follows,
and so searches in all public states on the way. And the paper takes the critic's given cfvs
throughout (`continual=False`), by which a player need not have searched before.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.bots.policy import PolicyBot

from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.policies.array_policy import ArrayPolicy, check_player
from spiel_dl.search.engine import ContinualPolicy
from spiel_dl.search.played import PlayedPolicy
from spiel_dl.search.sepot_config import MAX_HISTORIES
from spiel_dl.search.sepot_config import SearchConfig as SearchConfig
from spiel_dl.search.sepot_played import PlayedSolution, Seconds, SePoTPlayedStep
from spiel_dl.search.sepot_step import SePoTStep
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.pieces import Pieces
from spiel_dl.value_functions.base import check_arguments


class SePoTPolicy(ContinualPolicy):
    """Both players' policies by search on a compiled game, each as if only that player searched.

    Nothing is searched before it is asked for; what was found is kept. Where a player's own
    strategy never comes, and in public states that are too large, it is the blueprint.
    """

    step: SePoTStep

    def __init__(
        self,
        game: AnyGame,
        blueprint: openspiel_policy.Policy,
        critic: Critic | None,
        depth_limit: DepthLimit,
        *,
        config: SearchConfig | None = None,
    ):
        """Compiles the game and reads the blueprint.

        Args:
          game: the game, its game string, or the compiled game.
          blueprint: a policy of both players.
          critic: of this blueprint. It may be None if all searches reach the end of the game and
            `given_cfvs` is "best_response".
          depth_limit: how deep each search looks.
          config: the rest; None: the defaults.

        Raises:
          ValueError: if the game cannot be compiled or taken apart so, or if the blueprint is not
            a policy for it.
        """
        config = config or SearchConfig()
        check_arguments(None, depth_limit)
        tree = compile_game(game, blueprint)
        pieces = Pieces(tree, depth_limit, config.scheme)
        table = ArrayPolicy.from_policy(tree, blueprint)
        super().__init__(SePoTStep(pieces, table, critic, config))

    @property
    def config(self) -> SearchConfig:
        """Where and how it searches."""
        return self.step.config

    @property
    def num_searches(self) -> int:
        """How many searches there were so far."""
        return self.step.num_searches

    @property
    def num_left_to_blueprint(self) -> int:
        """How many public states with a choice were not searched, because they were too large."""
        return self.step.num_left_to_blueprint


class SePoTPlayPolicy(PlayedPolicy[PlayedSolution | None]):
    """Both players' policies by search in games with `Rules`, each as if only that player searched.

    Every question is a search of its own.
    """

    step: SePoTPlayedStep

    def __init__(
        self,
        game: pyspiel.Game | str,
        blueprint: ActingPolicy,
        critic: Critic,
        depth_limit: DepthLimit,
        *,
        config: SearchConfig | None = None,
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, or its game string.
          blueprint: from information state tensors and legal actions, on the CPU, to action
            probabilities, on any device.
          critic: of this blueprint.
          depth_limit: how deep each search looks.
          config: the rest; None: as printed, up to `MAX_HISTORIES`.

        Raises:
          ValueError: if the game has no rules, or if the config needs earlier searches.
        """
        check_arguments(None, depth_limit)
        config = config or SearchConfig.as_printed(max_histories=MAX_HISTORIES)
        super().__init__(SePoTPlayedStep(game, blueprint, critic, depth_limit, config), max_kept=0)

    @property
    def seconds(self) -> Seconds | None:
        """What the last search took; None before the first one."""
        return self.step.seconds

    @property
    def num_searches(self) -> int:
        """How many searches were made."""
        return self.step.num_searches

    @property
    def num_left_to_blueprint(self) -> int:
        """How many questions the blueprint answered, because no search could be made."""
        return self.step.num_left_to_blueprint


class LearnerWithCritic(Protocol):
    """A learner of a policy and of a critic of it."""

    def policy(self) -> openspiel_policy.Policy:
        """The policy as it is now."""

    def critic(self) -> NetworkCritic:
        """The critic of this policy."""


def load(
    source: str | os.PathLike[str] | LearnerWithCritic,
    depth_limit: DepthLimit,
    *,
    config: SearchConfig | None = None,
    game: AnyGame | None = None,
    device: torch.device | str = "cpu",
) -> SePoTPolicy:
    """Search on top of the blueprint and the critic of a learner.

    Args:
      source: a learner with a critic, its checkpoint (`run/train.py`), or the run directory
        that this is in.
      depth_limit: how deep each search looks.
      config: the rest; None: the defaults.
      game: the game, or the compiled game; None: that of the learner.
      device: where the networks of a checkpoint live.

    Raises:
      ValueError: as `checkpoints.load` and `SePoTPolicy`.
    """
    if isinstance(source, (str, os.PathLike)):
        blueprint, critic = checkpoints.load(source, game, device)
        return SePoTPolicy(game or critic.game, blueprint, critic, depth_limit, config=config)
    learned, critic = source.policy(), source.critic()
    return SePoTPolicy(game or critic.game, learned, critic, depth_limit, config=config)


class SePoTBot(PolicyBot):
    """A `pyspiel.Bot` that searches only from where it comes."""

    def __init__(self, policy: openspiel_policy.Policy, player: int, seed: int | None = None):
        """Takes a seat.

        Args:
          policy: a `SePoTPolicy`, or a `SePoTPlayPolicy` in large games.
          player: the seat, 0 or 1.
          seed: of its choices; None: another one every time.
        """
        check_player(player)
        super().__init__(player, np.random.default_rng(seed), policy)
