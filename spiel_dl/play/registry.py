"""The registry of policies by name, for scripts and for `spiel_dl.load_policy`.

A name fits one of the patterns of `play.kinds`, or is a path: the file of a policy, a run
directory, or a learner's checkpoint. Trained networks are named in `play.zoo`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from open_spiel.python import policy as openspiel_policy

from spiel_dl.play import options as kind_options
from spiel_dl.play import zoo
from spiel_dl.play.kinds import KINDS, Kind, policy_names
from spiel_dl.play.requests import Request
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.small_policies import SeatsPolicy
from spiel_dl.system import tensor_files
from spiel_dl.system.messages import did_you_mean
from spiel_dl.system.parameters import Parameter
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game, turn_based_game
from spiel_dl.value_functions import network_files


def load_policy(
    name: str | os.PathLike[str],
    game: AnyGame | None = None,
    *,
    device: str = "cpu",
    **options: Any,
) -> openspiel_policy.Policy:
    """Loads a policy by its name.

    Policies that search do so when they are evaluated; `load_array_policy` searches in all infosets
    of a game that is small enough to compile.

    Args:
      name: see `play.kinds`, or the path of a policy file, a run directory or a learner's
        checkpoint.
      game: the game, its game string, or the compiled game; None: the game of the named file.
      device: torch device of networks.
      **options: fields of the configuration of this kind of policy, such as `depth_limit` or
        `effort`, and of nested policies; see `options_of`. None: not given.

    Returns:
      A policy of both players; of a game with simultaneous moves, see `policies.asking`.

    Raises:
      ValueError: if there is no such policy for this game, the game is too large for it, an option
        is invalid or not one of this policy, or torch has no such device.
    """
    if not isinstance(name, (str, os.PathLike)):
        raise ValueError(f"name={name!r} is neither a policy's name nor a path")
    name = os.fspath(name)
    given = {option: value for option, value in options.items() if value is not None}
    _check_options(name, given)
    if device != "cpu":
        from spiel_dl.networks.devices import check_device  # It imports torch.

        check_device(device)
    return _load(name, game, given, device)


def load_array_policy(name: str, game: AnyGame, **options: Any) -> ArrayPolicy:
    """Loads a policy by its name, evaluated in all infosets of a game that is small enough.

    Arguments and errors are those of `load_policy`.
    """
    tree = compile_game(game)
    return _in_all_infosets(tree, load_policy(name, tree, **options))


def options_of(*names: str) -> dict[str, Parameter]:
    """The options of policies, those of nested policies included."""
    options: dict[str, Parameter] = {}
    for name in names:
        for kind in _nested_kinds(name):
            options = kind_options.options_of(kind.options) | options
    return options


def select_options(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Those of the given options that one of the policies has."""
    known = options_of(*names)
    return {option: value for option, value in given.items() if option in known}


