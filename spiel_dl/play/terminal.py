"""Plays OpenSpiel games in a terminal: a person against a policy.

The person sees their player's information only, never the state: for games with `Rules` their view
(`spiel_dl.games.views`), for others OpenSpiel's own strings for that player.
"""

from __future__ import annotations

import random
import re
import types
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TextIO

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.play import kuhn_view
from spiel_dl.policies import asking
from spiel_dl.tree.drawing import draw
from spiel_dl.tree.load import AnyGame, turn_based_game

_LINE_WIDTH = 80
_HELP = """Type the number or the name of an action; part of a name will do if only one action fits.
  help     this text
  actions  the legal actions again
  quit     leave the match"""


class Option(NamedTuple):
    """A legal action in the list that the person sees.

    Attributes:
      number: the number to type; see `options`.
      name: the action's name.
      action: OpenSpiel's id.
    """

    number: int
    name: str
    action: int


class _LeaveError(Exception):
    """The person leaves the match; the message says how."""


class Match:
    """A series of games, with a running score.

    Attributes:
      game: the turn-based game.
      scores: sums of returns over all finished games: the person's and the opponent's.
      num_finished: number of finished games.
    """

    def __init__(
        self,
        game: AnyGame,
        opponent: openspiel_policy.Policy,
        source: TextIO,
        sink: TextIO,
        seat: int | None = 0,
        seed: int | None = None,
        reveal: bool = False,
    ):
        """Sets up a match.

        Args:
          game: the game, its game string, or the compiled game. Simultaneous moves are played turn
            by turn.
          opponent: the opponent's policy, of this game or of its turn-based form.
          source: of the person's input lines.
          sink: of the output.
          seat: the person's player; None: a random one in every game.
          seed: of chance, the opponent's choices and random seats; None: a random one.
          reveal: whether to show all hidden information once a game is over.

        Raises:
          ValueError: if `seat` is no player, or the game cannot be played turn by turn by two
            players or has no strings of their information.
        """
        if seat not in (0, 1, None):
            raise ValueError(f"seat={seat} is no player; use 0, 1, or None for a random one")
        self.game = turn_based_game(game)
        check_readable(self.game)
        self.scores = [0.0, 0.0]
        self.num_finished = 0
        self._opponent = opponent
        self._source, self._sink = source, sink
        self._seat = seat
        self._reveal = reveal
        self._random = random.Random(seed)

    def play(self, num_games: int = 1) -> None:
        """Plays games until all are over or the person leaves, by `quit` or the end of input."""
        self._write(f"{self.game}\nType help for help, quit to leave.")
        try:
            for number in range(1, num_games + 1):
                seat = self._random.randrange(2) if self._seat is None else self._seat
                self._write(f"\n=== Game {number} of {num_games}: you are player {seat} ===")
                self.play_game(self.game.new_initial_state(), seat)
        except _LeaveError as leave:
            self._write(f"\n{leave} The game was not finished and does not count.")
        if self.num_finished:
            self._write(f"Final score after {self._count_games()}: {self._show(self.scores)}.")
        self._write("Goodbye.")

    def play_game(self, state: pyspiel.State, seat: int = 0) -> None:
        """Plays one game from a state to its end, and counts it.

        Args:
          state: the initial state; it is changed in place.
          seat: the person's player.

        Raises:
          ValueError: if the opponent's policy is undefined in a state, or is no distribution over
            the legal actions.
        """
        while not state.is_terminal():
            player = state.current_player()
            if player == pyspiel.PlayerId.CHANCE:
                state.apply_action(self.draw(dict(state.chance_outcomes())))
            elif player != seat:
                probabilities = asking.checked_probabilities(self._opponent, state, player)
                state.apply_action(self.draw(probabilities))
            else:
                state.apply_action(self._ask(state, player))
        self._finish(state, seat)

    def _finish(self, state: pyspiel.State, seat: int) -> None:
        """Adds a finished game to the score, and writes the result."""
        self._write("\n--- The game is over. ---")
        if self._reveal:
            self._write(f"All that happened:\n{state}")
        elif hasattr(self.game, "rules"):
            self._write(view(state, seat))
        elif has_perfect_information(self.game):
            self._write(str(state))
        returns = state.returns()
        if seat == 1:
            returns.reverse()
        self.scores = [score + gain for score, gain in zip(self.scores, returns, strict=True)]
        self.num_finished += 1
        self._write(f"Result: {self._verdict(returns)} ({self._show(returns)}).")
        self._write(f"Score after {self._count_games()}: {self._show(self.scores)}.")

    def _verdict(self, returns: Sequence[float]) -> str:
        if returns[0] == returns[1]:
            return "a draw"
        return "you win" if returns[0] > returns[1] else "you lose"

    def _show(self, numbers: Sequence[float]) -> str:
        """The person's and the opponent's numbers as text; adding 0.0 avoids "-0"."""
        pairs = zip(("you", "opponent"), numbers, strict=True)
        return ", ".join(f"{name} {number + 0.0:+g}" for name, number in pairs)

    def _count_games(self) -> str:
        return f"{self.num_finished} game{'s' if self.num_finished != 1 else ''}"

    def _ask(self, state: pyspiel.State, player: int) -> int:
        """Asks the person for an action."""
        legal_options = options(state)
        self._write(f"\n{view(state, player)}\n\nLegal actions:\n{list_options(legal_options)}")
        while True:
            line = self._read(f"Player {player}> ").strip()
            if line == "help":
                self._write("\n".join(filter(None, [_HELP, summary(self.game)])))
            elif line == "actions":
                self._write(list_options(legal_options))
            else:
                try:
                    return choose(legal_options, line)
                except ValueError as error:
                    self._write(str(error))

    def draw(self, probabilities: Mapping[int, float]) -> int:
        """Draws an outcome of chance or an action of the opponent."""
        return draw(probabilities, self._random.random())

    def _read(self, prompt: str) -> str:
        """Reads a line of input; `quit`, end of input and Ctrl-C leave the match."""
        self._sink.write(prompt)
        self._sink.flush()
        try:
            line = self._source.readline()
        except KeyboardInterrupt:
            raise _LeaveError("Interrupted.") from None
        if not line:
            raise _LeaveError("End of input.")
        if line.strip() == "quit":
            raise _LeaveError("You have left.")
        return line

    def _write(self, text: str) -> None:
        self._sink.write(f"{text}\n")
        self._sink.flush()


