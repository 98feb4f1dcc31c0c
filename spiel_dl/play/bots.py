"""Policies as `pyspiel.Bot`s, for OpenSpiel's matches and tools."""

from __future__ import annotations

import numpy as np
import pyspiel

from spiel_dl.policies import asking
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.drawing import draw
from spiel_dl.tree.histories import check_player


class SeatedBot(pyspiel.Bot):
    """A bot that plays one seat by a policy, which is evaluated only in the states that occur.

    Unlike OpenSpiel's `PolicyBot`, it works in states whose only legal action is 0.
    """

    def __init__(self, policy: asking.AnyPolicy, player: int, generator: np.random.Generator):
        """Takes a seat; see `policy_bot`."""
        pyspiel.Bot.__init__(self)
        self._policy = policy
        self._player = player
        self._generator = generator

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles the policy, the seat and the generator's state."""
        return type(self), (self._policy, self._player, self._generator)

    def player_id(self) -> int:
        """The seat."""
        return self._player

    def restart_at(self, state: pyspiel.State) -> None:
        """Does nothing, because policies depend on the state alone."""

    def provides_policy(self) -> bool:
        """Whether `step_with_policy` works: yes."""
        return True

    def get_policy(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """The policy in a state, as pairs of action and probability; see `step_with_policy`."""
        probabilities = asking.checked_probabilities(self._policy, state, self._player)
        return list(probabilities.items())

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """The policy in a state, as pairs of action and probability, and an action drawn from it.

        Raises:
          ValueError: if the player does not act in this state, or the policy is undefined there.
        """
        probabilities = asking.checked_probabilities(self._policy, state, self._player)
        return list(probabilities.items()), draw(probabilities, self._generator.random())

    def step(self, state: pyspiel.State) -> int:
        """An action drawn from the policy; errors are those of `step_with_policy`."""
        return self.step_with_policy(state)[1]


def policy_bot(policy: asking.AnyPolicy, player: int, seed: int | None = None) -> SeatedBot:
    """A `pyspiel.Bot` that plays a policy.

    Args:
      policy: in Python or C++, of the game that is played, or of the game with simultaneous moves
        that it was converted from. An `ArrayPolicy` of the turn-based game also plays the one with
        simultaneous moves; a network refuses its states with a ValueError.
      player: the seat, 0 or 1.
      seed: of its choices; None: a random one.

    Raises:
      ValueError: if there is no such player, `policy` is no policy, or the seed is negative.
    """
    check_player(player)
    if not isinstance(policy, asking.AnyPolicy):
        raise ValueError(f"policy={policy!r} must be an open_spiel.python.policy.Policy")
    if seed is not None:
        seed = checked_count("seed", seed, 0)
    return SeatedBot(policy, player, np.random.default_rng(seed))
