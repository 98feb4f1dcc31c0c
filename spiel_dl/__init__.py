"""Depth-limited solving and search for two-player zero-sum imperfect-information games.

```python
import spiel_dl as dl

solver = dl.CFRPlus("leduc_poker")
solver.run(1000)
print(dl.nash_conv("leduc_poker", solver.average_policy()))
```

The names below are imported when they are first used, so `import spiel_dl` itself takes no time,
and solving a game of OpenSpiel's own imports no torch. OpenSpiel knows the games written for this
package from then on: `pyspiel.load_game("python_leduc")`. In workers of a script, a person's own
games are imported here, too.
"""

import importlib
import importlib.metadata
from typing import TYPE_CHECKING

from spiel_dl.games.own import import_those_of_parent as _import_own_games

if TYPE_CHECKING:
    from spiel_dl.algorithms.abd import ABDPolicy as ABD
    from spiel_dl.algorithms.best_response import best_response_policy, best_response_value
    from spiel_dl.algorithms.cdbr import CDBRPolicy as CDBR
    from spiel_dl.algorithms.cdrnr import CDRNRPolicy as CDRNR
    from spiel_dl.algorithms.cfr import CFRPlusSolver as CFRPlus
    from spiel_dl.algorithms.cfr import CFRSolver as CFR
    from spiel_dl.algorithms.cfr import DiscountedCFRSolver as DiscountedCFR
    from spiel_dl.algorithms.cfr import LinearCFRSolver as LinearCFR
    from spiel_dl.algorithms.cfr import PredictiveCFRPlusSolver as PredictiveCFRPlus
    from spiel_dl.algorithms.continual_resolving import (
        ContinualResolvingPolicy as ContinualResolving,
    )
    from spiel_dl.algorithms.dl_cfr import DLCFRSolver as DLCFR
    from spiel_dl.algorithms.exploitability import (
        expected_value,
        exploitability,
        gain,
        game_value,
        nash_conv,
        player_exploitability,
    )
    from spiel_dl.algorithms.mmd import MMDSolver as MMD
    from spiel_dl.algorithms.particle_search import ParticlePolicy as ParticleSearch
    from spiel_dl.algorithms.ppo import PPOSolver as PPO
    from spiel_dl.algorithms.rnad import RNaDSolver as RNaD
    from spiel_dl.algorithms.rnr import RNRPolicy as RNR
    from spiel_dl.algorithms.sepot import load as SePoT  # noqa: N812
    from spiel_dl.algorithms.sequence_form_lp import solve_zero_sum_game as solve_lp
    from spiel_dl.algorithms.solve import solve
    from spiel_dl.algorithms.trunk_exploitability import trunk_exploitability, trunk_nash_conv
    from spiel_dl.games import poker
    from spiel_dl.play.bots import policy_bot
    from spiel_dl.play.matches import play_match
    from spiel_dl.play.registry import load_policy
    from spiel_dl.policies.array_policy import ArrayPolicy, mix_policies
    from spiel_dl.policies.opponent_models import random_policy
    from spiel_dl.solvers.effort import Effort
    from spiel_dl.tree.depth_limit import DepthLimit
    from spiel_dl.tree.game_tree import GameTree
    from spiel_dl.tree.load import AnyGame, compile_game
    from spiel_dl.value_functions.base import ValueFunction, ZeroValue
    from spiel_dl.value_functions.exact import ExactValue

__all__ = [
    "ABD",
    "CDBR",
    "CDRNR",
    "CFR",
    "DLCFR",
    "MMD",
    "PPO",
    "RNR",
    "AnyGame",
    "ArrayPolicy",
    "CFRPlus",
    "ContinualResolving",
    "DepthLimit",
    "DiscountedCFR",
    "Effort",
    "ExactValue",
    "GameTree",
    "LinearCFR",
    "ParticleSearch",
    "PredictiveCFRPlus",
    "RNaD",
    "SePoT",
    "ValueFunction",
    "ZeroValue",
    "best_response_policy",
    "best_response_value",
    "compile_game",
    "expected_value",
    "exploitability",
    "gain",
    "game_value",
    "load_policy",
    "mix_policies",
    "nash_conv",
    "play_match",
    "player_exploitability",
    "poker",
    "policy_bot",
    "random_policy",
    "solve",
    "solve_lp",
    "trunk_exploitability",
    "trunk_nash_conv",
]

