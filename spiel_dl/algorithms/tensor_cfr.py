"""CFR by tensor operations, for trees of more than a million histories on a GPU.

An iteration is that of `solvers.regret_minimization` in the order of `solvers.arrangement`: payoffs
are a product with a sparse matrix, and the infosets of a level with the same number of actions are
updated at once. Sums are not made in the same order as there, so iterates are equal up to rounding.
On CUDA, an iteration is captured once as a CUDA graph and replayed from then on, because launching
its kernels one by one takes longer than running them.
"""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.networks.devices import check_device
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers import kernels, variants
from spiel_dl.solvers.arrangement import Arrangement, arrange
from spiel_dl.solvers.reduction import reduce_form
from spiel_dl.solvers.regret_minimization import RELATIVE_TOLERANCE
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.solvers.variants import Weighting, variant_by_name
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.sequence_form import SequenceForm

# Iterations before the graph is captured, which load kernels and make workspaces.
_NUM_WARM_UP = 3


class TensorCFRSolver:
    """A variant of CFR with alternating updates, on any device of torch.

    Attributes:
      tree: the compiled game.
      variant: how regrets are accumulated, strategies derived, iterates averaged.
      iteration: number of iterations done.
    """

    def __init__(
        self,
        game: AnyGame,
        *,
        variant: str | Weighting = variants.CFR_PLUS,
        device: torch.device | str = "cuda",
        dtype: torch.dtype = torch.float64,
    ):
        """Starts at the uniform policy.

        Args:
          game: the game, its game string, or the compiled game.
          variant: a name in `solvers.variants.VARIANTS`, or a `Weighting`.
          device: where to iterate.
          dtype: torch.float64, or torch.float32 in half of the memory.

        Raises:
          ValueError: if the game cannot be compiled, if there is no variant of this name, or if
            torch cannot compute on the device.
        """
        check_device(device)
        self.tree = compile_game(game)
        self.variant = variant_by_name(variant)
        self.iteration = 0
        # The `kernels.rates_at` of an iteration, and its weight in the average.
        self._rates = torch.zeros(4, dtype=dtype, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None
        form, self._sequences = reduce_form(self.tree.sequence_form)
        arrangements = arrange(form.treeplexes[0]), arrange(form.treeplexes[1])
        first, second = (_Side(form, arrangements, player, self._rates) for player in (0, 1))
        self._sides = (first, second)

    @torch.no_grad()
    def run(self, num_iterations: int) -> None:
        """Many iterations.

        Raises:
          ValueError: if the number is no integer >= 0, or if weights are too large for the dtype.
        """
        numbers, first = self.variant.numbers, self.iteration + 1
        table = [
            (*kernels.rates_at(float(t), numbers), kernels.averaging_weight(float(t), numbers))
            for t in range(first, first + checked_count("num_iterations", num_iterations, 0))
        ]
        all_rates = self._rates.new_tensor(table)
        if not all_rates.isfinite().all():
            raise ValueError(f"{self.variant} has weights beyond {all_rates.dtype}; take float64")
        for rates in all_rates:
            self._rates.copy_(rates)
            is_warm = self.iteration >= _NUM_WARM_UP
            if self._graph is None and is_warm and rates.device.type == "cuda":
                self._graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self._graph):
                    self._iterate()  # captures it only
            if self._graph is None:
                self._iterate()
            else:
                self._graph.replay()
            self.iteration += 1

    def current_policy(self) -> ArrayPolicy:
        """A copy of the policy that the next iteration will play."""
        first, second = self._sides
        return self._policy(first.strategy, second.strategy)

    def average_policy(self) -> ArrayPolicy:
        """A copy of the average policy, which converges to an equilibrium."""
        first, second = self._sides
        return self._policy(first.average, second.average)

    def _policy(self, *weights: torch.Tensor) -> ArrayPolicy:
        sides = zip(self._sides, weights, strict=True)
        strategies = (side.behaviour(own) for side, own in sides)
        return ArrayPolicy.of_part(self.tree, self._sequences, strategies)

    def _iterate(self) -> None:
        """One iteration: the same operations on the same memory each time."""
        for own, other in (self._sides, self._sides[::-1]):
            own.update(other.realization, self._rates)


