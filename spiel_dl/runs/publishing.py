"""Adds the networks of a finished run to a model zoo, as float16, with measured strength.

The stored float16 parameters are measured: NashConv, or the trunk NashConv of particle networks,
where the game is compiled; and matches against uniform play and, in Battleships and Goofspiel, a
script.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms import particle_self_play
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.factored.families import factored_game
from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.learning import checkpoints
from spiel_dl.learning.learner import FILE_KIND
from spiel_dl.play import matches, presets, zoo
from spiel_dl.policies.battleships_hunter import HunterPolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.small_policies import HighestActionPolicy, UniformPolicy
from spiel_dl.runs import learner_run
from spiel_dl.runs.learner_run import FINISHED_FILE
from spiel_dl.solvers.effort import Effort
from spiel_dl.system import tensor_files
from spiel_dl.system.json_files import read_json, write_json
from spiel_dl.system.run_directory import CHECKPOINT_FILE, RunRecord, read_run, slug
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import compile_if_small, turn_based_game
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.training import NETWORK_FILE

Arrays = dict[str, np.ndarray]
_CRITIC = "critic.target_parameters"
_MAX_HISTORIES = 5_000_000
"""Maximum for compiling a game; Goofspiel with 5 cards in random order has 3.3 million."""
_BLUEPRINT_FIELDS = ("algorithm", "num_steps", "config", "commit", "command")


def publish(
    run: Path,
    folder: Path,
    name: str | None = None,
    *,
    num_games: int = 1000,
    seed: int = 0,
) -> tuple[str, zoo.Model]:
    """Adds a finished run's networks to a zoo; replaces a model of the same name.

    Args:
      run: a run directory of `learner_run.run_learner`.
      folder: the zoo.
      name: ALGORITHM:NAME, or NAME alone; None: the preset with the run's game. The page offers
        models by the names of its games, which are those of presets.
      num_games: games of each match, an even number; 0: no matches.
      seed: of all games.

    Returns:
      The model's whole name, and its entry in the index.

    Raises:
      ValueError: if the run is not one of a learner, or not finished, if its policy is no network,
        if its critic's blueprint is not at its path any more, if there is no such zoo, or if the
        name is invalid, of another algorithm, or leads to another model's file.
    """
    models = zoo.models(folder)  # Raises if there is no zoo.
    if num_games:
        matches.parts_of(num_games)  # Raises if it is not even, before minutes of computing.
    record = read_run(run)
    arrays, header = tensor_files.load(run / CHECKPOINT_FILE)
    trained = _trained(run, arrays, header)
    num_steps = _num_steps(arrays, header)
    _check_finished(run, num_steps, record)
    blueprint = _blueprint_origin(record.config.get("blueprint"))
    whole_name = _whole_name(name, header, (blueprint or header)["algorithm"])
    file = f"{slug(whole_name)}.safetensors"
    for other, model in models.items():
        if model.file == file and other != whole_name:
            raise ValueError(f"name={name!r}: {other} has the file {file}; choose another name")
    stored = {n: a.astype(np.float16) for n, a in trained.arrays.items()}
    restored = {n: a.astype(np.float32) for n, a in stored.items()}
    measured: dict[str, Any] = dict(trained.strength(restored))
    if num_games:
        for name, opponent in _opponents(turn_based_game(trained.game)).items():
            measured[f"against_{name}"] = _match(trained, restored, opponent, num_games, seed)
    model = zoo.Model(
        file=file,
        curve=f"{slug(whole_name)}.curve.json",
        game=header["game"],
        algorithm=header["algorithm"],
        config=header["config"],
        critic=header.get("critic"),
        num_steps=num_steps,
        **_origin(record),
        dtype="float16",
        measured=measured,
        blueprint=blueprint,
    )
    # An older model stays whole until the new one is written.
    with (
        tensor_files.atomic_path(folder / file) as network_file,
        tensor_files.atomic_path(folder / model.curve) as curve_file,
    ):
        tensor_files.save(network_file, stored, trained.header)
        write_json(curve_file, {"metrics": record.metrics})
        zoo.add(whole_name, model, folder)
    return whole_name, model


def _check_finished(run: Path, num_steps: int, record: RunRecord) -> None:
    """Raises a ValueError unless a run has ended, and evaluated its checkpoint."""
    finished = run / FINISHED_FILE
    done = read_json(finished)["num_steps"] if finished.exists() else None
    if done != num_steps or not record.metrics or record.metrics[-1]["step"] != done:
        raise ValueError(f"the run in {run} is not finished; go on with it by --resume")


def _num_steps(arrays: Arrays, header: Mapping[str, Any]) -> int:
    return int(header.get("num_steps", arrays.get("num_steps", 0)))


def _blueprint_origin(path: str | None) -> Mapping[str, Any] | None:
    """The training of the blueprint of a critic's run, as `zoo.Model.blueprint`; None: no path."""
    if path is None:
        return None
    for model in zoo.models().values():
        if Path(path) == zoo.folder() / model.file:
            origin = {name: getattr(model, name) for name in _BLUEPRINT_FIELDS}
            return origin if model.algorithm in zoo.ALGORITHMS else model.blueprint
    file = Path(path) / CHECKPOINT_FILE if Path(path).is_dir() else Path(path)
    arrays, header = tensor_files.load(file)
    entries = {
        **header,
        "num_steps": _num_steps(arrays, header),
        **_origin(read_run(file.parent)),
    }
    return {name: entries[name] for name in _BLUEPRINT_FIELDS}


def _origin(record: RunRecord) -> dict[str, Any]:
    """Commit and command of the last start."""
    last = record.starts[-1]
    return {"commit": last["git_commit"], "command": last["command"]}


