"""SePoT: look-ahead search on top of a policy, from any public state.

Kubíček, Burch, Lisý (2023), "Look-ahead Search on Top of Policy Networks in Imperfect Information
Games", section 4.2. To decide in a public state:

  1. The player's range is its own reach of its infosets there: by the searches on the way, and by
     the blueprint where there were none. The opponent's given cfvs are what the critic says of the
     transformation that is best in each infoset, summed over its histories with chance's and the
     player's reach.
  2. `search.sepot_search` solves the game from there to the depth limit.
  3. The player's strategy down to the limit is kept; there, the next search begins.

    critic = ExactCritic(tree, blueprint.strategies, transformations)
    policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1))
    bot = spiel_dl.policy_bot(policy, player=0, seed=1)

    policy = load("runs/sepot/leduc/checkpoint.safetensors", DepthLimit(rounds=1))  # trained ones

`SePoTPolicy` searches in compiled games, `SePoTPlayPolicy` in games of any size with `Rules`, whose
public states are reconstructed.

Why these are the defaults of `SearchConfig` (`experiments/sepot/ablation.py` measures the others):

  * *Ranges that are played.* The paper replays the network's policy for a player that has played by
    it so far (section 4.2). Once the player has searched, that is not the range with which it
    comes, and given cfvs of a range that nobody has bound nothing.
  * *Blocks.* A search that looks k levels ahead and keeps one of them makes that one to go with
    k - 1 others, which the next search gives up unless it is bound by cfvs of the first.
  * *Given cfvs of the best transformation.* At its leaves, a search lets the opponent take the
    transformation that is best there, and the next search begins there. Given cfvs of the identity
    (`as_printed`) are lower where the opponent's own blueprint errs, and nothing keeps it at them.
    In blocks, those of the best one are the very cfvs that `continual` takes from the search
    before: no earlier search has to be known for them, only the own range.

What may be relied upon, with ranges that are played and `continual` searches:

  * If they look to the end of the game and `given_cfvs` is "best_response", no search makes its
    player more exploitable, up to the error of the solution: what the player would do otherwise
    keeps the opponent at its given cfvs, so the gadget can be solved.
  * If the blueprint is an equilibrium, the transformations are all continuations of the opponent,
    and the first search starts at the root, the searched policy is an equilibrium.

In blocks, the second holds without `continual`. Outside these conditions nothing is guaranteed: few
transformations do not cover what an opponent can do behind the leaves.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.critics import Critic
from spiel_dl.policies import asking
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.engine import ContinualPolicy
from spiel_dl.search.policy_rows import AnyBlueprint
from spiel_dl.search.sepot_config import MAX_HISTORIES
from spiel_dl.search.sepot_config import SearchConfig as SearchConfig
from spiel_dl.search.sepot_played import SePoTPlayedPolicy, SePoTPlayedStep
from spiel_dl.search.sepot_step import SePoTStep
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.pieces import Pieces, look_ahead_sizes

MAX_KEPT = 4096
"""How many searches a policy remembers at most that is asked along games."""


class SePoTPolicy(ContinualPolicy):
    """Both players' policies by search on a compiled game, each as if only that player searched.

    Nothing is searched before it is asked for; what was found is kept. Where a player's own
    strategy never comes, and where a search would be too large, it is the blueprint.

    Attributes:
      answer_was_searched: whether the last answer was found by a search.
    """

    step: SePoTStep
    answer_was_searched: bool = False

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
        tree = compile_game(game, blueprint)
        left_out = _left_out(tree, depth_limit, config)
        pieces = Pieces(tree, depth_limit, config.scheme, config.first_level, left_out)
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

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; see `ContinualPolicy`."""
        answer = super().action_probabilities(state, player_id)
        player = asking.acting_player(state, player_id)
        infoset = self.tree.find_infoset(state, player)
        self.answer_was_searched = bool(self.step.searched[player][infoset])
        return answer

    @property
    def num_unfinished(self) -> int:
        """How many batches of searches ended above the tolerance of their effort."""
        return self.step.num_unfinished

    @property
    def share_searched(self) -> float:
        """Of both players' infosets with a choice, how many were searched so far."""
        chosen = [treeplex.num_actions > 1 for treeplex in self.tree.treeplexes]
        found = [own[choice] for own, choice in zip(self.step.searched, chosen, strict=True)]
        return float(np.concatenate(found).mean())


def _left_out(tree: GameTree, depth_limit: DepthLimit, config: SearchConfig) -> np.ndarray | None:
    """Which pieces are too large to be searched, as `Pieces` has it; None: none."""
    if config.max_histories is None and config.max_root_histories is None:
        return None
    left_out = np.zeros(tree.num_public_states, np.bool_)
    if config.max_histories is not None:
        left_out |= look_ahead_sizes(tree, depth_limit) > config.max_histories
    if config.max_root_histories is not None:
        of_history = tree.public_states.of_history[~tree.is_terminal]
        sizes = np.bincount(of_history, minlength=len(left_out))
        left_out |= sizes > config.max_root_histories
    # The search at the root is one of all public states in which a player is the first to move.
    firsts = tree.public_states.of_history[(tree.move_number == 0) & (tree.player >= 0)]
    return np.append(left_out, left_out[firsts].any())


class SePoTPlayPolicy(SePoTPlayedPolicy):
    """Both players' policies by search in games with `Rules`, each as if only that player searched.

    Searches on the way to a state are made first, as far as they are not among the latest ones. An
    answer depends on nothing that was asked before.
    """

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        critic: Critic,
        depth_limit: DepthLimit,
        *,
        config: SearchConfig | None = None,
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          blueprint: a policy network or the uniform policy; or a function from information state
            tensors, float32 [N, D], and legal actions, bool [N, A], both on the CPU, to action
            probabilities, float32 [N, A], on any device, which are 0 where an action is illegal and
            sum to 1 in each row. Other policies are refused.
          critic: of this blueprint.
          depth_limit: how deep each search looks.
          config: the rest; None: the defaults, with max_histories=25,000. A config of your own has
            no bound unless it says one.

        Raises:
          ValueError: if the game has no rules, if the blueprint is none of these, or if the config
            needs the whole game's tree.
        """
        config = config or SearchConfig(max_histories=MAX_HISTORIES)
        super().__init__(SePoTPlayedStep(game, blueprint, critic, depth_limit, config), MAX_KEPT)


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