def reported_options(game: AnyGame, given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The options of one or two policies for reports, JSON-serialisable; empty if they have none.

    Where the second policy's differ from the first one's, their names end with "_of_second".

    Args:
      game: the game.
      given: the options that were given; others are the defaults.
      *names: of the policies.
    """
    entries: dict[str, Any] = {}
    turn_based = turn_based_game(game)
    for name in names:
        own: dict[str, Any] = {}
        for kind in _nested_kinds(name):
            config = kind_options.configure(kind.options, given)
            own = kind_options.as_reported(turn_based, config) | own
        for option, value in own.items():
            is_other = entries.get(option, value) != value
            entries[f"{option}_of_second" if is_other else option] = value
    return entries


def _load(
    name: str, game: AnyGame | None, given: Mapping[str, Any], device: str
) -> openspiel_policy.Policy:
    """Loads a policy by its name; nested policies take the options that they have."""

    def load_model(model: str, tree: GameTree) -> ArrayPolicy:
        return _in_all_infosets(tree, _load(model, tree, given, device))

    kind = _check_kind(name)
    if kind is None:
        return _load_path(Request(name, name, game, None, device, load_model))
    config = kind_options.configure(kind.options, given)
    source = name.partition(":")[2]
    source = zoo.file_of(source, kind.models) if kind.models else source
    return kind.load(Request(name, source, game, config, device, load_model))


def check_name(name: str) -> None:
    """Raises a ValueError if a policy's name is neither of a kind nor a path, or a file is missing.

    Names of nested policies are checked, too; files are not read.
    """
    kind = _check_kind(name)
    if kind is None:
        return
    source = kind.source_of(name)
    if kind.takes == "MODEL":
        check_name(source)
        return
    needs_file = kind.models or kind.takes in ("FILE", "NAME", "VALUES")
    is_built_in = kind.takes == "VALUES" and source in network_files.NAMES
    if needs_file and not is_built_in and not paths_in(name):
        raise ValueError(f"no policy {name!r}: {source!r} is neither a file nor a model of the zoo")


def _check_kind(name: str) -> Kind | None:
    """The kind of a policy's name; None if it is a path. A ValueError if it is neither."""
    kind = _kind_of(name)
    if kind is None and (name.partition(":")[0] in KINDS or not name or not os.path.exists(name)):
        question = _suggestion(name)
        remedy = f"{question} Give" if question else "; give"
        raise ValueError(f"no policy {name!r}{remedy} one of {policy_names()}")
    return kind


def _suggestion(name: str) -> str:
    """A question with the names most similar to an unknown one; empty if none are similar."""
    kind_name = name.partition(":")[0]
    if kind_name in KINDS:
        return did_you_mean(name, (), more=[KINDS[kind_name].pattern])
    models = zoo.models()
    candidates = [f"{algorithm}:{name}" for algorithm in zoo.ALGORITHMS]
    return did_you_mean(
        name, [*KINDS, *models], more=[each for each in candidates if each in models]
    )


def _check_options(name: str, given: Mapping[str, Any]) -> None:
    """Raises a ValueError if a policy lacks an option that is given, or if there is no policy."""
    _check_kind(name)
    known = options_of(name)
    unknown = ", ".join(f"{option}={given[option]!r}" for option in given if option not in known)
    if unknown:
        options = f"its options are {', '.join(known)}" if known else "it has no options"
        raise ValueError(f"{name} does not use {unknown}; {options}")


def _in_all_infosets(tree: GameTree, policy: openspiel_policy.Policy) -> ArrayPolicy:
    if isinstance(policy, SeatsPolicy):
        first, second = (_in_all_infosets(tree, seat).strategies for seat in policy.seats)
        return ArrayPolicy(tree, (first[0], second[1]))
    if hasattr(policy, "to_array_policy"):
        array_policy: ArrayPolicy = policy.to_array_policy()
        return array_policy
    return ArrayPolicy.from_policy(tree, policy)


def _load_path(request: Request) -> openspiel_policy.Policy:
    """Loads the policy of a file, or of a run directory of a solver or a learner."""
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


def blueprint_of(name: str) -> str | None:
    """The name of the blueprint or model of a policy that searches or responds; None: none."""
    kind = _kind_of(name)
    if kind is None:
        return None
    source = kind.source_of(name)
    if kind.models == "rnad":
        model = source if ":" in source else f"{kind.models}:{source}"
        return model if model in zoo.models() else source
    return source if kind.takes == "MODEL" else None


def _nested_kinds(name: str) -> Iterator[Kind]:
    """The kinds of a policy and of its nested policies, from the outside in."""
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
    """The first file or directory of a policy; None: none."""
    return next(iter(paths_in(name)), None)


def paths_in(name: str) -> list[Path]:
    """The files or directories of a policy and of its nested policies.

    Raises:
      ValueError: if the zoo has no such solution, or a name is both a path and a model.
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
    """A hash of the files of a policy and of its nested policies; empty if there are none.

    Raises:
      ValueError: as `paths_in`.
    """
    files: list[Path] = []
    for path in paths_in(name):
        files += [path] if path.is_file() else sorted(path.glob("*.safetensors"))
    checksum = hashlib.sha256()
    for file in files:
        checksum.update(file.read_bytes())
    return checksum.hexdigest() if files else ""


def _existing(*paths: str) -> list[Path]:
    return [Path(path) for path in paths if path and os.path.exists(path)]
