"""Responders: a player who responds to a model in a named game, and how responses are judged."""

from __future__ import annotations

import dataclasses
import functools

import pyspiel
from open_spiel.python import policy as openspiel_policy

from experiments.responses import lbr, small_games
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.best_response import best_response_value
from spiel_dl.algorithms.cfr import CFRPlusSolver, CFRSolver
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree.game_tree import GameTree

_GOOFSPIEL = (
    "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards={},"
    "points_order=descending,returns_type=point_difference))"
)
_GAMES = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "goofspiel_3": _GOOFSPIEL.format(3),
    "goofspiel_4": _GOOFSPIEL.format(4),
    "goofspiel_5": _GOOFSPIEL.format(5),
    "goofspiel_6": _GOOFSPIEL.format(6),
    # The rules of goofspiel_5, written in arrays: their public tensors tell networks more.
    "goofspiel_ii_5": (
        "python_goofspiel_ii(num_cards=5,points_order=descending,returns_type=point_difference)"
    ),
    "liars_dice": "liars_dice(numdice=1,dice_sides=4)",
    # Hold'em on a turn, a chip as the big blind.
    "turn": (
        "python_holdem(board=QsJh2h4d,board_cards=[0;1],stacks=[30;30],blinds=[10;10],"
        "min_wager=0.0,bets=50% allin,range_0=AhAd;KcKd;AsQh;KhTh;7s6s,"
        "range_1=JcJd;AcQd;KsTs;8h7h;5c5d)"
    ),
    "battleships_2x2": "python_battleships(board_width=2,board_height=2,ship_sizes=[2])",
}
_EFG = {
    "biased_rps": small_games.biased_rps_efg(),
    "lost_by_resolving": small_games.lost_actions_efg(by_chance=False),
    "lost_by_max_margin": small_games.lost_actions_efg(by_chance=True),
}


MAX_LP_PAYOFFS = 100_000
"""Up to this many payoffs of a game, linear programs of responses take seconds."""
_NOTHING = 1e-9
"""A gain of this part of the range of utilities is an error of rounding."""


def games() -> list[str]:
    """The names of all games."""
    return [*_GAMES, *_EFG]


def compile_named(name: str) -> GameTree:
    """Compiles a game of the experiments.

    Raises:
      ValueError: if there is no game of this name.
    """
    if name in _EFG:
        return GameTree.from_game(pyspiel.load_efg_game(_EFG[name]))
    if name not in _GAMES:
        raise ValueError(f"game {name!r} must be one of {', '.join(games())}")
    return GameTree.from_game(_GAMES[name])


@dataclasses.dataclass(frozen=True, eq=False)
class Responder:
    """A player who responds to a model of its opponent.

    Attributes:
      tree: the game.
      model: the model; its part for `player` is not read.
      player: who responds.
      value: the game's value for the player.
      model_name: the model's name, for messages.
    """

    tree: GameTree
    model: ArrayPolicy
    player: int
    value: float
    model_name: str = "of no name"

    @property
    def has_small_programs(self) -> bool:
        """Whether the game is small enough for linear programs of responses."""
        return self.tree.sequence_form.payoffs.nnz <= MAX_LP_PAYOFFS

    @property
    def is_poker(self) -> bool:
        """Whether there is a local best response."""
        return self.tree.game.get_type().short_name in lbr.GAMES

    @functools.cached_property
    def best_gain(self) -> float:
        """What a best response gains, in utility units.

        Raises:
          ValueError: if it is 0, so that no gain can be given in percent of it.
        """
        gain = best_response_value(self.tree, self.model, self.player) - self.value
        if gain <= _NOTHING * self.tree.utility_range:
            raise ValueError(
                f"player {self.player}'s best response gains nothing against model "
                f"{self.model_name} in {self.tree.game}; give another --model"
            )
        return gain

    def tolerance(self, part: float) -> float:
        """A part of a best response's gain as the tolerance of an `Effort`."""
        return part * self.best_gain / (self.tree.utility_range / 2)

    def judge(self, policy: openspiel_policy.Policy) -> dict[str, float]:
        """Gain and exploitability of the player's part of a policy.

        Returns:
          `gain`, in utility units; `percent`, the same of a best response's gain; and
          `exploitability`, the player's, in utility units.
        """
        seat = self.player, self.value
        gain = exploitability.gain(self.tree, policy, self.model, *seat)
        return {
            "gain": gain,
            "percent": 100 * gain / self.best_gain,
            "exploitability": exploitability.player_exploitability(self.tree, policy, *seat),
        }


CFR_READINGS = {
    "cfr": "average of CFR",
    "cfr_plus": "average of CFR+",
    "cfr_current": "current policy of CFR",
    "cfr_plus_current": "current policy of CFR+",
}
"""The readings of "a strategy of some iterations of CFR", by model name."""


def load_model(name: str, tree: GameTree) -> ArrayPolicy:
    """Loads a model by name.

    "fool" in the games that have one; one of `small_games.HABITS` in hold'em; one of
    `CFR_READINGS` and ":", the number of iterations; else `registry.load_array_policy`.

    Raises:
      ValueError: if there is no policy of this name.
    """
    if name == "fool":
        return small_games.fool(tree)
    if name in small_games.HABITS:
        return small_games.habitual(tree, name)
    reading, _, iterations = name.partition(":")
    if reading not in CFR_READINGS or reading == "cfr":
        return load_array_policy(name, tree)
    solver = CFRPlusSolver(tree) if "plus" in reading else CFRSolver(tree)
    solver.run(int(iterations))
    return solver.current_policy() if "current" in reading else solver.average_policy()


@functools.lru_cache(maxsize=2)
def game_value(tree: GameTree, player: int) -> float:
    """A game's value for a player: 0 in Goofspiel, which is symmetric, else by an LP."""
    is_symmetric = "goofspiel" in str(tree.game)
    return 0.0 if is_symmetric else exploitability.game_value(tree, player)
