"""`LatePolicy`: plays by one policy down to a round and by another one from there on.

An opponent who errs late (Milec, Kovařík, Lisý 2025, "Adapting Beyond the Depth Limit"), in games
with `Rules` of any size; `opponent_models.errs_beyond` makes them in compiled ones.
"""

from __future__ import annotations

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking
from spiel_dl.tree.from_openspiel import check_game_of, is_same_game
from spiel_dl.tree.particles import rules_of


class LatePolicy(openspiel_policy.Policy):
    """Two policies of one game, one after the other.

    Attributes:
      above: what is played in rounds before `num_rounds`, counted from 0.
      below: what is played from there on.
      num_rounds: how many rounds are played by `above`.
    """

    def __init__(
        self,
        above: openspiel_policy.Policy,
        below: openspiel_policy.Policy,
        num_rounds: int,
    ):
        """Takes two policies of a turn-based game with `Rules`.

        Raises:
          ValueError: if the game has no rules, the policies are of different games, or the number
            of rounds is negative.
        """
        rules_of(above.game)
        if not is_same_game(above.game, below.game):
            raise ValueError(
                f"above is a policy of {above.game}, but below one of {below.game}; give two "
                "policies of one game"
            )
        if num_rounds < 0:
            raise ValueError(f"num_rounds={num_rounds} must be at least 0")
        super().__init__(above.game, [0, 1])
        self.above, self.below, self.num_rounds = above, below, num_rounds

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """What the policy of the state's round says; errors are its own.

        Raises:
          ValueError: if no player acts in the state, or it is of another game.
        """
        check_game_of(state, self.game)
        asking.acting_player(state, player_id)
        over = int(rules_of(self.game).round_index(state.batch)[0])
        policy = self.above if over < self.num_rounds else self.below
        found: dict[int, float] = policy.action_probabilities(state, player_id)
        return found
