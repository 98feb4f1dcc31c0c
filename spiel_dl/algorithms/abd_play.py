"""ABD in games of any size with `Rules`: search along the game that is played.

`algorithms.abd` compiles the game; here public states are never listed, and the matrices of leaves
are means of games that are played out. `search.portfolio_played` says what a search does, and what
of the compiled form it gives up: the opponent is taken to have come as its model would.

```python
network = spiel_dl.load_policy("mmd:battleships_2x2", game)
model = LatePolicy(network, UniformPolicy(game, [0, 1]), num_rounds=6)
response = ABDPlayPolicy(game, model, [network], DepthLimit(moves=1), others=[network])
```
"""

from __future__ import annotations

from collections.abc import Sequence

from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.sepot import MAX_KEPT
from spiel_dl.search.played import BlueprintSource, Schedule
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.policy_rows import TensorPolicy, acting_policy, rows_of
from spiel_dl.search.rollout_values import ByRollouts
from spiel_dl.search.samples import OfInfoset
from spiel_dl.search.sepot_config import PortfolioConfig as PortfolioConfig
from spiel_dl.search.spec import Spec
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import rules_of


class ABDPlayPolicy(SearchPolicy):
    """Both players' responses to a model of the other one, each as if only that player searched.

    An answer depends on nothing that was asked before.
    """

    source: BlueprintSource

    def __init__(
        self,
        game: AnyGame,
        model: openspiel_policy.Policy,
        own: Sequence[openspiel_policy.Policy],
        depth_limit: DepthLimit,
        *,
        others: Sequence[openspiel_policy.Policy] = (),
        config: PortfolioConfig | None = None,
        max_kept: int = MAX_KEPT,
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          model: the opponent's, for both seats: a policy network, the uniform policy, or a
            `LatePolicy` of these.
          own: what the player may go on with behind the depth limit; the first one is what it plays
            where it does not search. Policies as above.
          depth_limit: how deep each search looks.
          others: what the opponent may go on with besides the model.
          config: how to search; None: the defaults.
          max_kept: how many searches are remembered at most; the latest ones.

        Raises:
          ValueError: if the game has no rules, if `own` is empty, or if a policy is none of these.
        """
        turn_based = turn_based_game(game)
        rules = rules_of(turn_based)
        how = config or PortfolioConfig()
        rows = [[rows_of(rules, each) for each in side] for side in (own, (model, *others))]
        values = ByRollouts(rules, rows[0], rows[1], num_rollouts=how.num_rollouts, seed=how.seed)
        blueprint = acting_policy(own[0])
        if blueprint is None:
            raise ValueError("the first of `own` must be a policy network or the uniform policy")
        source = BlueprintSource(
            turn_based,
            TensorPolicy(rules, blueprint),
            depth_limit,
            OfInfoset(how.budget, max_listed=how.budget, seed=how.seed),
            others=rows[1][0],
            schedule=Schedule(first_round=how.first_round),
        )
        super().__init__(source, Spec(values, p=how.p), how.effort, max_kept=max_kept)
