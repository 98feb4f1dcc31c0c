"""Gain and exploitability of every method of responding to a model, over its parameter.

| method | its parameter |
|---|---|
| `CDRNR, GADGET` (`algorithms.cdrnr`), `RNR` (`algorithms.rnr`) | p |
| `SES` (`algorithms.ses`) | alpha |
| `mix` of an equilibrium and CDBR, of realization plans | the weight of CDBR |
| `Pareto set` (`best_nash.safe_best_response`) | none; over bounds of exploitability |
| `best Nash`, `LBR` (in poker games) | none |
| `CFR average` of some iterations, which ignores the model | none; over iterations |

All but LBR and the CFR averages come from linear programs; all are judged exactly.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from open_spiel.python import policy as openspiel_policy

from experiments.responses import lbr
from experiments.responses.best_nash import best_nash, safe_best_response
from experiments.responses.responders import Responder
from experiments.settings import Checked, OneOf
from spiel_dl.algorithms.best_response import best_response_policy
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import GADGETS, CDRNRPolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.algorithms.sequence_form_lp import solve_zero_sum_game
from spiel_dl.algorithms.ses import safe_exploitation_search
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy, mix_policies
from spiel_dl.system.parameters import Bounds
from spiel_dl.tree.depth_limit import DepthLimit

BEST_NASH, LOCAL, MIX, PARETO, RNR, SES = "best Nash", "LBR", "mix", "Pareto set", "RNR", "SES"
CFR_AVERAGE = "CFR average"


def cdrnr_name(gadget: str) -> str:
    """The method name of CDRNR with a gadget."""
    return f"CDRNR, {gadget}"


Share = Annotated[float, Bounds(0, 1)]
_TWO_PLIES = DepthLimit(plies=2)


@dataclasses.dataclass(frozen=True)
class Sweep(Checked):
    """The methods' parameters.

    Attributes:
      depth_limit: of CDRNR, CDBR and SES.
      scheme: of CDRNR; CDBR in the mix slides, SES goes in blocks.
      gadgets: of CDRNR.
      parameters: p, alpha, and the weight of CDBR in the mix.
      bounds: exploitability in the Pareto set, as parts of a best response's.
      cfr_iterations: iterations of the CFR averages.
    """

    not_empty = ("parameters", "bounds")
    depth_limit: DepthLimit = _TWO_PLIES
    scheme: str = "block"
    gadgets: tuple[Annotated[str, OneOf(GADGETS)], ...] = ("full_trunk", "joint")
    parameters: tuple[Share, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
    bounds: tuple[Share, ...] = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
    cfr_iterations: tuple[int, ...] = (10, 100, 1000)


Respond = Callable[[float], openspiel_policy.Policy]
"""Makes a response from a method's parameter."""


def methods(responder: Responder, sweep: Sweep) -> Mapping[str, tuple[Respond, Sequence[float]]]:
    """All methods by name, with the parameters to sweep."""
    setting = tree, player, model = responder.tree, responder.player, responder.model
    limit, scheme = sweep.depth_limit, sweep.scheme
    nash = functools.cache(lambda: best_nash(*setting))
    cdbr = functools.cache(lambda: CDBRPolicy(*setting, limit, exact=True).to_array_policy())
    equilibrium = functools.cache(lambda: solve_zero_sum_game(tree)[2])
    best_response = functools.cache(
        lambda: responder.judge(best_response_policy(tree, model, player))
    )

    def cdrnr(gadget: str) -> Respond:
        return lambda p: CDRNRPolicy(
            *setting, limit, p=p, scheme=scheme, gadget=gadget, exact=True
        ).to_array_policy()

    def rnr(p: float) -> ArrayPolicy:
        return RNRPolicy(*setting, p=p, exact=True).to_array_policy()

    def ses(alpha: float) -> ArrayPolicy:
        return safe_exploitation_search(*setting, limit, alpha=alpha, blueprint=equilibrium())

    def mix(weight: float) -> ArrayPolicy:
        return mix_policies(tree, [equilibrium(), cdbr()], [1.0 - weight, weight])

    def pareto(bound: float) -> ArrayPolicy:
        largest = best_response()["exploitability"]
        return safe_best_response(*setting, exploitability=bound * largest)

    all_methods: dict[str, tuple[Respond, Sequence[float]]] = {
        **{cdrnr_name(each): (cdrnr(each), sweep.parameters) for each in sweep.gadgets},
        RNR: (rnr, sweep.parameters),
        SES: (ses, sweep.parameters),
        MIX: (mix, sweep.parameters),
        PARETO: (pareto, sweep.bounds),
        BEST_NASH: (lambda _: nash(), (0.0,)),
        CFR_AVERAGE: (lambda n: opponent_models.cfr_average(tree, int(n)), sweep.cfr_iterations),
    }
    if responder.is_poker:
        all_methods[LOCAL] = (lambda _: lbr.local_best_response(*setting), (0.0,))
    return all_methods


def gain_at(points: Sequence[Mapping[str, float]], exploitability: float) -> float:
    """The largest gain of mixtures of points at a bounded exploitability.

    If all points are more exploitable, the gain of the least exploitable point.
    """
    safest = min(points, key=lambda point: point["exploitability"])
    gains = [safest["gain"]]
    for point in points:
        allowance = exploitability - point["exploitability"]
        if allowance < 0:
            continue
        gains.append(point["gain"])
        for other in points:
            distance = other["exploitability"] - point["exploitability"]
            if distance > allowance:
                gains.append(point["gain"] + (other["gain"] - point["gain"]) * allowance / distance)
    return max(gains)


def measure(responder: Responder, respond: Respond, parameters: Sequence[float]) -> list[dict]:
    """Judges a method's responses.

    Returns:
      For each parameter `Responder.judge`, `parameter`, and wall-clock `seconds`.
    """
    rows = []
    for parameter in parameters:
        start = time.perf_counter()
        response = respond(parameter)
        seconds = time.perf_counter() - start
        rows.append({"parameter": parameter, **responder.judge(response), "seconds": seconds})
    return rows
