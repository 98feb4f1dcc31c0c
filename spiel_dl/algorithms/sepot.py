"""SePoT: look-ahead search on top of a policy, from any public state.

Kubíček, Burch, Lisý (2023), "Look-ahead Search on Top of Policy Networks in Imperfect Information
Games", section 4.2. To decide in a public state:

  1. The player's range is its own reach of its infosets there: by the searches on the way, and by
     the blueprint where there were none. The opponent's given cfvs are the critic's values of the
     transformation that is best in each infoset, summed over its histories with chance's and the
     player's reach.
  2. `search.search` solves the game from there to the depth limit.
  3. The player's strategy down to the limit is kept; there, the next search starts.

    critic = ExactCritic(tree, blueprint.strategies, transformations)
    policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1))
    bot = spiel_dl.policy_bot(policy, player=0, seed=1)

    policy = load("runs/sepot/leduc/checkpoint.safetensors", DepthLimit(rounds=1))  # trained ones

`SePoTPolicy` searches in compiled games, `SePoTPlayPolicy` in games of any size with `Rules`, whose
public states are reconstructed; `load`, which is also `spiel_dl.SePoT`, takes the one for the
game's size. Where public states are too large to list, a search starts from some of their
histories: a sample, or those of low-order knowledge (`search.samples`). Steps 1 and 2 are as above,
but each history counts for those it stands for, and nothing is guaranteed; if the budget holds the
whole public state, the result is SePoT's to the last digits.

    policy = SePoTPlayPolicy(game, blueprint, critic, DepthLimit(rounds=1),
                             particles=ParticleConfig(budget=500))

Why these are the defaults of `SearchConfig` (others in `results/sepot/goofspiel_5/ablation.md`):

  * *Ranges of the searched policy.* The paper replays the network's policy for a player that has
    played by it so far (section 4.2). Once the player has searched, its range is another one, and
    given cfvs at a wrong range bound nothing.
  * *Blocks.* The first level of a search that looks k levels ahead is optimal together with the
    other k - 1, which the next search gives up unless it is bound by cfvs of the first.
  * *Given cfvs of a best response to the blueprint.* The blueprint keeps the opponent at them, so
    the gadget can be solved. Nothing need keep it at those of the identity (`as_printed`), which
    are lower where the opponent's own blueprint errs, nor at those that a learned critic has of the
    root: it errs differently there than at the leaves.
  * *Refined by the blueprint's reach.* A gadget alone leaves a search free where the opponent would
    not enter; the refined one plays well there too (`results/sepot/learned_critics/kept_cfvs.md`,
    `results/sepot/battleships_3x3/one_move/gains.md`).

Guarantees:

  * If each path has one search, which looks to the end of the game (blocks), with
    `given_cfvs="best_response"`, none makes its player more exploitable, up to the error of the
    solution: its blueprint keeps the opponent at its given cfvs, so the gadget can be solved.
    Sliding searches keep one level of each solution, which may be good only with the rest of it
    (`tests/algorithms/test_sepot.py` has a game in which they lose).
  * In blocks, with `given_cfvs="transformations"`: if the blueprint is an equilibrium, the
    transformations are all continuations of the opponent, and the first search starts at the root,
    the searched policy is an equilibrium. With "critic" it need not be one. An equilibrium may err
    where the opponent's reach is 0; cfvs of the identity then cannot be kept there, and a search
    loses elsewhere (`tests/algorithms/test_sepot.py` has such a game).

Outside these conditions nothing is guaranteed: few transformations do not cover all continuations
of an opponent behind the leaves.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

import numpy as np
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning import checkpoints
from spiel_dl.learning.batch_learner import BatchLearner
from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.critics import Critic
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.compiled import CompiledPolicy, CompiledSource
from spiel_dl.search.leaf_values import ByCritic, best_response_cfvs
from spiel_dl.search.played import LARGEST_SEARCH, BlueprintSource
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.policy_rows import AnyBlueprint, TensorPolicy, acting_blueprint, fixed_to
from spiel_dl.search.samples import OfKnowledge, Sampler, SomeOfPublicState, WholePublicState
from spiel_dl.search.sepot_config import MAX_HISTORIES
from spiel_dl.search.sepot_config import ParticleConfig as ParticleConfig
from spiel_dl.search.sepot_config import SearchConfig as SearchConfig
from spiel_dl.search.spec import GivenCfvs, Root, Spec
from spiel_dl.solvers.gadgets import SAFE_GADGETS
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game, compile_if_small, turn_based_game
from spiel_dl.tree.particles import rules_of
from spiel_dl.tree.pieces import Pieces, look_ahead_sizes

_MAX_KEPT = 4096  # the number of search results that `SePoTPlayPolicy` keeps
# Of a game with `Rules` that `load` compiles; learners compile as large ones.
_MAX_TREE_HISTORIES = LearnerConfig.max_tree_histories


def sepot_spec(
    critic: Critic | None, config: SearchConfig, blueprint: Callable[[Root], np.ndarray]
) -> Spec:
    """The spec of a search of SePoT.

    Args:
      critic: values leaves and given cfvs; None if no search needs them.
      config: where and how to search.
      blueprint: the searching player's blueprint in a root's trunk: float64 [S_p].
    """
    values = ByCritic(critic)
    given_cfvs: dict[str, GivenCfvs] = {
        "transformations": values.best_cfvs,
        "critic": values.identity_cfvs,
        "best_response": functools.partial(best_response_cfvs, blueprint=blueprint),
    }
    return Spec(
        values,
        config.gadget,
        config.refinement if config.gadget in SAFE_GADGETS else "none",
        given_cfvs=given_cfvs[config.given_cfvs],
        leaf_choice=config.leaf_choice,
        averages=False,
    )


def _of_array(policy: ArrayPolicy, root: Root) -> np.ndarray:
    own: np.ndarray = policy.strategies[root.player][root.trunk.sequences[root.player]]
    return own


def _of_rows(policy: PolicyRows, root: Root) -> np.ndarray:
    return fixed_to(policy, root.trunk, root.player).strategy


class SePoTPolicy(CompiledPolicy):
    """Both players' policies by search on a compiled game, each as if only that player searched.

    A search is made when it is first needed, and kept. The policy is the blueprint where a player's
    own reach is 0, and where a search would be too large.
    """

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
            the gadget is "unsafe".
          depth_limit: how deep each search looks.
          config: the rest; None: the defaults.

        Raises:
          ValueError: if the game cannot be compiled or cut into pieces, or if the blueprint is not
            a policy for it.
        """
        config = config or SearchConfig()
        tree = compile_game(game, blueprint)
        left_out = _left_out(tree, depth_limit, config)
        pieces = Pieces(tree, depth_limit, "block", config.first_level, left_out)
        known = ArrayPolicy.from_policy(tree, blueprint)
        spec = sepot_spec(critic, config, functools.partial(_of_array, known))
        super().__init__(CompiledSource(pieces, known), spec, config.effort)


