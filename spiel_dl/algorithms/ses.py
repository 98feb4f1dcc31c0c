"""Safe exploitation search (SES): subgames solved with a gadget weighted by the model's range.

Liu, Wu, Liu, Jing, Yang, Tang, Zhang (2022), "Safe Opponent-Exploitation Subgame Refinement", as a
baseline of Milec, Kubíček, Lisý (2024), section 6 "SES explanation". The game is solved in blocks,
from the top:

  1. Above the first depth limit, the player keeps the strategy of a blueprint, an equilibrium.
  2. In each public state at the limit, the margin of each of the opponent's infosets I there is
     M(I) = (its best-response cfv against the strategy so far) - (that against the new one). The
     new strategy maximises

         (1 - alpha) * min_I M(I)  +  alpha * sum_I r(I) M(I),

     where r is the model's range there, scaled to sum 1. The first term is the max-margin gadget's,
     the second one trusts the model's reach.
  3. And so on, at the next limit, with this strategy as the one so far.

Below, the opponent is rational: the model is used for its reaches only. So alpha = 0 is max-margin
resolving without a model, and alpha = 1 is unsafe resolving at the model's range.

Deviations: subgames are solved to the end of the game by linear programming, which equals the
optimal value function at the next limit. Margins are unnormalised cfvs, as in `solvers.gadgets`.
Where the model's reach is 0, so is alpha.
"""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.sequence_form_lp import solve_zero_sum_game
from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.search.search import search
from spiel_dl.search.spec import Root, Spec
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.counts import is_share
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME, DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.trunk import cut


def safe_exploitation_search(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    *,
    alpha: float,
    blueprint: openspiel_policy.Policy | None = None,
) -> ArrayPolicy:
    """A player's strategy by safe exploitation search in all subgames.

    Args:
      game: the game, its game string, or the compiled game.
      player: the player who responds.
      model: the opponent's; its part for `player` is not read.
      depth_limit: where subgames start, counted from the start of the one before.
      alpha: the weight of the model's reach, 0 to 1.
      blueprint: the player's strategy before any search; None: an equilibrium by linear
        programming.

    Returns:
      A policy in which `player` plays this strategy and the opponent plays the model.

    Raises:
      ValueError: if the game cannot be compiled or cut, a policy is not one for it, there is no
        such player, or alpha is not between 0 and 1.
    """
    check_player(player)
    if not is_share(alpha):
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1")
    tree = compile_game(game, model)
    model_strategy = read_strategy(tree, model, 1 - player)
    model_plan = realization_plan(tree.treeplexes[1 - player], model_strategy)
    if blueprint is None:
        blueprint = solve_zero_sum_game(tree)[2]
    strategy = read_strategy(tree, blueprint, player).copy()
    pending = cut(tree, depth_limit).leaves.public_states.tolist()
    while pending:
        public_state = pending.pop()
        _refine(tree, player, public_state, strategy, model_plan, alpha)
        pending += cut(tree, depth_limit, public_state).leaves.public_states.tolist()
    strategies = (strategy, model_strategy) if player == 0 else (model_strategy, strategy)
    return ArrayPolicy(tree, strategies)


def _refine(
    tree: GameTree,
    player: int,
    public_state: int,
    strategy: np.ndarray,
    model_plan: np.ndarray,
    alpha: float,
) -> None:
    """Step 2: replaces the player's strategy (float64 [S_p]) in the subgame of a public state."""
    subgame = cut(tree, BEYOND_THE_GAME, public_state)
    form, opponent = subgame.sequence_form, 1 - player
    treeplex = form.treeplexes[player]
    own_plan = realization_plan(tree.treeplexes[player], strategy)
    player_range, model_range = (
        reach / (reach.sum() or 1.0)
        for reach in (
            subgame.root_range(player, own_plan),
            subgame.root_range(opponent, model_plan),
        )
    )
    if not player_range.any() or not treeplex.num_infosets:
        return
    old_plan = realization_plan(treeplex, strategy[subgame.sequences[player]], player_range)
    # In the gadget the opponent first chooses a root infoset. Nothing else is bound to the model.
    others = form.treeplexes[opponent]
    root = Root(
        subgame,
        player,
        (player_range, model_range) if player == 0 else (model_range, player_range),
        given_cfvs=best_response(form, opponent, old_plan).cfv[: len(model_range)],
        model_plan=np.append(model_range, np.zeros(others.num_sequences - len(model_range))),
        modelled=np.zeros(others.num_infosets, np.bool_),
    )
    spec = Spec(gadget="max_margin", p=alpha if model_range.any() else 0.0, exact=True)
    new = search(root, spec, Effort()).strategy
    below_roots = slice(treeplex.num_root_sequences, None)
    strategy[subgame.sequences[player][below_roots]] = new[below_roots]
