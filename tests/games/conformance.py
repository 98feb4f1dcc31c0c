"""What every game must satisfy: `check_rules` for its `Rules`, `check_openspiel_game` on top.

Both raise an AssertionError that tells the broken property. They hold a game against its own
contract; that it is the *right* game is for its twin test to show.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER, Rules
from tests.games.features_conformance import check_features
from tests.games.openspiel_conformance import check_openspiel_game
from tests.games.reconstruction_conformance import assert_equal_states, check_public_states

__all__ = ["check_openspiel_game", "check_rules"]


@dataclasses.dataclass
class _Level:
    """All histories of one length; H of them.

    Attributes:
      states: their states.
      player: int8 [H], who acts.
      parent: int64 [H], row of the parent in the level above.
      actions: int16 [H, length], the actions from the root.
      chance_reach: float64 [H].
      moves: int64 [H], how many of the actions are players'.
      public: uint8 [H, *], the public tensor's bits, packed.
      infostate: per player int64 [H], ids of equal information state tensors within the level.
      own_past: per player, for every history the own (infostate, action) of the past: an id.
    """

    states: Any
    player: np.ndarray
    parent: np.ndarray
    actions: np.ndarray
    chance_reach: np.ndarray
    moves: np.ndarray
    public: np.ndarray
    infostate: tuple[np.ndarray, np.ndarray]
    own_past: tuple[np.ndarray, np.ndarray]


def check_rules(rules: Rules, max_histories: int = 100_000) -> None:
    """Walks through the whole game, level by level, and checks everything `Rules` promises.

    Args:
      rules: the game.
      max_histories: fails if the game has more histories; so that a test stays quick.
    """
    levels = [_root_level(rules)]
    total = 1
    while True:
        _check_level(rules, levels[-1])
        below = _next_level(rules, levels[-1])
        if below is None:
            break
        total += len(below.player)
        assert total <= max_histories, f"more than {max_histories} histories; choose a smaller game"
        _check_step(rules, levels[-1], below)
        levels.append(below)
    _check_whole_game(rules, levels)
    _check_batch_independence(rules, levels)
    _check_device_code(rules)
    with pytest.raises(ValueError, match=r"has shape \[0\]"):
        rules.consistent_histories(torch.zeros(0))
    for level in levels:
        check_public_states(rules, level.states, level.public, level.actions, level.chance_reach)


def _root_level(rules: Rules) -> _Level:
    states = rules.initial_state(1)
    assert states.batch_size == 1, f"initial_state(1) has batch_size {states.batch_size}"
    return _make_level(
        rules,
        states,
        parent=np.zeros(1, dtype=np.int64),
        actions=np.zeros((1, 0), dtype=np.int16),
        chance_reach=np.ones(1),
        moves=np.zeros(1, dtype=np.int64),
        own_past=(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
    )


def _next_level(rules: Rules, level: _Level) -> _Level | None:
    """The children of a level's histories, by an expansion that does without `successors`."""
    possible = _possible(rules, level)
    parent, action = np.nonzero(possible)
    if not len(parent):
        return None
    states = rules.apply(level.states.take(torch.from_numpy(parent)), torch.from_numpy(action))
    by_chance = level.player[parent] == CHANCE_PLAYER
    probability = np.ones(len(parent))
    chance = rules.chance_probabilities(level.states).numpy()
    probability[by_chance] = chance[parent[by_chance], action[by_chance]]
    own_past = []
    for player in (0, 1):
        # The own past changes where the player acts: an id for every (past, infostate, action).
        acts = level.player[parent] == player
        past = level.own_past[player][parent]
        key = np.stack(
            [past, np.where(acts, level.infostate[player][parent], -1), np.where(acts, action, -1)],
            axis=1,
        )
        own_past.append(np.unique(key, axis=0, return_inverse=True)[1].reshape(-1))
    return _make_level(
        rules,
        states,
        parent=parent,
        actions=np.concatenate([level.actions[parent], action[:, None]], axis=1),
        chance_reach=level.chance_reach[parent] * probability,
        moves=level.moves[parent] + ~by_chance,
        own_past=(own_past[0], own_past[1]),
    )


