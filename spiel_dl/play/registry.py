"""The one registry that turns a name into a policy, for scripts and for `spiel_dl.load_policy`.

A name is one of the patterns of `play.kinds`, or a path: the file of a policy, a run directory, or
a learner's checkpoint. Trained networks have names of their own, see `play.zoo`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from open_spiel.python import policy as openspiel_policy

from spiel_dl.play import zoo
from spiel_dl.play.kinds import KINDS, Kind, policy_names
from spiel_dl.play.requests import Request, SearchOptions
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.small_policies import SeatsPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.system import tensor_files
from spiel_dl.system.messages import did_you_mean
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game


def load_policy(
    name: str | os.PathLike[str],
    game: AnyGame | None = None,
    *,
    depth_limit: DepthLimit | None = None,
    effort: Effort | int | None = None,
    max_histories: int | None = None,
    budget: int | None = None,
    gadget: str | None = None,
    order: int | None = None,
    safety: str | None = None,
    num_expansions: int | None = None,
    stepsize: float | None = None,
    num_rollouts: int | None = None,
    leaf_choice: str | None = None,
    player: int | None = None,
    device: str = "cpu",
) -> openspiel_policy.Policy:
    """The policy of a name.

    Policies that search do so when they are asked; `load_array_policy` searches everywhere in a
    game that is small enough to compile.

    Args:
      name: see `play.kinds`, or the path of a policy file, a run directory or a learner's
        checkpoint.
      game: the game, its game string, or the compiled game; None: as the named file says.
      depth_limit: how deep each search looks; None: one round, or two moves in games without
        rounds.
      effort: how to solve. A whole number: at most so many iterations, and all else as the kind of
        policy does by default; None: that default, of at most 1,500 iterations.
      max_histories: SePoT leaves searches of more histories to the network; None: 25,000.
      budget: how many histories a search among samples starts from, at most, also that of "abd"
        and "mmds"; None: 1000.
      gadget: of "resolving" and "particle", what is put on top of each search but the first, see
        `solvers.gadgets`; None: "resolving" in the former, and "unsafe" in the latter.
      order: of a knowledge-limited search, the order of knowledge; None: 1.
      safety: of a knowledge-limited search, how it is kept from harm: "none", "values", "allocated"
        or "updated", see `search.knowledge_limited_step`; None: "none".
      num_expansions: of a search below particles, by how many histories its tree grows; None: 0.
      stepsize: of a mirror-descent search, with action values in utility ranges; None: 1.0.
      num_rollouts: how many games a mirror-descent search or one of "abd" plays out, at least;
        None: 2000.
      leaf_choice: how SePoT's opponent chooses at the leaves: "regret_matching" or "best_response";
        None: "regret_matching".
      player: who responds in "cdbr", "cdrnr", "abd" and "rnr"; None: each player, in its own seat.
      device: where networks live.

    Returns:
      A policy of both players; of a game with simultaneous moves, see `policies.asking`.

    Raises:
      ValueError: if there is no such policy for this game, the game is too large for it, an option
        is given that neither it nor a policy within it uses, or torch has no such device.
    """
    given = {
        "depth_limit": depth_limit,
        "effort": effort,
        "max_histories": max_histories,
        "budget": budget,
        "gadget": gadget,
        "order": order,
        "safety": safety,
        "num_expansions": num_expansions,
        "stepsize": stepsize,
        "num_rollouts": num_rollouts,
        "leaf_choice": leaf_choice,
        "player": player,
    }
    settings = {key: value for key, value in given.items() if value is not None}
    name = os.fspath(name)
    _check_used(name, settings)
    if device != "cpu":
        from spiel_dl.networks.devices import check_device  # It imports torch.

        check_device(device)
    return _load(name, game, settings, device)


def load_array_policy(name: str, game: AnyGame, **settings: Any) -> ArrayPolicy:
    """The policy of a name in all infosets of a game that is small enough to compile.

    Arguments and errors are those of `load_policy`.
    """
    tree = compile_game(game)
    return _in_all_infosets(tree, load_policy(name, tree, **settings))


def _load(
    name: str, game: AnyGame | None, settings: Mapping[str, Any], device: str
) -> openspiel_policy.Policy:
    """The policy of a name; others within it take of the settings what they use."""

    def load_model(model: str, tree: GameTree) -> ArrayPolicy:
        used = options_of(model)
        own = {key: value for key, value in settings.items() if key in used}
        return _in_all_infosets(tree, _load(model, tree, own, device))

    kind = _known_kind(name)
    if kind is None:
        return _of_path(Request(name, name, game, settings, device, load_model))
    source = name.partition(":")[2]
    source = zoo.file_of(source, kind.models) if kind.models else source
    return kind.load(Request(name, source, game, settings, device, load_model))


def _known_kind(name: str) -> Kind | None:
    """The kind of a policy's name; None if it is a path. A ValueError if it is neither."""
    kind = _kind_of(name)
    if kind is None and (name.partition(":")[0] in KINDS or not name or not Path(name).exists()):
        nearest = _meant_by(name)
        told = f"{nearest} Give" if nearest else "; give"
        raise ValueError(f"no policy {name!r}{told} one of {policy_names()}")
    return kind


