"""`ResolvingStep`: solves each piece anew behind a gadget that keeps the opponent at its values.

Without a model of the opponent this is continual resolving. With one, the opponent follows it with
probability p above the horizon: CDRNR with a gadget of values. So continual resolving is CDRNR at
p = 0.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.responding import ModelStep
from spiel_dl.search.starts import Start, starts_below
from spiel_dl.search.step import AnyValueFunction
from spiel_dl.solvers import gadgets
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.depth_limited import Solution
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import RestrictedGame, restrict, unrestricted
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut


class ResolvingStep(ModelStep):
    """Solves pieces of the game behind gadgets.

    A piece that the player never reaches by its own strategy is not solved.

    Attributes:
      starts: what is known of the places below those that were solved, by player and place.
    """

    def __init__(
        self,
        pieces: Pieces,
        policy: ArrayPolicy,
        gadget: str,
        *,
        refinement: str | None = None,
        model_of: int | None = None,
        p: float = 0.0,
        value_function: AnyValueFunction | None = None,
        effort: Effort | None = None,
        exact: bool = False,
    ):
        """Takes what the search goes by.

        Args:
          pieces: how the game is taken apart.
          policy: the policy to begin with; a model's part in it stays.
          gadget: one of `gadgets.GADGETS`; with a model any but "unsafe".
          refinement: weights by which the gadget is refined, one of `solvers.refinement.WEIGHTS`;
            None: it is not. The prior is the opponent's own reach by what it did in the solutions
            before, or by the model; where that is 0 in all of a public state, all root infosets
            count alike.
          model_of: the player of whom the policy holds a model. None: there is no model, and the
            search decides for both players.
          p: the probability that the opponent follows the model.
          value_function: values the leaves; None: look to the end of the game.
          effort: how long to iterate at each place; without a model, it has no tolerance.
          exact: solve by linear programming.

        Raises:
          ValueError: as `ModelStep`; and without a model, if there is a tolerance, or if leaves
            at a horizon have no value function that fits them.
        """
        if model_of is None and effort is not None:
            check_no_tolerance(effort)
        super().__init__(
            pieces,
            policy,
            model_of=model_of,
            p=p,
            value_function=value_function,
            effort=effort,
            exact=exact,
        )
        if model_of is None and value_function is not None:
            self.check_value_functions()
        self._gadget, self._weights = gadget, refinement
        self.starts: dict[tuple[int, int], Start] = {}
        self._root_is_solved = False

    def solve(self, player: int, places: list[int]) -> None:
        """Solves one piece; see `Step`."""
        [piece] = places
        if piece == ROOT:
            self._solve_first(player)
            return
        start = self.starts.get((player, piece))
        if start is None or not start.player_range.any():
            return
        trunk = self.cut([piece])
        side = self.order(player).index(player)
        form = self.form(player, trunk)
        others = start.opponent_range
        if self._gadget == "unsafe":  # Scaled as the player's own, lest it vanish in long games.
            others = others / (others.sum() or 1.0)
        roots = gadgets.Roots(start.player_range, others, start.opponent_cfvs, start.gifts)
        gadget = gadgets.put_on_top(self._gadget, form, side, roots, self._weights)
        mass = 1.0
        if self.model_of is None:
            game = unrestricted(gadget.sequence_form, gadget.root_ranges, gadget.inflows)
        else:
            mass = float(self.root_range(player, [piece])[0].sum())
            game = self._restrict(piece, trunk, gadget)
        solution = self.solve_game(
            player,
            game,
            trunk,
            horizon=self.horizon([piece]),
            new_sequences=gadget.new_sequences,
            unit=1.0 / mass,
        )
        self.gap += solution.gap * mass
        in_trunk = self._without_gadget(solution, gadget)
        self._keep_solution(player, trunk, in_trunk)
        if self.model_of is None and self._gadget in gadgets.SAFE_GADGETS:
            in_trunk = self._by_prior(player, trunk, in_trunk, start.opponent_range)
        limits = start.opponent_cfvs + start.gifts
        self._hand_on(player, piece, trunk, in_trunk, start.player_range, limits)

    def _solve_first(self, player: int) -> None:
        """Solves the piece at the root. Without a model, it is the same for both players."""
        if self._root_is_solved:
            return
        trunk, root = self.cut([ROOT]), np.ones(1)
        horizon = self.horizon([ROOT])
        form = self.form(player, trunk)
        if self.model_of is None:
            game = unrestricted(form, (root, root))
        else:
            modelled = self.above_horizon(trunk, horizon)
            game = restrict(form, (root, root), self.model_plan_on(trunk, root), modelled, self.p)
        solution = self.solve_game(player, game, trunk, horizon=horizon)
        self.gap += solution.gap
        for each in self.players:
            self._keep_solution(each, trunk, solution)
            self._hand_on(each, ROOT, trunk, solution, root, None)
        self._root_is_solved = True

    def _restrict(self, piece: int, trunk: Trunk, gadget: gadgets.Gadget) -> RestrictedGame:
        """Binds the opponent to its model in a piece with a gadget on top."""
        treeplex = gadget.sequence_form.treeplexes[1]
        model_plan = np.zeros(treeplex.num_sequences)
        model_range, _ = self.root_range(self.opponent, [piece])
        model_plan[gadget.new_sequences[1]] = self.model_plan_on(trunk, model_range)
        modelled = np.ones(treeplex.num_infosets, np.bool_)
        above = self.above_horizon(trunk, self.horizon([piece]))
        modelled[len(modelled) - len(above) :] = above
        return restrict(
            gadget.sequence_form,
            gadget.root_ranges,
            model_plan,
            modelled,
            self.p,
            inflows=gadget.inflows,
        )

    def _without_gadget(self, solution: Solution, gadget: gadgets.Gadget) -> Solution:
        """A solution by the trunk's own sequences."""
        plan_0, plan_1 = (
            plan[new] for plan, new in zip(solution.plans, gadget.new_sequences, strict=True)
        )
        return solution._replace(plans=(plan_0, plan_1))

    def _by_prior(
        self, player: int, trunk: Trunk, solution: Solution, prior: np.ndarray
    ) -> Solution:
        """A solution with the opponent's plan as if it came by its prior, not by the gadget."""
        treeplex, own = trunk.sequence_form.treeplexes[1 - player], solution.plans[player]
        strategy = behaviour_strategy(treeplex, solution.plans[1 - player])
        plan = realization_plan(treeplex, strategy, prior)
        return solution._replace(plans=(own, plan) if player == 0 else (plan, own))

    def _keep_solution(self, player: int, trunk: Trunk, solution: Solution) -> None:
        strategy = solution.strategy
        if self.model_of is None:
            plan = solution.plans[player]
            strategy = behaviour_strategy(trunk.sequence_form.treeplexes[player], plan)
        self.keep(player, trunk, strategy)

    def _hand_on(
        self,
        player: int,
        piece: int,
        trunk: Trunk,
        solution: Solution,
        player_range: np.ndarray,
        limits: np.ndarray | None,
    ) -> None:
        """Tells the next pieces what they start from.

        Args:
          player: who searches.
          piece: the piece that was solved.
          trunk: what its step looked at.
          solution: what was found in it.
          player_range: float64 [R_p], the player's range at the piece's roots.
          limits: see `starts_below`.
        """
        opponent = 1 - player
        if self.value_function is None:
            end = self.pieces.first_kept(self.pieces.start(piece)) + self.pieces.num_kept
            limit = self.pieces.limit(end - self.pieces.start(piece))
            trunk = cut(self.tree, limit, None if piece == ROOT else piece)
        if not trunk.leaves.num_public_states:
            return
        plans = solution.plans
        cfvs = solution.cfvs[self.order(player).index(opponent)] if len(solution.cfvs[1]) else None
        if self.model_of is not None:
            plans = self._plans_on(player, piece, trunk, player_range)
        if cfvs is None:
            cfvs = self._cfvs_below(player, trunk, plans[player])
        found = starts_below(trunk, player, plans, cfvs, limits)
        self.starts.update({(player, state): start for state, start in found.items()})

    def _plans_on(self, player: int, piece: int, trunk: Trunk, player_range: np.ndarray) -> Pair:
        """The player's plan of what it keeps in a trunk, and the model's."""
        treeplex = trunk.sequence_form.treeplexes[player]
        strategy = self.policy.strategies[player][trunk.sequences[player]]
        own = realization_plan(treeplex, strategy, player_range)
        model_range, _ = self.root_range(self.opponent, [piece])
        model = self.model_plan_on(trunk, model_range)
        return (own, model) if player == 0 else (model, own)

    def _cfvs_below(self, player: int, trunk: Trunk, plan: np.ndarray) -> np.ndarray:
        """The opponent's best-response cfvs at leaves against what the player plans behind them."""
        leaves, opponent = trunk.leaves, 1 - player
        own = self.policy.strategies[player][leaves.subgame_sequences[player]]
        treeplex = leaves.subgames.treeplexes[player]
        below = realization_plan(treeplex, own, plan[leaves.sequences[player]])
        return best_response(leaves.subgames, opponent, below).cfv[: leaves.num_infosets(opponent)]
