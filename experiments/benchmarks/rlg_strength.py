"""How strong the policies of kubicon/rlg are, by our exact NashConv.

Trains rlg's learner in a game of its public experiments, tabulates its policies at every infoset of
our tree of the game, and appends a JSON line for each of them to --lines. Before that, all
histories of the tree are played in rlg: legal actions, ends, returns and infosets must be the same.
A run that was interrupted goes on where it was; what is there already is not done again. The report
is of all lines so far; without --game it is all that is done.

  python experiments/benchmarks/rlg_strength.py --peer_python=peer/bin/python --peer=rlg \
      --game=leduc \
      --loss_type=mmd --seed=0 --run_dir=runs/rlg --lines=runs/rlg/strength.jsonl
"""

import json
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import common
import numpy as np
import rlg_games
import simultaneous_battleships  # noqa: F401 - registers the game

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree import GameTree

Line = dict[str, Any]


class Judge:
    """Rlg's policies, as rows for what it is shown at the infosets of a tree, and their NashConv.

    Attributes:
      tree: the game.
      observation: float32 [N, D], what rlg is shown at player 0's infosets, then at player 1's.
      legal: bool [N, A].
    """

    def __init__(self, tree: GameTree, shown: rlg_games.Shown):
        """Chooses the first history of each infoset."""
        first = np.searchsorted(shown.histories, np.concatenate(tree.first_history))
        self.tree, self.observation, self.legal = tree, shown.observation[first], shown.legal[first]

    @property
    def num_shown(self) -> int:
        """How many different things players are shown; fewer than infosets if they forget."""
        return len(np.unique(self.observation, axis=0))

    def nash_conv(self, probabilities: np.ndarray) -> float:
        """NashConv of a policy, float [N, A]."""
        strategies = []
        start = 0
        for player in (0, 1):
            count = self.tree.num_infosets(player)
            rows = probabilities[start : start + count].astype(np.float64)
            strategy = np.ones(self.tree.treeplexes[player].num_sequences)
            # Sequences after the empty one are in the order of infosets and of their actions.
            strategy[1:] = rows[self.legal[start : start + count]]
            strategies.append(strategy)
            start += count
        return nash_conv(self.tree, ArrayPolicy(self.tree, (strategies[0], strategies[1])))


class Lines:
    """Judgements of policies, one JSON object a line."""

    def __init__(self, path: Path):
        """Reads what there is."""
        self._path = path
        texts = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.all: list[Line] = [json.loads(text) for text in texts]

    def has(self, about: Line) -> bool:
        """Whether there is a line that says all of this."""
        return any(about.items() <= line.items() for line in self.all)

    def append(self, line: Line) -> None:
        """Adds a line, and prints it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self.all.append(line)
        print(json.dumps(line), flush=True)


def train(
    judge: Judge, lines: Lines, command: Sequence[str], folder: Path, about: Line, steps: list[int]
) -> None:
    """Trains the peer, and judges as soon as there is something to judge."""

    def publish() -> None:
        for step in steps:
            path, line = folder / f"policies_{step}.npz", {**about, "steps": step}
            if lines.has(line) or not path.exists():
                continue
            with np.load(path) as policies:
                line["nash_conv"] = judge.nash_conv(policies["smoothed"])
                line["nash_conv_last"] = judge.nash_conv(policies["last"])
                line["seconds"] = float(policies["seconds"])
            lines.append({**line, "infosets": len(judge.observation), "shown": judge.num_shown})

    publish()
    with subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, env=rlg_games.peer_variables()
    ) as process:
        assert process.stdout is not None
        for progress in process.stdout:
            print(progress, end="", flush=True)
            publish()
    if process.returncode:
        raise ValueError(f"the peer has ended: {' '.join(command)}")


def measure(
    *,
    game: str | None = None,
    loss_type: Literal["mmd", "rnad"] = "mmd",
    seed: int = 0,
    steps: tuple[int, ...] = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
    batch_size: int = 64,
    hidden_sizes: tuple[int, ...] = (128, 128),
    run_dir: str = "runs/rlg",
    lines: str = "runs/rlg/strength.jsonl",
    peer_python: str | None = None,
    peer: str | None = None,
) -> Report:
    """Trains one learner, if it has not been done, and reports of all lines.

    Args:
      game: goofspiel_5, leduc or battleships_2x2; none: no training.
      loss_type: which learner.
      seed: of the learner.
      steps: when to judge, in learner steps.
      batch_size: games per learner step.
      hidden_sizes: units of the hidden layers.
      run_dir: where the learners' parameters go.
      lines: where the lines go.
      peer_python: a Python that has jax.
      peer: a clone of rlg.
    """
    known = Lines(Path(lines))
    if game is not None:
        if game not in rlg_games.PUBLIC_EXPERIMENTS:
            raise ValueError(f"game={game}; use one of {list(rlg_games.PUBLIC_EXPERIMENTS)}")
        if not (peer_python and peer):
            raise ValueError("pass peer_python and peer, or no game")
        ours, environment = rlg_games.PUBLIC_EXPERIMENTS[game]
        tree = GameTree.from_game(ours)
        judge = Judge(tree, rlg_games.show(tree, environment, peer_python, peer))
        folder = Path(run_dir) / f"{game}_{loss_type}_{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        shown = (folder / "observations.npz").resolve()
        np.savez(shown, observation=judge.observation, legal=judge.legal)
        settings = {
            "env": environment,
            "loss_type": loss_type,
            "seed": seed,
            "batch_size": batch_size,
            "hidden": hidden_sizes,
            "steps": sorted(steps),
            "observations": str(shown),
            "folder": str(folder.resolve()),
        }
        about = {"game": str(tree.game), "learner": f"rlg {loss_type}", "seed": seed}
        about |= {"batch_size": batch_size, "hidden_sizes": list(hidden_sizes)}
        command = rlg_games.command(peer_python, peer, "train", settings)
        train(judge, known, command, folder, about, sorted(steps))
    return report(known.all)


def report(lines: Sequence[Line]) -> Report:
    """Means over seeds of what the lines say; every line is in the JSON file."""
    cases: dict[tuple[str, str, int, tuple[int, ...], int], list[Line]] = {}
    for line in lines:
        settings = line["batch_size"], tuple(line["hidden_sizes"])
        case = line["game"], line["learner"], *settings, line["steps"]
        cases.setdefault(case, []).append(line)
    games = list(dict.fromkeys(line["game"] for line in lines))
    rows = []
    for (game, learner, batch_size, hidden_sizes, steps), found in sorted(cases.items()):
        judged = [line["nash_conv"] for line in found]
        row = {
            "game": games.index(game) + 1,
            "learner": f"{learner}, {batch_size} games, {'x'.join(map(str, hidden_sizes))}",
            "learner steps": steps,
            "seeds": len(found),
            "NashConv (utility), mean": statistics.fmean(judged),
            "least": min(judged),
            "most": max(judged),
        }
        last = statistics.fmean(line["nash_conv_last"] for line in found)
        rows.append({**row, "unsmoothed, mean": last})
    return Report(
        "Policies of rlg, judged exactly",
        [
            "The games:\n\n" + "\n".join(f"{n}. `{game}`" for n, game in enumerate(games, 1)),
            "NashConv by best responses in our tree. A learner is told with its games per step and "
            "its hidden layers; all other settings are those of rlg's public experiments. Rlg "
            "hands out its target network, which moves by 0.001 of the way to the learner's "
            "parameters in every step; the last column is of these parameters.",
        ],
        {"NashConv over training": Table.of(rows)},
        more={"lines": list(lines)},
    )


if __name__ == "__main__":
    common.run(measure)
