"""Policies from and to LiteEFG (Liu, Farina, Ozdaglar 2024), whose games are OpenSpiel's.

    environment = LiteEFG.OpenSpielEnv(pyspiel.load_game("leduc_poker"))
    policy = from_lite_efg("leduc_poker", environment, graph.current_strategy(), "avg-iterate")
    to_lite_efg(policy, environment, graph.current_strategy())

Needs `pip install -c constraints.txt -e ".[benchmark]"` in the repository. Policies from and to
OpenSpiel's own tables are `ArrayPolicy.from_policy`, `to_tabular` and `to_pyspiel`.
"""

from __future__ import annotations

from typing import Any

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.tree.load import AnyGame, compile_game


def from_lite_efg(
    game: AnyGame, environment: Any, strategy: Any, type_name: str = "default"
) -> ArrayPolicy:
    """The policy that a node of LiteEFG's graph holds.

    Args:
      game: the environment's game.
      environment: a `LiteEFG.OpenSpielEnv`.
      strategy: the node, such as what `current_strategy()` of a baseline returns.
      type_name: which of its iterates, as in LiteEFG: "default", "last-iterate" or "avg-iterate".

    Raises:
      ValueError: if the game is another one, or the node holds no strategy of it.
    """
    tree = compile_game(game)
    _check_game(tree.game, environment)
    tabular, _ = environment.get_strategy(strategy, type_name)
    return ArrayPolicy.from_policy(tree, tabular)


def to_lite_efg(policy: ArrayPolicy, environment: Any, strategy: Any) -> None:
    """Writes a policy into a node of LiteEFG's graph.

    Args:
      policy: the policy, of the environment's game.
      environment: a `LiteEFG.OpenSpielEnv`, for which a graph is set.
      strategy: the node, with a number for each action of each infoset.

    Raises:
      ValueError: if the games differ, or if the policy's is not one whose infosets are listed.
    """
    tree = compile_game(policy.tree)
    _check_game(tree.game, environment)
    for player in (0, 1):
        infosets = {
            tree.infoset_string(player, infoset): infoset
            for infoset in range(tree.num_infosets(player))
        }
        rows = []
        for name, _ in environment.get_value(player + 1, strategy):
            sequences = tree.treeplexes[player].sequences(infosets[name])
            rows.append(policy.strategies[player][sequences].tolist())
        environment.set_value(player + 1, strategy, rows)


def _check_game(game: Any, environment: Any) -> None:
    if not is_same_game(game, environment.game):
        raise ValueError(f"the policy is of {game}, LiteEFG's environment of {environment.game}")