def _meant_by(name: str) -> str:
    """A question with the names that are most like an unknown one; empty if none are."""
    word = name.partition(":")[0]
    if word in KINDS:
        return did_you_mean(name, (), more=[KINDS[word].pattern])
    models = zoo.models()
    of_preset = [f"{each}:{name}" for each in zoo.ALGORITHMS if f"{each}:{name}" in models]
    return did_you_mean(name, [*KINDS, *models], more=of_preset)


def _check_used(name: str, settings: Mapping[str, Any]) -> None:
    """Raises a ValueError if options are given that a policy does not use, or if there is none."""
    _known_kind(name)
    used = options_of(name)
    unused = []
    for option, value in settings.items():
        if option not in used:
            users = ", ".join(kind.name for kind in KINDS.values() if option in kind.uses)
            unused.append(f"{option}={value!r}, which is for {users}")
    if unused:
        raise ValueError(f"{name} does not use {'; nor '.join(unused)}; leave them out")


def _in_all_infosets(tree: GameTree, policy: openspiel_policy.Policy) -> ArrayPolicy:
    if isinstance(policy, SeatsPolicy):
        first, second = (_in_all_infosets(tree, seat).strategies for seat in policy.seats)
        return ArrayPolicy(tree, (first[0], second[1]))
    if hasattr(policy, "to_array_policy"):
        found: ArrayPolicy = policy.to_array_policy()
        return found
    return ArrayPolicy.from_policy(tree, policy)


def _of_path(request: Request) -> openspiel_policy.Policy:
    """The policy of a file, or of a run directory of a solver or a learner."""
    path = Path(request.name)
    if path.is_dir() and (path / AVERAGE_POLICY_FILE).is_file():
        path /= AVERAGE_POLICY_FILE
    if path.is_file() and tensor_files.header(path).get("kind") == "policy":
        return ArrayPolicy.load(path, request.given_game)
    from spiel_dl.learning import checkpoints

    if path.is_dir() and not checkpoints.is_checkpoint(path):
        raise ValueError(
            f"{request.name} holds no {AVERAGE_POLICY_FILE}; give the run directory of a solver "
            "that has finished, or of a learner"
        )
    return checkpoints.load_blueprint(path, request.given_game, request.device)


def options_of(*names: str) -> set[str]:
    """Which of the `SearchOptions` policies use, those of a policy within one included."""
    return {option for name in names for kind in _kinds_along(name) for option in kind.uses}


def keywords_of(search: SearchOptions, name: str) -> dict[str, Any]:
    """What a policy uses of the search options, as keyword arguments of `load_policy`."""
    return {option: getattr(search, option) for option in options_of(name)}


