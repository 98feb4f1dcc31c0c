"""Continual depth-limited restricted Nash response (CDRNR).

Milec, Kubíček, Lisý (2024), "Continual Depth-limited Responses for Computing Counter-strategies in
Sequential Games", section 4. As in CDBR, each step looks down to a horizon. But the opponent
follows the model only with probability p, and else does what is worst for the player, who does not
see which. So its realization plan above the horizon is p * model + (1 - p) * free, also in the
ranges that the value function gets (`solvers.restricted_game`). p = 0 is continual resolving, p = 1
is CDBR, and one step over the whole game is the restricted Nash response (`algorithms.rnr`).

The opponent may have come to a step by another way than the step before expected. What makes up for
it is the gadget. *Gain* is the expected utility against the model less the game's value v; *safety*
is p * gain >= (1 - p) * exploitability, which gives gain >= 0 too, if p > 0. With an optimal value
function and exact solutions:

| gadget | what a step solves | guaranteed |
|---|---|---|
| `joint` | a level: the whole game, the player bound in all levels above | safety |
| `full` | a public state: the whole game, the player bound on the path to it only | p = 1 |
| `resolving` | a public state, which the opponent may leave for its values before | safety |
| `max_margin` | a public state, which the opponent enters where it gains most | p = 0 or 1 |
| `reach_max_margin` | the same, where what it gave away on the way counts | p = 0 or 1 |

p = 0 or 1: exploitability 0 if p = 0, gain >= 0 if p = 1, and no bound in between.

*Proof for `joint`.* From one step to the next, the player's solution remains possible and the
opponent is bound in more places, so the optimum never falls; the first one is at least v, which an
equilibrium earns against anybody. The last one, p (v + gain) + (1 - p) (v - exploitability), is
thus at least v.

*Proof for `resolving`.* The solution before remains possible, so what a step takes from p * gain
in its public state is at least (1 - p) times the sum of the rises of the opponent's values there,
and no opponent gains more by it in the whole game than all rises in all public states.

`resolving` counts rises that no single opponent can collect, so it exploits less than it might;
`max_margin` counts the largest rise only, so it may exploit more than is safe. `full` (the paper's
section 5) lets the player change its mind off the path, in public states for which it may already
have decided otherwise. Each public state by itself is then safe, but siblings can spend the same
slack twice, and the paper's safety theorem does not hold for them together: with as little as two
of them, exploitability can be three times the gain at p = 0.5.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.continual_resolving import Averages, Start, opponent_values, starts_below
from spiel_dl.policies.array_policy import AnyGame
from spiel_dl.search.response_policy import (
    DEFAULT_EFFORT,
    AnyValueFunction,
    ResponsePolicy,
    make_pieces,
)
from spiel_dl.solvers import gadgets
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import Effort, check_probability, restrict
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.pieces import ROOT
from spiel_dl.tree.sequence_form import SequenceForm
from spiel_dl.tree.trunk import Trunk, cut, cut_beyond

_GADGETS_WITH_VALUES = ("resolving", "max_margin", "reach_max_margin")
GADGETS = ("joint", "full", *_GADGETS_WITH_VALUES)


class CDRNRPolicy(ResponsePolicy):
    """The continual depth-limited restricted Nash response to a model of the opponent."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        opponent_policy: openspiel_policy.Policy,
        p: float,
        depth_limit: DepthLimit,
        scheme: str = "block",
        gadget: str = "joint",
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
          p: the probability that the opponent follows the model, 0 to 1.
          depth_limit: how many levels a step looks ahead.
          scheme: "block": a step every so many levels. "sliding": a step at every level.
          gadget: "joint", "full", "resolving", "max_margin" or "reach_max_margin"; see above. The
            last three know what the opponent had before where a step ends only, if a value function
            tells it: they cannot slide with one. "full" has no one horizon, so it takes one value
            function for all leaves.
          value_function: values what lies at the horizon: one for all steps, or one for each depth
            limit, counted from the root, at which a step ends. None: the optimal value function, by
            solving all the rest of the game in each step.
          exact: solve by linear programming; without a value function only.
          effort: how long to iterate, in each step.

        Raises:
          ValueError: if the game cannot be compiled or cut, if an argument is not valid, or if the
            gadget cannot be used with this scheme and this value function.
        """
        if gadget not in GADGETS:
            raise ValueError(f"gadget={gadget!r} must be one of {GADGETS}")
        if gadget in _GADGETS_WITH_VALUES and scheme == "sliding" and value_function is not None:
            raise ValueError(
                f"gadget={gadget!r} with scheme='sliding' needs the opponent's values inside of "
                "what a step looks at, where a value function does not tell them; use "
                "scheme='block', gadget='joint' or no value_function"
            )
        if gadget == "full" and isinstance(value_function, Mapping):
            raise ValueError(
                "gadget='full' looks down to several depth limits in one step, so it cannot choose "
                f"among the value functions for {list(value_function)}; give one for all, or use "
                "another gadget"
            )
        check_probability(p)
        pieces = make_pieces(game, opponent_policy, depth_limit, scheme)
        super().__init__(game, player, opponent_policy, pieces, value_function, exact, effort)
        self._p = p
        self._gadget = gadget
        self._piece_of_infoset = pieces.of_infosets(player)
        self._starts: dict[int, Start] = {}

    def _steps_to(self, infoset: int) -> list[int]:
        if self._gadget == "joint":
            depth = int(self._pieces.infoset_depths[self.player][infoset])
            return list(range(0, depth + 1, self._pieces.num_kept))
        return self._pieces.path(int(self._piece_of_infoset[infoset]))

    def _solve_step(self, step: int) -> float:
        if self._gadget == "joint":
            return self._solve_level(step)
        if self._gadget == "full":
            return self._solve_on_path(step)
        return self._solve_behind_gadget(step)

    def _solve_level(self, level: int) -> float:
        """Gadget `joint`: all public states at once, the player bound in all levels above."""
        depths = self._pieces.infoset_depths[self.player]
        below = depths >= level
        if not self._has_decisions(below & (depths < level + self._pieces.num_kept)):
            return 0.0
        horizon = self._pieces.horizon(level)
        trunk = self._cut([ROOT], horizon)
        above = self._above_horizon(trunk, horizon)
        return self._solve_from_root(trunk, horizon, above, ~below, below)

    def _solve_on_path(self, piece: int) -> float:
        """Gadget `full`: the player is bound on the path to the piece, and free elsewhere."""
        pieces, opponent = self._pieces, 1 - self.player
        if not self._has_decisions(self._piece_of_infoset == piece):
            return 0.0
        horizon = pieces.horizon(pieces.start(piece))
        on_path = np.isin(pieces.of_history, pieces.path(piece)[:-1])
        below = pieces.below(piece)
        explored = on_path | (below & (pieces.depths < horizon))
        if self._value_function is None:
            trunk = self._cut([ROOT], horizon)
        else:
            trunk = cut_beyond(self.tree, ~explored, pieces.limit(horizon))
        modelled = explored[self.tree.first_history[opponent][trunk.infosets[opponent]]]
        first = self.tree.first_history[self.player]
        return self._solve_from_root(trunk, None, modelled, on_path[first], below[first])

    def _solve_from_root(
        self,
        trunk: Trunk,
        horizon: int | None,
        modelled: np.ndarray,
        bound: np.ndarray,
        kept: np.ndarray,
    ) -> float:
        """Solves a step without gadget.

        Args:
          trunk: what it looks at, from the root.
          horizon: the level where the trunk ends; None: at several ones.
          modelled: bool [I], the opponent's infosets in the trunk where the model binds it.
          bound: bool [I], the player's infosets in the tree where it plays what it has decided.
          kept: bool [I], the player's infosets in the tree for which the solution is kept.
        """
        own = trunk.infosets[self.player]
        root = np.ones(1)
        game = restrict(
            self._form(trunk),
            (root, root),
            self._model_plan_on(trunk, root),
            modelled,
            self._p,
            self._fixed_on(trunk, bound[own]),
        )
        response, leaf_values = self._respond(game, trunk, horizon)
        self._keep(trunk, response.strategy, kept[own])
        if self._gadget in _GADGETS_WITH_VALUES:
            self._hand_on(ROOT, trunk, leaf_values, np.ones(1), np.zeros(1))
        return response.gap

    def _solve_behind_gadget(self, piece: int) -> float:
        """The other gadgets: the opponent may have its values of the step before instead."""
        pieces = self._pieces
        horizon = pieces.horizon(pieces.start(piece))
        trunk = self._cut([piece], horizon)
        own = trunk.infosets[self.player]
        if piece == ROOT:
            everywhere = np.ones(self.tree.num_infosets(self.player), np.bool_)
            above = self._above_horizon(trunk, horizon)
            return self._solve_from_root(trunk, horizon, above, ~everywhere, everywhere)
        start = self._starts[piece]
        mass = float(self._range(self.player, [piece])[0].sum())
        if not start.player_range.any():
            no_values = np.zeros(trunk.leaves.num_infosets(1 - self.player))
            self._hand_on(piece, trunk, no_values, start.player_range, start.opponent_cfvs)
            return 0.0
        gadget = self._put_on_top(self._form(trunk), start)
        treeplex = gadget.sequence_form.treeplexes[1]
        model_plan = np.zeros(treeplex.num_sequences)
        model_range, _ = self._range(1 - self.player, [piece])
        model_plan[gadget.new_sequences[1]] = self._model_plan_on(trunk, model_range)
        modelled = np.ones(treeplex.num_infosets, np.bool_)
        above = self._above_horizon(trunk, horizon)
        modelled[len(modelled) - len(above) :] = above
        game = restrict(gadget.sequence_form, gadget.root_ranges, model_plan, modelled, self._p)
        response, leaf_values = self._respond(
            game, trunk, horizon, gadget.new_sequences, 1.0 / mass
        )
        self._keep(trunk, response.strategy, np.ones(len(own), np.bool_))
        may_get = start.opponent_cfvs + start.gifts
        self._hand_on(piece, trunk, leaf_values, start.player_range, may_get)
        return response.gap * mass

    def _put_on_top(self, form: SequenceForm, start: Start) -> gadgets.Gadget:
        given = (form, 0, start.player_range, start.opponent_cfvs)
        if self._gadget == "resolving":
            return gadgets.resolving(*given)
        if self._gadget == "max_margin":
            return gadgets.max_margin(*given)
        return gadgets.reach_max_margin(*given, start.gifts)

    def _hand_on(
        self,
        piece: int,
        trunk: Trunk,
        leaf_values: np.ndarray,
        player_range: np.ndarray,
        may_get: np.ndarray,
    ) -> None:
        """Tells the next pieces what they start from.

        Args:
          piece: the piece that was solved.
          trunk: what its step looked at.
          leaf_values: float64 [L], the opponent's average values at its leaves, if a value function
            gave them. Else they are best-response values against what the player plans behind.
          player_range: float64 [R], the player's range at the piece's roots.
          may_get: float64 [R], what the opponent may get at the piece's roots, gifts included.
        """
        opponent = 1 - self.player
        if self._value_function is None:
            start = self._pieces.start(piece)
            end = self._pieces.first_kept(start) + self._pieces.num_kept
            limit = self._pieces.limit(end - start)
            trunk = cut(self.tree, limit, None if piece == ROOT else piece)
        leaves, treeplex = trunk.leaves, trunk.sequence_form.treeplexes[self.player]
        if not leaves.num_public_states:
            return
        strategy = self._own_strategy[trunk.sequences[self.player]]
        plan = realization_plan(treeplex, strategy, player_range)
        if self._value_function is None:
            own_below = self._own_strategy[trunk.leaves.subgame_sequences[self.player]]
            below = realization_plan(
                trunk.leaves.subgames.treeplexes[self.player],
                own_below,
                plan[leaves.sequences[self.player]],
            )
            response = best_response(trunk.leaves.subgames, opponent, below)
            leaf_values = response.cfv[: leaves.num_infosets(opponent)]
        model_plan = self._model_plan_on(trunk, self._range(opponent, [piece])[0])
        nothing = np.zeros(leaves.num_infosets(self.player))
        averages = Averages(
            _in_order(self.player, plan, model_plan), _in_order(self.player, nothing, leaf_values)
        )
        values = opponent_values(trunk, self.player, averages)
        # What the opponent still lacks to what it may get here may be given to it below.
        num_roots = trunk.sequence_form.treeplexes[opponent].num_root_sequences
        left = np.maximum(may_get - values[:num_roots], 0.0)
        if piece == ROOT:
            left = np.zeros(1)
        self._starts.update(starts_below(trunk, self.player, averages, values, left))


def _in_order(player: int, own: np.ndarray, others: np.ndarray) -> Pair:
    """The player's array and its opponent's, as player 0's and player 1's."""
    return (own, others) if player == 0 else (others, own)
