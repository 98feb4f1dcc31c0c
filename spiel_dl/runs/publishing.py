"""Adds what a finished run has learned to a model zoo: the networks alone, small, and measured.

Parameters are stored as float16, and what is measured is what is stored: NashConv, or the trunk
NashConv of particle networks, where the game is compiled; and matches against uniform play and, in
Battleships and Goofspiel, a script.
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
_MOST_HISTORIES = 5_000_000
"""Of a game that is listed to be judged; Goofspiel with 5 cards in random order has 3.3 million."""
_OF_BLUEPRINT = ("algorithm", "num_steps", "config", "commit", "command")


def publish(
    run: Path,
    folder: Path,
    name: str | None = None,
    *,
    num_games: int = 1000,
    seed: int = 0,
) -> tuple[str, zoo.Model]:
    """Adds a finished run's networks to a zoo, in the place of a model of the same name.

    Args:
      run: a run directory of `learner_run.run_learner`.
      folder: the zoo.
      name: ALGORITHM:NAME, or NAME alone; None: the preset with the run's game.
      num_games: games of each match, an even number; 0: none is played.
      seed: of all games.

    Returns:
      The model's whole name, and what the index says of it.

    Raises:
      ValueError: if the run is not one of a learner, or not finished, if its policy is no network,
        if the run of the policy that its critic was trained for is not where it was, if there is no
        such zoo, or if the name is none, one of another algorithm, or one whose file is another
        model's.
    """
    known = zoo.models(folder)  # raises if there is no zoo
    if num_games:
        matches.parts_of(num_games)  # raises if it is no such number, before what takes minutes
    record = read_run(run)
    arrays, header = tensor_files.load(run / CHECKPOINT_FILE)
    trained = _trained(run, arrays, header)
    num_steps = _num_steps(arrays, header)
    _check_finished(run, num_steps, record)
    blueprint = _of_blueprint(record.config.get("blueprint"))
    whole_name = _whole_name(name, header, (blueprint or header)["algorithm"])
    file = f"{slug(whole_name)}.safetensors"
    for other, model in known.items():
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
    tensor_files.save(folder / file, stored, trained.header)
    write_json(folder / model.curve, {"metrics": record.metrics})
    zoo.add(whole_name, model, folder)
    return whole_name, model


def _check_finished(run: Path, num_steps: int, record: RunRecord) -> None:
    """Raises a ValueError unless a run ended, and has evaluated, what its checkpoint holds."""
    finished = run / FINISHED_FILE
    done = read_json(finished)["num_steps"] if finished.exists() else None
    if done != num_steps or not record.metrics or record.metrics[-1]["step"] != done:
        raise ValueError(f"the run in {run} is not finished; go on with it by --resume")


def _num_steps(arrays: Arrays, header: Mapping[str, Any]) -> int:
    return int(header.get("num_steps", arrays.get("num_steps", 0)))


def _of_blueprint(path: str | None) -> Mapping[str, Any] | None:
    """How the policy learned that a critic's run was told of, as `zoo.Model` has it."""
    if path is None:
        return None
    for model in zoo.models().values():
        if Path(path) == zoo.folder() / model.file:
            own = {name: getattr(model, name) for name in _OF_BLUEPRINT}
            return own if model.algorithm in zoo.ALGORITHMS else model.blueprint
    file = Path(path) / CHECKPOINT_FILE if Path(path).is_dir() else Path(path)
    arrays, header = tensor_files.load(file)
    known = {"num_steps": _num_steps(arrays, header), **_origin(read_run(file.parent))}
    return {name: {**header, **known}[name] for name in _OF_BLUEPRINT}


def _origin(record: RunRecord) -> dict[str, Any]:
    """Commit and command of the last start."""
    last = record.starts[-1]
    return {"commit": last["git_commit"], "command": last["command"]}


def _whole_name(name: str | None, header: Mapping[str, Any], learned_by: str) -> str:
    """The name in the zoo.

    Args:
      name: as `publish` takes it.
      header: of the run's checkpoint.
      learned_by: the algorithm of the policy; a critic is listed with the policy that it is of.
    """
    if name is None:
        games = {n: str(turn_based_game(each.game)) for n, each in presets.PRESETS.items()}
        name = next((n for n, game in games.items() if game == header["game"]), None)
    algorithm, colon, rest = (name or "").rpartition(":")
    algorithm = algorithm if colon else learned_by
    if rest and algorithm in zoo.ALGORITHMS and algorithm != learned_by:
        raise ValueError(
            f"name={name!r}: the run is a model of {learned_by}; give {learned_by}:{rest}, or "
            f"{rest} alone"
        )
    if not rest or algorithm not in zoo.ALGORITHMS:
        raise ValueError(
            f"name={name!r} of a model of {header['algorithm']} in {header['game']}: give "
            f"ALGORITHM:NAME, with one of the algorithms {', '.join(zoo.ALGORITHMS)}"
        )
    return f"{algorithm}:{rest}"


def _compiled(game: pyspiel.Game) -> GameTree | FactoredGame | None:
    """The compiled form, in which NashConv is exact; None if the game is too large for one."""
    try:
        return factored_game(game)
    except ValueError:
        return compile_if_small(game, _MOST_HISTORIES)


def _opponents(game: pyspiel.Game) -> dict[str, openspiel_policy.Policy]:
    """Uniform play, and a script where there is one for the game."""
    found: dict[str, openspiel_policy.Policy] = {"uniform": UniformPolicy(game, [0, 1])}
    if isinstance(getattr(game, "rules", None), BattleshipsRules):
        found["hunter"] = HunterPolicy(game)
    elif "goofspiel" in str(game):
        found["highest"] = HighestActionPolicy(game, [0, 1])
    return found


def _match(
    trained: _PolicyNetworks | _ParticleNetwork,
    arrays: Arrays,
    opponent: openspiel_policy.Policy,
    num_games: int,
    seed: int,
) -> dict[str, Any]:
    game = turn_based_game(trained.game)
    result = matches.play_match(game, trained.policy(arrays), opponent, num_games, seed)
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
        described = {**header["policy"], "array": "parameters", "row": None}
        names = ("kind", "algorithm", "game", "config", "num_steps")
        self.header = {name: header[name] for name in names} | {"policy": described}
        if "critic" in header:
            self.arrays[_CRITIC] = checkpoints.load(run).critic.parameters.numpy()
            self.header["critic"] = header["critic"]
        self._compiled = _compiled(blueprint.game)

    def policy(self, arrays: Arrays) -> NetworkPolicy:
        """A policy with these parameters."""
        parameters = torch.from_numpy(arrays["parameters"])
        own = self._blueprint
        return NetworkPolicy(own.game, own.network, parameters, own.fine_tuning, own.value_unit)

    def strength(self, arrays: Arrays) -> dict[str, float]:
        """NashConv or the like with these parameters, if the game is compiled."""
        if self._compiled is None:
            return {}
        return {"nash_conv": nash_conv(self._compiled, self.policy(arrays))}


class _ParticleNetwork:
    """A particle network, as `_PolicyNetworks` is one."""

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
        found = learner_run.measure_network(self._tree, self._network, self._depth_limit)
        return {"trunk_nash_conv": found["trunk_nash_conv"]}