def _whole_name(name: str | None, header: Mapping[str, Any], policy_algorithm: str) -> str:
    """ALGORITHM:NAME, the model's name in the zoo.

    Args:
      name: as `publish` takes it.
      header: of the run's checkpoint.
      policy_algorithm: of the policy; a critic is listed with its policy.
    """
    if name is None:
        games = {n: str(turn_based_game(preset.game)) for n, preset in presets.PRESETS.items()}
        name = next((n for n, game in games.items() if game == header["game"]), None)
    algorithm, colon, rest = (name or "").rpartition(":")
    algorithm = algorithm if colon else policy_algorithm
    if rest and algorithm in zoo.ALGORITHMS and algorithm != policy_algorithm:
        raise ValueError(
            f"name={name!r}: the run is a model of {policy_algorithm}; give "
            f"{policy_algorithm}:{rest}, or {rest} alone"
        )
    if not rest or algorithm not in zoo.ALGORITHMS:
        raise ValueError(
            f"name={name!r} of a model of {header['algorithm']} in {header['game']}: give "
            f"ALGORITHM:NAME, with one of the algorithms {', '.join(zoo.ALGORITHMS)}"
        )
    return f"{algorithm}:{rest}"


def _compiled(game: pyspiel.Game) -> GameTree | FactoredGame | None:
    """The factored or listed game, for exact NashConv; None if it is too large."""
    try:
        return factored_game(game)
    except ValueError:
        return compile_if_small(game, _MAX_HISTORIES)


def _opponents(game: pyspiel.Game) -> dict[str, openspiel_policy.Policy]:
    """Uniform play, and a script where there is one for the game."""
    opponents: dict[str, openspiel_policy.Policy] = {"uniform": UniformPolicy(game, [0, 1])}
    if isinstance(getattr(game, "rules", None), BattleshipsRules):
        opponents["hunter"] = HunterPolicy(game)
    elif "goofspiel" in str(game):
        opponents["highest"] = HighestActionPolicy(game, [0, 1])
    return opponents


def _match(
    trained: _PolicyNetworks | _ParticleNetwork,
    arrays: Arrays,
    opponent: openspiel_policy.Policy,
    num_games: int,
    seed: int,
) -> dict[str, Any]:
    game = turn_based_game(trained.game)
    result = matches.play_match(trained.policy(arrays), opponent, num_games, game=game, seed=seed)
    return {
        "games": num_games,
        "seed": seed,
        "mean_return": result.mean_return,
        "half_width": None if math.isnan(result.half_width) else result.half_width,
    }


def _trained(
    run: Path, arrays: Arrays, header: dict[str, Any]
) -> _PolicyNetworks | _ParticleNetwork:
    if header.get("kind") == FILE_KIND:
        return _PolicyNetworks(run, header)
    if header.get("kind") == particle_self_play.FILE_KIND:
        return _ParticleNetwork(run, header)
    raise ValueError(f"{run} holds no run of a learner; give one of run/train.py")


class _PolicyNetworks:
    """A policy network, and its critic if there is one.

    Attributes:
      game: the game string.
      arrays: its parameters, float32.
      header: of the file.
    """

    def __init__(self, run: Path, header: dict[str, Any]):
        blueprint = checkpoints.load_blueprint(run)
        if not isinstance(blueprint, NetworkPolicy):
            raise ValueError(
                f"the policy of {run} is a table, not a network; there is no zoo of it"
            )
        self._blueprint, self.game = blueprint, header["game"]
        self.arrays = {"parameters": blueprint.parameters.numpy()}
        policy_header = {**header["policy"], "array": "parameters", "row": None}
        names = ("kind", "algorithm", "game", "config", "num_steps")
        self.header = {name: header[name] for name in names} | {"policy": policy_header}
        if "critic" in header:
            self.arrays[_CRITIC] = checkpoints.load(run).critic.parameters.numpy()
            self.header["critic"] = header["critic"]
        self._compiled = _compiled(blueprint.game)

    def policy(self, arrays: Arrays) -> NetworkPolicy:
        """A policy with these parameters."""
        parameters = torch.from_numpy(arrays["parameters"])
        blueprint = self._blueprint
        return NetworkPolicy(
            blueprint.game,
            blueprint.network,
            parameters,
            blueprint.fine_tuning,
            blueprint.value_unit,
        )

    def strength(self, arrays: Arrays) -> dict[str, float]:
        """The NashConv of a policy with these parameters; empty if the game is too large."""
        if self._compiled is None:
            return {}
        return {"nash_conv": nash_conv(self._compiled, self.policy(arrays))}


class _ParticleNetwork:
    """A particle network, with the interface of `_PolicyNetworks`."""

    def __init__(self, run: Path, header: dict[str, Any]):
        self._network = ParticleNetwork.load(run / NETWORK_FILE)
        self._config, self.game = header["config"], header["game"]
        self._depth_limit = DepthLimit.parse(header["depth_limit"])
        self.arrays, self.header = self._network.parameter_arrays(), self._network.header()
        game = turn_based_game(self.game)
        self._tree = compile_if_small(game, self._config["max_tree_histories"])

    def policy(self, arrays: Arrays) -> ParticlePolicy:
        self._network.load_parameters(arrays)
        effort = Effort(self._config["iterations"])
        budget = self._config["budget"]
        return ParticlePolicy(
            self.game, self._network, self._depth_limit, budget=budget, effort=effort
        )

    def strength(self, arrays: Arrays) -> dict[str, float]:
        if self._tree is None:
            return {}
        self._network.load_parameters(arrays)
        metrics = learner_run.measure_network(self._tree, self._network, self._depth_limit)
        return {"trunk_nash_conv": metrics["trunk_nash_conv"]}