def view(state: pyspiel.State, player: int) -> str:
    """A player's information in a turn-based game, as text."""
    game = state.get_game()
    if hasattr(game, "rules"):
        return str(_views().view(game.rules, state.batch, player))
    if kuhn_view.is_kuhn_poker(game):
        return kuhn_view.view(state, player)
    game_type = game.get_type()
    texts = []
    if game_type.provides_observation_string:
        texts.append(state.observation_string(player))
    # In games with perfect information it is the history, and the board is more readable.
    if game_type.provides_information_state_string and not (
        texts and has_perfect_information(game)
    ):
        texts.append(state.information_state_string(player))
    if not texts:
        texts.append(str(state))
    maximal = [text for text in texts if not any(text != t and text in t for t in texts)]
    first, *others = [_lines(text) for text in dict.fromkeys(maximal)]
    # Information states often repeat lines of the observation.
    new_lines = [line for lines in others for line in lines if line not in first]
    return "\n".join([f"You are player {player}.", *first, *new_lines])


def _lines(text: str) -> list[str]:
    """The lines of a text; of a text such as "[Round 1][Pot: 2]", the contents of the brackets."""
    if re.fullmatch(r"(\[[^\[\]]*\])+", text.strip()):
        return re.findall(r"\[([^\[\]]*)\]", text)
    return text.splitlines()


def options(state: pyspiel.State) -> list[Option]:
    """The legal actions of the player to move, numbered.

    The number is the action's id; but if every name contains one number and these differ, as in
    "Bid: 3", it is that number: a person who types 3 means the bid, not the id.
    """
    player = state.current_player()
    actions = state.legal_actions()
    # OpenSpiel names some actions with the player before them, as in "[P0]Bid: 3".
    names = [
        re.sub(r"^\[P\d\]\s*", "", state.action_to_string(player, action)) for action in actions
    ]
    digits_in_names = [re.findall(r"\d+", name) for name in names]
    numbers = [int(digits[0]) for digits in digits_in_names if len(digits) == 1]
    if len(set(numbers)) != len(actions):
        numbers = actions
    return sorted(map(Option, numbers, names, actions))


def choose(legal_options: Sequence[Option], text: str) -> int:
    """The action that a person's input stands for.

    Args:
      legal_options: the legal actions.
      text: a number; or a name, or a part of it that fits a single one: consecutive words, case
        and punctuation ignored.

    Raises:
      ValueError: if the text fits no action, or more than one.
    """
    matches = _matching(legal_options, text)
    if len(matches) == 1:
        return matches[0].action
    if matches:
        names = ", ".join(option.name for option in matches[:5])
        raise ValueError(f"{text!r} fits several actions ({names}); type a number from the list.")
    raise ValueError(
        f"{text!r} is not a legal action; type a number or name from the list, actions to see it "
        "again, or help."
    )


def _matching(legal_options: Sequence[Option], text: str) -> list[Option]:
    """The options that a text fits, by the strictest of the rules of `choose` that fits any."""
    if re.fullmatch(r"[+-]?\d+", text):
        return [option for option in legal_options if option.number == int(text)]
    words = _words(text)
    same = [option for option in legal_options if option.name == text]
    if same or not words:
        return same
    same = [option for option in legal_options if _words(option.name) == words]
    return same or [
        option for option in legal_options if f" {words} " in f" {_words(option.name)} "
    ]


def check_readable(game: pyspiel.Game) -> None:
    """Raises a ValueError if a game has no strings of one player's information."""
    game_type = game.get_type()
    if not (
        game_type.provides_observation_string
        or game_type.provides_information_state_string
        or has_perfect_information(game)
    ):
        raise ValueError(
            f"{game} has neither observation_string nor information_state_string, so there is "
            "nothing to show to one player only; implement one of them in the game"
        )


def has_perfect_information(game: pyspiel.Game) -> bool:
    """Whether a game has perfect information."""
    return bool(game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION)


def summary(game: pyspiel.Game) -> str:
    """A short description of the rules of a game of this package; empty for others."""
    return str(_views().summary(game.rules)) if hasattr(game, "rules") else ""


def _views() -> types.ModuleType:
    from spiel_dl.games import views  # Imports torch, which other games do not need.

    return views


def _words(text: str) -> str:
    """The words and numbers of a text, in lower case, separated by single spaces."""
    return " ".join(re.findall(r"[a-z]+|\d+", text.casefold()))


def list_options(legal_options: Sequence[Option]) -> str:
    """All options as text, in as many columns as fit."""
    widest = max(len(str(option.number)) for option in legal_options)
    cells = [f"{option.number:>{widest}}  {option.name}" for option in legal_options]
    width = max(map(len, cells)) + 3
    columns = max(1, _LINE_WIDTH // width)
    lines = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    return "\n".join("".join(f"  {cell:{width - 2}}" for cell in line).rstrip() for line in lines)
