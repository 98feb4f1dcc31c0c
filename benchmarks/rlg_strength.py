"""How strong the policies of kubicon/rlg are, by our exact NashConv.

Trains rlg's learner in a game of its public experiments, tabulates its policies at every infoset of
our tree of the game, and appends a JSON line for each of them to --output. Before that, all
histories of the tree are played in rlg: legal actions, ends, returns and infosets must be the same.
A run that was interrupted goes on where it was; what is there already is not done again.

  python benchmarks/rlg_strength.py --peer_python=peer/bin/python --peer=rlg --game=leduc \
      --loss_type=mmd --seed=0 --run_dir=runs/rlg --output=runs/rlg/strength.jsonl

A report of all lines so far, --report.json and --report.md:

  python benchmarks/rlg_strength.py --output=runs/rlg/strength.jsonl \
      --report=results/benchmarks/rlg_strength
"""

import json
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rlg_games
import simultaneous_battleships  # noqa: F401 - registers the game
from absl import app, flags

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.tree import GameTree

_PEER_PYTHON = flags.DEFINE_string("peer_python", None, "A Python that has jax.")
_PEER = flags.DEFINE_string("peer", None, "A clone of rlg.")
_GAME = flags.DEFINE_enum("game", None, sorted(rlg_games.PUBLIC_EXPERIMENTS), "Which game.")
_LOSS = flags.DEFINE_enum("loss_type", "mmd", ["mmd", "rnad"], "Which learner.")
_SEED = flags.DEFINE_integer("seed", 0, "Seed of the learner.")
_STEPS = flags.DEFINE_multi_integer(
    "steps", [2_000, 5_000, 10_000, 20_000, 50_000, 100_000], "When to judge, in learner steps."
)
_BATCH_SIZE = flags.DEFINE_integer("batch_size", 64, "Games per learner step.", lower_bound=1)
_HIDDEN = flags.DEFINE_multi_integer("hidden_size", [128, 128], "Units of the hidden layers.")
_RUN_DIR = flags.DEFINE_string("run_dir", "runs/rlg", "Where the learners' parameters go.")
_OUTPUT = flags.DEFINE_string("output", "runs/rlg/strength.jsonl", "Where the lines go.")
_REPORT = flags.DEFINE_string("report", None, "Only report of the lines, to files of this name.")


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


def main(argv: Sequence[str]) -> None:
    """Trains, and judges as soon as there is something to judge."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    if _REPORT.value:
        report(_lines(), _REPORT.value)
        return
    if not (_GAME.value and _PEER.value and _PEER_PYTHON.value):
        raise app.UsageError("pass --game, --peer and --peer_python, or --report")
    game, environment = rlg_games.PUBLIC_EXPERIMENTS[_GAME.value]
    tree = GameTree.from_game(game)
    judge = Judge(tree, rlg_games.show(tree, environment, _PEER_PYTHON.value, _PEER.value))
    folder = Path(_RUN_DIR.value) / f"{_GAME.value}_{_LOSS.value}_{_SEED.value}"
    folder.mkdir(parents=True, exist_ok=True)
    shown = folder / "observations.npz"
    np.savez(shown, observation=judge.observation, legal=judge.legal)
    settings = {
        "env": environment,
        "loss_type": _LOSS.value,
        "seed": _SEED.value,
        "batch_size": _BATCH_SIZE.value,
        "hidden": _HIDDEN.value,
        "steps": sorted(_STEPS.value),
        "observations": str(shown.resolve()),
        "folder": str(folder.resolve()),
    }
    command = rlg_games.command(_PEER_PYTHON.value, _PEER.value, "train", settings)
    with subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, env=rlg_games.peer_variables()
    ) as process:
        assert process.stdout is not None
        _publish(judge, folder)
        for line in process.stdout:
            print(line, end="", flush=True)
            _publish(judge, folder)
    if process.returncode:
        raise SystemExit(f"the peer has ended: {' '.join(command)}")


def _publish(judge: Judge, folder: Path) -> None:
    """Appends what can be judged and is not in the output yet."""
    output = Path(_OUTPUT.value)
    output.parent.mkdir(parents=True, exist_ok=True)
    known = _lines()
    about = {"game": str(judge.tree.game), "learner": f"rlg {_LOSS.value}", "seed": _SEED.value}
    for step in sorted(_STEPS.value):
        path = folder / f"policies_{step}.npz"
        is_known = any({**about, "steps": step}.items() <= line.items() for line in known)
        if is_known or not path.exists():
            continue
        found: dict[str, Any] = {**about, "steps": step}
        with np.load(path) as policies:
            found["nash_conv"] = judge.nash_conv(policies["smoothed"])
            found["nash_conv_last"] = judge.nash_conv(policies["last"])
            found["seconds"] = float(policies["seconds"])
        found["batch_size"], found["hidden_sizes"] = _BATCH_SIZE.value, _HIDDEN.value
        found["infosets"], found["shown"] = len(judge.observation), judge.num_shown
        with output.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), flush=True)


def _lines() -> list[dict[str, Any]]:
    """What is in the output."""
    output = Path(_OUTPUT.value)
    lines = output.read_text().splitlines() if output.exists() else []
    return [json.loads(line) for line in lines]


def report(lines: Sequence[dict[str, Any]], path: str) -> None:
    """Means over seeds of what the lines say; every line is in the JSON file."""
    cases: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for line in lines:
        cases.setdefault((line["game"], line["learner"], line["steps"]), []).append(line)
    names = {game: f"game {number}" for number, game in enumerate({g: 0 for g, *_ in cases}, 1)}
    rows = []
    for (game, learner, steps), found in sorted(cases.items()):
        judged = [line["nash_conv"] for line in found]
        last = [line["nash_conv_last"] for line in found if "nash_conv_last" in line]
        row = {"game": names[game], "learner": learner, "steps": steps, "seeds": len(found)}
        row |= {"mean": statistics.fmean(judged), "least": min(judged), "most": max(judged)}
        rows.append({**row, "last": statistics.fmean(last) if last else None})
    titles = {
        "game": "game",
        "learner": "learner",
        "steps": "learner steps",
        "seeds": "seeds",
        "mean": "NashConv (utility), mean",
        "least": "least",
        "most": "most",
        "last": "of the unsmoothed parameters, mean",
    }
    notes = [
        "; ".join(f"{name}: `{game}`" for game, name in names.items()) + ".",
        "NashConv by best responses in our tree. Rlg hands out its target network, the average of "
        "its parameters that moves by 0.001 of the way in every step; the last column is of the "
        "parameters themselves. Settings are those of rlg's public experiments.",
    ]
    content = reports.Report(
        "Policies of rlg, judged exactly",
        notes,
        {"NashConv over training": reports.Table(rows, titles)},
        more={"lines": list(lines)},
    )
    reports.write(content, path, describe_environment(), used="one core a run")


if __name__ == "__main__":
    app.run(main)
