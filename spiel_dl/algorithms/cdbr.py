"""Continual depth-limited best response (CDBR).

Milec, Kubíček, Lisý (2024), "Continual Depth-limited Responses for Computing Counter-strategies in
Sequential Games", section 3. Each step maximises what the player earns if the opponent follows the
model above the step's horizon and both are rational below it. With the optimal value function this
never loses: the response earns at least the game's value against the model, since playing on
rationally is always among the choices. It may earn less than an equilibrium that happens to exploit
the model behind the horizon (the paper's appendix F).

```python
model = policy.UniformRandomPolicy(game)
response = cdbr.CDBRPolicy(game, 0, model, DepthLimit(plies=2))
print(exploitability.gain(game, response.to_array_policy(), model, player=0))
```

Steps:

  1. The first piece of the game (`tree.pieces`) is solved, with the opponent bound to the model
     down to the horizon.
  2. In each public state where a next piece begins, the player's range is that of its strategy so
     far, and the opponent's that of the model: no gadget is needed, since a bound opponent cannot
     come differently. The piece is solved with these ranges.
  3. And so on, until the game ends.

Where nothing more is free for the opponent, a step is a best response; else it is CFR or a linear
program, or, with a value function, CFR in the trunk, of which the iterate of highest value is kept.
"""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import AnyGame, ArrayPolicy
from spiel_dl.search.response_policy import (
    DEFAULT_EFFORT,
    AnyValueFunction,
    ResponsePolicy,
    make_pieces,
)
from spiel_dl.solvers.restricted_game import Effort, restrict
from spiel_dl.tree.depth_limit import DepthLimit


class CDBRPolicy(ResponsePolicy):
    """The continual depth-limited best response of a player to a model of its opponent."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        opponent_policy: openspiel_policy.Policy,
        depth_limit: DepthLimit,
        scheme: str = "sliding",
        value_function: AnyValueFunction | None = None,
        *,
        exact: bool = False,
        effort: Effort = DEFAULT_EFFORT,
    ):
        """Compiles the game; solves nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          player: who responds.
          opponent_policy: the model; its part for `player` is not read.
          depth_limit: how many levels a step looks ahead. The paper's CDBR n looks n levels beyond
            the player's decision: n + 1 plies.
          scheme: "sliding": a step at every decision. "block": a step every so many levels, as the
            paper's definition has it.
          value_function: values what lies at the horizon: one for all steps, or one for each depth
            limit, counted from the root, at which a step ends. None: the optimal value function, by
            solving all the rest of the game in each step.
          exact: solve by linear programming; without a value function only.
          effort: how long to iterate, in each step.

        Raises:
          ValueError: if the game cannot be compiled or cut, or if an argument is not valid.
        """
        pieces = make_pieces(game, opponent_policy, depth_limit, scheme)
        super().__init__(game, player, opponent_policy, pieces, value_function, exact, effort)
        self._piece_of_infoset = pieces.of_infosets(player)

    def _steps_to(self, infoset: int) -> list[int]:
        return self._pieces.path(int(self._piece_of_infoset[infoset]))

    def _solve_step(self, step: int) -> float:
        return self._solve_pieces(np.array([step]))

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets; solves what was not asked for yet.

        Pieces that begin at one depth are solved together: that is faster than one by one.
        """
        pieces = np.unique(self._piece_of_infoset)
        waiting = pieces[~np.isin(pieces, list(self._solved_steps))]
        starts = np.array([self._pieces.start(piece) for piece in waiting.tolist()])
        for start in np.unique(starts):
            together = waiting[starts == start]
            self.gap += self._solve_pieces(together)
            self._solved_steps.update(together.tolist())
        return super().to_array_policy()

    def _solve_pieces(self, pieces: np.ndarray) -> float:
        """Solves pieces (int [n], sorted) that begin at one depth, after those above them.

        Pieces where nothing is to be decided, or where the player or the model never comes, are
        left out. Returns the gap in utility units of the whole game.
        """
        free = self.tree.treeplexes[self.player].num_actions > 1
        pieces = pieces[np.isin(pieces, self._piece_of_infoset[free])]
        if len(pieces):
            masses = self._scaled_range(self.player, pieces)[1]
            masses = masses * self._scaled_range(1 - self.player, pieces)[1]
            pieces, masses = pieces[masses > 0], masses[masses > 0]
        if not len(pieces):
            return 0.0
        own_range, _ = self._scaled_range(self.player, pieces)
        model_range, _ = self._scaled_range(1 - self.player, pieces)
        horizon = self._pieces.horizon(self._pieces.start(int(pieces[0])))
        trunk = self._cut(pieces.tolist(), horizon)
        form = self._form(trunk)
        game = restrict(
            form,
            (own_range, np.zeros_like(model_range)),
            self._model_plan_on(trunk, model_range),
            self._above_horizon(trunk, horizon),
            p=1.0,
        )
        # A gap in one piece weighs less in the whole game, by the piece's mass.
        response, _ = self._respond(game, trunk, horizon, unit=1.0 / float(masses.max()))
        everywhere = np.ones(form.treeplexes[0].num_infosets, np.bool_)
        self._keep(trunk, response.strategy, everywhere)
        return response.gap * float(masses.max())

    def _scaled_range(self, player: int, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A player's range, scaled to sum 1 in every piece, lest it vanish in long games.

        Returns:
          float64 [R]; and the sums before scaling, float64 [n].
        """
        reach, piece = self._range(player, pieces.tolist())
        position = np.searchsorted(pieces, piece)
        mass = np.bincount(position, reach, len(pieces))
        return np.divide(reach, mass[position], out=reach.copy(), where=reach > 0), mass
