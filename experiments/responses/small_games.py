"""Small games that show what responses and gadgets can do, written as Gambit files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree.game_tree import GameTree

BIASED_RPS = ((0, -1, 2), (1, 0, -1), (-1, 1, 0))
"""Player 0's utility in a round of rock, paper, scissors; rock wins twice as much as the others."""
_RPS_ACTIONS = ("rock", "paper", "scissors")

# Five actions whose gains and exploitabilities make a strictly concave set.
_LOST_GAINS = (0, 4, 7, 9, 10)
_LOST_EXPLOITABILITIES = (0, 1, 2, 3, 4)
_NUM_WAYS = 8


def biased_rps_efg() -> str:
    """Two rounds of biased rock, paper, scissors, as a Gambit file.

    In each round both choose at the same time and then see both choices; utilities are summed. The
    bias is `BIASED_RPS`, as Milec et al. (2024), Figure 15, do not give theirs.
    """
    lines, outcome = ['EFG 2 R "two rounds of biased rock, paper, scissors" { "0" "1" } ""\n'], 0
    actions = " ".join(f'"{action}"' for action in _RPS_ACTIONS)

    def decision(player: int, infoset: int) -> None:
        name = f"player {player}, infoset {infoset}"
        lines.append(f'p "" {player + 1} {infoset} "{name}" {{ {actions} }} 0')

    choices = range(len(_RPS_ACTIONS))
    decision(0, 1)
    for own in choices:
        decision(1, 1)
        for other in choices:
            infoset = 2 + own * len(_RPS_ACTIONS) + other
            decision(0, infoset)
            for own_next in choices:
                decision(1, infoset)
                for other_next in choices:
                    outcome += 1
                    utility = BIASED_RPS[own][other] + BIASED_RPS[own_next][other_next]
                    lines.append(f't "" {outcome} "" {{ {utility}, {-utility} }}')
    return "\n".join(lines) + "\n"


def lost_actions_efg(by_chance: bool) -> str:
    """A game in which a gadget loses actions that a restricted Nash response needs.

    The idea of Milec et al. (2024), Figure 4 and appendix C; the games are ours. Player 1 comes to
    player 0's decision "in", in one of eight other ways, which player 0 cannot tell apart, or stays
    out. After "in", player 1 may pay for what player 0 chose: 0, 4, 7, 9 or 10, which only a fool
    does. In the other ways the choices lose so much that their exploitabilities are 0, 1, 2, 3 and
    4, which makes each of them optimal for some p. They lose in one way alone or in all ways:

    * Player 1 chooses the way: exploitability is the largest loss. The three choices in the middle
      lose in all ways, so the sum of losses, which the resolving gadget counts, is eight times
      their exploitability.
    * Chance chooses the way and player 1 enters it or not: exploitability is the sum of losses. The
      last choice loses in all ways, so the largest loss, which max-margin gadgets count, is an
      eighth of its exploitability; the others lose in one way alone.

    Args:
      by_chance: the second case.
    """
    lines = [
        f'EFG 2 R "lost actions, by chance: {by_chance}" {{ "0" "1" }} ""\n',
        *_entrance(by_chance),
    ]
    outcomes = itertools.count(1)
    choices = " ".join(f'"{number}"' for number in range(len(_LOST_GAINS)))

    def end(utility: float) -> None:
        lines.append(f't "" {next(outcomes)} "" {{ {utility}, {-utility} }}')

    def choose(utilities: Sequence[float]) -> None:
        lines.append(f'p "" 1 1 "choice" {{ {choices} }} 0')
        for number, utility in enumerate(utilities):
            if utility > 0:
                lines.append(f'p "" 2 {1 + number} "bill {number}" {{ "pay" "keep" }} 0')
                end(utility)
                end(0.0)
            else:
                end(utility)

    end(0.0)
    scale = 2.0 if by_chance else 1.0
    choose([scale * gain for gain in _LOST_GAINS])
    for way in range(_NUM_WAYS):
        if by_chance:
            lines.append(f'p "" 2 {1 + len(_LOST_GAINS) + way} "way {way}" {{ "out" "enter" }} 0')
            end(0.0)
        choose(_losses(way, by_chance))
    return "\n".join(lines) + "\n"


def _entrance(by_chance: bool) -> list[str]:
    """The game's lines above the entrance: chance or player 1 chooses the way."""
    ways = range(_NUM_WAYS)
    if by_chance:
        shares = " ".join(f'"{way}" {0.5 / _NUM_WAYS}' for way in ways)
        chance = f'c "" 1 "" {{ "fool" 0.5 {shares} }} 0'
        return [chance, 'p "" 2 1 "entrance" { "out" "in" } 0']
    names = " ".join(f'"{way}"' for way in ways)
    return [f'p "" 2 1 "entrance" {{ "out" "in" {names} }} 0']


def _losses(way: int, by_chance: bool) -> list[float]:
    """Player 0's utilities in one of the other ways, one for each choice."""
    losses = []
    last = _LOST_EXPLOITABILITIES[-1]
    for exploitability_ in _LOST_EXPLOITABILITIES:
        everywhere = (exploitability_ == last) == by_chance
        # By chance, a way has half of an eighth; a loss in all of them is shared out.
        scale = 1.0 if not by_chance else 2.0 if everywhere else 2.0 * _NUM_WAYS
        losses.append(-scale * exploitability_ if everywhere or way == 0 else 0.0)
    return losses


HABITS = ("calls", "folds", "overbets")
"""Habits of hold'em players; "calls" always, the others with probability `_HABIT`."""
_HABIT = 0.75


def habitual(tree: GameTree, habit: str) -> ArrayPolicy:
    """A hold'em player who always calls or checks, mostly folds, or mostly bets the maximum.

    Otherwise, and where its habit's action is illegal, it plays uniformly.

    Raises:
      ValueError: if the game is not hold'em.
    """
    if tree.game.get_type().short_name != "python_holdem":
        raise ValueError(f"{habit!r} is a model in hold'em, not in {tree.game}; use another one")
    policy = ArrayPolicy.uniform(tree)
    for player, treeplex in enumerate(tree.treeplexes):
        for infoset in range(treeplex.num_infosets):
            actions = tree.legal_actions(player, infoset)
            habit_action = {"calls": 1, "folds": 0, "overbets": max(2, int(actions[-1]))}[habit]
            is_habit, share = actions == habit_action, 1.0 if habit == "calls" else _HABIT
            if is_habit.any():
                others = (1.0 - share) / max(1, len(actions) - 1)
                row = np.where(is_habit, share if len(actions) > 1 else 1.0, others)
                policy.strategies[player][treeplex.sequences(infoset)] = row
    return policy


def fool(tree: GameTree) -> ArrayPolicy:
    """Player 1's model in `lost_actions_efg`: comes in, pays, and enters no other way.

    Raises:
      ValueError: if the game is another one.
    """
    model = ArrayPolicy.uniform(tree)
    for infoset in range(tree.num_infosets(1)):
        state = tree.state(int(tree.first_history[1][infoset]))
        names = [state.action_to_string(action) for action in state.legal_actions()]
        preferred = [name for name in ("in", "pay", "out") if name in names]
        if not preferred:
            raise ValueError(
                f"{tree.game} has no fool, who comes in, pays or stays out; its player 1 may "
                f"choose among {names}; use another model"
            )
        chosen = names.index(preferred[0])
        sequences = tree.treeplexes[1].sequences(infoset)
        model.strategies[1][sequences] = np.arange(len(names)) == chosen
    return model
