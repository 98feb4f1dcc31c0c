"""Policies that search: their options and loading functions.

Modules that need torch are imported inside functions, because torch takes seconds to import.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from open_spiel.python import policy as openspiel_policy

from spiel_dl.play import zoo
from spiel_dl.play.options import LookingAhead, Options, Responding, Solving, offered
from spiel_dl.play.requests import Request
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.small_policies import RememberingPolicy, SeatsPolicy
from spiel_dl.search.sepot_config import (
    DEFAULT_EFFORT,
    MAX_HISTORIES,
    MirrorDescentConfig,
    ParticleConfig,
    SearchConfig,
)
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import turn_based_game

if TYPE_CHECKING:
    from spiel_dl.policies.network_policy import NetworkPolicy
    from spiel_dl.search.leaf_values import AnyValueFunction

_EFFORT = Effort(DEFAULT_EFFORT.iterations)
_RESPONSE_EFFORT = Effort(DEFAULT_EFFORT.iterations, tolerance=1e-6)
"""Default of responses, which stop at this gap."""


@dataclasses.dataclass(frozen=True)
class Resolving(LookingAhead, Solving):
    """Options of continual resolving.

    Attributes:
      gadget: of each search but the first, one of `solvers.gadgets`.
    """

    gadget: str = "resolving"


@dataclasses.dataclass(frozen=True)
class RespondingAhead(LookingAhead, Responding):
    """Options of depth-limited responses."""


@dataclasses.dataclass(frozen=True)
class SePoT(LookingAhead, Solving):
    """Options of SePoT."""

    search: SearchConfig = offered(
        SearchConfig(max_histories=MAX_HISTORIES),
        "max_histories",
        "given_cfvs",
        "refinement",
        "leaf_choice",
    )


@dataclasses.dataclass(frozen=True)
class AmongParticles(LookingAhead, Solving):
    """Options of search among particles.

    Attributes:
      gadget: of each search but the first, one of `solvers.gadgets`; "unsafe" is none.
    """

    gadget: str = "unsafe"
    particles: ParticleConfig = offered(ParticleConfig(), "budget")


@dataclasses.dataclass(frozen=True)
class BelowParticles(LookingAhead, Solving):
    """Options of SePoT below particles."""

    search: SearchConfig = offered(SearchConfig(), "given_cfvs", "refinement", "leaf_choice")
    particles: ParticleConfig = offered(ParticleConfig(), "budget")


@dataclasses.dataclass(frozen=True)
class KnowledgeLimited(BelowParticles):
    """Options of knowledge-limited search."""

    particles: ParticleConfig = offered(ParticleConfig(order=1), "budget", "order")


@dataclasses.dataclass(frozen=True)
class MirrorDescent(Options):
    """Options of mirror-descent search."""

    search: MirrorDescentConfig = offered(
        MirrorDescentConfig(budget=1000),
        "stepsize",
        "temperature",
        "depth",
        "num_rollouts",
        "budget",
    )


def resolving(request: Request) -> openspiel_policy.Policy:
    """Continual resolving by DL-CFR."""
    from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
    from spiel_dl.value_functions import network_files

    options, sources = request.options, request.source.split(",")
    values: AnyValueFunction
    if len(sources) > 1:
        values = network_files.load_networks(sources, request.device)
    else:
        values = network_files.load_value_function(request.source, device=request.device)
    return ContinualResolvingPolicy(
        request.compiled(),
        values,
        request.depth_limit,
        gadget=options.gadget,
        effort=options.effort_or(_EFFORT),
    )


def cdbr(request: Request) -> openspiel_policy.Policy:
    """The continual depth-limited best response to a model."""
    from spiel_dl.algorithms.cdbr import CDBRPolicy

    model = request.load_model(request.source, request.compiled())
    return _respond(request, model, CDBRPolicy, depth_limit=request.depth_limit)


def cdrnr(request: Request) -> openspiel_policy.Policy:
    """The continual depth-limited restricted Nash response to a model."""
    from spiel_dl.algorithms.cdrnr import CDRNRPolicy

    p, model = _probability_and_model(request)
    return _respond(request, model, CDRNRPolicy, depth_limit=request.depth_limit, p=p)


def abd(request: Request) -> openspiel_policy.Policy:
    """The response to a model that also errs below the depth limit."""
    from spiel_dl.algorithms.abd import ABDPolicy

    p, model = _probability_and_model(request)
    return _respond(request, model, ABDPolicy, depth_limit=request.depth_limit, p=p)


def rnr(request: Request) -> openspiel_policy.Policy:
    """The restricted Nash response to a model."""
    from spiel_dl.algorithms.rnr import RNRPolicy

    p, model = _probability_and_model(request)
    return _respond(request, model, RNRPolicy, p=p)


def _probability_and_model(request: Request) -> tuple[float, ArrayPolicy]:
    """The two parts of "P:MODEL"."""
    tree = request.compiled()
    number, _, model = request.source.partition(":")
    try:
        p = float(number)
    except ValueError:
        raise ValueError(
            f"no policy {request.name!r}: P={number!r} is not a number; as in rnr:0.5:cfr:9"
        ) from None
    return p, request.load_model(model, tree)


def _respond(
    request: Request,
    model: ArrayPolicy,
    response: Callable[..., openspiel_policy.Policy],
    **settings: Any,
) -> openspiel_policy.Policy:
    """The response of the player in the options, or both players' responses in their seats."""
    options: Responding = request.options
    settings["effort"] = options.effort_or(_RESPONSE_EFFORT)
    if options.player is not None:
        return response(model.tree, options.player, model, **settings)
    first, second = (response(model.tree, player, model, **settings) for player in (0, 1))
    return SeatsPolicy((first, second))


