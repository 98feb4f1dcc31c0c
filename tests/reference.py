"""Games in plain Python: what compiled arrays are compared with.

Walks OpenSpiel's states one at a time and keeps everything in lists, dicts and strings. Slow, and
independent of the package.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import random
import re
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import open_spiel.python.games  # noqa: F401  (registers the games written in Python)
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

DATA = Path(__file__).parent / "data"
VALUES: dict[str, dict[str, Any]] = json.loads((DATA / "values.json").read_text(encoding="utf-8"))
"""Numbers of OpenSpiel games by exact linear programs that were solved outside this project."""
KEYS = [pytest.param(key, marks=[pytest.mark.slow] * key.startswith("gs6")) for key in VALUES]
"""The keys of `VALUES` as pytest parameters; games of a million histories are slow."""

Past = tuple[tuple[Hashable, int], ...]
"""A player's own decisions on the way to a history, each (what it knew, what it did)."""
BehaviourPolicy = dict[tuple[int, Hashable], dict[int, float]]
"""From (player, what it knows) to probabilities of the legal actions."""


@dataclasses.dataclass(frozen=True)
class Node:
    """A history of the turn-based game, in which player 0 commits before player 1.

    Attributes:
      history: the actions from the root, chance's included.
      player: who acts; OpenSpiel's ids.
      legal: legal actions, or chance's outcomes.
      chance_reach: product of chance's probabilities on the way.
      utility: player 0's, at terminal histories; 0 elsewhere.
      moves: number of player actions on the way.
      known: what each player knows; equal at equal length where it cannot tell histories apart.
      past: each player's own decisions on the way.
    """

    history: tuple[int, ...]
    player: int
    legal: tuple[int, ...]
    chance_reach: float
    utility: float
    moves: int
    known: tuple[Hashable, Hashable]
    past: tuple[Past, Past]


def efg_game(name: str) -> pyspiel.Game:
    """A Gambit file of tests/data/efg as an OpenSpiel game."""
    return pyspiel.load_game("efg_game", {"filename": str(DATA / "efg" / f"{name}.efg")})


def turn_based(game: pyspiel.Game) -> pyspiel.Game:
    """The game itself, or OpenSpiel's conversion if it has simultaneous moves."""
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    return game


def walk(game: pyspiel.Game) -> list[Node]:
    """All histories, breadth first, siblings in the order of legal actions.

    A joint move of a simultaneous game becomes two moves here, without OpenSpiel's conversion.
    """
    nodes = []
    queue = collections.deque([_Visit(game.new_initial_state(), None, None, -1, 1.0)])
    while queue:
        visit = queue.popleft()
        state, node = visit.state, _node(game, visit)
        nodes.append(node)
        if state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                queue.append(_Visit(state.child(outcome), None, node, outcome, probability))
        elif not state.is_simultaneous_node():
            queue.extend(_Visit(state.child(choice), None, node, choice) for choice in node.legal)
        elif visit.committed is None:
            queue.extend(_Visit(state, choice, node, choice) for choice in node.legal)
        else:
            for choice in node.legal:
                after = state.clone()
                after.apply_actions([visit.committed, choice])
                queue.append(_Visit(after, None, node, choice))
    return nodes


def random_policy(nodes: Iterable[Node], seed: int) -> BehaviourPolicy:
    """A policy with full support at every infoset."""
    generator = random.Random(seed)
    policy: BehaviourPolicy = {}
    for node in nodes:
        if node.player >= 0 and (node.player, node.known[node.player]) not in policy:
            weights = [generator.expovariate(1.0) for _ in node.legal]
            probabilities = [weight / sum(weights) for weight in weights]
            policy[node.player, node.known[node.player]] = dict(
                zip(node.legal, probabilities, strict=True)
            )
    return policy


def expected_utility(nodes: Iterable[Node], policy: BehaviourPolicy) -> float:
    """Player 0's expected utility, summed over terminal histories."""
    total = 0.0
    for node in nodes:
        if node.player == pyspiel.PlayerId.TERMINAL:
            reach = node.chance_reach
            for player in (0, 1):
                for known, action in node.past[player]:
                    reach *= policy[player, known][action]
            total += reach * node.utility
    return total


def common_knowledge(nodes: list[Node]) -> set[frozenset[int]]:
    """Public states of a game with a public clock: sets of positions in `nodes`.

    At each length, histories that are the same to some player are joined, by one union after the
    other.
    """
    leader = list(range(len(nodes)))

    def find(position: int) -> int:
        while leader[position] != position:
            leader[position] = leader[leader[position]]
            position = leader[position]
        return position

    first: dict[Hashable, int] = {}
    inner = [i for i, node in enumerate(nodes) if node.player != pyspiel.PlayerId.TERMINAL]
    for i in inner:
        for player in (0, 1):
            key = (len(nodes[i].history), player, nodes[i].known[player])
            leader[find(i)] = find(first.setdefault(key, i))
    members = collections.defaultdict(set)
    for i in inner:
        members[find(i)].add(i)
    return {frozenset(group) for group in members.values()}