def _make_level(rules: Rules, states: Any, **histories: Any) -> _Level:
    infostate = []
    for player in (0, 1):
        rows = np.packbits(rules.information_state_tensor(states, player).numpy() > 0, axis=1)
        infostate.append(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1))
    return _Level(
        states=states,
        player=rules.current_player(states).numpy(),
        public=np.packbits(rules.public_tensor(states).numpy() > 0, axis=1),
        infostate=(infostate[0], infostate[1]),
        **histories,
    )


def _possible(rules: Rules, level: _Level) -> np.ndarray:
    """Legal actions and chance outcomes: bool [H, max(A, C)]."""
    width = max(rules.num_actions, rules.num_chance_outcomes)
    possible = np.zeros((len(level.player), width), dtype=bool)
    possible[:, : rules.num_actions] = rules.legal_actions(level.states).numpy()
    chance = rules.chance_probabilities(level.states).numpy()
    possible[:, : rules.num_chance_outcomes] |= chance > 0
    return possible


def _check_level(rules: Rules, level: _Level) -> None:
    """Players, actions, probabilities, returns and tensors of the histories of one length."""
    states, player = level.states, level.player
    batch = len(player)
    assert states.batch_size == batch, (
        f"current_player has {batch} rows for a batch of {states.batch_size}"
    )
    _check_type("current_player", rules.current_player(states), torch.int8, (batch,))
    others = set(player.tolist()) - {0, 1, CHANCE_PLAYER, TERMINAL_PLAYER}
    assert not others, f"current_player must be 0, 1, -1 (chance) or -4 (the end), not {others}"
    legal = rules.legal_actions(states)
    _check_type("legal_actions", legal, torch.bool, (batch, rules.num_actions))
    acts = player >= 0
    assert np.array_equal(legal.numpy().any(axis=1), acts), "a player acts iff an action is legal"
    chance = rules.chance_probabilities(states)
    shape = (batch, rules.num_chance_outcomes)
    _check_type("chance_probabilities", chance, torch.float64, shape)
    np.testing.assert_allclose(
        chance.numpy().sum(axis=1),
        player == CHANCE_PLAYER,
        rtol=0,
        atol=1e-12,
        err_msg="chance_probabilities must sum to 1 where chance acts, and to 0 elsewhere",
    )
    assert (chance.numpy() >= 0).all(), "chance_probabilities must not be negative"
    returns = rules.returns(states)
    _check_type("returns", returns, torch.float64, (batch,))
    assert (returns.numpy()[player != TERMINAL_PLAYER] == 0).all(), "returns before the end"
    utilities = np.concatenate([returns.numpy(), -returns.numpy()])
    assert (utilities >= rules.min_utility).all(), "returns below min_utility"
    assert (utilities <= rules.max_utility).all(), "returns above max_utility"
    _check_pieces(rules, states)
    _check_infostates(rules, level)
    _check_codes(rules, states)
    check_features(rules, states, level.infostate)
    _check_terminal_states(rules, level)
    _check_type("round_index", rules.round_index(states), torch.int16, (batch,))
    assert rules.describe(states, batch - 1), "describe must not return an empty text"


def _check_type(
    name: str, tensor: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...] | None = None
) -> None:
    """An answer's dtype and, if it is known, its shape."""
    assert tensor.dtype == dtype, f"{name} must be {_word(dtype)}, not {tensor.dtype}"
    assert shape is None or tensor.shape == shape, (
        f"{name} must have the shape {list(shape or ())}, not {list(tensor.shape)}"
    )


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _check_pieces(rules: Rules, states: Any) -> None:
    for perfect_recall in (False, True):
        public_size = rules.public_size(perfect_recall)
        private_size = rules.private_size(perfect_recall)
        tensors = [("public", public_size, rules.public_tensor(states, perfect_recall))]
        tensors += [
            ("private", private_size, rules.private_tensor(states, player, perfect_recall))
            for player in (0, 1)
        ]
        for name, size, tensor in tensors:
            what = f"{name}_tensor with perfect_recall={perfect_recall}"
            _check_type(what, tensor, torch.float32, (states.batch_size, size))
            assert ((tensor == 0) | (tensor == 1)).all(), "pieces are zeros and ones"
    names = [*rules.public_pieces(True), *rules.private_pieces(True)]
    assert len(set(names)) == len(names), "a piece's name is used twice"


