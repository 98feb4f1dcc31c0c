"""CDBR with trained networks in the place of the optimal value function.

A network values one depth limit, so CDBR needs one for every level at which a step ends. Their data
are at first ranges of two kinds, half and half: those of random strategies of both players, and
those of a random strategy of the responding player with the model as its opponent. Choices that are
almost equally good need better values where CDBR asks for them. So in a few rounds CDBR responds by
the networks, ranges of strategies near its response are added, and training goes on. The networks
are thus made for one model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.responses.responders import Responder
from experiments.responses.study import Settings
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.pieces import Pieces
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions import training
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import (
    add_ranges,
    generate,
    leaf_ranges,
    random_trunk_strategies,
)
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import TrainingConfig

_AGAINST_MODEL = "against-model"

Pair = tuple[np.ndarray, np.ndarray]


def compare(
    responder: Responder,
    limit: DepthLimit,
    directory: Path,
    settings: Settings,
    *,
    show_progress: bool = True,
) -> dict[str, Any]:
    """Trains the networks that CDBR needs, and compares it with CDBR of optimal values.

    Args:
      responder: who responds to whom.
      limit: how far CDBR looks ahead; it slides.
      directory: where data and networks are; what is there is not made again.
      settings: how networks are made and used.
      show_progress: show progress bars on standard error.

    Returns:
      `networks`, how many; `training_seconds`, of their training in all starts; `first_percent`,
      `percent` and `exact_percent`, what CDBR gains with the networks before and after the rounds
      and with linear programs, of a best response's gain; `apart`, the difference of the last two
      in percentage points.
    """
    makers = [
        _Maker(responder, horizon, directory, settings, show_progress)
        for horizon in horizons(responder, limit)
    ]
    response = _respond(responder, limit, makers, settings)
    first = responder.judge(response)["percent"]
    for number in range(1, settings.num_rounds + 1):
        for maker in makers:
            maker.learn_near(response, number)
        response = _respond(responder, limit, makers, settings)
    last = responder.judge(response)["percent"]
    exact = CDBRPolicy(responder.tree, responder.player, responder.model, limit, exact=True)
    optimal = responder.judge(exact.to_array_policy())["percent"]
    return {
        "networks": len(makers),
        "training_seconds": sum(maker.training_seconds for maker in makers),
        "first_percent": first,
        "percent": last,
        "exact_percent": optimal,
        "apart": last - optimal,
    }


def horizons(responder: Responder, limit: DepthLimit) -> list[DepthLimit]:
    """The depth limits, counted from the root, at which sliding CDBR asks for values."""
    tree, player = responder.tree, responder.player
    pieces = Pieces(tree, limit, "sliding")
    decides = tree.treeplexes[player].num_actions > 1
    levels = {
        pieces.horizon(pieces.start(piece))
        for piece in np.unique(pieces.of_infosets(player)[decides]).tolist()
    }
    limits = [pieces.limit(level) for level in sorted(levels)]
    return [found for found in limits if cut(tree, found).leaves.num_public_states]


class _Maker:
    """Makes the network of a depth limit, as far as its directory does not hold it yet."""

    def __init__(
        self,
        responder: Responder,
        horizon: DepthLimit,
        directory: Path,
        settings: Settings,
        show_progress: bool,
    ):
        self.horizon, self.training_seconds = horizon, 0.0
        self._responder, self._settings, self._show_progress = responder, settings, show_progress
        self._config = DatasetConfig(
            str(responder.tree.game), horizon, shard_size=settings.num_strategies, tolerance=1e-3
        )
        self._path = directory / str(horizon).replace(" ", "-")
        self._trunk = cut(responder.tree, horizon)
        data = RunDirectory(self._path / "data", self._config.to_json(), resume=True)
        generate(data, self._config, 1, show_progress=show_progress)
        self._add(
            _AGAINST_MODEL, lambda: ranges_against_model(responder, self._trunk, self._config)
        )
        self.network = PositionalNetwork(
            settings.num_layers, settings.num_units, device=settings.device
        )
        self.network.initialize(self._trunk.leaves)
        self._train("network", settings.training)

    def learn_near(self, response: ArrayPolicy, number: int) -> None:
        """One round: adds ranges of strategies near a response, and trains."""
        name = f"round-{number}"
        self._add(
            name,
            lambda: ranges_near(self._responder, self._trunk, self._config, response, number),
        )
        self._train(name, self._settings.round_training)

    def _add(self, name: str, make: Callable[[], Pair]) -> None:
        if not (self._path / "data" / f"{name}.safetensors").exists():
            add_ranges(self._path / "data", name, make())

    def _train(self, name: str, config: TrainingConfig) -> None:
        """Trains on all data that are there by now, or reads what was trained."""
        identity = {
            "network": self.network.header(),
            "training": config.to_json(),
            "iterations": self._settings.iterations,
        }
        run = RunDirectory(self._path / name, identity, resume=True)
        path = run.path / training.NETWORK_FILE
        if path.exists():
            self.network.load_parameters(PositionalNetwork.load(path).parameter_arrays())
        else:
            dataset = Dataset.load(self._path / "data")
            training.train(self.network, dataset, run, config, show_progress=self._show_progress)
        self.training_seconds += run.read_metrics()[-1]["seconds"]


def _respond(
    responder: Responder, limit: DepthLimit, makers: Sequence[_Maker], settings: Settings
) -> ArrayPolicy:
    """CDBR with the networks as they are."""
    policy = CDBRPolicy(
        responder.tree,
        responder.player,
        responder.model,
        limit,
        value_function={maker.horizon: maker.network for maker in makers},
        effort=Effort(settings.iterations, tolerance=1e-6),
    )
    return policy.to_array_policy()


def ranges_near(
    responder: Responder, trunk: Trunk, config: DatasetConfig, response: ArrayPolicy, number: int
) -> Pair:
    """Ranges of strategies near a response and of the model: float64 [n, L_p] per player.

    In each row, the player mixes its response with a random strategy of a log-uniform weight from
    0.001 to 1.
    """
    player = responder.player
    near = response.strategies[player][trunk.sequences[player]]

    def mix(index: int, random: np.ndarray) -> np.ndarray:
        generator = np.random.default_rng([config.seed, number, index])
        weight = 10.0 ** generator.uniform(-3.0, 0.0)
        return (1 - weight) * near + weight * random

    return _ranges_of(responder, trunk, config, 1 + number, mix)


def ranges_against_model(responder: Responder, trunk: Trunk, config: DatasetConfig) -> Pair:
    """Ranges of random strategies of the player and of the model: float64 [n, L_p] per player."""
    return _ranges_of(responder, trunk, config, 1, lambda index, random: random)


def _ranges_of(
    responder: Responder,
    trunk: Trunk,
    config: DatasetConfig,
    batch: int,
    change: Callable[[int, np.ndarray], np.ndarray],
) -> Pair:
    """Ranges of the model, and of the player's random strategies as they are changed."""
    player, opponent = responder.player, 1 - responder.player
    model = responder.model.strategies[opponent][trunk.sequences[opponent]]
    pairs = []
    for index in range(config.shard_size):
        # Other strategies than those of earlier batches; the first has the random data's.
        number = batch * config.shard_size + index
        own = change(index, random_trunk_strategies(trunk, config, number)[player])
        pairs.append(leaf_ranges(trunk, (own, model) if player == 0 else (model, own)))
    range_0, range_1 = (np.stack(column) for column in zip(*pairs, strict=True))
    return range_0, range_1
