"""Steps that respond to a model of the opponent: `BestResponseStep`, `JointStep`, `FullStep`.

Each solves a *restricted game* (`solvers.restricted_game`): from where it starts, the opponent
follows the model with probability p down to a horizon, and both players are rational below it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.step import AnyValueFunction, Step
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import RestrictedGame, check_probability, restrict
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut_beyond


class ModelStep(Step):
    """A step against an opponent of whom the policy holds a model, or against any opponent.

    Attributes:
      model_of: the player of whom the policy holds a model; None: there is no model.
      p: the probability that the opponent follows it.
      gap: by how much the steps that were solved may be below their optima, all together, in
        utility units of the whole game; NaN where a value function does not let it be known, or
        the effort has no tolerance.
    """

    def __init__(
        self,
        pieces: Pieces,
        policy: ArrayPolicy,
        *,
        model_of: int | None,
        p: float = 0.0,
        value_function: AnyValueFunction | None = None,
        effort: Effort | None = None,
        exact: bool = False,
    ):
        """Takes what the search goes by.

        Args:
          pieces: how the game is taken apart.
          policy: the policy to begin with; a model's part in it stays.
          model_of: the player of whom the policy holds a model, so that the search decides for the
            other player only. None: there is no model, and it decides for both.
          p: the probability that the opponent follows the model.
          value_function: values the leaves; None: look to the end of the game.
          effort: how long to iterate at each place.
          exact: solve by linear programming.

        Raises:
          ValueError: if p is no probability, or as `Step`.
        """
        check_probability(p)
        super().__init__(
            pieces,
            policy,
            players=(0, 1) if model_of is None else (1 - model_of,),
            value_function=value_function,
            effort=effort,
            exact=exact,
        )
        self.model_of = model_of
        self.p = p
        self.gap = 0.0
        # Who responds to a model is updated first, as player 0 of a restricted game.
        self.responder_first = model_of is not None

    @property
    def opponent(self) -> int:
        """The player of whom there is a model."""
        assert self.model_of is not None
        return self.model_of

    def model_plan_on(self, trunk: Trunk, root_range: np.ndarray) -> np.ndarray:
        """The model's weights of a trunk's sequences: float64 [S].

        Args:
          trunk: the trunk.
          root_range: float64 [R], the model's reach of its root infosets.
        """
        strategy = self.policy.strategies[self.opponent][trunk.sequences[self.opponent]]
        treeplex = trunk.sequence_form.treeplexes[self.opponent]
        return realization_plan(treeplex, strategy, root_range)

    def above_horizon(self, trunk: Trunk, horizon: int) -> np.ndarray:
        """Which of the opponent's infosets in a trunk lie above a level: bool [I]."""
        depths = self.pieces.infoset_depths[self.opponent]
        return depths[trunk.infosets[self.opponent]] < horizon

    def solve_from_root(
        self,
        player: int,
        trunk: Trunk,
        *,
        horizon: int | None,
        modelled: np.ndarray,
        bound: np.ndarray,
        kept: np.ndarray,
    ) -> None:
        """Solves a step that looks at the game from its root, without a gadget.

        Args:
          player: who responds.
          trunk: what the step looks at.
          horizon: the level where the trunk ends; None: at several ones.
          modelled: bool [I], the opponent's infosets in the trunk where the model binds it.
          bound: bool [I], the player's infosets in the tree where it plays what it has decided.
          kept: bool [I], the player's infosets in the tree for which the solution is kept.
        """
        game = self.game_from_root(player, trunk, modelled, bound)
        solution = self.solve_game(player, game, trunk, horizon=horizon)
        self.keep(player, trunk, solution.strategy, kept[trunk.infosets[player]])
        self.gap += solution.gap

    def game_from_root(
        self, player: int, trunk: Trunk, modelled: np.ndarray, bound: np.ndarray
    ) -> RestrictedGame:
        """The game that such a step solves; arguments are those of `solve_from_root`."""
        root = np.ones(1)
        decided = self.policy.strategies[player][trunk.sequences[player]]
        return restrict(
            self.form(player, trunk),
            (root, root),
            self.model_plan_on(trunk, root),
            modelled,
            self.p,
            FixedStrategy(bound[trunk.infosets[player]], decided),
        )

    @functools.cached_property
    def _model_plan(self) -> np.ndarray:
        return super()._plan_so_far(self.opponent)

    def _plan_so_far(self, player: int) -> np.ndarray:
        # A model does not change.
        return self._model_plan if player == self.model_of else super()._plan_so_far(player)


