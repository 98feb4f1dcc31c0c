"""Oshi-Zumo with hidden bids, for two players.

A wrestler stands in the middle of 2 S + 1 locations. Both players have coins. In every round each
commits a bid, player 0 first, which player 1 cannot see. The higher bid pushes the wrestler one
location towards the other player's side, a draw leaves it. Both bids are spent and never revealed:
only the winner of the round is announced, and the end of the game. The wrestler's location is
public, as it follows from the rounds' winners. A player's utility is 1 if the wrestler ends beyond
the centre on the other player's side, -1 on its own side, and 0 at the centre. Pushing it off the
board ends the game at once. The twin, in which bids are revealed, is OpenSpiel's `oshi_zumo`,
whose action ids are used here: action b bids b coins.

Pieces of the tensors; T is the largest number of rounds:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | player_0_has_bid | T | whether player 0 has bid in the round |
| public | yes | round_winners | T x 3 | one-hot of player 0 won, draw, player 1 won |
| public | no | location | 2 S + 3 | one-hot of the wrestler's location, and off either side; at \
the end of an optimal endgame, where its pushes have left it |
| public | no | player_0_has_bid | 1 | whether player 0 has bid in the current round |
| public | both | game_over | 1 | whether the game is over |
| private | yes | bids | T x (C + 1) | the own bid of every round |
| private | no | coins | C + 1 | one-hot of the own coins left |

The network's inputs do not depend on the seat, because bids are simultaneous: at its decision a
player's inputs are those that its opponent would have in its place.

| piece | shape | meaning |
|---|---|---|
| location | 2 S + 3 | one-hot of the wrestler's location after its pushes, from the own side |
| coins | C | thermometer of the own coins left |
| bids | T x (C + 1) | the own bid of every round, one-hot; zeros before |
| outcomes | T x 3 | one-hot of a round that was won, tied, lost; zeros before its end |
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.hidden_bids import outcomes_for, round_outcomes
from spiel_dl.games.piece_rules import PieceRules, Pieces

_MAX_COINS = 32766  # bids are stored as int16, plus one
_MAX_START_LOCATION = 16_000  # so that the number of a location is an int16


@dataclasses.dataclass(frozen=True)
class OshiZumoIIState(rules.StateBatch):
    """A batch of states.

    Attributes:
      step: int32 [B], the number of bids made; 2 T + 1 more once the game is over.
      bids: int16 [B, 2 T], player 0's bids in the order of rounds, then player 1's, each plus 1;
        0 for future ones.
      coins: int16 [B, 2], both players' coins left.
      location: int16 [B], the wrestler's distance from the centre; positive where player 0 wins.
    """

    step: torch.Tensor
    bids: torch.Tensor
    coins: torch.Tensor
    location: torch.Tensor


class _Tables(NamedTuple):
    """Constant tensors on one device. The first six are by step.

    Attributes:
      player: int8 [4T+2], the player to act.
      round_index: int16 [4T+2], the number of completed rounds.
      rounds_left: int16 [4T+2], the rounds left up to the horizon; at most C.
      next_step: int32 [4T+2], the following step.
      acts: int16 [4T+2, 2], one-hot of the player who acts.
      writes: bool [4T+2, 2T], the entry of `bids` that is filled.
      bid: int16 [A], all bids.
      bid_bits: float32 [A+1, A], one-hot of a bid plus 1; zeros for none, 0.
      winner_bits: float32 [4, 3], one-hot of 1 player 0 won, 2 draw, 3 player 1 won; zeros for 0.
    """

    player: torch.Tensor
    round_index: torch.Tensor
    rounds_left: torch.Tensor
    next_step: torch.Tensor
    acts: torch.Tensor
    writes: torch.Tensor
    bid: torch.Tensor
    bid_bits: torch.Tensor
    winner_bits: torch.Tensor


class OshiZumoIIRules(PieceRules[OshiZumoIIState]):
    """Rules of Oshi-Zumo with hidden bids. The defaults are the DL-CFR paper's setting.

    Args:
      coins: C, each player's coins at the start; from 1 to 32766.
      min_bid: M, the smallest bid. A player with fewer coins must bid them all (in the end, none).
      start_location: S, the distance from the centre to either side's last location; the twin's
        `size`. 3 makes 7 locations. From 0 to 16000, and at most 32766 with the coins.
      optimal_endgame: whether the game ends as soon as a player has fewer than M coins after a
        round. The other one is then taken to push the wrestler one location for every M coins left,
        as far as board and horizon go. If not, the game ends when both have no coins, as in the
        twin. Needs M > 0.
      horizon: the game ends after that many rounds, as in the twin. With M = 0 this alone bounds a
        game's length, and every tensor with perfect recall grows with it.

    Raises:
      ValueError: if a parameter is out of its range.

    Source of the defaults: Kovařík et al. (2021), Table 2.
    """

    def __init__(
        self,
        coins: int = 8,
        min_bid: int = 1,
        start_location: int = 3,
        optimal_endgame: bool = True,
        horizon: int = 1000,
    ):
        self.coins = coins
        self.min_bid = min_bid
        self.start_location = start_location
        self.optimal_endgame = optimal_endgame
        self.horizon = horizon
        self._check_parameters()
        self.max_rounds = horizon
        if min_bid > 0:
            # Bidding as little as possible takes longest. A remainder below the minimum is bid,
            # too, unless the endgame is cut off.
            remainder = 0 if optimal_endgame else coins % min_bid
            self.max_rounds = min(horizon, coins // min_bid + (remainder > 0))
        self.num_actions = coins + 1
        self.num_chance_outcomes = 0
        self.max_game_length = 2 * self.max_rounds
        self.max_chance_nodes = 0
        self.min_utility = -1.0
        self.max_utility = 1.0
        self.root = OshiZumoIIState(
            step=torch.zeros(1, dtype=torch.int32),
            bids=torch.zeros((1, 2 * self.max_rounds), dtype=torch.int16),
            coins=torch.full((1, 2), coins, dtype=torch.int16),
            location=torch.zeros(1, dtype=torch.int16),
        )
        self._tables = self._make_tables()

    def _check_parameters(self) -> None:
        if not 1 <= self.coins <= _MAX_COINS:
            raise ValueError(f"coins={self.coins} is out of range; use 1 to {_MAX_COINS}")
        if not 0 <= self.min_bid <= self.coins:
            raise ValueError(f"min_bid={self.min_bid} is out of range; use 0 to coins={self.coins}")
        most = min(_MAX_START_LOCATION, _MAX_COINS - self.coins)  # Coins push beyond the board.
        if not 0 <= self.start_location <= most:
            raise ValueError(
                f"start_location={self.start_location} is out of range; use 0 to {most} with "
                f"coins={self.coins}"
            )
        if self.optimal_endgame and self.min_bid == 0:
            raise ValueError(
                "optimal_endgame=True needs min_bid > 0, as nobody ever lacks the coins for a bid "
                "of 0; pass optimal_endgame=False, or another min_bid"
            )
        if self.horizon < 1:
            raise ValueError(f"horizon={self.horizon} is out of range; use 1 or more")

    def current_player(self, state: OshiZumoIIState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        return self._tables(state.step.device).player.index_select(0, state.step)

    def legal_actions(self, state: OshiZumoIIState) -> torch.Tensor:
        """The bids from the minimum to all coins, or all coins if they are fewer: bool [B, A]."""
        tables = self._tables(state.step.device)
        acts = tables.acts.index_select(0, state.step)
        # -1 where nobody acts, so that no bid is as small.
        coins = ((state.coins + 1) * acts).sum(dim=1, keepdim=True) - 1
        return (tables.bid >= coins.clamp(max=self.min_bid)) & (tables.bid <= coins)

    def apply(self, state: OshiZumoIIState, action: torch.Tensor) -> OshiZumoIIState:
        """The successors under `action` (int64 [B]): the player to move bids so many coins."""
        tables = self._tables(state.step.device)
        spent = action.to(torch.int16).unsqueeze(1)
        writes = tables.writes.index_select(0, state.step)
        acts = tables.acts.index_select(0, state.step)
        bids = torch.where(writes, spent + 1, state.bids)
        coins = state.coins - spent * acts
        step = tables.next_step.index_select(0, state.step)
        # Player 0's bid, plus 1, in the round that player 1 closes now; 0 in all other cases.
        first = (bids[:, : self.max_rounds] * writes[:, self.max_rounds :]).sum(
            dim=1, dtype=torch.int16
        )
        closes = first > 0
        location = state.location + (first - 1 - spent.squeeze(1)).sign() * closes
        on_board = location.abs() <= self.start_location
        pushes = coins // self.min_bid if self.optimal_endgame else coins
        cannot_bid = (pushes.amin(dim=1) if self.optimal_endgame else pushes.amax(dim=1)) == 0
        ends = (cannot_bid | ~on_board | (step == self.max_game_length)) & closes
        if self.optimal_endgame:
            pushes = torch.minimum(pushes, tables.rounds_left.index_select(0, step).unsqueeze(1))
            location = location + (pushes[:, 0] - pushes[:, 1]) * (ends & on_board)
            edge = self.start_location + 1
            location = location.clamp(min=-edge, max=edge)
        step = step.add(ends, alpha=self.max_game_length + 1)
        return OshiZumoIIState(step, bids, coins, location)

    def returns(self, state: OshiZumoIIState) -> torch.Tensor:
        """Player 0's utility: float64 [B]."""
        return (state.location.sign() * self._over(state)).to(torch.float64)

    def round_index(self, state: OshiZumoIIState) -> torch.Tensor:
        """The number of completed rounds: int16 [B]."""
        return self._tables(state.step.device).round_index.index_select(0, state.step)

    def public(self, state: OshiZumoIIState, perfect_recall: bool) -> Pieces:
        """The public pieces; the module's table explains them."""
        over = self._over(state).unsqueeze(1)
        if not perfect_recall:
            index = state.location + (self.start_location + 1)
            return {
                "location": rules.one_hot(index, 2 * self.start_location + 3),
                "player_0_has_bid": (self.current_player(state) == 1).unsqueeze(1),
                "game_over": over,
            }
        first, second = self._bids(state)
        outcome = round_outcomes(first, second)
        winners = rules.look_up(self._tables(state.step.device).winner_bits, outcome)
        return {"player_0_has_bid": first > 0, "round_winners": winners, "game_over": over}

    def private(self, state: OshiZumoIIState, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces; the module's table explains them."""
        bits = self._tables(state.step.device).bid_bits
        if perfect_recall:
            return {"bids": rules.look_up(bits, self._bids(state)[player])}
        return {"coins": rules.look_up(bits, state.coins[:, player : player + 1] + 1)[:, 0]}

    def inputs(self, state: OshiZumoIIState, player: int) -> Pieces:
        """The pieces of a network's inputs; the module's second table explains them."""
        tables, bids = self._tables(state.step.device), self._bids(state)
        outcomes = outcomes_for(player, round_outcomes(*bids))
        # Not the state's location, which at the end reveals the coins that the opponent had left.
        pushed = ((2 - outcomes) * (outcomes > 0)).sum(dim=1) + (self.start_location + 1)
        return {
            "location": rules.one_hot(pushed, 2 * self.start_location + 3),
            "coins": tables.bid[:-1] < state.coins[:, player : player + 1],
            "bids": rules.look_up(tables.bid_bits, bids[player]),
            "outcomes": rules.look_up(tables.winner_bits, outcomes),
        }

    def action_to_string(self, player: int, action: int) -> str:
        """The name of a bid, as in the twin."""
        return f"[P{player}]Bid: {action}"

    def describe(self, state: OshiZumoIIState, row: int = 0) -> str:
        """The coins, bids and board of one row, for people; `#` is off the board."""
        coins = state.coins[row].tolist()
        bids = state.bids[row].reshape(2, self.max_rounds).cpu().numpy()
        board = ["#", *"." * (2 * self.start_location + 1), "#"]
        board[int(state.location[row]) + self.start_location + 1] = "W"
        lines = [f"Coins: {coins[0]} {coins[1]}"]
        lines += [f"P{p} bids: {' '.join(map(str, bids[p][bids[p] > 0] - 1))}" for p in (0, 1)]
        return "\n".join([*lines, f"Field: {''.join(board)}"])

    def _bids(self, state: OshiZumoIIState) -> tuple[torch.Tensor, torch.Tensor]:
        """Both players' bids, each plus 1, or 0 for future ones: int16 [B, T] each."""
        return state.bids[:, : self.max_rounds], state.bids[:, self.max_rounds :]

    def _over(self, state: OshiZumoIIState) -> torch.Tensor:
        """Whether the game is over: bool [B]."""
        return state.step > self.max_game_length

    def _make_tables(self) -> TablesByDevice[_Tables]:
        rounds, bids = self.max_rounds, self.num_actions
        made = np.arange(2 * rounds + 1)
        player = np.append((made[:-1] % 2), rules.TERMINAL_PLAYER)
        round_index = made // 2
        next_step = np.minimum(made + 1, 2 * rounds)
        writes = np.zeros((2 * rounds + 1, 2, rounds), dtype=bool)
        writes[made[:-1], player[:-1], round_index[:-1]] = True
        # Once the game is over, nobody acts, nothing is written, and the step stays.
        acts = np.append(player[:, None] == [0, 1], np.zeros((len(made), 2)), axis=0)
        rounds_left = np.minimum(self.horizon - round_index, self.coins)
        return TablesByDevice(
            _Tables,
            player=np.append(player, np.full(len(made), rules.TERMINAL_PLAYER)).astype(np.int8),
            round_index=np.tile(round_index, 2).astype(np.int16),
            rounds_left=np.tile(rounds_left, 2).astype(np.int16),
            next_step=np.append(next_step, len(made) + made).astype(np.int32),
            acts=acts.astype(np.int16),
            writes=np.append(writes, np.zeros_like(writes), axis=0).reshape(-1, 2 * rounds),
            bid=np.arange(bids, dtype=np.int16),
            bid_bits=np.eye(bids + 1, dtype=np.float32)[:, 1:],
            winner_bits=np.eye(4, dtype=np.float32)[:, 1:],
        )
