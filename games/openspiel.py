"""OpenSpiel's view of any `Rules`: one Game, one State and one Observer for all games.

For a game that `spiel_dl.games.registry` knows,

    import pyspiel
    import spiel_dl
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=5)")

gives a `RulesGame`. Its `rules` attribute is the batched form of the same game, and a
`RulesState`'s `batch` is the state as a batch of one.

Observers support every `IIGObservationType`. Their pieces are, in this order: with
`private_info=SINGLE_PLAYER` the observing player's one-hot, `player`; with `public_info` the
rules' public pieces; with SINGLE_PLAYER that player's private pieces under their own names, with
ALL_PLAYERS both players' under names that begin with `player_0_` and `player_1_`. A piece without
entries is left out. So the information state tensor is `Rules.information_state_tensor`. Strings
are the tensors, written as text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import pyspiel
import torch

from spiel_dl.games import rules
from spiel_dl.games.pieces import split_row, strings_of_pieces, total_size
from spiel_dl.games.registration import (
    Parameter,
    Registration,
    complete_parameters,
    game_type,
)

Number = TypeVar("Number", int, float)


def parse_list(text: str, name: str, kind: type[Number]) -> tuple[Number, ...]:
    """Parses OpenSpiel's list parameters, such as `[3;2;2]`.

    Raises:
      ValueError: if `text` is not a list of finite numbers of that kind, int or float, in square
        brackets.
    """
    stripped = text.strip()
    try:
        inside = stripped[1:-1].strip()
        numbers = tuple(kind(item) for item in inside.split(";")) if inside else ()
        if (stripped[:1], stripped[-1:]) != ("[", "]") or not all(map(math.isfinite, numbers)):
            raise ValueError("no brackets, or no finite number")
        return numbers
    except ValueError:
        example = "integers like [3;2;2]" if kind is int else "numbers like [3.0;2.0]"
        raise ValueError(f"{name}={text!r} is not a list of {example}") from None


class RulesGame(pyspiel.Game):
    """An OpenSpiel game that plays a `Rules`.

    Attributes:
      registration: the game's registration.
      rules: the game's rules.
      root: the node of the initial state, shared by all of the game's states.
    """

    def __init__(
        self,
        registration: Registration,
        params: Mapping[str, Parameter] | None = None,
    ):
        """Makes the rules; called by `pyspiel.load_game`.

        Raises:
          ValueError: if a parameter is unknown, of a wrong type or out of range, or cannot be
            written in a game string; if the rules have more than 2^15 actions or chance outcomes,
            or tensors that do not fit their pieces, or pieces of equal names.
        """
        self.registration = registration
        parameters = complete_parameters(registration, params or {})
        self.rules = registration.maker(**parameters)
        most = max(self.rules.num_actions, self.rules.num_chance_outcomes)
        if most > len(_ACTIONS):
            raise ValueError(
                f"{registration.short_name} has {most} actions or chance outcomes; at most "
                f"{len(_ACTIONS)} are possible"
            )
        if self.rules.num_chance_outcomes and not self.rules.max_chance_nodes:
            raise ValueError(
                f"{registration.short_name} has {self.rules.num_chance_outcomes} chance outcomes "
                "and max_chance_nodes=0; give the largest number of chance events in a history"
            )
        _check_writable(registration.short_name, parameters)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=self.rules.num_chance_outcomes,
            num_players=2,
            min_utility=self.rules.min_utility,
            max_utility=self.rules.max_utility,
            utility_sum=0.0,
            max_game_length=self.rules.max_game_length,
        )
        has_chance = self.rules.max_chance_nodes > 0
        super().__init__(game_type(registration, has_chance), info, parameters)
        self.root = _Node.of(self.rules, self.rules.initial_state())
        _check_pieces(self.rules, self.root.batch)

    def __reduce__(self) -> tuple[Any, ...]:
        # A function of this module, whose import registers the games in the loading process.
        return _load_game, (str(self),)

    def new_initial_state(self) -> RulesState:
        """The state at the root."""
        return RulesState(self)

    def max_chance_nodes_in_history(self) -> int:
        """The largest number of chance events in a history."""
        return self.rules.max_chance_nodes

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> RulesObserver:
        """An observer; without a type, that of OpenSpiel's observation tensor.

        Raises:
          ValueError: if there are observation parameters, as no game here has any.
        """
        if isinstance(iig_obs_type, Mapping):
            # OpenSpiel's C++ side passes the parameters first when it has no observation type.
            iig_obs_type, params = None, iig_obs_type
        if params:
            raise ValueError(f"observation parameters {dict(params)} are unknown; pass none")
        return RulesObserver(
            self.rules, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        )


def _check_writable(short_name: str, parameters: Mapping[str, Parameter]) -> None:
    """Raises a ValueError if the game's string, by which it is pickled, is read otherwise."""
    for name, value in parameters.items():
        given = {"name": short_name, name: value}
        try:
            read = pyspiel.game_parameters_from_string(pyspiel.game_parameters_to_string(given))
        except pyspiel.SpielError:
            read = {}
        if read != given:
            raise ValueError(
                f"{name}={value!r} of {short_name} is another value in a game string, by which "
                "games are pickled and loaded again: separate by spaces or semicolons, not by "
                "commas; end a range like 77 with ';'; give numbers at most 15 digits"
            )


