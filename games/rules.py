"""`Rules`: the batched array form in which every game of this package is written.

A `Rules` object is immutable: it holds a game's parameters and precomputed tables. A state is a
`StateBatch`: a frozen dataclass of tensors that share a leading batch dimension B. Everything else
is made of these two: OpenSpiel's view of a game (`spiel_dl.games.openspiel`), game trees
(`spiel_dl.tree`), and batches of self-play environments on CPU or GPU.

Conventions:
  * Player ids are OpenSpiel's: 0, 1, chance -1, terminal -4.
  * Action ids are those of the game's OpenSpiel C++ twin, so that histories can be replayed there.
  * Stepping never looks at values on the host: no data-dependent shapes, no loop over the batch.

Factored observations. Those of a history are split into a public tensor, which both players see,
and one private tensor per player. With perfect recall both are one-hot *sequences* of observations,
padded with zeros, as in Kovařík et al. (2021), "Domain-Independent Encoding". Two invariants make
them useful, and the tests hold every game to both:
  * two histories share an augmented infoset of a player exactly when their public tensors and that
    player's private tensors are equal, and
  * the public tensor is *monotone*: every action, chance's included, adds at least one bit to it
    and takes none away. So a history can lead to a public state only if its bits are among that
    state's bits, and equal public tensors mean equally long histories.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

import numpy as np
import torch

from spiel_dl.games.batches import StateBatch as StateBatch
from spiel_dl.games.compiled import CHANCE, TERMINAL, CompiledRules
from spiel_dl.games.pieces import strings_of_pieces, total_size

CHANCE_PLAYER, TERMINAL_PLAYER = CHANCE, TERMINAL
_CHUNK = 4096  # histories expanded at a time

State = TypeVar("State", bound=StateBatch)


@dataclasses.dataclass(frozen=True)
class ConsistentHistories:
    """All histories of one public state, unless there are too many.

    Attributes:
      complete: whether every history was found. If not, the arrays are empty.
      states: the histories' states, batch dimension N.
      actions: int16 [N, L], the actions from the root, chance's included. All histories of a public
        state are equally long.
      chance_reach: float64 [N], the product of chance's probabilities along each history.
      nor_later: whether the following public states cannot be listed with the same limit either.
    """

    complete: bool
    states: StateBatch
    actions: torch.Tensor
    chance_reach: torch.Tensor
    nor_later: bool = False


@dataclasses.dataclass(frozen=True)
class Children(Generic[State]):
    """All successors of a batch of states, or some of them.

    Attributes:
      states: the successors, batch dimension N.
      parent: int64 [N], the row from which each one follows.
      action: int64 [N], the player action or chance outcome that leads to it.
      probability: float64 [N], chance's probability of the outcome; 1 for player actions.
    """

    states: State
    parent: torch.Tensor
    action: torch.Tensor
    probability: torch.Tensor

    def take(self, rows: torch.Tensor) -> Children[State]:
        """The successors of some rows (int64 [n]), in their order."""
        return Children(
            self.states.take(rows), self.parent[rows], self.action[rows], self.probability[rows]
        )


class Rules(abc.ABC, Generic[State]):
    """A two-player zero-sum perfect-recall game as functions on batches of states.

    Attributes:
      num_actions: A, the number of distinct player actions.
      num_chance_outcomes: C, the number of distinct chance outcomes; 0 without chance.
      max_game_length: the largest number of player actions in a history.
      max_chance_nodes: the largest number of chance events in a history; 0 without chance.
      longest_chance_run: the largest number of chance events between two player actions, also where
        the first action ends a game and the second begins the next; None: 2 * `max_chance_nodes`,
        enough unless chance may end a game before anybody moves. Environments draw so many random
        numbers at every step, and skip such games.
      searches_by_moves: whether searches look one move ahead by default, not one round: they begin
        where their player is to act then, and not at the opponent's public move before.
      min_utility: the smallest utility of either player.
      max_utility: the largest utility of either player.
    """

    num_actions: int
    num_chance_outcomes: int = 0
    max_game_length: int
    max_chance_nodes: int = 0
    longest_chance_run: int | None = None
    searches_by_moves: bool = False
    min_utility: float
    max_utility: float

    @abc.abstractmethod
    def initial_state(self, batch_size: int = 1, device: torch.device | str = "cpu") -> State:
        """A batch of B copies of the root."""

    @abc.abstractmethod
    def current_player(self, state: State) -> torch.Tensor:
        """The player to act: int8 [B], OpenSpiel's player ids."""

    @abc.abstractmethod
    def legal_actions(self, state: State) -> torch.Tensor:
        """Legal actions of the player to move: bool [B, A]; False in chance and terminal states."""

    def chance_probabilities(self, state: State) -> torch.Tensor:
        """Probabilities of chance outcomes: float64 [B, C]; 0 where chance does not act."""
        return torch.zeros(
            (state.batch_size, self.num_chance_outcomes), dtype=torch.float64, device=state.device
        )

    @abc.abstractmethod
    def apply(self, state: State, action: torch.Tensor) -> State:
        """The successors under `action` (int64 [B]; chance outcomes too, legality not checked).

        Terminal states are returned unchanged, whatever their action.
        """

    @abc.abstractmethod
    def returns(self, state: State) -> torch.Tensor:
        """Player 0's utility: float64 [B]; 0 in states that are not terminal."""

    @abc.abstractmethod
    def round_index(self, state: State) -> torch.Tensor:
        """The number of completed rounds: int16 [B]."""

    @abc.abstractmethod
    def public_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the pieces of the public tensor, in order."""

    @abc.abstractmethod
    def private_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the pieces of a player's private tensor, in order."""

    @abc.abstractmethod
    def public_tensor(self, state: State, perfect_recall: bool = True) -> torch.Tensor:
        """The public tensor: float32 [B, Dpub], the public pieces flattened and joined."""

    @abc.abstractmethod
    def private_tensor(
        self, state: State, player: int, perfect_recall: bool = True
    ) -> torch.Tensor:
        """A player's private tensor: float32 [B, Dpriv], its pieces flattened and joined."""

    def public_code(self, state: State) -> torch.Tensor:
        """A shorter code of the perfect-recall public tensor: int8 [B, K].

        Codes are equal exactly where these tensors are equal. Trees identify infosets by codes.
        Games with large tensors override this; the default is the tensor itself.
        """
        return self.public_tensor(state, True).to(torch.int8)

    def private_code(self, state: State, player: int) -> torch.Tensor:
        """A code of the perfect-recall private tensor: int8 [B, K'], K' for both players."""
        return self.private_tensor(state, player, True).to(torch.int8)

    def compiled(self) -> CompiledRules | None:
        """The compiled form for small batches on a CPU, see `games.compiled`, or None."""
        return None

    @abc.abstractmethod
    def action_to_string(self, player: int, action: int) -> str:
        """The name of an action, or of a chance outcome if `player` is -1, for people."""

    @abc.abstractmethod
    def describe(self, state: State, row: int = 0) -> str:
        """The whole state of one row, hidden parts included, for people."""

    def consistent_histories(
        self, public_tensor: torch.Tensor, limit: int = 1_000_000
    ) -> ConsistentHistories:
        """All histories of a public state, found without enumerating the game.

        Expands breadth first from the root and drops, at every step, the histories whose public
        bits are not among those of the public state. Games with more structure override this.

        Args:
          public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
          limit: stop, incomplete, once a step has more histories than this.

        Raises:
          ValueError: if no history has this public tensor.
        """
        self.split_public(public_tensor)  # refuses other shapes
        target = public_tensor.unsqueeze(0) > 0
        states = self.initial_state(1, public_tensor.device)
        actions = torch.empty((1, 0), dtype=torch.int16, device=public_tensor.device)
        reach = torch.ones(1, dtype=torch.float64, device=public_tensor.device)
        while states.batch_size and states.batch_size <= limit:
            bits = self.public_tensor(states, perfect_recall=True) > 0
            is_target = (bits == target).all(dim=1)
            if bool(is_target.any()):
                rows = is_target.nonzero()[:, 0]
                return ConsistentHistories(True, states.take(rows), actions[rows], reach[rows])
            states, actions, reach = self._expand_towards(states, actions, reach, target, limit)
        if states.batch_size == 0:
            raise ValueError(
                "no history has this public tensor: it mixes observations that never follow each "
                "other; take it from public_tensor(state, perfect_recall=True)"
            )
        empty = states.take(torch.zeros(0, dtype=torch.int64, device=public_tensor.device))
        # The search for a later public state passes all of these histories, and more.
        return ConsistentHistories(False, empty, actions[:0], reach[:0], True)

    def draw_histories(
        self,
        public_tensor: torch.Tensor,
        count: int,
        generator: np.random.Generator,
        player: int | None = None,
        private_tensor: torch.Tensor | None = None,
    ) -> tuple[ConsistentHistories, np.ndarray] | None:
        """Random histories of a public state, or of one infoset in it, if the game can draw them.

        Games that reveal early hidden actions late override this; in others, histories can be
        extended from the root.

        Args:
          public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
          count: the number of different histories to draw; there may be fewer, or slightly more.
          generator: the random generator.
          player: only histories with this player's private tensor; None: any.
          private_tensor: float32 [Dpriv], that player's perfect-recall private tensor.

        Returns:
          The histories, and their weights: float64 [N], 1 divided by the probability with which
          each was drawn. None: the game has no such sampler.

        Raises:
          ValueError: if no history has these observations.
        """
        return None

    def _expand_towards(
        self,
        states: State,
        actions: torch.Tensor,
        reach: torch.Tensor,
        target: torch.Tensor,
        limit: int,
    ) -> tuple[State, torch.Tensor, torch.Tensor]:
        """The successors of all rows whose public bits are among `target` (bool [1, Dpub]).

        It works in chunks, so that successors that contradict the target never take much memory,
        and stops after the chunk with which there are more than `limit`.
        """
        parts, count = [], 0
        for rows in torch.arange(states.batch_size, device=reach.device).split(_CHUNK):
            children = self._extend(states.take(rows), actions[rows], reach[rows])
            bits = self.public_tensor(children[0], perfect_recall=True) > 0
            kept = (bits <= target).all(dim=1).nonzero()[:, 0]
            parts.append((children[0].take(kept), children[1][kept], children[2][kept]))
            count += len(kept)
            if count > limit:
                break
        batches, histories, reaches = zip(*parts, strict=True)
        return type(states).concatenate(list(batches)), torch.cat(histories), torch.cat(reaches)

    def _extend(
        self, states: State, actions: torch.Tensor, reach: torch.Tensor
    ) -> tuple[State, torch.Tensor, torch.Tensor]:
        """All successors of a batch, with their histories' actions and chance reaches."""
        children = self.expand(states)
        last_action = children.action[:, None].to(actions.dtype)
        history = torch.cat([actions[children.parent], last_action], dim=1)
        return children.states, history, reach[children.parent] * children.probability

    def expand(self, state: State) -> Children[State]:
        """All successors of a batch, ordered by row, then by action; terminal rows have none."""
        parent, action, probability = self.successors(state)
        return Children(self.apply(state.take(parent), action), parent, action, probability)

    def successors(self, state: State) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """All (parent row, action) pairs of a batch, ordered by row, then by action.

        Returns:
          parent: int64 [N], row of the acting state.
          action: int64 [N], player action or chance outcome.
          probability: float64 [N], chance's probability of the outcome; 1 for player actions.
        """
        legal = self.legal_actions(state)
        width = max(self.num_actions, self.num_chance_outcomes)
        possible = torch.zeros((state.batch_size, width), dtype=torch.bool, device=state.device)
        possible[:, : self.num_actions] = legal
        if not self.num_chance_outcomes:
            parent, action = possible.nonzero(as_tuple=True)
            return parent, action, torch.ones(len(parent), dtype=torch.float64, device=state.device)
        chance = self.chance_probabilities(state)
        possible[:, : self.num_chance_outcomes] |= chance > 0
        parent, action = possible.nonzero(as_tuple=True)
        outcome = action.clamp(max=self.num_chance_outcomes - 1)
        is_chance = self.current_player(state)[parent] == CHANCE_PLAYER
        probability = torch.where(is_chance, chance[parent, outcome], 1.0)
        return parent, action, probability

    def public_size(self, perfect_recall: bool) -> int:
        """Dpub, the length of the public tensor."""
        return total_size(self.public_pieces(perfect_recall))

    def split_public(self, public_tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The flat pieces of one public state's perfect-recall public tensor (float32 [Dpub]).

        Raises:
          ValueError: if it is of another shape.
        """
        sizes = [math.prod(shape) for shape in self.public_pieces(True).values()]
        if public_tensor.shape != (sum(sizes),):
            raise ValueError(
                f"public_tensor has shape {list(public_tensor.shape)} but this game's "
                f"perfect-recall public tensor has {[sum(sizes)]}; pass "
                "public_tensor(state, perfect_recall=True)[row]"
            )
        return public_tensor.split(sizes)

    def private_size(self, perfect_recall: bool) -> int:
        """Dpriv, the length of a private tensor."""
        return total_size(self.private_pieces(perfect_recall))

    def information_state_tensor(self, state: State, player: int) -> torch.Tensor:
        """Player one-hot, public and own private tensor: float32 [B, 2 + Dpub + Dpriv]."""
        public = self.public_tensor(state, perfect_recall=True)
        private = self.private_tensor(state, player, perfect_recall=True)
        return torch.cat([seat(state, player), public, private], dim=1)

    def information_state_strings(self, state: State, player: int) -> list[str]:
        """The information state tensor of every row as text, see `strings_of_pieces`."""
        pieces = {"player": (2,), **self.public_pieces(True), **self.private_pieces(True)}
        tensors = self.information_state_tensor(state, player).numpy()
        return [strings_of_pieces(pieces, row) for row in tensors]

    def feature_pieces(self) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the pieces of `features`, in order."""
        return {"player": (2,), **self.public_pieces(True), **self.private_pieces(True)}

    @property
    def num_features(self) -> int:
        """F, the length of a row of `features`."""
        return total_size(self.feature_pieces())

    def features(self, state: State, player: int) -> torch.Tensor:
        """The inputs of a player's network: float32 [B, F].

        They are laid out so that a network generalises: the player's own pieces first, then the
        opponent's, boards as planes, hands and points as counts, and the sequence of observations
        only where its order matters. They depend on the player's infoset alone, but need not
        identify it. Games override this; the default is the information state tensor.
        """
        return self.information_state_tensor(state, player)

    def history_features(self, state: State) -> torch.Tensor:
        """The inputs of a critic, the features of player 0 and of player 1: float32 [B, 2 F]."""
        return torch.cat([self.features(state, player) for player in (0, 1)], dim=1)


def seat(state: StateBatch, player: int) -> torch.Tensor:
    """A player, one-hot in every row: float32 [B, 2]."""
    rows = torch.zeros((state.batch_size, 2), device=state.device)
    rows[:, player] = 1.0
    return rows


def joined(pieces: Iterable[torch.Tensor]) -> torch.Tensor:
    """Pieces, [B, *shape] each, of numbers or bool, as one row each: float32 [B, all sizes]."""
    columns = [(piece if piece.dim() == 2 else piece.flatten(1)).float() for piece in pieces]
    # Joining copies.
    return torch.cat(columns, dim=1) if len(columns) > 1 else columns[0]


def one_hot(index: torch.Tensor, size: int) -> torch.Tensor:
    """One-hot rows, float32 [..., size]; all zeros where `index` is negative."""
    return (index.unsqueeze(-1) == torch.arange(size, device=index.device)).to(torch.float32)


def look_up(bits: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The rows of `bits` (float32 [K, D]) at `index` (int [B, n]): float32 [B, n, D]."""
    return torch.nn.functional.embedding(index.to(torch.int32), bits)