def random_pyspiel_policy(game: pyspiel.Game, seed: int) -> pyspiel.TabularPolicy:
    """A random policy of a turn-based game as OpenSpiel's C++ table."""
    generator = random.Random(seed)
    table = {}
    for key, row in sorted(pyspiel.UniformRandomPolicy(game).policy_table().items()):
        weights = [generator.expovariate(1.0) for _ in row]
        table[key] = [(row[i][0], weights[i] / sum(weights)) for i in range(len(row))]
    return pyspiel.TabularPolicy(table)


@dataclasses.dataclass(frozen=True)
class _Visit:
    """A history to come: its state, or that before a joint move of which player 0's is known."""

    state: pyspiel.State
    committed: int | None
    parent: Node | None
    action: int
    probability: float = 1.0


def _node(game: pyspiel.Game, visit: _Visit) -> Node:
    state, parent = visit.state, visit.parent
    history = () if parent is None else (*parent.history, visit.action)
    past = _past(parent, visit.action)
    player = state.current_player()
    if state.is_simultaneous_node():
        player = 0 if visit.committed is None else 1
        legal = tuple(state.legal_actions(player))
    else:
        legal = tuple(state.legal_actions())
    return Node(
        history=history,
        player=player,
        legal=legal,
        chance_reach=visit.probability * (1.0 if parent is None else parent.chance_reach),
        utility=state.returns()[0] if state.is_terminal() else 0.0,
        moves=0 if parent is None else parent.moves + (parent.player >= 0),
        known=(
            _known(game, state, 0, player, visit.committed, past[0], history),
            _known(game, state, 1, player, None, past[1], history),
        ),
        past=past,
    )


def _past(parent: Node | None, action: int) -> tuple[Past, Past]:
    if parent is None:
        return (), ()
    past_0, past_1 = parent.past
    if parent.player == 0:
        return (*past_0, (parent.known[0], action)), past_1
    if parent.player == 1:
        return past_0, (*past_1, (parent.known[1], action))
    return past_0, past_1


def _known(
    game: pyspiel.Game,
    state: pyspiel.State,
    observer: int,
    mover: int,
    committed: int | None,
    past: Past,
    history: tuple[int, ...],
) -> Hashable:
    if state.is_terminal():
        return None
    game_type = game.get_type()
    if game_type.short_name == "efg_game" and observer != mover:
        # There the idle player is shown the mover's label; what it remembers is its own past.
        return ("idle", past)
    if not game_type.provides_information_state_string:
        assert game_type.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        return history
    return (state.information_state_string(observer), committed)


def assert_same_policy(found: Any, expected: Any, atol: float = 0.0) -> None:
    """Two policies of a compiled game are equal; without `atol`, to the last bit."""
    for mine, other in zip(found.strategies, expected.strategies, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.0, atol=atol)


def assert_same_arrays(one: Any, other: Any) -> None:
    """Two states are equal to the last bit: all arrays, by their names."""
    for name, array in other.items():
        np.testing.assert_array_equal(one[name], array, err_msg=name)


def timeless(content: Any) -> Any:
    """JSON contents without times: seconds, rates, durations of moves."""
    if isinstance(content, dict):
        is_time = re.compile("seconds|per_second|^times$")
        return {k: timeless(v) for k, v in content.items() if not is_time.search(k)}
    return [timeless(each) for each in content] if isinstance(content, list) else content


def state_after(game: pyspiel.Game | str, actions: Iterable[int]) -> pyspiel.State:
    """The state of a game after some actions, chance's included."""
    state = (pyspiel.load_game(game) if isinstance(game, str) else game).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def decisions(game: pyspiel.Game, num_games: int, seed: int) -> list[pyspiel.State]:
    """The states of random games in which a player moves."""
    generator, found = np.random.default_rng(seed), []
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                found.append(state.clone())
            state.apply_action(int(generator.choice(state.legal_actions())))
    return found


class Killed(BaseException):
    """Stands for a kill: no handler of errors sees it."""


class ByHand(openspiel_policy.Policy):
    """A policy that answers whatever a function says of the state and the player (or None)."""

    def __init__(self, game: pyspiel.Game, answer: Callable[[pyspiel.State, int | None], Any]):
        super().__init__(game, [0, 1])
        self._answer = answer

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> Any:
        return self._answer(state, player_id)