def sepot(request: Request) -> openspiel_policy.Policy:
    """SePoT, as `algorithms.sepot.load` has it."""
    from spiel_dl.algorithms.sepot import load

    request = _of_checkpoint(request)
    config, game = _sepot_config(request.options), request.game
    policy = load(
        request.source, request.depth_limit, config=config, game=game, device=request.device
    )
    return policy if isinstance(game, GameTree) else RememberingPolicy(policy)


def _sepot_config(options: SePoT | BelowParticles) -> SearchConfig:
    return dataclasses.replace(options.search, effort=options.effort_or(DEFAULT_EFFORT))


def below_particles(request: Request) -> openspiel_policy.Policy:
    """SePoT below particles, or knowledge-limited search if the options have an order."""
    from spiel_dl.algorithms.sepot import SePoTPlayPolicy
    from spiel_dl.learning import checkpoints

    request = _of_checkpoint(request)
    options = request.options
    # A network plays states, in a compiled game, too.
    blueprint, critic = checkpoints.load(
        request.source, turn_based_game(request.game), request.device
    )
    policy = SePoTPlayPolicy(
        critic.game,
        _network(blueprint, request),
        critic,
        request.depth_limit,
        config=_sepot_config(options),
        particles=options.particles,
    )
    return RememberingPolicy(policy)


def mirror_descent(request: Request) -> openspiel_policy.Policy:
    """Mirror-descent search."""
    from spiel_dl.algorithms.mirror_descent_search import MirrorDescentPolicy
    from spiel_dl.learning import checkpoints

    request = _of_checkpoint(request)
    blueprint = checkpoints.load_blueprint(
        request.source, turn_based_game(request.game), request.device
    )
    network = _network(blueprint, request)
    return RememberingPolicy(MirrorDescentPolicy(network.game, network, request.options.search))


def _network(blueprint: openspiel_policy.Policy, request: Request) -> NetworkPolicy:
    from spiel_dl.policies.network_policy import NetworkPolicy

    if not isinstance(blueprint, NetworkPolicy):
        raise ValueError(f"{request.name}: {request.source} is no network of this game")
    return blueprint


def _of_checkpoint(request: Request) -> Request:
    """The request with the game of its source, a checkpoint; a ValueError if it is none."""
    from spiel_dl.learning import checkpoints

    if not checkpoints.is_checkpoint(request.source):
        raise ValueError(
            f"{request.source} is neither a learner's checkpoint nor a run directory with one, nor "
            f"a model of the zoo: {zoo.listing()}; train one by run/train.py "
            "--transformations=paper"
        )
    return request.of_game(checkpoints.game_of(request.source))


def particle(request: Request) -> openspiel_policy.Policy:
    """Search among particles."""
    from spiel_dl.algorithms.particle_search import ParticlePolicy
    from spiel_dl.value_functions.particle import ParticleNetwork
    from spiel_dl.value_functions.training import NETWORK_FILE

    options, path = request.options, Path(request.source)
    if path.is_dir():
        path /= NETWORK_FILE
    if not path.is_file():
        raise ValueError(
            f"{path} is neither the file of a particle network nor a model of the zoo: "
            f"{zoo.listing()}; train one by run/train.py --algorithm=particle"
        )
    network = ParticleNetwork.load(path, device=request.device)
    request = request.of_game(network.domain["game"] if network.domain else None)
    return ParticlePolicy(
        turn_based_game(request.game),
        network,
        request.depth_limit,
        budget=options.particles.budget,
        gadget=options.gadget,
        effort=options.effort_or(_EFFORT),
    )