class BestResponseStep(ModelStep):
    """CDBR: the opponent is bound to the model down to the horizon, so no gadget is needed."""

    def batches(self, player: int, places: Iterable[int]) -> Iterator[list[int]]:
        """Pieces that begin at one depth are solved together: that is faster than one by one."""
        del player
        levels: dict[int, list[int]] = {}
        for place in sorted(places):
            levels.setdefault(self.pieces.start(place), []).append(place)
        for level in sorted(levels):
            yield levels[level]

    def solve(self, player: int, places: list[int]) -> None:
        """Solves pieces that begin at one depth; see `Step`.

        Pieces where nothing is to be decided, or where the player or the model never comes, are
        left out.
        """
        deciding = self.pieces.with_choices[player]
        pieces = np.array([place for place in places if place in deciding], np.int64)
        if len(pieces):
            masses = self._scaled_range(player, pieces)[1]
            masses = masses * self._scaled_range(self.opponent, pieces)[1]
            pieces, masses = pieces[masses > 0], masses[masses > 0]
        if not len(pieces):
            return
        own_range, _ = self._scaled_range(player, pieces)
        model_range, _ = self._scaled_range(self.opponent, pieces)
        horizon = self.horizon(pieces.tolist())
        trunk = self.cut(pieces.tolist())
        game = restrict(
            self.form(player, trunk),
            (own_range, np.zeros_like(model_range)),
            self.model_plan_on(trunk, model_range),
            self.above_horizon(trunk, horizon),
            p=1.0,
        )
        # A gap in one piece weighs less in the whole game, by the piece's mass.
        largest = float(masses.max())
        solution = self.solve_game(player, game, trunk, horizon=horizon, unit=1.0 / largest)
        self.keep(player, trunk, solution.strategy)
        self.gap += solution.gap * largest

    def _scaled_range(self, player: int, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A player's range, scaled to sum 1 in every piece, lest it vanish in long games.

        Returns:
          float64 [R]; and the sums before scaling, float64 [n].
        """
        reach, piece = self.root_range(player, pieces.tolist())
        position = np.searchsorted(pieces, piece)
        mass = np.bincount(position, reach, len(pieces))
        return np.divide(reach, mass[position], out=reach.copy(), where=reach > 0), mass


class JointStep(ModelStep):
    """CDRNR's gadget "joint": a place is a level, the player is bound in all levels above it."""

    def places(self, player: int, infoset: int) -> Iterable[int]:
        """The levels down to that of an infoset."""
        depth = int(self.pieces.infoset_depths[player][infoset])
        return range(0, depth + 1, self.pieces.num_kept)

    def all_places(self, player: int) -> Iterable[int]:
        """All levels at which the search starts anew."""
        depths = self.pieces.infoset_depths[player]
        return range(0, int(depths.max(initial=-1)) + 1, self.pieces.num_kept)

    def batches(self, player: int, places: Iterable[int]) -> Iterator[list[int]]:
        """Level by level."""
        del player
        for level in sorted(places):
            yield [level]

    def solve(self, player: int, places: list[int]) -> None:
        """Solves one level; see `Step`."""
        [level] = places
        depths = self.pieces.infoset_depths[player]
        below = depths >= level
        here = below & (depths < level + self.pieces.num_kept)
        if not (self.tree.treeplexes[player].num_actions[here] > 1).any():
            return
        horizon = self.pieces.horizon(level)
        trunk = self.cut([ROOT], horizon)
        self.solve_from_root(
            player,
            trunk,
            horizon=horizon,
            modelled=self.above_horizon(trunk, horizon),
            bound=~below,
            kept=below,
        )


class FullStep(ModelStep):
    """CDRNR's gadget "full": the player is bound on the path to a piece, and free elsewhere."""

    def solve(self, player: int, places: list[int]) -> None:
        """Solves one piece; see `Step`."""
        [piece] = places
        pieces = self.pieces
        if piece not in pieces.with_choices[player]:
            return
        horizon = self.horizon([piece])
        on_path = np.isin(pieces.of_history, pieces.path(piece)[:-1])
        below = pieces.below(piece)
        explored = on_path | (below & (pieces.depths < horizon))
        if self.value_function is None:
            trunk = self.cut([ROOT], horizon)
        else:
            trunk = cut_beyond(self.tree, ~explored, pieces.limit(horizon))
        first = self.tree.first_history[player]
        self.solve_from_root(
            player,
            trunk,
            horizon=None,
            modelled=explored[
                self.tree.first_history[self.opponent][trunk.infosets[self.opponent]]
            ],
            bound=on_path[first],
            kept=below[first],
        )
