"""Adapting beyond the depth limit (ABD).

Milec, Kovařík, Lisý (2025), "Adapting Beyond the Depth Limit: Counter Strategies in Large Imperfect
Information Games", the successor of CDRNR (`algorithms.cdrnr`). CDRNR assumes that both players are
rational behind the horizon, so it cannot exploit mistakes that the opponent makes there. ABD needs
no value function of rational play: behind the horizon both players follow a strategy of a
*portfolio*, and the value of a leaf is the payoff matrix of these strategies.

A step solves the game from the root down to the horizon:

  1. With probability p the opponent follows the model, above the horizon and behind it, to the end.
  2. Else it is free above the horizon, and picks a strategy of its portfolio in each of its leaf
     infosets. The model is one of these.
  3. The player does not see which. It picks a strategy of its own portfolio in each of its leaf
     infosets, and is bound in all levels above the one where the step starts, as by CDRNR's gadget
     "joint", the only one here.

With all pure strategies in both portfolios a step is the whole game, and ABD is the restricted Nash
response (`algorithms.rnr`; tested). With fewer, the player's choices behind the horizon are fewer
than in the game, and so are those of an opponent that does not follow the model. The first only
costs gain. The second makes the game look safer than it is: p does not bound the exploitability, in
contrast to CDRNR's joint gadget.

```python
model = opponent_models.errs_beyond(game, limit, equilibrium, ArrayPolicy.uniform(game))
response = abd.ABDPolicy(game, 0, model, limit, p=0.5)
print(exploitability.gain(game, response.to_array_policy(), model, player=0))
```
"""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.portfolios import Portfolios, of_cfr
from spiel_dl.search.respond_to import DEFAULT_EFFORT, ResponsePolicy, response_source
from spiel_dl.search.spec import Root, Spec, ValuesAt
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.history_values import history_values
from spiel_dl.solvers.restricted_game import check_probability
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame


class ABDPolicy(ResponsePolicy):
    """The response of a player to a model of its opponent, behind the depth limit, too."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        model: openspiel_policy.Policy,
        depth_limit: DepthLimit,
        *,
        p: float,
        scheme: str = "sliding",
        portfolios: Portfolios | None = None,
        exact: bool = False,
        effort: Effort = DEFAULT_EFFORT,
    ):
        """Compiles the game and makes portfolios; searches nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          player: the player who responds.
          model: the opponent's policy as far as it is known; its part for `player` is not read.
          depth_limit: how many levels a step looks ahead.
          p: the probability that the opponent follows the model, 0 to 1.
          scheme: "sliding": a step at every level. "block": a step every so many levels.
          portfolios: both players' continuations; None: CFR's iterates against an opponent who
            follows the model with probability p, see `policies.portfolios.of_cfr`.
          exact: solve each step by linear programming, not by CFR.
          effort: how long to iterate, in each step.

        Raises:
          ValueError: if the game cannot be compiled or cut, or if an argument is not valid.
        """
        check_probability(p)
        source = response_source(game, player, model, depth_limit, scheme)
        if portfolios is None:
            portfolios = of_cfr(source.tree, player, source.known, p=p)
        values = ByPortfolios(_checked(portfolios, source.known, player))
        super().__init__(source, abd_spec(values, p, exact=exact), effort)


def abd_spec(values: ValuesAt, p: float, *, exact: bool = False) -> Spec:
    """The spec of a step of ABD, by the values of leaves."""
    return Spec(values, "joint", p=p, model_to_the_end=True, exact=exact)


class ByPortfolios:
    """Values of leaves by both players' portfolios against each other; a `ValuesAt`.

    Both players follow their strategies of the portfolios from the leaves to the end of the game.
    """

    def __init__(self, portfolios: Portfolios):
        """Takes the portfolios of the searching player and its opponent."""
        self._portfolios = portfolios
        self._values: list[np.ndarray] | None = None

    def __call__(self, root: Root) -> np.ndarray:
        """Expected utilities of the searching player: float64 [N, J, K]."""
        leaves = root.trunk.leaves
        if self._values is None:
            _, own, others = self._portfolios
            self._values = [history_values(leaves.tree, root.player, one, others) for one in own]
        return np.stack([values[leaves.histories] for values in self._values], axis=1)


def _checked(portfolios: Portfolios, model: ArrayPolicy, player: int) -> Portfolios:
    """The portfolios.

    Raises:
      ValueError: if they are another player's or of another game, or do not begin with the model.
    """
    remedy = "make them by policies.portfolios.by_hand for this game, player and model"
    if portfolios.player != player:
        raise ValueError(
            f"the portfolios are player {portfolios.player}'s, but player {player} responds; "
            f"{remedy}"
        )
    for name, owner, strategies in (
        ("own", player, portfolios.own),
        ("others", 1 - player, portfolios.others),
    ):
        num_sequences = model.tree.treeplexes[owner].num_sequences
        shape = strategies.shape
        if len(shape) != 2 or not len(strategies) or shape[1] != num_sequences:
            raise ValueError(
                f"portfolios.{name} has shape {shape}, but must hold strategies of player "
                f"{owner}'s {num_sequences} sequences in {model.tree.game}, one a row; {remedy}"
            )
    if not np.allclose(portfolios.others[0], model.strategies[1 - player], rtol=0.0, atol=1e-6):
        raise ValueError(
            "portfolios.others[0] is not the model, which the opponent follows behind the depth "
            f"limit with probability p; {remedy}"
        )
    return portfolios
