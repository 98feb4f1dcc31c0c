"""CDBR with trained networks in the place of the optimal value function.

A network values one depth limit, so CDBR needs one for every level at which a step ends. Their data
are ranges of two kinds, half and half: those of random strategies of both players, and those of a
random strategy of the responding player with the model as its opponent, which are what CDBR asks
for. The networks are thus made for one model.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np

from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.experiments.response_contests import Contest
from spiel_dl.io.run_directory import RunDirectory
from spiel_dl.solvers.restricted_game import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.pieces import Pieces
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions import training
from spiel_dl.value_functions.dataset import (
    Dataset,
    DatasetConfig,
    add_ranges,
    generate,
    leaf_ranges,
    random_trunk_strategies,
)
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import TrainingConfig

_AGAINST_MODEL = "against-model"


@dataclasses.dataclass(frozen=True)
class NetworkChoices:
    """How networks are made and used.

    Attributes:
      num_strategies: trunk strategies of each kind to train on.
      num_layers: hidden layers.
      num_units: units in each of them.
      training: how they are trained.
      iterations: of CFR+ in each step of CDBR.
      device: where networks compute.
    """

    num_strategies: int = 1000
    num_layers: int = 3
    num_units: int = 128
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(num_epochs=20, networks_per_decade=0)
    )
    iterations: int = 300
    device: str = "cpu"

    def __post_init__(self) -> None:
        if min(self.num_strategies, self.iterations) < 1:
            raise ValueError(
                f"num_strategies={self.num_strategies} and iterations={self.iterations} must be "
                "positive"
            )

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return {**dataclasses.asdict(self), "training": self.training.to_json()}


def compare(
    contest: Contest,
    limit: DepthLimit,
    directory: Path,
    choices: NetworkChoices,
    *,
    show_progress: bool = True,
) -> dict[str, Any]:
    """Trains the networks that CDBR needs, and compares it with CDBR of optimal values.

    Args:
      contest: who responds to whom.
      limit: how far CDBR looks ahead; it slides.
      directory: where data and networks are; what is there is not made again.
      choices: how networks are made and used.
      show_progress: show progress bars on standard error.

    Returns:
      `networks`, how many; `seconds`, wall-clock of making them; `percent` and `exact_percent`,
      what CDBR gains with networks and with linear programs, of a best response's gain; `apart`,
      the difference in percentage points.
    """
    start = time.perf_counter()
    networks = {
        horizon: _network(contest, horizon, directory, choices, show_progress)
        for horizon in horizons(contest, limit)
    }
    seconds = time.perf_counter() - start
    tree, player, model = contest.tree, contest.player, contest.model
    learned = CDBRPolicy(
        tree, player, model, limit, value_function=networks, effort=Effort(choices.iterations)
    )
    exact = CDBRPolicy(tree, player, model, limit, exact=True)
    percent, optimal = (
        contest.judge(policy.to_array_policy())["percent"] for policy in (learned, exact)
    )
    return {
        "networks": len(networks),
        "seconds": seconds,
        "percent": percent,
        "exact_percent": optimal,
        "apart": percent - optimal,
    }


def horizons(contest: Contest, limit: DepthLimit) -> list[DepthLimit]:
    """The depth limits, counted from the root, at which sliding CDBR asks for values."""
    tree, player = contest.tree, contest.player
    pieces = Pieces(tree, limit, "sliding")
    decides = tree.treeplexes[player].num_actions > 1
    levels = {
        pieces.horizon(pieces.start(piece))
        for piece in np.unique(pieces.of_infosets(player)[decides]).tolist()
    }
    limits = [pieces.limit(level) for level in sorted(levels)]
    return [found for found in limits if cut(tree, found).leaves.num_public_states]


def _network(
    contest: Contest,
    horizon: DepthLimit,
    directory: Path,
    choices: NetworkChoices,
    show_progress: bool,
) -> PositionalNetwork:
    """The network of a depth limit, trained as far as it is not yet."""
    config = DatasetConfig(
        str(contest.tree.game), horizon, shard_size=choices.num_strategies, tolerance=1e-3
    )
    folder = directory / str(horizon).replace(" ", "-")
    data = RunDirectory(folder / "data", config.to_json(), resume=True)
    generate(data, config, 1, show_progress=show_progress)
    if not (data.path / f"{_AGAINST_MODEL}.safetensors").exists():
        trunk = cut(contest.tree, horizon)
        add_ranges(data.path, _AGAINST_MODEL, ranges_against_model(contest, trunk, config))
    dataset = Dataset.load(data.path)
    network = PositionalNetwork(choices.num_layers, choices.num_units, device=choices.device)
    network.bind(dataset.trunk.leaves)
    identity = {"network": network.header(), "training": choices.training.to_json()}
    run = RunDirectory(folder / "network", identity, resume=True)
    path = run.path / training.NETWORK_FILE
    if not path.exists():
        training.train(network, dataset, run, choices.training, show_progress=show_progress)
    return PositionalNetwork.load(path, choices.device)


def ranges_against_model(
    contest: Contest, trunk: Trunk, config: DatasetConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of random strategies of the player and of the model: float64 [n, L_p] per player."""
    opponent = 1 - contest.player
    model = contest.model.strategies[opponent][trunk.sequences[opponent]]
    pairs = []
    for index in range(config.shard_size):
        # Other strategies than those that the data have already.
        strategies = list(random_trunk_strategies(trunk, config, config.shard_size + index))
        strategies[opponent] = model
        pairs.append(leaf_ranges(trunk, (strategies[0], strategies[1])))
    range_0, range_1 = (np.stack(column) for column in zip(*pairs, strict=True))
    return range_0, range_1
