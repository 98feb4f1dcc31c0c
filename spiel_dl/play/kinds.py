"""The kinds of policies that have names: pattern, meaning, loading function and options.

A new kind of policy of this package is one more entry of `KINDS`; users add their own by
`register_kind`. Trained networks are named in `play.zoo`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable

from open_spiel.python import policy as openspiel_policy

from spiel_dl.games.own import is_same_function
from spiel_dl.play import searches, zoo
from spiel_dl.play.options import LookingAhead, Options, Responding, options_of
from spiel_dl.play.requests import Request
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.small_policies import HighestActionPolicy, SeatsPolicy, UniformPolicy
from spiel_dl.solvers import variants
from spiel_dl.system.parameters import Parameter
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import turn_based_game


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of policy.

    Attributes:
      pattern: its name and, after a colon, its arguments, such as "cfr:K".
      meaning: description for help texts.
      load: makes the policy.
      compiles: whether the game must be small enough to compile.
      options: its configuration, whose fields are its options, apart from those of a nested
        policy; see `play.options`.
      models: the algorithm of models of the zoo that may be named without "ALGORITHM:"; empty:
        none.
    """

    pattern: str
    meaning: str
    load: Callable[[Request], openspiel_policy.Policy]
    compiles: bool = False
    options: type[Options] = Options
    models: str = ""

    @property
    def name(self) -> str:
        """The part of the pattern before the colon."""
        return self.pattern.partition(":")[0]

    @property
    def takes(self) -> str:
        """The last argument of the pattern, such as MODEL or FILE; empty: none."""
        return self.pattern.partition(":")[2].rpartition(":")[2]

    def source_of(self, name: str) -> str:
        """The last argument in a policy's name, see `takes`; empty: none."""
        return self._parts(name)[-1] if ":" in self.pattern and self.fits(name) else ""

    def fits(self, name: str) -> bool:
        """Whether a policy's name is of this kind."""
        parts = self._parts(name)
        is_complete = len(parts) == len(self._parts(self.pattern)) and all(parts)
        return parts[0] == self.name and is_complete

    def _parts(self, name: str) -> list[str]:
        """The name of the kind and the arguments in a policy's name."""
        return name.split(":", self.pattern.count(":"))


def _uniform(request: Request) -> openspiel_policy.Policy:
    if isinstance(request.game, GameTree):
        return ArrayPolicy.uniform(request.game)
    return UniformPolicy(turn_based_game(request.game), [0, 1])


def _highest(request: Request) -> openspiel_policy.Policy:
    return HighestActionPolicy(turn_based_game(request.game), [0, 1])


def _hunter(request: Request) -> openspiel_policy.Policy:
    from spiel_dl.policies.battleships_hunter import HunterPolicy

    return HunterPolicy(turn_based_game(request.game))


def _random(request: Request) -> openspiel_policy.Policy:
    return opponent_models.random_policy(request.compiled(), request.number())


def _equilibrium(request: Request) -> openspiel_policy.Policy:
    from spiel_dl.algorithms import sequence_form_lp

    return sequence_form_lp.solve_zero_sum_game(request.compiled())[2]


def _late(request: Request) -> openspiel_policy.Policy:
    tree = request.compiled()
    return opponent_models.errs_beyond(
        tree,
        request.depth_limit,
        _equilibrium(request),
        request.load_model(request.source, tree),
    )


def _cfr(request: Request) -> openspiel_policy.Policy:
    return opponent_models.cfr_average(request.compiled(), request.number())


def _cfr_last(request: Request) -> openspiel_policy.Policy:
    return opponent_models.cfr_last(request.compiled(), request.number())


def _cfr_plus(request: Request) -> openspiel_policy.Policy:
    variant = variants.CFR_PLUS
    return opponent_models.cfr_average(request.compiled(), request.number(), variant)


def _network(request: Request) -> openspiel_policy.Policy:
    """The policy network of a model of the zoo."""
    from spiel_dl.learning import checkpoints

    return checkpoints.load_blueprint(zoo.find(request.name), request.given_game, request.device)


def _solved(request: Request) -> openspiel_policy.Policy:
    return ArrayPolicy.load(zoo.solved(request.source), request.given_game)


def _function(request: Request) -> openspiel_policy.Policy:
    """An ONNX network of both players, or two files separated by a comma."""
    from spiel_dl.policies import function_policy

    paths = request.source.split(",")
    invalid = [path for path in paths if not os.path.isfile(path)] or paths[2:]
    if invalid:
        raise ValueError(
            f"no policy {request.name!r}: {invalid[0]} is no file, or the third one; give one, or "
            "two with a comma between them, of player 0 and player 1"
        )
    functions = [function_policy.load_onnx(path, request.device) for path in paths]
    stored_game = getattr(functions[0], "game", None) if request.given_game is None else None
    game = turn_based_game(stored_game or request.game)
    policies = [function_policy.FunctionPolicy(game, function) for function in functions]
    return policies[0] if len(policies) == 1 else SeatsPolicy((policies[0], policies[1]))