class _Side:
    """A player's treeplex, payoffs, regrets and strategies, in the order of `arrange`, [S] each.

    Attributes:
      strategy, realization: current; its realization plan.
      average: the weighted sum of the plans that were played.
    """

    def __init__(
        self,
        form: SequenceForm,
        arrangements: tuple[Arrangement, Arrangement],
        player: int,
        like: torch.Tensor,
    ):
        """Starts at the uniform strategy, on the device and with the dtype of the tensor `like`."""
        own, other = arrangements[player], arrangements[1 - player]

        def indices(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array.astype(np.int64)).to(like.device)

        numbers = like.new_tensor
        self._treeplex = form.treeplexes[player]
        self._place = own.place.astype(np.int64)
        at_place = np.argsort(self._place)
        payoffs = form.payoffs_for(player)[at_place]
        rows, columns = indices(payoffs.indptr), indices(other.place[payoffs.indices])
        values = numbers(payoffs.data)
        self._payoffs = torch.sparse_csr_tensor(rows, columns, values, payoffs.shape)
        zeros = np.zeros(len(at_place))
        constants = zeros if form.constants is None else form.constants[player]
        self._constants = numbers(constants[at_place])
        self._cfv, self._regret, self.average = numbers(zeros), numbers(zeros), numbers(zeros)
        self.strategy = numbers(self._treeplex.uniform_strategy()[at_place])
        self.realization = numbers(np.ones(len(at_place)))
        self._values = numbers(np.zeros(self._treeplex.num_infosets))
        noise = torch.finfo(like.dtype).eps / torch.finfo(torch.float64).eps
        self._tolerance = RELATIVE_TOLERANCE * form.utility_range * noise
        # For each level: its groups (number of actions, sequences, infosets, their parents), and
        # the infosets whose value is added to a sequence's cfv, with the places of these sequences.
        self._levels = []
        for begin, end in zip(own.levels[:-1], own.levels[1:], strict=True):
            groups = []
            for num_actions, start, first, count in own.groups[begin[0] : end[0]].tolist():
                sequences = slice(start, start + num_actions * count)
                infosets = slice(first, first + count)
                groups.append((num_actions, sequences, infosets, indices(own.parents[infosets])))
            added = slice(own.rounds[begin[1]], own.rounds[end[1]])
            self._levels.append((groups, indices(own.children[added]), indices(own.targets[added])))
        self._realize()

    def update(self, opponent_plan: torch.Tensor, rates: torch.Tensor) -> None:
        """The player's part of an iteration.

        Args:
          opponent_plan: the opponent's realization plan.
          rates: [4], the `kernels.rates_at` of the iteration, and its weight in the average.
        """
        positive, negative, optimism, weight = rates
        torch.addmv(self._constants, self._payoffs, opponent_plan, out=self._cfv)
        for groups, children, targets in reversed(self._levels):
            for num_actions, sequences, infosets, _ in groups:
                cfv, regret, strategy = (
                    array[sequences].view(num_actions, -1)
                    for array in (self._cfv, self._regret, self.strategy)
                )
                value = (strategy * cfv).sum(dim=0)
                self._values[infosets] = value
                instant = cfv - value
                regret += instant
                regret *= torch.where(regret > 0, positive, negative)
                predicted = regret + optimism * instant
                predicted = torch.where(predicted > self._tolerance, predicted, 0.0)
                total = predicted.sum(dim=0)
                strategy.copy_(torch.where(total > 0, predicted / total, 1.0 / num_actions))
            self._cfv.index_add_(0, targets, self._values[children])
        self.average += weight * self.realization
        self._realize()

    def behaviour(self, weights: torch.Tensor) -> np.ndarray:
        """The behaviour strategy in proportion to weights at places, [S]: float64 [S]."""
        return behaviour_strategy(self._treeplex, weights.double().cpu().numpy()[self._place])

    def _realize(self) -> None:
        """Brings the realization plan up to date with the strategy."""
        for groups, _, _ in self._levels:
            for num_actions, sequences, _, parents in groups:
                strategy = self.strategy[sequences].view(num_actions, -1)
                plan = strategy * self.realization[parents]
                self.realization[sequences] = plan.view(-1)
