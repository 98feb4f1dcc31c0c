"""Counterfactual regret minimization on a sequence form: one loop for all its variants.

A variant is a few numbers (`solvers.variants.Weighting`): how regrets are accumulated, how a
strategy is derived from them, and how iterates are averaged. Iteration t does, for one player after
the other (*alternating updates*, the default) or for both at once:

  1. Computes the cfv of each sequence: payoffs against the opponent's realization plan, plus
     constants.
  2. Bottom-up in each infoset: accumulates the iteration's regrets, and derives the next strategy.
  3. Adds the current realization plan to the average with its weight, and replaces it by that of
     the next strategy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from spiel_dl.solvers import arranged_kernels, kernels, minimizer_state
from spiel_dl.solvers.arrangement import ArrangedGame, arrange_game
from spiel_dl.solvers.checks import check_num_threads, check_values, check_weights
from spiel_dl.solvers.minimizer_state import Pair
from spiel_dl.solvers.strategies import behaviour_strategy, check_strategy
from spiel_dl.solvers.variants import CFR_PLUS, Weighting
from spiel_dl.system.interrupts import delay_interrupts
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm

# Regret matching takes cumulative regrets up to this fraction of the utility range for zero. They
# may tie in exact arithmetic and differ by rounding noise, which must not decide a strategy.
RELATIVE_TOLERANCE = 1e-12
LeafCfvs = Callable[[tuple[int, ...], Pair], Sequence[np.ndarray]]
"""Maps some players, (0,), (1,) or (0, 1), and both players' weights to these players'
counterfactual values at their leaf infosets, float64 [L_p] each."""
MIN_ARRANGED = 8
"""With fewer iterations, copying learners to the arranged order takes longer than it saves."""


class RegretMinimizer:
    """Runs one variant of CFR on a sequence form.

    Attributes:
      iteration: number of iterations done.
      alternating_updates: whether players are updated in turn, not at once.
      learned: each player's `Learned`: `regret` (cumulative), `strategy` (current behaviour
        strategy; 1 at root sequences), `realization` (its realization plan) and `average`
        (weighted sum of all realization plans so far), each float64 [S_p]. Read-only for callers.
    """

    def __init__(
        self,
        sequence_form: SequenceForm | FactoredForm,
        variant: Weighting = CFR_PLUS,
        *,
        alternating_updates: bool = True,
        num_threads: int = 1,
    ):
        """Starts at the uniform strategy, with a reach of 1 at every root sequence.

        Args:
          sequence_form: the game or subgame.
          variant: the variant of CFR.
          alternating_updates: update the players in turn, not at once.
          num_threads: threads for `run` where no infosets are held fixed. Results do not depend on
            it. More than one is faster from about 100,000 payoffs on. Not used for a factored form,
            which has its own `num_threads`.

        Raises:
          ValueError: if `num_threads` is not a number of threads that numba can use, or
            `alternating_updates` no bool.
        """
        check_num_threads(num_threads)
        self.iteration = 0
        self.sequence_form = sequence_form
        self.variant = variant
        self._numbers = variant.numbers
        if not isinstance(alternating_updates, bool):
            raise ValueError(f"alternating_updates={alternating_updates!r} must be True or False")
        self.alternating_updates = alternating_updates
        self._num_threads = num_threads
        self._tolerance = RELATIVE_TOLERANCE * sequence_form.utility_range
        self._cfvs = tuple(np.zeros(t.num_sequences) for t in sequence_form.treeplexes)
        self._treeplexes = tuple(t.arrays for t in sequence_form.treeplexes)
        self._game = minimizer_state.game_arrays(sequence_form)
        self.learned = tuple(
            minimizer_state.new_learned(treeplex) for treeplex in sequence_form.treeplexes
        )
        self._realize(0)
        self._realize(1)

    def run(self, num_iterations: int) -> None:
        """Does `num_iterations` iterations; 0 only loads the compiled loops.

        A KeyboardInterrupt is raised after the iteration at hand, or in listed games after all. If
        memory runs out in a factored form, half an iteration may have been done.

        Raises:
          ValueError: if `num_iterations` is not an integer >= 0.
        """
        num_iterations = checked_count("num_iterations", num_iterations, 0)
        if self._game is None:
            self._iterate(num_iterations, None, None)
            return
        span = (self.iteration + 1, self.iteration + num_iterations)
        alternating, num_done = self.alternating_updates, np.zeros(1, np.int64)
        arguments = (self.learned, span, self._numbers, alternating, self._tolerance, num_done)
        any_fixed = any(learner.is_fixed.any() for learner in self.learned)
        is_faster = not 0 < num_iterations < MIN_ARRANGED or self._num_threads > 1
        arranged = self._arranged_game if is_faster and not any_fixed else None
        try:
            if arranged is not None:
                arranged_kernels.run_iterations(arranged, *arguments, self._num_threads)
            if arranged is None or num_iterations == 0:
                kernels.run_iterations(self._game, *arguments, self._cfvs)
        finally:
            # A KeyboardInterrupt is raised after compiled code, whose iterations count.
            self.iteration += int(num_done[0])

    def run_with_leaves(
        self, num_iterations: int, leaf_sequences: Pair, leaf_cfvs: LeafCfvs
    ) -> None:
        """Does iterations in which a callback values the leaves of the sequence form.

        Args:
          num_iterations: the number of iterations.
          leaf_sequences: for each player, int [L_p], the sequences from which its leaf infosets
            hang; several may hang from one.
          leaf_cfvs: values the leaves for the players who are updated next, by both realization
            plans, float64 [S_p]. It is called before each player's update or, without alternating
            updates, once per iteration.

        Raises:
          ValueError: as `run`, or if values are not finite. After an error in an iteration, the
            minimizer is as before the iteration; what the callback learned is not undone.
        """
        self._iterate(num_iterations, leaf_sequences, leaf_cfvs)

    def _iterate(
        self, num_iterations: int, leaf_sequences: Pair | None, leaf_cfvs: LeafCfvs | None
    ) -> None:
        """`kernels.run_iterations` in Python, one iteration after the other."""
        num_iterations = checked_count("num_iterations", num_iterations, 0)
        # Players of one group are updated at once, against the same plans.
        groups = ((0,), (1,)) if self.alternating_updates else ((0, 1),)
        if leaf_cfvs is None:
            # Half an iteration of a large game cannot be undone: copies would take too long.
            with delay_interrupts() as interrupt:
                for _ in range(num_iterations):
                    self.iteration += 1
                    for players in groups:
                        self._update(players, None, None)
                    if interrupt.is_pending:
                        raise KeyboardInterrupt
            return
        arrays = minimizer_state.arrays_of(self.learned)
        for _ in range(num_iterations):
            # The callback may fail between the two players' updates.
            saved_arrays = {name: array.copy() for name, array in arrays.items()}
            self.iteration += 1
            try:
                for players in groups:
                    self._update(players, leaf_sequences, leaf_cfvs)
            except BaseException:
                self.iteration -= 1
                for name, array in saved_arrays.items():
                    arrays[name][:] = array
                raise

    def _update(
        self, players: tuple[int, ...], leaf_sequences: Pair | None, leaf_cfvs: LeafCfvs | None
    ) -> None:
        """Updates some players at once, against the same plans."""
        plans = (self.learned[0].realization, self.learned[1].realization)
        for player in players:
            self._evaluate_payoffs(player, plans[1 - player])
        if leaf_sequences is not None and leaf_cfvs is not None:
            for player, values in zip(players, leaf_cfvs(players, plans), strict=True):
                check_values(values)
                np.add.at(self._cfvs[player], leaf_sequences[player], values)
        for player in players:
            kernels.update_player(
                self._treeplexes[player],
                self.learned[player],
                self.iteration,
                self._numbers,
                self._tolerance,
                self._cfvs[player],
            )

    def _evaluate_payoffs(self, player: int, opponent_plan: np.ndarray) -> None:
        """Computes the cfvs of a player's sequences against the opponent's realization plan."""
        cfv = self._cfvs[player]
        if self._game is None:
            cfv[:] = self.sequence_form.values_against(player, opponent_plan)
            return
        _, payoffs, constants = self._game
        kernels.counterfactual_values(payoffs[player], constants[player], opponent_plan, cfv)

    @functools.cached_property
    def _arranged_game(self) -> ArrangedGame | None:
        if self._game is None:
            return None
        _, payoffs, constants = self._game
        return arrange_game(self.sequence_form.treeplexes, payoffs, constants)

    def average_strategy(self, player: int) -> np.ndarray:
        """The average strategy, as a behaviour strategy: float64 [S].

        Infosets that the player itself never reached are uniform, as in OpenSpiel.
        """
        treeplex = self.sequence_form.treeplexes[player]
        return behaviour_strategy(treeplex, self.learned[player].average)

    def average_plan(self, player: int) -> np.ndarray:
        """The weighted mean of the realization plans of all iterations: float64 [S].

        Raises:
          ValueError: before the first iteration.
        """
        if self.iteration == 0:
            raise ValueError("there is no average before the first iteration")
        weights = kernels.total_weight(self.iteration, self._numbers)
        return self.learned[player].average / weights

    def reset(self) -> None:
        """Goes back to iteration 0, with uniform strategies; fixed infosets and ranges stay."""
        self.iteration = 0
        for player, learner in enumerate(self.learned):
            treeplex = self.sequence_form.treeplexes[player]
            learner.regret[:] = 0.0
            learner.average[:] = 0.0
            free = treeplex.sequences_of(~learner.is_fixed)
            learner.strategy[free] = treeplex.uniform_strategy()[free]
            self._realize(player)

    def set_range(self, player: int, root_range: np.ndarray) -> None:
        """Sets a player's reach of its root sequences: float64 [num_root_sequences].

        Raises:
          ValueError: if the range has another shape, or entries that are negative or not finite.
        """
        num_roots = self._treeplexes[player].num_root_sequences
        root_range = np.asarray(root_range, np.float64)
        check_weights(root_range, num_roots, f"player {player}'s range", "root sequence")
        self.learned[player].realization[:num_roots] = root_range
        self._realize(player)

    def set_inflow(self, player: int, inflow: np.ndarray) -> None:
        """Sets the weights that enter a player's infosets in addition to their parents' weights.

        The sequences of an infoset then sum to its parent's weight plus its inflow. So a player
        can be bound to a plan above some infosets and be free in them: the plan's weight flows in.

        Args:
          player: whose infosets.
          inflow: float64 [I].

        Raises:
          ValueError: if it has another shape, or entries that are negative or not finite.
        """
        treeplex = self.sequence_form.treeplexes[player]
        check_weights(inflow, treeplex.num_infosets, f"player {player}'s inflow", "infoset")
        learned = list(self.learned)
        learned[player] = learned[player]._replace(inflow=treeplex.per_sequence(inflow))
        self.learned = tuple(learned)
        self._realize(player)

    def hold_fixed(self, player: int, infosets: np.ndarray, strategy: np.ndarray) -> None:
        """Holds the strategy of some infosets of a player fixed.

        Args:
          player: whose infosets.
          infosets: bool [I], the infosets to fix; all others become free.
          strategy: float64 [S], the probabilities to keep; read at these infosets only.

        Raises:
          ValueError: if a shape is wrong, or the strategy's probabilities at these infosets are
            negative or do not sum to 1.
        """
        treeplex = self.sequence_form.treeplexes[player]
        if infosets.shape != (treeplex.num_infosets,):
            raise ValueError(
                f"infosets has shape {infosets.shape}, but player {player} has "
                f"{treeplex.num_infosets} infosets"
            )
        check_strategy(treeplex, strategy, infosets)
        sequences = treeplex.sequences_of(infosets)
        self.learned[player].strategy[sequences] = strategy[sequences]
        self.learned[player].is_fixed[:] = infosets
        self._realize(player)

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all arrays and counters that iterations change, for checkpoints.

        Also has a checksum of the game and the variant, which `load_state` compares.
        """
        variant = (*self.variant.numbers, self.alternating_updates)
        state = {
            "game": self._game_checksum.copy(),
            "variant": np.array(variant),
            "iteration": np.array([self.iteration]),
        }
        arrays = minimizer_state.arrays_of(self.learned)
        return {**state, **{name: array.copy() for name, array in arrays.items()}}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Loads a `state()` of a minimizer of the same game and variant.

        Raises:
          ValueError: if the state is of another game or variant, or not finite. The minimizer is
            unchanged then.
        """
        minimizer_state.check_state(state, self.state())
        self.iteration = int(state["iteration"][0])
        for name, array in minimizer_state.arrays_of(self.learned).items():
            array[:] = state[name]

    @functools.cached_property
    def _game_checksum(self) -> np.ndarray:
        return minimizer_state.game_checksum(self.sequence_form)

    def _realize(self, player: int) -> None:
        kernels.realize(self._treeplexes[player], self.learned[player])