def _check_codes(rules: Rules, states: Any) -> None:
    """Codes are equal where, and only where, perfect-recall tensors are."""
    pairs = [("public", rules.public_tensor(states), rules.public_code(states))]
    pairs += [
        ("private", rules.private_tensor(states, p), rules.private_code(states, p)) for p in (0, 1)
    ]
    for name, tensor, code in pairs:
        _check_type(f"{name}_code", code, torch.int8)
        groups = [torch.unique(rows, dim=0, return_inverse=True)[1] for rows in (tensor, code)]
        together = torch.unique(torch.stack(groups), dim=1).shape[1]
        assert together == groups[0].max() + 1 == groups[1].max() + 1, "codes and tensors differ"


def _check_infostates(rules: Rules, level: _Level) -> None:
    """Perfect recall, and that an infoset tells its owner who is to move and what is legal."""
    possible = np.packbits(rules.legal_actions(level.states).numpy(), axis=1)
    for player in (0, 1):
        acts = level.player == player
        mine = np.where(acts[:, None], possible, 0)
        terminal = level.player == TERMINAL_PLAYER
        facts = np.column_stack([level.own_past[player], level.player, terminal, mine])
        for infostate, fact in _facts_by_group(level.infostate[player], facts).items():
            assert len(fact) == 1, (
                f"player {player}'s information state {infostate} of level "
                f"{level.actions.shape[1]} has different pasts, players to move or legal actions"
            )


def _facts_by_group(group: np.ndarray, facts: np.ndarray) -> dict[int, set[bytes]]:
    found: dict[int, set[bytes]] = collections.defaultdict(set)
    for index, fact in zip(group.tolist(), np.ascontiguousarray(facts), strict=True):
        found[index].add(fact.tobytes())
    return found


def _check_terminal_states(rules: Rules, level: _Level) -> None:
    rows = torch.from_numpy(np.flatnonzero(level.player == TERMINAL_PLAYER))
    terminal = level.states.take(rows)
    for action in (0, rules.num_actions - 1):
        after = rules.apply(terminal, torch.full((len(rows),), action))
        assert_equal_states(after, terminal, "a terminal state changed under apply")


def _check_step(rules: Rules, above: _Level, below: _Level) -> None:
    """The public tensor grows by a bit or more, and loses none; rounds are public, and go on."""
    before, after = above.public[below.parent], below.public
    assert (before & ~after == 0).all(), "an action takes a public bit away"
    assert (after != before).any(axis=1).all(), "an action adds no public bit"
    rounds = rules.round_index(above.states).numpy()[below.parent]
    after_rounds = rules.round_index(below.states).numpy()
    assert (after_rounds >= rounds).all(), "rounds run backwards"
    states = np.unique(after, axis=0, return_inverse=True)[1].reshape(-1)
    facts = _facts_by_group(states, after_rounds)
    assert max(map(len, facts.values())) == 1, "round_index differs within a public state"
    parent, action, probability = rules.successors(above.states)
    order = "successors must be all pairs of rows and possible actions, by row, then by action"
    assert np.array_equal(parent.numpy(), below.parent), order
    assert np.array_equal(action.numpy(), below.actions[:, -1]), order
    np.testing.assert_allclose(
        probability.numpy() * above.chance_reach[below.parent],
        below.chance_reach,
        rtol=1e-12,
        err_msg="successors must give the probabilities of chance_probabilities, and 1 to players",
    )