_SOURCES = {
    "ABD": ("algorithms.abd", "ABDPolicy"),
    "AnyGame": ("tree.load", "AnyGame"),
    "ArrayPolicy": ("policies.array_policy", "ArrayPolicy"),
    "CDBR": ("algorithms.cdbr", "CDBRPolicy"),
    "CDRNR": ("algorithms.cdrnr", "CDRNRPolicy"),
    "CFR": ("algorithms.cfr", "CFRSolver"),
    "CFRPlus": ("algorithms.cfr", "CFRPlusSolver"),
    "ContinualResolving": ("algorithms.continual_resolving", "ContinualResolvingPolicy"),
    "DLCFR": ("algorithms.dl_cfr", "DLCFRSolver"),
    "DepthLimit": ("tree.depth_limit", "DepthLimit"),
    "DiscountedCFR": ("algorithms.cfr", "DiscountedCFRSolver"),
    "Effort": ("solvers.effort", "Effort"),
    "ExactValue": ("value_functions.exact", "ExactValue"),
    "GameTree": ("tree.game_tree", "GameTree"),
    "LinearCFR": ("algorithms.cfr", "LinearCFRSolver"),
    "MMD": ("algorithms.mmd", "MMDSolver"),
    "PPO": ("algorithms.ppo", "PPOSolver"),
    "ParticleSearch": ("algorithms.particle_search", "ParticlePolicy"),
    "PredictiveCFRPlus": ("algorithms.cfr", "PredictiveCFRPlusSolver"),
    "RNR": ("algorithms.rnr", "RNRPolicy"),
    "RNaD": ("algorithms.rnad", "RNaDSolver"),
    "SePoT": ("algorithms.sepot", "load"),
    "ValueFunction": ("value_functions.base", "ValueFunction"),
    "ZeroValue": ("value_functions.base", "ZeroValue"),
    "best_response_policy": ("algorithms.best_response", "best_response_policy"),
    "best_response_value": ("algorithms.best_response", "best_response_value"),
    "compile_game": ("tree.load", "compile_game"),
    "expected_value": ("algorithms.exploitability", "expected_value"),
    "exploitability": ("algorithms.exploitability", "exploitability"),
    "gain": ("algorithms.exploitability", "gain"),
    "game_value": ("algorithms.exploitability", "game_value"),
    "load_policy": ("play.registry", "load_policy"),
    "mix_policies": ("policies.array_policy", "mix_policies"),
    "nash_conv": ("algorithms.exploitability", "nash_conv"),
    "play_match": ("play.matches", "play_match"),
    "player_exploitability": ("algorithms.exploitability", "player_exploitability"),
    "poker": ("games.poker", ""),
    "policy_bot": ("play.bots", "policy_bot"),
    "random_policy": ("policies.opponent_models", "random_policy"),
    "solve": ("algorithms.solve", "solve"),
    "solve_lp": ("algorithms.sequence_form_lp", "solve_zero_sum_game"),
    "trunk_exploitability": ("algorithms.trunk_exploitability", "trunk_exploitability"),
    "trunk_nash_conv": ("algorithms.trunk_exploitability", "trunk_nash_conv"),
}
"""Where each name is defined: its module and what it is called there; nothing: the module."""

if not TYPE_CHECKING:  # A type checker takes the names from the imports above.

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return importlib.metadata.version("spiel_dl")
        if name not in _SOURCES:
            from spiel_dl.system.messages import did_you_mean

            meant = did_you_mean(name, __all__)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}")
        module, attribute = _SOURCES[name]
        found = importlib.import_module(f"{__name__}.{module}")
        globals()[name] = getattr(found, attribute) if attribute else found
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


_import_own_games()
