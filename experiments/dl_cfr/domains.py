"""The three domains of Kovařík et al. (2021), and what the experiments in them vary."""

from __future__ import annotations

import dataclasses

from experiments.settings import check_least
from spiel_dl.runs.on_policy import OnPolicyConfig
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.training import TrainingConfig


@dataclasses.dataclass(frozen=True)
class Settings:
    """Sizes of a study, and what its experiments vary.

    Attributes:
      data: what the dataset holds; its game and depth limit are the study's.
      num_shards: how many shards of it.
      training: how networks are trained; the study's seeds take the place of its seed.
      num_layers: hidden layers of a network, where an experiment does not vary them.
      num_units: units in each of them, likewise.
      num_iterations: iterations of DL-CFR+ and of CFR+.
      seeds: of the networks.
      device: where networks are trained and evaluated.
      on_policy: rounds and trainings on policy; the study's iterations and seeds take the place
        of its own.
      every_state: left_out: leave out every so-manyth leaf public state, from the first on.
      paper_left_out_linf: left_out: the paper's L∞ error, if it has one.
      amounts: amount: numbers of trunk strategies to train on; empty: all, a half, a quarter, an
        eighth and a sixteenth of what there is.
      layers: size: numbers of hidden layers, at `num_units`.
      units: size: numbers of units, at `num_layers`.
      exact_resolving: resolving: with the optimal value function too.
      exact_tolerance: exact: gap of the subgames, in utility units.
    """

    data: DatasetConfig
    num_shards: int = 40
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(networks_per_decade=8)
    )
    num_layers: int = 5
    num_units: int = 400
    num_iterations: int = 1000
    seeds: tuple[int, ...] = (0, 1)
    device: str = "cpu"
    on_policy: OnPolicyConfig = dataclasses.field(default_factory=OnPolicyConfig)
    every_state: int = 1
    paper_left_out_linf: float | None = None
    amounts: tuple[int, ...] = ()
    layers: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8)
    units: tuple[int, ...] = (50, 100, 200, 300, 400, 500, 800)
    exact_resolving: bool = True
    exact_tolerance: float = 0.01

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError(f"seeds={self.seeds} must not be empty")
        positive = ("num_iterations", "num_shards", "every_state", "amounts", "layers", "units")
        check_least(self, **dict.fromkeys(positive, 1))
        if self.on_policy.num_iterations != self.num_iterations:
            own = dataclasses.replace(self.on_policy, num_iterations=self.num_iterations)
            object.__setattr__(self, "on_policy", own)


def _domain(game: str, depth_limit: DepthLimit, paper_left_out_linf: float) -> Settings:
    return Settings(DatasetConfig(game, depth_limit), paper_left_out_linf=paper_left_out_linf)


# Table 2. In Leduc, the network values the second betting round ("2nd").
DOMAINS = {
    "goofspiel": _domain(
        "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=true)",
        DepthLimit(rounds=3),
        2.6,
    ),
    "oshi_zumo": _domain(
        "python_oshi_zumo_ii(coins=8,min_bid=1,start_location=3,optimal_endgame=true)",
        DepthLimit(rounds=4),
        0.1,
    ),
    "leduc": _domain(
        "python_leduc(deal_ranks=true,bet_sizes=[2;4],raise_sizes=[2;4],max_raises=2)",
        DepthLimit(rounds=1),
        0.08,
    ),
}
"""The paper's games and depth limits."""
