"""Reads what learners have saved, to play it or to search on top of it.

    blueprint, critic = checkpoints.load("runs/sepot/leduc/checkpoint.safetensors")
    policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1))
    policy = SePoTPlayPolicy(game, blueprint, critic, DepthLimit(rounds=1))  # in large games

Checkpoints, or the run directories that hold them, may be those of `run/train.py`, or of any
learner with a critic; the policy alone can be read from those without one. Models of the zoo are
such files, too, but for what further steps would need; their parameters may be float16.

A checkpoint's header says in `policy` where its policy is. That is either a network's parameters
(`array`, and `row` if they are one row of that array; with `hidden_sizes`, `fine_tuning`, `sight`,
what the network sees, and `value_unit`), or the names of two arrays, both players' `strategies`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import torch

from spiel_dl.games import features
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.learner import FILE_KIND
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.policies.sight import FEATURES
from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import CHECKPOINT_FILE
from spiel_dl.tree.from_openspiel import is_game_of
from spiel_dl.tree.load import AnyGame, compile_game, turn_based_game

_Arrays = Mapping[str, np.ndarray]


class Trained(NamedTuple):
    """A policy and the critic that was trained with it, or for it.

    Attributes:
      blueprint: a `NetworkPolicy`; an `ArrayPolicy` where the critic was trained for one.
      critic: the critic of this blueprint.
    """

    blueprint: NetworkPolicy | ArrayPolicy
    critic: NetworkCritic


def load(
    path: str | os.PathLike[str], game: AnyGame | None = None, device: torch.device | str = "cpu"
) -> Trained:
    """The blueprint and the critic of a learner's checkpoint.

    Args:
      path: the checkpoint, or a run directory.
      game: the game; None: as named in the file.
      device: where the networks live.

    Raises:
      ValueError: if there is no such file, or if it is no checkpoint of a learner, has no critic,
        or is of another game.
    """
    arrays, header = _read(path)
    if "critic" not in header:
        raise ValueError(
            f"{path} is a checkpoint of {header['algorithm']} without a critic; train one beside "
            "it or for it (run/train.py --transformations=paper)"
        )
    known = _game_of(path, header, game)
    described = _described(path, header, "critic")
    names = tuple(described["transformations"])
    hidden_sizes = tuple(described["config"]["hidden_sizes"])
    bound = described["bound"] or math.inf
    network = CriticNetwork(described["num_inputs"], len(names), hidden_sizes, bound)
    parameters = torch.from_numpy(arrays["critic.target_parameters"]).float().to(device)
    critic = NetworkCritic(known, network, parameters, names)
    return Trained(_blueprint(path, game or known, known, arrays, header, device), critic)


def load_blueprint(
    path: str | os.PathLike[str], game: AnyGame | None = None, device: torch.device | str = "cpu"
) -> NetworkPolicy | ArrayPolicy:
    """The policy of a learner's checkpoint; arguments and errors are those of `load`."""
    arrays, header = _read(path)
    known = _game_of(path, header, game)
    return _blueprint(path, game or known, known, arrays, header, device)


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file, or a run directory with a checkpoint, that a learner has written.

    Raises:
      ValueError: if there is a file that this package has not written.
    """
    file = _file(path)
    return file.is_file() and tensor_files.header(file).get("kind") == FILE_KIND


def has_critic(path: str | os.PathLike[str]) -> bool:
    """Whether a learner's checkpoint, or the one in a run directory, holds a critic.

    Raises:
      ValueError: if there is no such file, or if it is no checkpoint of a learner.
    """
    return "critic" in _read(path)[1]


def _file(path: str | os.PathLike[str]) -> Path:
    """A checkpoint's file, or that of a run directory."""
    return Path(path) / CHECKPOINT_FILE if Path(path).is_dir() else Path(path)


def _read(path: str | os.PathLike[str]) -> tuple[_Arrays, dict[str, Any]]:
    arrays, header = tensor_files.load(_file(path))
    if header.get("kind") != FILE_KIND:
        raise ValueError(
            f"{path} holds a {header.get('kind')} ({header.get('algorithm')}), not a learner's "
            "checkpoint; give one that run/train.py has made"
        )
    return arrays, header


def _game_of(
    path: str | os.PathLike[str], header: Mapping[str, Any], game: AnyGame | None
) -> pyspiel.Game:
    """The turn-based game of a checkpoint."""
    known = turn_based_game(game or header["game"])
    if not is_game_of(header["game"], known):
        raise ValueError(f"{path} is of {header['game']}, not of {known}; use the same game")
    return known


def _blueprint(
    path: str | os.PathLike[str],
    game: AnyGame,
    known: pyspiel.Game,
    arrays: _Arrays,
    header: Mapping[str, Any],
    device: torch.device | str,
) -> NetworkPolicy | ArrayPolicy:
    described = _described(path, header, "policy")
    if "strategies" in described:
        first, second = (arrays[name] for name in described["strategies"])
        return ArrayPolicy(compile_game(game), (first, second))
    parameters = arrays[described["array"]]
    if described["row"] is not None:
        parameters = parameters[described["row"]]
    sizes = tuple(described["hidden_sizes"])
    network = PolicyNetwork(features.num_features(known), known.num_distinct_actions(), sizes)
    tuning = described["fine_tuning"]
    fine_tuning = None if tuning is None else FineTuning(**tuning)
    return NetworkPolicy(
        known,
        network,
        torch.from_numpy(parameters).float().to(device),
        fine_tuning,
        described["value_unit"],
    )


def _described(
    path: str | os.PathLike[str], header: Mapping[str, Any], part: str
) -> Mapping[str, Any]:
    """What a checkpoint says of its policy, or of its critic."""
    found: Mapping[str, Any] = header.get(part, {})
    if found.get("sight") != FEATURES and "strategies" not in found:
        what, source = "", f"--game='{header['game']}'"
        if header["algorithm"] == "critic":
            # Its file holds its policy, too, which saw the same.
            what, source = " first its policy, then the critic", "--blueprint=RUN"
        raise ValueError(
            f"{path} is of an earlier version, whose networks saw sequences of observations "
            f"instead of features; train anew{what} (run/train.py "
            f"--algorithm={header['algorithm']} {source})"
        )
    return found