_ALL = (
    Kind("uniform", "all legal actions alike", _uniform),
    Kind("highest", "the legal action with the highest id", _highest),
    Kind(
        "hunter",
        "in Battleships: random ships, shots next to hits, else where most ships may lie",
        _hunter,
    ),
    Kind("random:SEED", "random probabilities in every infoset", _random, compiles=True),
    Kind("equilibrium", "exact, by linear programming", _equilibrium, compiles=True),
    Kind(
        "late:MODEL",
        "an equilibrium above the depth limit, and a policy of this table below",
        _late,
        compiles=True,
        options=LookingAhead,
    ),
    Kind("cfr:K", "the average of K iterations of CFR", _cfr, compiles=True),
    Kind("cfr_last:K", "CFR's policy after K iterations", _cfr_last, compiles=True),
    Kind("cfr+:K", "the average of K iterations of CFR+", _cfr_plus, compiles=True),
    Kind(
        "resolving:VALUES",
        "continual resolving with the value function exact, zero or of a network's file; or of "
        "several files with commas between them, each for one depth limit",
        searches.resolving,
        compiles=True,
        options=searches.Resolving,
    ),
    Kind(
        "cdbr:MODEL",
        "the continual depth-limited best response to a policy of this table",
        searches.cdbr,
        compiles=True,
        options=searches.RespondingAhead,
    ),
    Kind(
        "cdrnr:P:MODEL",
        "the continual depth-limited restricted Nash response, the model being right with "
        "probability P",
        searches.cdrnr,
        compiles=True,
        options=searches.RespondingAhead,
    ),
    Kind(
        "abd:P:MODEL",
        "the same with portfolios behind the depth limit, for models that err there",
        searches.abd,
        compiles=True,
        options=searches.RespondingAhead,
    ),
    Kind(
        "rnr:P:MODEL",
        "the restricted Nash response in the whole game",
        searches.rnr,
        compiles=True,
        options=Responding,
    ),
    Kind(
        "sepot:CHECKPOINT",
        "SePoT on top of a learner's network and critic, or of a model's of the zoo; in the "
        "compiled game, or in games with Rules and more than 200,000 histories by reconstruction",
        searches.sepot,
        options=searches.SePoT,
        models="rnad",
    ),
    Kind(
        "particle:NETWORK",
        "search among particles with a particle value network, in games with Rules",
        searches.particle,
        options=searches.AmongParticles,
        models="particle",
    ),
    Kind(
        "particle_sepot:CHECKPOINT",
        "SePoT below a bounded sample of each public state, in games with Rules of any size",
        searches.below_particles,
        options=searches.BelowParticles,
        models="rnad",
    ),
    Kind(
        "klss:CHECKPOINT",
        "the same from the histories of low-order knowledge alone: knowledge-limited search",
        searches.below_particles,
        options=searches.KnowledgeLimited,
        models="rnad",
    ),
    Kind(
        "mmds:CHECKPOINT",
        "mirror-descent search on top of a learner's network, in games with Rules of any size",
        searches.mirror_descent,
        options=searches.MirrorDescent,
        models="rnad",
    ),
    Kind("rnad:NAME", "a network of the model zoo, trained by R-NaD", _network),
    Kind("mmd:NAME", "the same by MMD", _network),
    Kind("ppo:NAME", "the same by PPO", _network),
    Kind(
        "solved:NAME",
        "a solution of a game too large to list, of the model zoo; it does not know what to do "
        "after what it never does",
        _solved,
    ),
    Kind(
        "onnx:FILE",
        "a function in ONNX, from information state tensors to logits; two files with a comma "
        "between them are player 0's and player 1's; needs onnxruntime",
        _function,
    ),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""All kinds of policies, by the part of their pattern before the colon."""


def register_kind(kind: Kind) -> None:
    """Registers a kind of policy in this process, under the name before its colon.

    Raises:
      ValueError: if it is no `Kind`, or if another kind has this name. A kind with the same
        function `load` may be registered again.
    """
    if not isinstance(kind, Kind):
        raise ValueError(f"kind={kind!r} must be a Kind, such as Kind('mine', 'what it is', load)")
    other = KINDS.get(kind.name)
    if other is not None and not is_same_function(other.load, kind.load):
        raise ValueError(
            f"pattern={kind.pattern!r}: {kind.name} is the name of another kind ({other.meaning}); "
            "choose another name"
        )
    KINDS[kind.name] = kind


def policy_names() -> str:
    """The patterns of all registered kinds, for help texts and errors."""
    patterns = ", ".join(kind.pattern for kind in KINDS.values())
    return f"{patterns}, or the path of a policy, a run or a checkpoint"


def all_options(kinds: Iterable[Kind]) -> dict[str, Parameter]:
    """All options of some kinds by name; texts list the kinds that have them, and defaults."""
    by_kind: dict[str, dict[str, Parameter]] = {}
    for kind in kinds:
        for name, option in options_of(kind.options).items():
            by_kind.setdefault(name, {})[kind.name] = option
    merged = {}
    for name, options in by_kind.items():
        defaults = {kind: o.default for kind, o in options.items() if o.default is not None}
        users = [f"{kind} ({defaults[kind]})" if kind in defaults else kind for kind in options]
        if len(set(defaults.values())) == 1:
            users = [*options, f"default: {next(iter(defaults.values()))}"]
        first = next(iter(options.values()))
        text = f"{first.text} For {', '.join(users)}."
        merged[name] = dataclasses.replace(first, default=None, text=text)
    return merged