def _check_whole_game(rules: Rules, levels: list[_Level]) -> None:
    """Lengths and utility bounds are those announced; public tensors tell a history's length."""
    utilities = np.concatenate([rules.returns(level.states).numpy() for level in levels])
    utilities = np.concatenate([utilities, -utilities])
    for name, found in (("max_utility", utilities.max()), ("min_utility", utilities.min())):
        bound = getattr(rules, name)
        assert found == bound, f"{name}={bound} is not attained, but {found} is"
    longest = max(level.moves.max() for level in levels)
    assert longest == rules.max_game_length, "max_game_length is not attained, or exceeded"
    chance_nodes = max((level.actions.shape[1] - level.moves).max() for level in levels)
    assert chance_nodes == rules.max_chance_nodes, "max_chance_nodes is not attained, or exceeded"
    seen: dict[bytes, int] = {}
    for length, level in enumerate(levels):
        for row in np.unique(level.public, axis=0):
            assert seen.setdefault(row.tobytes(), length) == length, (
                f"histories of length {length} and {seen[row.tobytes()]} look alike in public"
            )


def _check_batch_independence(rules: Rules, levels: list[_Level], num_rows: int = 60) -> None:
    """Stepping a batch of states of all lengths equals stepping each one alone."""
    generator = np.random.default_rng(0)
    rows, actions = [], []
    for level in levels:
        possible = _possible(rules, level)
        picks = generator.choice(len(possible), max(1, num_rows // len(levels)))
        for pick in picks:
            choice = np.flatnonzero(possible[pick])
            rows.append(level.states.take(torch.tensor([pick])))
            actions.append(generator.choice(choice) if len(choice) else 0)
    mixed = type(rows[0]).concatenate(rows)
    action = torch.tensor(np.array(actions, dtype=np.int64))
    after = rules.apply(mixed, action)
    for index, row in enumerate(rows):
        one = torch.tensor([index])
        alone = rules.apply(row, action[one])
        assert_equal_states(after.take(one), alone, "a state depends on its batch under apply")
        for states, single in ((mixed, row), (after, alone)):
            for ours, theirs in zip(_answers(rules, states), _answers(rules, single), strict=True):
                assert torch.equal(ours[one], theirs), "an answer depends on the batch"


def _answers(rules: Rules, states: Any) -> list[torch.Tensor]:
    """The results of all functions of a batch."""
    return [_ask(function, states, *others) for function, *others in _questions(rules)]


def _questions(rules: Rules) -> list[tuple[Any, ...]]:
    """All functions of a batch, with their further arguments."""
    questions: list[tuple[Any, ...]] = [
        (rules.current_player,),
        (rules.legal_actions,),
        (rules.chance_probabilities,),
        (rules.returns,),
        (rules.round_index,),
    ]
    for perfect_recall in (False, True):
        questions.append((rules.public_tensor, perfect_recall))
        questions.extend((rules.private_tensor, player, perfect_recall) for player in (0, 1))
    questions += [(rules.features, 0), (rules.features, 1), (rules.history_features,)]
    return questions


def _ask(function: Any, states: Any, *others: Any) -> Any:
    """Calls a function, which must not read values on the host."""
    try:
        return function(states, *others)
    except (RuntimeError, TypeError) as error:
        if states.device.type == "cpu":
            raise
        raise AssertionError(
            f"{function.__name__} makes tensors elsewhere than the states are, or looks at their "
            f"values on the host; make every tensor on state.device ({error})"
        ) from error


def _check_device_code(rules: Rules) -> None:
    """No function looks at values on the host, nor has shapes that depend on them.

    On the meta device tensors have shapes but no values, so whoever asks for one fails.
    """
    states = rules.initial_state(3, "meta")
    action = torch.zeros(3, dtype=torch.int64, device="meta")
    after = _ask(rules.apply, states, action)
    assert after.device.type == "meta", "apply does not answer on state.device"
    for (function, *others), real in zip(
        _questions(rules), _answers(rules, rules.initial_state(3)), strict=True
    ):
        answer = _ask(function, after, *others)
        name = function.__name__
        assert answer.device.type == "meta", f"{name} does not answer on state.device"
        assert answer.shape == real.shape, (
            f"{name} has the shape {list(answer.shape)} after an action, {list(real.shape)} before"
        )
        assert answer.dtype == real.dtype, (
            f"{name} is {_word(answer.dtype)} after an action, {_word(real.dtype)} before"
        )
