"""`ContinualPolicy`: plays a compiled game by solving it piece by piece, each when it is reached.

What is solved, and how, is said by a `Step`. This is the one loop behind continual resolving, CDBR,
CDRNR and SePoT on compiled games:

    step = SomeStep(Pieces(tree, depth_limit, "block"), ArrayPolicy.uniform(tree), ...)
    policy = ContinualPolicy(step)
    policy.action_probabilities(state)  # solves what is on the way to the state
    policy.to_array_policy()  # solves the rest
"""

from __future__ import annotations

from collections.abc import Iterable

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.step import Step
from spiel_dl.tree.game_tree import GameTree


class ContinualPolicy(openspiel_policy.Policy):
    """Policies by continual search, each player's as if only that player searched.

    Nothing is solved before it is asked for. What was solved is kept.

    Attributes:
      step: what is solved where the search starts anew.
    """

    def __init__(self, step: Step):
        """Solves nothing yet."""
        super().__init__(step.tree.game, [0, 1])
        self.step = step
        self._done: set[tuple[int, int]] = set()

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.step.tree

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; solves what is needed for them.

        Arguments and errors are those of `ArrayPolicy.action_probabilities`.
        """
        self.step.policy.check_state(state)
        player = state.current_player() if player_id is None else player_id
        if player in self.step.players:
            infoset = self.tree.find_infoset(state, player)
            self._solve(player, self.step.places(player, infoset))
        return self.step.policy.action_probabilities(state, player_id)

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets; solves what was not asked for yet."""
        for player in self.step.players:
            self._solve(player, self.step.all_places(player))
        strategy_0, strategy_1 = (strategy.copy() for strategy in self.step.policy.strategies)
        return ArrayPolicy(self.tree, (strategy_0, strategy_1))

    def _solve(self, player: int, places: Iterable[int]) -> None:
        waiting = [place for place in places if (player, place) not in self._done]
        for batch in self.step.batches(player, waiting):
            self.step.solve(player, batch)
            self._done.update((player, place) for place in batch)
