"""Action values of whole histories, a control variate for the policy's action values.

A sampled return is about one action, and most of it is luck: the cards and moves of the opponent,
and what comes later. Training may look at all cards, so a second network learns Q(h, a), what
player 0 earns from here on if a is played at history h. Each action's value is then estimated by Q,
and that of the action that was played is corrected by the difference to the return:

    Q'(a) = Q(h, a) + [a = a_t] (G_t - Q(h, a)) / mu(a_t).

The better Q is, the less noisy this is. With payments K_t of the mover to the other, as in R-NaD,
and s_t = 1 at moves of player 0 and -1 at others,

    G_t = r_t + W_(t+1),    W_t = V(h_t) - s_t K_t + lambda min(c_bar, rho_t) (G_t - Q(h_t, a_t)),

where V(h) = sum_a pi(a) Q(h, a), rho_t = pi(a_t) / mu(a_t), and W = 0 behind the last move. If
lambda is 1 and no ratio is cut, Q'(a) is unbiased whatever Q is, as Schmid et al. (2019), "Variance
reduction in Monte Carlo counterfactual regret minimization", show; a smaller lambda takes a part of
Q's errors for less noise. G_t is also the target of Q(h_t, a_t), and s_t W_t that of the mover's
own value. The acting policy sees none of this: it is a function of its player's observations.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import torch

from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.recurrence import one_later, solve_backwards
from spiel_dl.learning.sources import Trajectories
from spiel_dl.networks.perceptron import ForwardPass, Perceptron


@dataclasses.dataclass(frozen=True)
class ActionValueNetwork(Perceptron):
    """A perceptron from histories to action values.

    Attributes:
      num_inputs: E, the length of a history's tensor.
      num_actions: A.
      hidden_sizes: units of each hidden layer.
    """

    num_inputs: int
    num_actions: int
    hidden_sizes: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of inputs, of each hidden layer's units, and of outputs."""
        return (self.num_inputs, *self.hidden_sizes, self.num_actions)


class HistoryValues(NamedTuple):
    """Action values Q, player 0's, of the histories of some games.

    Attributes:
      forward_pass: the network's, on the distinct histories.
      at_moves: Q at each move, float32 [T, B, A].
    """

    forward_pass: ForwardPass
    at_moves: torch.Tensor


class HistoryTargets(NamedTuple):
    """Targets of all moves, by the module's equations.

    Attributes:
      value: float [T, B], s_t W_t, the target of the mover's value.
      action_value: float [T, B, A], s_t Q', the mover's action values.
      taken_value: float [T, B], G_t, the target of Q of the action taken, player 0's.
    """

    value: torch.Tensor
    action_value: torch.Tensor
    taken_value: torch.Tensor


class ActionValueTrainer:
    """Trains a network of action values beside a policy, on the same games."""

    def __init__(
        self, num_inputs: int, num_actions: int, config: LearnerConfig, device: torch.device | str
    ):
        """Makes a fresh network.

        Args:
          num_inputs: E, the length of a history's tensor.
          num_actions: A.
          config: the policy network's: layer sizes, Adam and seed are the same.
          device: that of the parameters.
        """
        self.network = ActionValueNetwork(num_inputs, num_actions, config.hidden_sizes)
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self._descent = config.descent(self.parameters)

    def evaluate(self, trajectories: Trajectories) -> HistoryValues:
        """The action values of the histories of some games."""
        histories = trajectories.histories
        assert histories is not None  # they are recorded
        forward = self.network.forward_pass(self.parameters, histories.rows)
        return HistoryValues(forward, histories.at_moves(forward.outputs))

    def learn(
        self, values: HistoryValues, targets: HistoryTargets, trajectories: Trajectories
    ) -> None:
        """One step of Adam on the mean squared error of the actions taken."""
        column = trajectories.action.unsqueeze(-1)
        predicted = trajectories.of_actions(values.at_moves)
        weight = trajectories.valid / trajectories.valid.sum().clamp(min=1)
        slope = 2 * weight * (predicted - targets.taken_value)
        gradient = torch.zeros_like(values.at_moves).scatter_(-1, column, slope.unsqueeze(-1))
        assert trajectories.histories is not None
        self._descent.apply_gradients(
            [values.forward_pass.gradient(trajectories.histories.sum_by_row(gradient))]
        )

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        return {"parameters": self.parameters, **self._descent.state(self.parameters, "adam.")}


@torch.no_grad()
def history_targets(
    *,
    action_value: torch.Tensor,
    policy: torch.Tensor,
    cost: torch.Tensor,
    trajectories: Trajectories,
    reward: torch.Tensor,
    trace_decay: float,
    c_bar: float = 1.0,
) -> HistoryTargets:
    """Targets by the module's equations.

    Args:
      action_value: Q, float [T, B, A], player 0's.
      policy: pi, float [T, B, A], the policy to evaluate; 0 for illegal actions.
      cost: K, float [T, B], what the mover pays to the other.
      trajectories: the games, played by mu.
      reward: float [T, B], player 0's reward for the move.
      trace_decay: lambda; 1: the target is the return itself.
      c_bar: bound on the ratios that carry a target backwards.

    Returns:
      Targets; without meaning at invalid moves.
    """
    column, valid = trajectories.action.unsqueeze(-1), trajectories.valid
    sign = 1 - 2 * trajectories.player.to(action_value.dtype)
    acting = trajectories.of_actions(trajectories.behaviour)
    # Where nobody moves, the acting policy may be 0 at any action.
    ratio = (trajectories.of_actions(policy) / acting).where(valid, 1.0)
    predicted = trajectories.of_actions(action_value)
    carried = trace_decay * ratio.clamp(max=c_bar)
    expected = (policy * action_value).sum(dim=-1) - sign * cost
    before = solve_backwards(
        (expected + carried * (reward - predicted)).where(valid, 0.0), carried * valid
    )
    target = reward + one_later(before)
    surprise = ((target - predicted) / acting).where(valid, 0.0)
    corrected = action_value.scatter_add(-1, column, surprise.unsqueeze(-1))
    return HistoryTargets(sign * before, sign.unsqueeze(-1) * corrected, target)
