"""Tiny games with a property that no small game of OpenSpiel has."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyspiel

ROOT = 'EFG 2 R "tiny" { "P0" "P1" } ""\n\n'


# Player 1's infoset "late" lies right behind chance's x and, after a move of player 0, behind y:
# without a public clock it cannot tell how much time has passed. Then both histories go on.
#   0 root | 1 x: late, 2 y: player 0 | 3, 4: player 0 sees x | 5 y m: late | 6-9 end | 10, 11 end
NO_CLOCK = (
    ROOT
    + """c "" 1 "" { "x" 0.5 "y" 0.5 } 0
p "" 2 1 "late" { "l" "r" } 0
p "" 1 1 "after_x" { "u" "d" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
p "" 1 1 "after_x" { "u" "d" } 0
t "" 3 "" { -1, 1 }
t "" 4 "" { 1, -1 }
p "" 1 2 "after_y" { "m" } 0
p "" 2 1 "late" { "l" "r" } 0
t "" 5 "" { 2, -2 }
t "" 6 "" { 0, 0 }
"""
)

# Chance deals a or b to player 1, which enters or not; player 0 does not see the deal. With b it is
# better off outside, so by any solution it enters with a alone, where l is better by 0.5. Had it
# entered with b, l would cost player 0 two more than r if player 1 goes on wrong.
RARELY_ENTERED_AND_WRONG = (
    ROOT
    + """c "" 1 "" { "a" 0.5 "b" 0.5 } 0
p "" 2 1 "a" { "in" "out" } 0
p "" 1 1 "entered" { "l" "r" } 0
t "" 1 "" { 0, 0 }
t "" 2 "" { -0.5, 0.5 }
t "" 3 "" { 1, -1 }
p "" 2 2 "b" { "in" "out" } 0
p "" 1 1 "entered" { "l" "r" } 0
p "" 2 3 "went on" { "right" "wrong" } 0
t "" 4 "" { -1, 1 }
t "" 5 "" { 1, -1 }
t "" 6 "" { 1, -1 }
t "" 7 "" { -2, 2 }
"""
)


class _TinyGame(pyspiel.Game):
    """A game whose returns are -1 to 1; its copies are itself."""

    state_class: type[_TinyState]

    def __init__(
        self,
        name: str,
        chance_mode: pyspiel.GameType.ChanceMode,
        utility: pyspiel.GameType.Utility,
        tells: str,
        dynamics: pyspiel.GameType.Dynamics = pyspiel.GameType.Dynamics.SEQUENTIAL,
        **sizes: int,
    ):
        """`tells`: what its states tell: "observation", "information_state" or "nothing"."""
        game_type = pyspiel.GameType(
            short_name=name,
            long_name=name,
            dynamics=dynamics,
            chance_mode=chance_mode,
            information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
            utility=utility,
            reward_model=pyspiel.GameType.RewardModel.TERMINAL,
            max_num_players=2,
            min_num_players=2,
            provides_information_state_string=tells == "information_state",
            provides_information_state_tensor=False,
            provides_observation_string=tells == "observation",
            provides_observation_tensor=False,
        )
        info = pyspiel.GameInfo(num_players=2, min_utility=-1.0, max_utility=1.0, **sizes)
        super().__init__(game_type, info, {})

    def new_initial_state(self) -> _TinyState:
        return self.state_class(self)

    def __deepcopy__(self, memo: dict) -> _TinyGame:
        return self


class _TinyState(pyspiel.State):
    """A state by its history."""

    def __init__(self, game: _TinyGame):
        super().__init__(game)
        self.game = game
        self.actions: list[int] = []

    def _apply_action(self, action: int) -> None:
        self.actions.append(action)

    def __str__(self) -> str:
        return " ".join(map(str, self.actions))


class HiddenMoves(_TinyGame):
    """Player 0 moves, then player 1 without having seen it, then player 0 guesses if they agreed.

    Observations tell the time and nothing else, not even a player's own past moves. The type says
    general-sum, but every return is zero-sum.
    """

    def __init__(
        self,
        *,
        tells: str = "observation",
        idle_answer: str | type[Exception] | None = None,
        actions_of_1: tuple[tuple[int, ...], tuple[int, ...]] = ((0, 1), (0, 1)),
    ):
        """Builds a variant.

        Args:
          tells: "observation", "information_state" or "nothing".
          idle_answer: the information state of a player who is not to move, or what is raised when
            it is asked for; None: what the player knows.
          actions_of_1: player 1's legal actions after player 0's action 0, and after 1.
        """
        super().__init__(
            "hidden_moves",
            pyspiel.GameType.ChanceMode.DETERMINISTIC,
            pyspiel.GameType.Utility.GENERAL_SUM,
            tells,
            num_distinct_actions=3,
            max_chance_outcomes=0,
            max_game_length=3,
        )
        self.idle_answer = idle_answer
        self.actions_of_1 = actions_of_1


class HiddenMovesState(_TinyState):
    """A state of `HiddenMoves`."""

    def current_player(self) -> int:
        return (0, 1, 0, int(pyspiel.PlayerId.TERMINAL))[len(self.actions)]

    def _legal_actions(self, player: int) -> list[int]:
        if player == 1:
            return list(self.game.actions_of_1[self.actions[0]])
        return [0, 1]

    def _action_to_string(self, player: int, action: int) -> str:
        return f"{player}:{action}"

    def is_terminal(self) -> bool:
        return len(self.actions) == 3

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0, 0.0]
        won = 1.0 if (self.actions[0] == self.actions[1]) == (self.actions[2] == 0) else -1.0
        return [won, -won]

    def observation_string(self, player: int) -> str:
        return f"move {len(self.actions)}"

    def information_state_string(self, player: int) -> str:
        idle_answer = self.game.idle_answer
        if idle_answer is not None and player != self.current_player():
            if isinstance(idle_answer, str):
                return idle_answer
            raise idle_answer("not to move")
        return f"move {len(self.actions)}, own moves {self.actions[player::2]}"


HiddenMoves.state_class = HiddenMovesState


class Faulty(_TinyGame):
    """Chance deals 0 or 1, player 0 guesses it, and the game ends; one of the answers may be wrong.

    A state asks `faults` before it answers: the key is (name of the method, actions so far), the
    value what to answer, or an exception to raise.
    """

    def __init__(self, faults: dict[tuple[str, tuple[int, ...]], object] | None = None):
        super().__init__(
            "faulty",
            pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
            pyspiel.GameType.Utility.ZERO_SUM,
            "information_state",
            num_distinct_actions=2,
            max_chance_outcomes=2,
            max_game_length=1,
        )
        self.faults = faults or {}


class FaultyState(_TinyState):
    """A state of `Faulty`."""

    def _answer(self, method: str, right: object) -> object:
        answer = self.game.faults.get((method, tuple(self.actions)), right)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def current_player(self) -> int:
        return self._answer("current_player", (-1, 0, -4)[len(self.actions)])

    def is_terminal(self) -> bool:
        return self.current_player() == -4

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self._answer("chance_outcomes", [(0, 0.5), (1, 0.5)])

    def _legal_actions(self, player: int) -> list[int]:
        return self._answer("legal_actions", [0, 1])

    def _apply_action(self, action: int) -> None:
        self.actions.append(action)
        self._answer("apply_action", None)

    def _action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def returns(self) -> list[float]:
        won = 1.0 if self.actions and self.actions[0] == self.actions[-1] else -1.0
        return self._answer("returns", [won, -won])

    def information_state_string(self, player: int) -> str:
        # Alike but for the player's number, they would be taken for the mover's, see `tree.walk`.
        own = f"{('first', 'second')[player]} at {len(self.actions)}"
        return self._answer(f"information_state_of_{player}", own)


Faulty.state_class = FaultyState


class MovesAlone(_TinyGame):
    """Three joint moves; in the second one, one player has no legal actions."""

    def __init__(self, idle_player: int):
        super().__init__(
            f"moves_alone_{idle_player}",
            pyspiel.GameType.ChanceMode.DETERMINISTIC,
            pyspiel.GameType.Utility.ZERO_SUM,
            "information_state",
            pyspiel.GameType.Dynamics.SIMULTANEOUS,
            num_distinct_actions=2,
            max_chance_outcomes=0,
            max_game_length=3,
        )
        self.idle_player = idle_player

    def make_py_observer(self, iig_obs_type: object = None, params: object = None) -> _Told:
        return _Told()


class _Told:
    """An observer of information states, which OpenSpiel's conversion to turns asks."""

    tensor = np.zeros(0, np.float32)
    dict: ClassVar[dict[str, np.ndarray]] = {}

    def set_from(self, state: MovesAloneState, player: int) -> None:
        """It has no tensor."""

    def string_from(self, state: MovesAloneState, player: int) -> str:
        return state.information_state_string(player)


class MovesAloneState(_TinyState):
    """A state of `MovesAlone`; an action is a joint move."""

    def current_player(self) -> int:
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else pyspiel.PlayerId.SIMULTANEOUS

    def _legal_actions(self, player: int) -> list[int]:
        return [] if len(self.actions) == 1 and player == self.game.idle_player else [0, 1]

    def _apply_actions(self, actions: list[int]) -> None:
        self.actions.append(tuple(actions))

    def _action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def is_terminal(self) -> bool:
        return len(self.actions) == 3

    def returns(self) -> list[float]:
        won = 1.0 if self.actions and self.actions[0] == self.actions[-1] else -1.0
        return [won, -won]

    def information_state_string(self, player: int) -> str:
        return f"{player}: {[each[player] for each in self.actions]}"


MovesAlone.state_class = MovesAloneState
