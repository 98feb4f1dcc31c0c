"""Action values of whole histories, which take noise out of what a policy is told of its actions.

A sampled return tells of one action, and most of it is luck: the cards and moves of the opponent,
and what comes later. Who trains may look at all cards, so a second network learns Q(h, a), what
player 0 earns from here on if a is played at history h. Each action is then told what Q says of it,
and the one that was played also by how much the return differed:

    Q'(a) = Q(h, a) + [a = a_t] (G_t - Q(h, a)) / mu(a_t).

This is right on average whatever Q says, as Schmid et al. (2019), "Variance reduction in Monte
Carlo counterfactual regret minimization", show, and the less noisy the better Q is. With payments
K_t of the mover to the other, as R-NaD has them, and s_t = 1 at moves of player 0 and -1 at others,

    G_t = r_t + W_(t+1),    W_t = V(h_t) - s_t K_t + lambda min(c_bar, rho_t) (G_t - Q(h_t, a_t)),

where V(h) = sum_a pi(a) Q(h, a), rho_t = pi(a_t) / mu(a_t), and W = 0 behind the last move. G_t is
also what Q(h_t, a_t) learns, and s_t W_t the target of the mover's own value. The policy that acts
sees none of this: it is a function of what its player knows.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import torch

from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.networks.growing_perceptron import Answer
from spiel_dl.networks.perceptron import Perceptron


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
    """What a network of action values says of the histories of some games.

    Attributes:
      outputs: float32 [M, A], Q of each distinct history, player 0's; with its derivatives.
      seen: these histories.
    """

    outputs: torch.Tensor
    seen: Distinct


class HistoryAnswer(NamedTuple):
    """The same for `learning.step_kernels`, which go without autograd.

    Attributes:
      answer: Q of each distinct history, player 0's: float32 [M, A].
      place: int64 [T, B], the row of each move.
      gradient: float32 [M, A], zeros, to which the loss's derivative by Q is added.
    """

    answer: Answer
    place: torch.Tensor
    gradient: torch.Tensor


class HistoryTargets(NamedTuple):
    """The module's equations, move by move.

    Attributes:
      value: float [T, B], s_t W_t, what the mover's value should be.
      action_value: float [T, B, A], s_t Q', of the mover.
      taken: float [T, B], G_t, player 0's.
    """

    value: torch.Tensor
    action_value: torch.Tensor
    taken: torch.Tensor


class ActionValueTrainer:
    """A network of action values that learns beside a policy, from the same games."""

    def __init__(
        self, num_inputs: int, num_actions: int, config: LearnerConfig, device: torch.device | str
    ):
        """Makes a fresh network.

        Args:
          num_inputs: E, the length of a history's tensor.
          num_actions: A.
          config: its sizes, and how it learns: both as the policy network.
          device: where it lives.
        """
        self.network = ActionValueNetwork(num_inputs, num_actions, config.hidden_sizes)
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self._descent = config.descent(self.parameters)

    def ask(self, trajectories: Trajectories) -> HistoryValues:
        """What the network says of the histories of some games."""
        seen = trajectories.distinct_histories()
        return HistoryValues(self.network.outputs(self.parameters, seen.tensors), seen)

    def answer(self, trajectories: Trajectories) -> HistoryAnswer:
        """The same for compiled loops."""
        seen = trajectories.distinct_histories()
        assert seen.place is not None  # on a CPU
        answer = self.network.answer(self.parameters, seen.tensors)
        return HistoryAnswer(answer, seen.place, torch.zeros(answer.outputs.shape))

    def follow(self, said: HistoryAnswer) -> None:
        """One step of Adam along what was said since the last one, and the gradient of that."""
        self._descent.follow(said.answer.gradient(said.gradient))

    def learn_targets(
        self, values: HistoryValues, targets: HistoryTargets, trajectories: Trajectories
    ) -> None:
        """One step down the mean squared error of the actions taken."""
        column = trajectories.action.unsqueeze(-1)
        outputs = values.seen.at_moves(values.outputs)
        error = outputs.gather(-1, column).squeeze(-1) - targets.taken
        weight = trajectories.valid / trajectories.valid.sum().clamp(min=1)
        self._descent.step((weight * error.square()).sum())

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        adam = self._descent.state(self.parameters)
        return {"parameters": self.parameters, **{f"adam.{n}": t for n, t in adam.items()}}


@torch.no_grad()
def history_targets(
    *,
    action_value: torch.Tensor,
    policy: torch.Tensor,
    cost: torch.Tensor,
    behaviour: torch.Tensor,
    action: torch.Tensor,
    player: torch.Tensor,
    valid: torch.Tensor,
    reward: torch.Tensor,
    trace_decay: float,
    c_bar: float = 1.0,
) -> HistoryTargets:
    """The module's equations.

    Args:
      action_value: Q, float [T, B, A], player 0's.
      policy: pi, float [T, B, A], the policy to evaluate; 0 for illegal actions.
      cost: K, float [T, B], what the mover pays to the other.
      behaviour: mu, float [T, B, A], the policy that acted.
      action: int64 [T, B], the actions it took.
      player: int8 [T, B], who moved.
      valid: bool [T, B], which moves are part of a game: in each column the first ones.
      reward: float [T, B], what the move earned player 0.
      trace_decay: lambda; 1: what is learned is the return itself.
      c_bar: bound on the ratios that carry a target backwards.

    Returns:
      Targets; without meaning at invalid moves.
    """
    column = action.unsqueeze(-1)
    sign = torch.where(player == 0, 1.0, -1.0).to(action_value.dtype)
    acting = behaviour.gather(-1, column).squeeze(-1)
    # Where nobody moves, the acting policy may be 0 at any action.
    ratio = (policy.gather(-1, column).squeeze(-1) / acting).where(valid, 1.0)
    said = action_value.gather(-1, column).squeeze(-1)
    carried = trace_decay * ratio.clamp(max=c_bar)
    expected = (policy * action_value).sum(dim=-1) - sign * cost
    after = torch.zeros_like(said[0])
    taken, before = [], []
    for t in reversed(range(len(said))):
        target = reward[t] + after
        after = (expected[t] + carried[t] * (target - said[t])).where(valid[t], 0.0)
        taken.append(target)
        before.append(after)
    target = torch.stack(taken[::-1])
    surprise = ((target - said) / acting).where(valid, 0.0)
    corrected = action_value.scatter_add(-1, column, surprise.unsqueeze(-1))
    return HistoryTargets(sign * torch.stack(before[::-1]), sign.unsqueeze(-1) * corrected, target)