def _check_pieces(game_rules: rules.Rules, root: rules.StateBatch) -> None:
    """Raises a ValueError if pieces share a name, or a tensor has not as many columns as they."""
    for recall in (False, True):
        names = ["player", *game_rules.public_pieces(recall), *game_rules.private_pieces(recall)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"{name!r} names two pieces with perfect_recall={recall}; give each of "
                    "public_pieces and private_pieces a name of its own, and none 'player'"
                )
        sizes = {
            "public": (game_rules.public_tensor(root, recall), game_rules.public_size(recall)),
            "private": (
                game_rules.private_tensor(root, 0, recall),
                game_rules.private_size(recall),
            ),
        }
        for name, (tensor, size) in sizes.items():
            if tensor.shape != (1, size):
                raise ValueError(
                    f"{name}_tensor has {tensor.shape[-1]} columns with perfect_recall={recall}, "
                    f"and {name}_pieces say {size}; make them agree"
                )


def _load_game(game_string: str) -> RulesGame:
    return pyspiel.load_game(game_string)


class RulesState(pyspiel.State):
    """A history of a `RulesGame`.

    OpenSpiel clones a Python state by making an initial one and deep-copying the attributes, and
    serializes it by pickling them. So there is a single attribute, and its copy is itself.
    """

    def __init__(self, game: RulesGame):
        """The state at the game's root; called by `RulesGame.new_initial_state` only."""
        super().__init__(game)
        self._node = game.root

    @property
    def batch(self) -> rules.StateBatch:
        """This state as a batch of one, for the game's rules."""
        return self._node.batch

    def current_player(self) -> int:
        """Id of the player to move, or -1 for chance, -4 if the game is over."""
        return self._node.player

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._node.player == rules.TERMINAL_PLAYER

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """All (outcome, probability), where chance acts; outcomes in ascending order.

        Raises:
          ValueError: where chance does not act.
        """
        if self._node.player != rules.CHANCE_PLAYER:
            raise ValueError(
                f"chance does not act here, player {self._node.player} does; "
                "ask is_chance_node() first"
            )
        probabilities = self._rules.chance_probabilities(self.batch).numpy()[0]
        return [(outcome, probabilities[outcome].item()) for outcome in self._possible_actions()]

    def returns(self) -> list[float]:
        """Both players' utilities; 0 unless the game is over."""
        if not self.is_terminal():
            return [0.0, 0.0]
        utility = self._rules.returns(self.batch).item()
        # Not -utility, which would print the draw's zero with a sign.
        return [utility, 0.0 - utility]

    def _legal_actions(self, player: int) -> list[int]:
        # OpenSpiel calls it for the player to move only.
        return self._possible_actions()

    def _apply_action(self, action: int) -> None:
        """Applies an action or outcome; raises ValueError if it is not possible here."""
        possible = self._possible_actions()
        if action not in possible:
            raise ValueError(
                f"action {action} is not possible for player {self._node.player} after the "
                f"history {self.history()}; use one of {possible}"
            )
        game_rules = self._rules
        batch = game_rules.apply(self.batch, _ACTIONS.narrow(0, action, 1))
        self._node = _Node.of(game_rules, batch)

    def _action_to_string(self, player: int, action: int) -> str:
        return self._rules.action_to_string(int(player), action)

    def __str__(self) -> str:
        """The whole state, hidden parts included, for people."""
        return self._rules.describe(self.batch)

    @property
    def _rules(self) -> rules.Rules:
        return self.get_game().rules

    def _possible_actions(self) -> list[int]:
        """Legal actions of the player to move, or chance's outcomes, in ascending order."""
        node = self._node
        if node.possible_actions is None:
            if node.player == rules.CHANCE_PLAYER:
                possible = self._rules.chance_probabilities(node.batch)
            else:
                possible = self._rules.legal_actions(node.batch)
            node.possible_actions = possible.numpy()[0].nonzero()[0].tolist()
        return list(node.possible_actions)


