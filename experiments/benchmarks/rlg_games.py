"""The games in which kubicon/rlg is a peer: their names here and there, and moves translated.

Rlg's goofspiel is `python_goofspiel_ii` with the forced last round played out, its Leduc is
`leduc_poker` with ranks in place of suits, and its battleships is `simultaneous_battleships`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import peer_process

from spiel_dl.tree import GameTree

Environment = dict[str, Any]
"""A game as rlg's configurations name it."""


def goofspiel(num_cards: int) -> Environment:
    """Rlg's goofspiel with hidden bids, descending points and the returns 1, 0, -1."""
    return {
        "name": "goofspiel",
        "n_cards": num_cards,
        "prize_order": "descending",
        "reward_type": "binary",
    }


def battleships(side: int, ships: list[int]) -> Environment:
    """Rlg's battleships, with the returns 1, 0, -1."""
    return {
        "name": "battleship",
        "board_size": side,
        "ship_lengths": ships,
        "reward_type": "binary",
    }


LEDUC: Environment = {"name": "leduc", "reward_type": "difference"}

# Of every game that rlg's public experiments are about, our name and rlg's.
PUBLIC_EXPERIMENTS: dict[str, tuple[str, Environment]] = {
    "goofspiel_5": (
        "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=True)",
        goofspiel(5),
    ),
    "leduc": ("leduc_poker", LEDUC),
    "battleships_2x2": ("python_simultaneous_battleships", battleships(2, [2])),
}


def command(peer_python: str, rlg: str, name: str, settings: Mapping[str, Any]) -> list[str]:
    """A command of `rlg_peer.py`."""
    script = str(Path(__file__).with_name("rlg_peer.py"))
    return [peer_python, script, name, str(Path(rlg).resolve()), json.dumps(settings)]


def peer_variables() -> dict[str, str]:
    """The environment variables of the peer's process: it has packages of its own, and one core."""
    return peer_process.own_variables() | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


class Shown(NamedTuple):
    """What rlg shows the movers of our decision histories.

    Attributes:
      histories: int [N], the decision histories of the tree.
      observation: float32 [N, D].
      legal: bool [N, A].
    """

    histories: np.ndarray
    observation: np.ndarray
    legal: np.ndarray


def show(tree: GameTree, environment: Environment, peer_python: str, rlg: str) -> Shown:
    """Plays all histories of a compiled game in rlg, and holds its game to ours.

    Raises:
      ValueError: if legal actions, the end of a play, or its returns differ, or if rlg shows
        different things in one infoset.
    """
    games = _Plays.of(tree)
    with tempfile.TemporaryDirectory() as folder:
        paths = {"games": f"{folder}/games.npz", "out": f"{folder}/out.npz"}
        np.savez(paths["games"], **games.as_arrays())
        settings = {"env": environment, **paths}
        subprocess.run(
            command(peer_python, rlg, "replay", settings), check=True, env=peer_variables()
        )
        with np.load(paths["out"]) as out:
            replayed = {name: out[name] for name in out.files}
    _check_ends(tree, games, replayed)
    histories = np.flatnonzero(tree.player >= 0)
    place = (histories, games.time[histories], tree.player[histories])
    shown = Shown(histories, replayed["observation"][place], replayed["legal"][place])
    _check_decisions(tree, shown)
    return shown


class _Plays(NamedTuple):
    """All histories of a tree as rlg's joint actions.

    Attributes:
      actions: int32 [H, T, 2]; 0 for who does not move, and after the history.
      cards: int32 [H, 3] of Leduc: both private cards and the public one; None elsewhere.
      time: int32 [H], how many joint actions the history has. If player 1 is still to make its part
        of one, that does not count.
    """

    actions: np.ndarray
    cards: np.ndarray | None
    time: np.ndarray

    @staticmethod
    def of(tree: GameTree) -> _Plays:
        is_sequential = tree.game.get_type().short_name == "leduc_poker"
        moves = tree.move_number.astype(np.int32)
        time = moves if is_sequential else moves // 2
        actions = np.zeros((tree.num_histories, int(time.max()) + 1, 2), np.int32)
        cards = np.full((tree.num_histories, 3), -1, np.int32)
        for history in range(1, tree.num_histories):  # parents come first
            parent = tree.parent[history]
            actions[history], cards[history] = actions[parent], cards[parent]
            player, action = tree.player[parent], tree.action[history]
            if player < 0:
                cards[history, np.argmax(cards[parent] < 0)] = action
            else:
                actions[history, time[parent], player] = action
        if not is_sequential:
            return _Plays(actions[:, :-1], None, time)
        for row in cards:  # what is not dealt yet may be any card that is left
            left = iter(set(range(6)) - set(row.tolist()))
            row[row < 0] = [next(left) for _ in range(int((row < 0).sum()))]
        return _Plays(actions[:, :-1], cards, time)

    def as_arrays(self) -> dict[str, np.ndarray]:
        arrays = {"actions": self.actions, "cards": self.cards}
        return {name: array for name, array in arrays.items() if array is not None}


def _check_ends(tree: GameTree, games: _Plays, replayed: Mapping[str, np.ndarray]) -> None:
    """Holds the ends of rlg's plays and their returns to those of the terminal histories."""
    over = np.concatenate([np.zeros((tree.num_histories, 1), bool), replayed["done"]], axis=1)
    over = np.logical_or.accumulate(over, axis=1)[np.arange(tree.num_histories), games.time]
    wrong = over != tree.is_terminal
    terminal = np.flatnonzero(tree.is_terminal)
    paid = replayed["reward"][terminal, games.time[terminal] - 1]
    utility = tree.utility[terminal]
    wrong[terminal] |= np.abs(paid - np.stack([utility, -utility], axis=1)).max(axis=1) > 1e-5
    if wrong.any():
        history = tree.state(int(wrong.argmax())).history()
        raise ValueError(f"rlg ends or pays the history {history} of {tree.game} in another way")


def _check_decisions(tree: GameTree, shown: Shown) -> None:
    """Holds legal actions to ours, and what is shown to be the same in all of an infoset."""
    ours = np.zeros_like(shown.legal)
    row = np.full(tree.num_histories, -1)
    row[shown.histories] = np.arange(len(shown.histories))
    children = np.flatnonzero(np.isin(tree.parent, shown.histories))
    ours[row[tree.parent[children]], tree.action[children]] = True
    wrong = (ours != shown.legal).any(axis=1)
    for player in (0, 1):
        acting = tree.player[shown.histories] == player
        infoset = tree.infoset[shown.histories[acting]]
        first = row[tree.first_history[player][infoset]]
        same = shown.observation[first] == shown.observation[acting]
        wrong[acting] |= ~same.all(axis=1)
    if wrong.any():
        history = tree.state(int(shown.histories[wrong.argmax()])).history()
        raise ValueError(
            f"rlg has other legal actions after {history} of {tree.game}, or shows its mover "
            "something else than elsewhere in the infoset"
        )