def _left_out(tree: GameTree, depth_limit: DepthLimit, config: SearchConfig) -> np.ndarray | None:
    """The pieces that are too large to be searched, as for `Pieces`; None: none."""
    if config.max_histories is None:
        return None
    left_out = look_ahead_sizes(tree, depth_limit) > config.max_histories
    # The search at the root has all public states of a first move.
    firsts = tree.public_states.of_history[(tree.move_number == 0) & (tree.player >= 0)]
    return np.append(left_out, left_out[firsts].any())


class SePoTPlayPolicy(SearchPolicy):
    """Both players' policies by search in games with `Rules`, each as if only that player searched.

    Searches on the way to a state are made first, unless their results are kept. The policy in a
    state does not depend on earlier calls.
    """

    source: BlueprintSource

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        critic: Critic,
        depth_limit: DepthLimit,
        *,
        config: SearchConfig | None = None,
        particles: ParticleConfig | None = None,
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          blueprint: a policy network or the uniform policy; or a function from information state
            tensors, float32 [N, D], and legal actions, bool [N, A], both on the CPU, to action
            probabilities, float32 [N, A], on any device, which are 0 where an action is illegal and
            sum to 1 in each row.
          critic: of this blueprint.
          depth_limit: how deep each search looks.
          config: the rest; None: the defaults, without particles with max_histories=25,000, which
            other configurations set themselves.
          particles: the sample of a public state's histories from which a search starts; None: all.

        Raises:
          ValueError: if the game has no rules, or if the blueprint is any other policy.
        """
        config = config or SearchConfig(max_histories=None if particles else MAX_HISTORIES)
        turn_based = turn_based_game(game)
        rows = TensorPolicy(rules_of(turn_based), acting_blueprint(blueprint))
        source = BlueprintSource(
            turn_based,
            rows,
            depth_limit,
            _sampler(config, particles),
            first_level=config.first_level,
            max_histories=config.max_histories,
        )
        spec = sepot_spec(critic, config, functools.partial(_of_rows, rows))
        super().__init__(source, spec, config.effort, max_kept=_MAX_KEPT)


def _sampler(config: SearchConfig, particles: ParticleConfig | None) -> Sampler:
    if particles is None:
        return WholePublicState(min(config.max_histories or LARGEST_SEARCH, LARGEST_SEARCH))
    return SomeOfPublicState(particles) if particles.order is None else OfKnowledge(particles)


def load(
    source: str | os.PathLike[str] | BatchLearner,
    depth_limit: DepthLimit,
    *others: object,
    config: SearchConfig | None = None,
    game: AnyGame | None = None,
    device: torch.device | str = "cpu",
) -> SePoTPolicy | SePoTPlayPolicy:
    """Search on top of the blueprint and the critic of a learner.

    Games with `Rules` and more than 200,000 histories are searched from public states that are
    reconstructed, unless they are given compiled; all others in their compiled form.

    Args:
      source: a learner with a critic, its checkpoint (`run/train.py`), or the run directory
        that this is in.
      depth_limit: how deep each search looks.
      *others: none; for a game, a blueprint and a critic there is `SePoTPolicy`.
      config: the rest; None: the defaults.
      game: the game, or the compiled game; None: that of the learner.
      device: of the networks of a checkpoint.

    Raises:
      ValueError: as `checkpoints.load` and `SePoTPolicy`, or for other arguments.
    """
    if others or not isinstance(source, str | os.PathLike | BatchLearner):
        raise ValueError(
            "SePoT is made of a learner with a critic, its checkpoint or its run directory, and of "
            "a depth limit; for a game, a blueprint and a critic of your own take "
            "spiel_dl.algorithms.sepot.SePoTPolicy(game, blueprint, critic, depth_limit)"
        )
    blueprint: openspiel_policy.Policy
    if isinstance(source, BatchLearner):
        blueprint, critic = source.policy(), source.critic()
    else:
        blueprint, critic = checkpoints.load(source, game, device)
    game = game or critic.game
    is_compiled = isinstance(game, GameTree) or hasattr(blueprint, "tree")
    if not is_compiled and hasattr(turn_based_game(game), "rules"):
        tree = compile_if_small(turn_based_game(game), _MAX_TREE_HISTORIES)
        if tree is None:
            return SePoTPlayPolicy(game, blueprint, critic, depth_limit, config=config)
        game = tree
    return SePoTPolicy(game, blueprint, critic, depth_limit, config=config)
