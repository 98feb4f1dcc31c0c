"""Reads policies and critics from learners' checkpoints, to play them or to search with them.

    blueprint, critic = checkpoints.load("runs/sepot/leduc/checkpoint.safetensors")
    policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1))
    policy = SePoTPlayPolicy(game, blueprint, critic, DepthLimit(rounds=1))  # in large games

A path is that of a checkpoint, or of a run directory that holds one, by `run/train.py` or by any
learner; without a critic, only the policy can be read. Models of the zoo are such files, too,
without the arrays that further steps would need; their parameters may be float16.

The header's entry `policy` tells where the policy is: either a network's parameters (`array`, and
`row` if they are one row of that array; with `hidden_sizes`, `fine_tuning`, `sight`, which is what
the network sees, and `value_unit`), or the names of two arrays, both players' `strategies`.
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
    """A policy and its critic, from one checkpoint.

    Attributes:
      blueprint: a `NetworkPolicy`; an `ArrayPolicy` if the critic was trained for one.
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
      game: the game; None: the one named in the file.
      device: that of the networks.

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
    turn_based = _game_of(path, header, game)
    entry = _entry(path, header, "critic")
    names = tuple(entry["transformations"])
    hidden_sizes = tuple(entry["config"]["hidden_sizes"])
    bound = entry["bound"] or math.inf
    network = CriticNetwork(entry["num_inputs"], len(names), hidden_sizes, bound)
    parameters = torch.from_numpy(arrays["critic.target_parameters"]).float().to(device)
    critic = NetworkCritic(turn_based, network, parameters, names)
    return Trained(_blueprint(path, game or turn_based, turn_based, arrays, header, device), critic)


def load_blueprint(
    path: str | os.PathLike[str], game: AnyGame | None = None, device: torch.device | str = "cpu"
) -> NetworkPolicy | ArrayPolicy:
    """The policy of a learner's checkpoint; arguments and errors are those of `load`."""
    arrays, header = _read(path)
    turn_based = _game_of(path, header, game)
    return _blueprint(path, game or turn_based, turn_based, arrays, header, device)


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a learner's checkpoint, or a run directory that holds one.

    Raises:
      ValueError: if there is a file that this package has not written.
    """
    file = _file(path)
    return file.is_file() and tensor_files.header(file).get("kind") == FILE_KIND


def game_of(path: str | os.PathLike[str]) -> str:
    """The game string of a learner's checkpoint, or of the one in a run directory.

    Raises:
      ValueError: if there is no such file.
    """
    return str(tensor_files.header(_file(path))["game"])


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
    turn_based = turn_based_game(game or header["game"])
    if not is_game_of(header["game"], turn_based):
        raise ValueError(f"{path} is of {header['game']}, not of {turn_based}; use the same game")
    return turn_based


def _blueprint(
    path: str | os.PathLike[str],
    game: AnyGame,
    turn_based: pyspiel.Game,
    arrays: _Arrays,
    header: Mapping[str, Any],
    device: torch.device | str,
) -> NetworkPolicy | ArrayPolicy:
    entry = _entry(path, header, "policy")
    if "strategies" in entry:
        return ArrayPolicy(compile_game(game), (arrays[name] for name in entry["strategies"]))
    parameters = arrays[entry["array"]]
    if entry["row"] is not None:
        parameters = parameters[entry["row"]]
    sizes = tuple(entry["hidden_sizes"])
    network = PolicyNetwork(
        features.num_features(turn_based), turn_based.num_distinct_actions(), sizes
    )
    tuning = entry["fine_tuning"]
    fine_tuning = None if tuning is None else FineTuning(**tuning)
    return NetworkPolicy(
        turn_based,
        network,
        torch.from_numpy(parameters).float().to(device),
        fine_tuning,
        entry["value_unit"],
    )


def _entry(path: str | os.PathLike[str], header: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A header's entry `policy` or `critic`."""
    entry: Mapping[str, Any] = header.get(name, {})
    if entry.get("sight") != FEATURES and "strategies" not in entry:
        what, source = "", f"--game='{header['game']}'"
        if header["algorithm"] == "critic":
            # Its file holds its policy, too, which saw the same observations.
            what, source = " first its policy, then the critic", "--blueprint=RUN"
        raise ValueError(
            f"{path} is of an earlier version, whose networks saw sequences of observations "
            f"instead of features; train anew{what} (run/train.py "
            f"--algorithm={header['algorithm']} {source})"
        )
    return entry
