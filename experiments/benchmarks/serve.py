"""Twenty people who play at once on one server, against a searcher on two cores.

The server runs as a person would start it, with two workers for searches. Each of the clients does
what the page does, without ever thinking: it begins a game, moves at random, waits for the answer,
asks what the opponent thought, and begins another game. The searcher is SePoT on top of a network
that has hardly learned: it is as slow as a good one.

  python experiments/benchmarks/serve.py --output=results/benchmarks
"""

from __future__ import annotations

import collections
import json
import random
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import common
import numpy as np

from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.config import CriticConfig, RNaDConfig
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.presets import game_string
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.load import turn_based_game

SCRIPT = Path(__file__).parents[2] / "run" / "serve.py"
GAME = "goofspiel_5_descending"
_CLIENTS, _GAMES, _WORKERS = 20, 2, 2
_SECONDS = 30
"""The server's limit for an answer, with the time that it waits for a worker."""
_WARM_UPS = 5
REQUESTS = {
    "begin": "a new game",
    "move": "the person's move",
    "answer": "the opponent's answer",
    "analysis": "what it thought",
}


class Client(threading.Thread):
    """A client that plays games.

    Attributes:
      seconds: durations of requests, by kind.
      errors: messages of failed requests.
    """

    def __init__(self, address: str, policy: str, number: int, num_games: int, game: str = GAME):
        super().__init__()
        self.seconds: dict[str, list[float]] = collections.defaultdict(list)
        self.errors: list[str] = []
        self._address, self._policy, self._game = address, policy, game
        self._number, self._num_games = number, num_games
        self._random = random.Random(number)

    def run(self) -> None:
        """Plays all games, or stops at the first error."""
        try:
            for number in range(self._num_games):
                self._play((self._number + number) % 2)
        except (OSError, ValueError, KeyError) as error:
            body = error.read().decode() if isinstance(error, urllib.error.HTTPError) else ""
            self.errors.append(f"{type(error).__name__}: {error} {body}")

    def _play(self, seat: int) -> None:
        game = self._ask("begin", "/api/games", game=self._game, policy=self._policy, seat=seat)
        path = f"/api/games/{game['key']}"
        while game["turn"] != "over":
            if game["turn"] == "you":
                action = self._random.choice(game["actions"])["id"]
                game = self._ask("move", f"{path}/move", action=action, count=game["count"])
            else:
                moment = game["at"]
                game = self._ask("answer", f"{path}/answer")
                self._ask("analysis", f"{path}/analysis", at=moment)

    def _ask(self, kind: str, path: str, **body: Any) -> dict[str, Any]:
        request = urllib.request.Request(
            self._address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        start = time.perf_counter()
        with urllib.request.urlopen(request, timeout=600) as response:
            reply: dict[str, Any] = json.load(response)
        self.seconds[kind].append(time.perf_counter() - start)
        return reply


def make_network(path: Path) -> None:
    """A network of the paper's kind with a critic, after one step of learning."""
    game = turn_based_game(game_string(GAME))
    learner = RNaDSolver(
        game,
        RNaDConfig(),
        transformations=transformations_by_name("paper", game),
        critic=CriticConfig(),
    )
    learner.step()
    learner.save(path)


def measure() -> Report:
    """How long requests take."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.safetensors"
        make_network(path)
        policy = f"sepot:{path}"
        players, took, processors = _play_all(policy)
    errors = [error for player in players for error in player.errors]
    rows = [_row(request, name, players) for request, name in REQUESTS.items()]
    slowest = max(row["max"] for row in rows)
    num_answers = sum(row["number"] for row in rows)
    verdict = "met" if not errors and slowest <= _SECONDS else "not met"
    titles = {
        "number": "requests",
        "median": "median, s",
        "95": "95%, s",
        "max": "slowest, s",
    }
    return Report(
        "Twenty people who play at once",
        [
            f"**{verdict}**: {_CLIENTS} clients at once, {len(errors)} errors in {num_answers:,} "
            f"requests; the slowest took {slowest:.1f} s of the {_SECONDS} s that are allowed.",
            f"`{game_string(GAME)}`, SePoT one round deep, 500 iterations of each search, "
            f"{_WORKERS} processes that search; each client plays {_GAMES} games without ever "
            f"thinking, {_CLIENTS * _GAMES} games in {took:.0f} s. Times are wall clock, of the "
            "request as the client sees it; two others have played before, so that the policy is "
            f"loaded. The server's processes had {processors:.2f} processors on average: what "
            "they did not get of two, other work on the machine had.",
            *[f"Error: {error}" for error in errors[:5]],
        ],
        {"Requests": Table.of(rows, what="what", **titles)},
    )


def _play_all(policy: str) -> tuple[list[Client], float, float]:
    """The clients after all games, the seconds that these took, and the processors used."""
    started, before = time.perf_counter(), common.seconds_of_children()
    flags = ["--port=0", f"--num_workers={_WORKERS}", f"--seconds={_SECONDS}"]
    command = [sys.executable, str(SCRIPT), *flags, f"--policies={policy}"]
    with common.serving(command) as address:
        _warm_up(address, policy)
        start = time.perf_counter()
        players = _play_at_once(address, policy, _CLIENTS, _GAMES)
        took = time.perf_counter() - start
    all_took = time.perf_counter() - started
    return players, took, (common.seconds_of_children() - before) / all_took


def _warm_up(address: str, policy: str) -> None:
    """Lets as many play as there are workers, so that each worker has loaded the policy.

    Raises:
      ValueError: if that fails again and again: the machine is too slow for the limit.
    """
    for _ in range(_WARM_UPS):
        players = _play_at_once(address, policy, _WORKERS, 1)
        errors = [error for player in players for error in player.errors]
        if not errors:
            return
    raise ValueError(f"nobody could finish a game before the measurement: {errors[0]}")


def _play_at_once(address: str, policy: str, clients: int, games: int) -> list[Client]:
    """Lets clients play at once; returns them after their games."""
    players = [Client(address, policy, number, games) for number in range(clients)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    return players


def _row(request: str, name: str, players: list[Client]) -> dict[str, Any]:
    seconds = np.array([each for player in players for each in player.seconds[request]])
    if not len(seconds):
        return {"what": name, "number": 0, "median": np.nan, "95": np.nan, "max": np.nan}
    return {
        "what": name,
        "number": len(seconds),
        "median": float(np.median(seconds)),
        "95": float(np.quantile(seconds, 0.95)),
        "max": float(seconds.max()),
    }


if __name__ == "__main__":
    common.run(measure, used="a server, whose processes that search have one thread each")
