"""CDBR with trained networks in the place of the optimal value function.

A network values one depth limit, so CDBR needs one for every level at which a step ends. Their data
are at first ranges of two kinds, half and half: those of random strategies of both players, and
those of a random strategy of the responding player with the model as its opponent. Choices that are
almost equally good need better values where CDBR asks for them. So in a few rounds CDBR responds by
the networks, ranges of strategies near its response are added, and training goes on. The networks
are thus made for one model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from papers.responses.contests import Contest
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.solvers.effort import Effort
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


@dataclasses.dataclass(frozen=True)
class NetworkChoices:
    """How networks are made and used.

    Attributes:
      num_strategies: trunk strategies of each kind to train on.
      num_layers: hidden layers.
      num_units: units in each of them.
      training: how they are trained.
      iterations: of CFR+ in each step of CDBR.
      num_rounds: how often CDBR responds, and the networks learn from it.
      round_training: how they are trained in each of these rounds.
      device: where networks compute.
    """

    num_strategies: int = 1000
    num_layers: int = 3
    num_units: int = 128
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(num_epochs=20, networks_per_decade=0)
    )
    iterations: int = 300
    num_rounds: int = 4
    round_training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(
            num_epochs=3, learning_rate=1e-3, networks_per_decade=0
        )
    )
    device: str = "cpu"

    def __post_init__(self) -> None:
        if min(self.num_strategies, self.iterations) < 1 or self.num_rounds < 0:
            raise ValueError(
                f"num_strategies={self.num_strategies} and iterations={self.iterations} must be "
                f"positive, and num_rounds={self.num_rounds} must not be negative"
            )

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        trainings = {
            "training": self.training.to_json(),
            "round_training": self.round_training.to_json(),
        }
        return {**dataclasses.asdict(self), **trainings}


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
      `networks`, how many; `training_seconds`, of their training in all starts; `first_percent`,
      `percent` and `exact_percent`, what CDBR gains with the networks before and after the rounds
      and with linear programs, of a best response's gain; `apart`, the difference of the last two
      in percentage points.
    """
    makers = [
        _Maker(contest, horizon, directory, choices, show_progress)
        for horizon in horizons(contest, limit)
    ]
    response = _respond(contest, limit, makers, choices)
    first = contest.judge(response)["percent"]
    for number in range(1, choices.num_rounds + 1):
        for maker in makers:
            maker.learn_near(response, number)
        response = _respond(contest, limit, makers, choices)
    last = contest.judge(response)["percent"]
    exact = CDBRPolicy(contest.tree, contest.player, contest.model, limit, exact=True)
    optimal = contest.judge(exact.to_array_policy())["percent"]
    return {
        "networks": len(makers),
        "training_seconds": sum(maker.training_seconds for maker in makers),
        "first_percent": first,
        "percent": last,
        "exact_percent": optimal,
        "apart": last - optimal,
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


class _Maker:
    """Makes the network of a depth limit, as far as its directory does not hold it yet."""

    def __init__(
        self,
        contest: Contest,
        horizon: DepthLimit,
        directory: Path,
        choices: NetworkChoices,
        show_progress: bool,
    ):
        self.horizon, self.training_seconds = horizon, 0.0
        self._contest, self._choices, self._show_progress = contest, choices, show_progress
        self._config = DatasetConfig(
            str(contest.tree.game), horizon, shard_size=choices.num_strategies, tolerance=1e-3
        )
        self._path = directory / str(horizon).replace(" ", "-")
        self._trunk = cut(contest.tree, horizon)
        data = RunDirectory(self._path / "data", self._config.to_json(), resume=True)
        generate(data, self._config, 1, show_progress=show_progress)
        self._add(_AGAINST_MODEL, lambda: ranges_against_model(contest, self._trunk, self._config))
        self.network = PositionalNetwork(
            choices.num_layers, choices.num_units, device=choices.device
        )
        self.network.bind(self._trunk.leaves)
        self._train("network", choices.training)

    def learn_near(self, response: ArrayPolicy, number: int) -> None:
        """One round: adds ranges of strategies near a response, and trains."""
        name = f"round-{number}"
        self._add(
            name,
            lambda: ranges_near(self._contest, self._trunk, self._config, response, number),
        )
        self._train(name, self._choices.round_training)

    def _add(self, name: str, make: Callable[[], Pair]) -> None:
        if not (self._path / "data" / f"{name}.safetensors").exists():
            add_ranges(self._path / "data", name, make())

    def _train(self, name: str, config: TrainingConfig) -> None:
        """Trains on all data that are there by now, or reads what was trained."""
        identity = {"network": self.network.header(), "training": config.to_json()}
        run = RunDirectory(self._path / name, identity, resume=True)
        path = run.path / training.NETWORK_FILE
        if path.exists():
            self.network.load_parameters(PositionalNetwork.load(path).parameter_arrays())
        else:
            dataset = Dataset.load(self._path / "data")
            training.train(self.network, dataset, run, config, show_progress=self._show_progress)
        self.training_seconds += run.read_metrics()[-1]["seconds"]


def _respond(
    contest: Contest, limit: DepthLimit, makers: Sequence[_Maker], choices: NetworkChoices
) -> ArrayPolicy:
    """CDBR with the networks as they are."""
    policy = CDBRPolicy(
        contest.tree,
        contest.player,
        contest.model,
        limit,
        value_function={maker.horizon: maker.network for maker in makers},
        effort=Effort(choices.iterations, tolerance=1e-6),
    )
    return policy.to_array_policy()


def ranges_near(
    contest: Contest, trunk: Trunk, config: DatasetConfig, response: ArrayPolicy, number: int
) -> Pair:
    """Ranges of strategies near a response and of the model: float64 [n, L_p] per player.

    In each row, the player mixes its response with a random strategy of a log-uniform weight from
    0.001 to 1.
    """
    player = contest.player
    near = response.strategies[player][trunk.sequences[player]]

    def mix(index: int, random: np.ndarray) -> np.ndarray:
        generator = np.random.default_rng([config.seed, number, index])
        weight = 10.0 ** generator.uniform(-3.0, 0.0)
        return (1 - weight) * near + weight * random

    return _ranges_of(contest, trunk, config, 1 + number, mix)


def ranges_against_model(contest: Contest, trunk: Trunk, config: DatasetConfig) -> Pair:
    """Ranges of random strategies of the player and of the model: float64 [n, L_p] per player."""
    return _ranges_of(contest, trunk, config, 1, lambda index, random: random)


def _ranges_of(
    contest: Contest,
    trunk: Trunk,
    config: DatasetConfig,
    batch: int,
    change: Callable[[int, np.ndarray], np.ndarray],
) -> Pair:
    """Ranges of the model, and of the player's random strategies as they are changed."""
    player, opponent = contest.player, 1 - contest.player
    model = contest.model.strategies[opponent][trunk.sequences[opponent]]
    pairs = []
    for index in range(config.shard_size):
        # Other strategies than those of earlier batches; the first has the random data's.
        number = batch * config.shard_size + index
        own = change(index, random_trunk_strategies(trunk, config, number)[player])
        pairs.append(leaf_ranges(trunk, (own, model) if player == 0 else (model, own)))
    range_0, range_1 = (np.stack(column) for column in zip(*pairs, strict=True))
    return range_0, range_1
