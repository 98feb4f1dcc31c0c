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

import ast
import functools
import importlib
import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING

from spiel_dl.games.own import import_those_of_parent as _import_own_games

if TYPE_CHECKING:
    from spiel_dl.algorithms.abd import ABDPolicy as ABD
    from spiel_dl.algorithms.best_response import best_response_policy, best_response_value
    from spiel_dl.algorithms.cdbr import CDBRPolicy as CDBR
    from spiel_dl.algorithms.cdrnr import CDRNRPolicy as CDRNR
    from spiel_dl.algorithms.cfr import CFRPlusSolver as CFRPlus
    from spiel_dl.algorithms.cfr import CFRSolver as CFR
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
    from spiel_dl.algorithms.river_resolving import resolve_rivers
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
    from spiel_dl.value_functions.river import RiverNetwork, ShowdownValue

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
    "Effort",
    "ExactValue",
    "GameTree",
    "ParticleSearch",
    "RNaD",
    "RiverNetwork",
    "SePoT",
    "ShowdownValue",
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
    "resolve_rivers",
    "solve",
    "solve_lp",
    "trunk_exploitability",
    "trunk_nash_conv",
]

if not TYPE_CHECKING:  # A type checker takes the names from the imports above.

    @functools.cache
    def _sources() -> dict[str, tuple[str, str]]:
        """Where each name is defined, by the imports above: its module, and its name there."""
        module = ast.parse(Path(__file__).read_text(encoding="utf-8"))
        imports = next(node.body for node in module.body if isinstance(node, ast.If))
        pairs = ((each, node.module) for node in imports for each in node.names)
        return {each.asname or each.name: (module, each.name) for each, module in pairs}

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return importlib.metadata.version("spiel_dl")
        if name not in __all__:
            from spiel_dl.system.messages import did_you_mean

            meant = did_you_mean(name, __all__)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}")
        source, attribute = _sources()[name]
        found = importlib.import_module(source)
        if not hasattr(found, attribute):  # It is a module.
            importlib.import_module(f"{source}.{attribute}")
        globals()[name] = getattr(found, attribute)
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


_import_own_games()
