"""R-NaD's learner steps per second, and how much of a step is self-play.

A learner step plays a batch of games and learns from them. Every figure is the median over rounds.
The peer, OpenSpiel's R-NaD, was removed from OpenSpiel and needs an environment of its own (see
`openspiel_rnad.py`); its Python is given by --peer_python, and it takes turns with ours in every
round.

  python experiments/benchmarks/rnad.py --output=results/benchmarks --threads=1 \\
      --peer_python=peer/bin/python
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import peer_process
import torch

from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree import GameTree

_PEER_GOOFSPIEL_5 = (
    "turn_based_simultaneous_game(game="
    "goofspiel(imp_info=true,num_cards=5,points_order=descending))"
)
# The game, the histories up to which it is compiled and played by tables, and the peer's game.
GAMES = {
    "leduc_poker": ("leduc_poker", 200_000, "leduc_poker"),
    "goofspiel 5": (common.GOOFSPIEL.format(5), 200_000, _PEER_GOOFSPIEL_5),
    "goofspiel 5, by its rules": (common.GOOFSPIEL.format(5), 0, None),
    "goofspiel 8": (common.GOOFSPIEL.format(8), 0, None),
    "goofspiel 13": (common.GOOFSPIEL.format(13), 0, None),
    "python_leduc, by its rules": ("python_leduc", 0, None),
    "battleships 3x3": (common.battleships(3, (2, 1))[0], 0, None),
    "battleships 5x5": (common.battleships(5, (3, 2, 2))[0], 0, None),
}


def peer(
    python: str | None, game: str | None, config: RNaDConfig
) -> contextlib.AbstractContextManager[Callable[[float], float] | None]:
    """The peer, started and compiled: from the least seconds to the seconds of a step."""
    if not python or game is None:
        return contextlib.nullcontext()
    # Moves in the longest play, chance's not counted.
    longest = int(GameTree.from_game(game).move_number.max())
    program = Path(__file__).with_name("openspiel_rnad.py")
    command = [python, program, game, longest, config.batch_size, *config.hidden_sizes]
    return peer_process.started(list(map(str, command)), peer_process.own_variables())


def measure(
    *,
    rounds: int = 5,
    seconds: float = 2.0,
    device: str = "cpu",
    cuda_graph: bool = False,
    batch_size: int = 64,
    hidden_sizes: tuple[int, ...] = (128, 128),
    peer_python: str | None = None,
) -> Report:
    """Learner steps per second, the share of their time that is self-play, and the peer's.

    Args:
      rounds: per figure.
      seconds: at least, per figure and round.
      device: torch device, such as cpu or cuda.
      cuda_graph: on CUDA: a learner step as one graph.
      batch_size: games per learner step.
      hidden_sizes: units of the hidden layers.
      peer_python: a Python that has OpenSpiel's R-NaD. Default, or empty: no peer.
    """

    def seconds_of(function: Callable[[], object]) -> float:
        def run(times: int) -> None:
            common.repeat(function)(times)
            if torch.device(device).type == "cuda":
                torch.cuda.synchronize()

        return common.seconds_per_call(run, seconds)

    rows: list[dict[str, Any]] = []
    strings = []
    for name, (game, max_tree_histories, peer_game) in GAMES.items():
        config = RNaDConfig(
            batch_size=batch_size, hidden_sizes=hidden_sizes, max_tree_histories=max_tree_histories
        )
        solver = RNaDSolver(game, config, device=device, cuda_graph=cuda_graph)
        strings.append(f"- {name}: `{solver.game}`")
        found = []
        with peer(peer_python, peer_game, config) as theirs:
            for _ in range(rounds):
                step, played = seconds_of(solver.step), seconds_of(solver.play)
                figures = {"learner steps/s": 1 / step, "share of self-play": played / step}
                if theirs:
                    peers = theirs(seconds)
                    figures |= {"OpenSpiel's R-NaD": 1 / peers, "ratio": peers / step}
                found.append(figures)
        rows.append({"game": name, **common.medians(found)})
    return Report(
        "R-NaD",
        [
            f"Device: {device}; {batch_size} games per learner step, hidden layers "
            f"{list(hidden_sizes)}. Medians of {rounds} rounds.",
            "The games:\n\n" + "\n".join(strings),
        ],
        {"Learner steps": Table.of(rows)},
    )


if __name__ == "__main__":
    common.run(measure)