class _Node:
    """The part of a state that all of its clones share: a batch of one, and cached values.

    Attributes:
      batch: the state.
      player: the player to act.
      possible_actions: legal actions or chance outcomes; None until first used.
    """

    def __init__(self, batch: rules.StateBatch, player: int):
        self.batch = batch
        self.player = player
        self.possible_actions: list[int] | None = None

    @classmethod
    def of(cls, game_rules: rules.Rules, batch: rules.StateBatch) -> _Node:
        return cls(batch, int(game_rules.current_player(batch).item()))

    def __deepcopy__(self, memo: dict[int, Any]) -> _Node:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays are pickled in less than a tenth of the time that tensors need.
        return _unpickle_node, (type(self.batch), self.batch.arrays(), self.player)


def _unpickle_node(batch_type: type, arrays: tuple[np.ndarray, ...], player: int) -> _Node:
    return _Node(batch_type(*(torch.from_numpy(array) for array in arrays)), player)


class RulesObserver:
    """Observes a `RulesState`, as OpenSpiel's Python observers do.

    Attributes:
      tensor: float32 [D], the last observation of `set_from`.
      dict: the pieces' names and values, in order: views of `tensor`.
    """

    def __init__(self, game_rules: rules.Rules, iig_obs_type: pyspiel.IIGObservationType):
        self._rules = game_rules
        self._perfect_recall = iig_obs_type.perfect_recall
        self._public = iig_obs_type.public_info
        private = iig_obs_type.private_info
        self._own = private == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._all = private == pyspiel.PrivateInfoType.ALL_PLAYERS
        self._pieces = self._make_pieces()
        self.tensor = np.zeros(total_size(self._pieces), dtype=np.float32)
        self.dict = split_row(self._pieces, self.tensor)

    def set_from(self, state: RulesState, player: int) -> None:
        """Writes the observation of `player` into `tensor`, and so into `dict`.

        Raises:
          ValueError: if `player` is neither 0 nor 1.
        """
        self.tensor[:] = self._observe(state, player)

    def string_from(self, state: RulesState, player: int) -> str:
        """The observation of `player` as text; equal exactly where the tensors are equal.

        Raises:
          ValueError: if `player` is neither 0 nor 1.
        """
        return strings_of_pieces(self._pieces, self._observe(state, player))

    def _make_pieces(self) -> dict[str, tuple[int, ...]]:
        pieces: dict[str, tuple[int, ...]] = {}
        private = self._rules.private_pieces(self._perfect_recall)
        if self._own:
            pieces["player"] = (2,)
        if self._public:
            pieces.update(self._rules.public_pieces(self._perfect_recall))
        if self._own:
            pieces.update(private)
        if self._all:
            for player in (0, 1):
                pieces.update({f"player_{player}_{name}": private[name] for name in private})
        return {name: shape for name, shape in pieces.items() if math.prod(shape)}

    def _observe(self, state: RulesState, player: int) -> np.ndarray:
        """All pieces in order, as one row: float32 [D]."""
        if player not in (0, 1):
            raise ValueError(f"player={player} cannot observe; use player 0 or 1")
        batch, recall = state.batch, self._perfect_recall
        parts = [_NOTHING]
        if self._own:
            parts.append(_PLAYER_ONE_HOT[player])
        if self._public:
            parts.append(self._rules.public_tensor(batch, recall).numpy()[0])
        observed = (player,) if self._own else (0, 1) if self._all else ()
        parts += [self._rules.private_tensor(batch, p, recall).numpy()[0] for p in observed]
        return np.concatenate(parts)


# One tensor of every action, because a view of it is made faster than a new tensor. Histories are
# recorded as int16.
_ACTIONS = torch.arange(1 << 15)
_NOTHING = np.zeros(0, dtype=np.float32)
_PLAYER_ONE_HOT = np.eye(2, dtype=np.float32)
