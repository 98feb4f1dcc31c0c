"""A game with runs of chance events of any length, at its end."""

from __future__ import annotations

import dataclasses

import torch

from spiel_dl.games import rules


@dataclasses.dataclass(frozen=True)
class FlipsState(rules.StateBatch):
    """moves: int8 [B], 0 or 1. flips: int8 [B]. last: int8 [B], the last flip, 1 goes on."""

    moves: torch.Tensor
    flips: torch.Tensor
    last: torch.Tensor


class FlipsRules(rules.Rules):
    """Player 0 moves; then a coin with chance 1/4 of going on is flipped, up to nine times.

    So chance ends the game, after runs of any length. Player 0 wins the number of flips.
    """

    num_actions, num_chance_outcomes = 2, 2
    max_game_length, max_chance_nodes = 1, 9
    min_utility, max_utility = -9.0, 9.0

    def initial_state(self, batch_size=1, device="cpu"):
        zero = torch.zeros(batch_size, dtype=torch.int8, device=device)
        return FlipsState(zero, zero, zero + 1)

    def current_player(self, state):
        over = (state.last == 0) | (state.flips == 9)
        player = torch.where(over, rules.TERMINAL_PLAYER, rules.CHANCE_PLAYER)
        return torch.where(state.moves == 0, 0, player).to(torch.int8)

    def legal_actions(self, state):
        return (state.moves == 0).unsqueeze(1).expand(-1, 2)

    def chance_probabilities(self, state):
        flips = (self.current_player(state) == rules.CHANCE_PLAYER).double().unsqueeze(1)
        return flips * torch.tensor([0.75, 0.25], dtype=torch.float64)

    def apply(self, state, action):
        player = self.current_player(state)
        flips = player == rules.CHANCE_PLAYER
        return FlipsState(
            moves=state.moves + (player == 0),
            flips=state.flips + flips,
            last=torch.where(flips, action.to(torch.int8), state.last),
        )

    def returns(self, state):
        return (state.flips * (self.current_player(state) == rules.TERMINAL_PLAYER)).double()

    def round_index(self, state):
        return state.moves.to(torch.int16)

    def public_pieces(self, perfect_recall):
        return {"flips": (10,)}

    def private_pieces(self, perfect_recall):
        return {}

    def public_tensor(self, state, perfect_recall=True):
        return rules.one_hot(state.flips, 10)

    def private_tensor(self, state, player, perfect_recall=True):
        return torch.zeros((state.batch_size, 0))

    def action_to_string(self, player, action):
        return str(action)

    def describe(self, state, row=0):
        return str(state.take(torch.tensor([row])))


class EarlyEndRules(FlipsRules):
    """One flip, which ends the game with chance 1/4; else player 0's move does."""

    max_chance_nodes, longest_chance_run = 1, 40

    def current_player(self, state):
        over = (state.last == 1) | (state.moves == 1)
        player = torch.where(over, rules.TERMINAL_PLAYER, 0)
        return torch.where(state.flips == 0, rules.CHANCE_PLAYER, player).to(torch.int8)

    def legal_actions(self, state):
        return (self.current_player(state) == 0).unsqueeze(1).expand(-1, 2)