def options_used(search: SearchOptions, *names: str) -> dict[str, Any]:
    """What some policies, and those they respond to or search upon, use of the options.

    Args:
      search: the options.
      *names: those of the policies.

    Returns:
      As reports say it; empty if none of them searches. `player` and `gadget` are there only if
      they were given, and of an `Effort` what is not its default.
    """
    values = {
        "depth_limit": str(search.depth_limit),
        "max_histories": search.max_histories,
        "budget": search.budget,
        "order": search.order,
        "safety": search.safety,
        "num_expansions": search.num_expansions,
        "stepsize": search.stepsize,
        "num_rollouts": search.num_rollouts,
        "iterations": search.iterations,
        "leaf_choice": search.leaf_choice,
    }
    given = {"player": search.player, "gadget": search.gadget}
    values |= {name: value for name, value in given.items() if value is not None}
    effort = search.effort if isinstance(search.effort, Effort) else None
    beyond = {} if effort is None else _beyond_iterations(effort)
    used = options_of(*names)
    if "effort" in used:
        used |= {"iterations", *beyond}
    return {each: value for each, value in (values | beyond).items() if each in used}


def _beyond_iterations(effort: Effort) -> dict[str, Any]:
    """What an effort says beyond its iterations that is not the default, as JSON can hold it."""
    names = [name for name, variant in VARIANTS.items() if variant == effort.variant]
    variant = names[0] if names else str(effort.variant)
    told = {"tolerance": effort.tolerance, "seconds": effort.seconds, "variant": variant}
    default = Effort()
    return {
        name: value
        for name, value in told.items()
        if getattr(effort, name) != getattr(default, name)
    }


def blueprint_of(name: str) -> str | None:
    """The name of the policy that another one searches on top of, or responds to; None: none."""
    kind = _kind_of(name)
    if kind is None:
        return None
    source = kind.source_of(name)
    if kind.models == "rnad":
        model = source if ":" in source else f"{kind.models}:{source}"
        return model if model in zoo.models() else source
    return source if kind.takes == "MODEL" else None


def _kinds_along(name: str) -> Iterator[Kind]:
    """The kinds of a policy and of those that it is made of, from the outside in."""
    inner: str | None = name
    while inner:
        kind = _kind_of(inner)
        if kind is not None:
            yield kind
        inner = blueprint_of(inner)


def _kind_of(name: str) -> Kind | None:
    kind = KINDS.get(name.partition(":")[0])
    return kind if kind is not None and kind.fits(name) else None


def path_in(name: str) -> Path | None:
    """The file or directory that a policy is made of; the first if there are two, None: none."""
    return next(iter(paths_in(name)), None)


def paths_in(name: str) -> list[Path]:
    """The files or directories that a policy is made of, those of a policy within it as well.

    Raises:
      ValueError: if the zoo has no such solution, or something is both a path and a model's name.
    """
    if name in zoo.models():
        return [zoo.find(name)]
    kind = _kind_of(name)
    if kind is None:
        return _existing(name)
    source = kind.source_of(name)
    if kind.name == zoo.SOLVED:
        return [zoo.solved(source)]
    if kind.takes == "MODEL":
        return paths_in(source)
    if kind.models:
        return _existing(zoo.file_of(source, kind.models))
    return _existing(*source.split(",")) if kind.takes in ("FILE", "VALUES") else []


def digest(name: str) -> str:
    """A hash of the files that a policy is made of, also within others; empty if there are none.

    Raises:
      ValueError: as `paths_in`.
    """
    files: list[Path] = []
    for path in paths_in(name):
        files += [path] if path.is_file() else sorted(path.glob("*.safetensors"))
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest() if files else ""


def _existing(*paths: str) -> list[Path]:
    return [Path(path) for path in paths if path and Path(path).exists()]
