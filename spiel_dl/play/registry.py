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


def load_policy(
    name: str | os.PathLike[str],
    game: AnyGame | None = None,
    *,
    device: str = "cpu",
    **options: Any,
) -> openspiel_policy.Policy:
    """The policy of a name.

    Policies that search do so when they are asked; `load_array_policy` searches everywhere in a
    game that is small enough to compile.

    Args:
      name: see `play.kinds`, or the path of a policy file, a run directory or a learner's
        checkpoint.
      game: the game, its game string, or the compiled game; None: as the named file says.
      device: where networks live.
      **options: fields of the configuration of this kind of policy, such as `depth_limit` or
        `effort`, and of those within it; see `options_of`. What is None is as if it were not given.

    Returns:
      A policy of both players; of a game with simultaneous moves, see `policies.asking`.

    Raises:
      ValueError: if there is no such policy for this game, the game is too large for it, an option
        is wrong or none of this policy, or torch has no such device.
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
    """The policy of a name in all infosets of a game that is small enough to compile.

    Arguments and errors are those of `load_policy`.
    """
    tree = compile_game(game)
    return _in_all_infosets(tree, load_policy(name, tree, **options))


def options_of(*names: str) -> dict[str, Parameter]:
    """The options of policies, those of policies within them included."""
    found: dict[str, Parameter] = {}
    for name in names:
        for kind in _kinds_along(name):
            found = kind_options.options_of(kind.options) | found
    return found


def taken(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Those of some options that a policy has, or one of several."""
    known = options_of(*names)
    return {option: value for option, value in given.items() if option in known}


def reported(game: AnyGame, given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The options of policies as reports say them and JSON can hold them; empty if they have none.

    Args:
      game: the game.
      given: those that were given; others are the defaults.
      *names: those of the policies.
    """
    found: dict[str, Any] = {}
    turn_based = turn_based_game(game)
    for name in names:
        for kind in _kinds_along(name):
            config = kind_options.configure(kind.options, given)
            found = kind_options.as_reported(turn_based, config) | found
    return found


def _load(
    name: str, game: AnyGame | None, given: Mapping[str, Any], device: str
) -> openspiel_policy.Policy:
    """The policy of a name; others within it take of the options those that they have."""

    def load_model(model: str, tree: GameTree) -> ArrayPolicy:
        return _in_all_infosets(tree, _load(model, tree, given, device))

    kind = _known_kind(name)
    if kind is None:
        return _of_path(Request(name, name, game, None, device, load_model))
    config = kind_options.configure(kind.options, given)
    source = name.partition(":")[2]
    source = zoo.file_of(source, kind.models) if kind.models else source
    return kind.load(Request(name, source, game, config, device, load_model))


def check_name(name: str) -> None:
    """Raises a ValueError if a policy's name is neither of a kind nor a path."""
    _known_kind(name)


def _known_kind(name: str) -> Kind | None:
    """The kind of a policy's name; None if it is a path. A ValueError if it is neither."""
    kind = _kind_of(name)
    if kind is None and (name.partition(":")[0] in KINDS or not name or not os.path.exists(name)):
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


def _check_options(name: str, given: Mapping[str, Any]) -> None:
    """Raises a ValueError if a policy lacks an option that is given, or if there is no policy."""
    _known_kind(name)
    known = options_of(name)
    unknown = ", ".join(f"{option}={given[option]!r}" for option in given if option not in known)
    if unknown:
        told = f"its options are {', '.join(known)}" if known else "it has no options"
        raise ValueError(f"{name} does not use {unknown}; {told}")


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
    return [Path(path) for path in paths if path and os.path.exists(path)]
