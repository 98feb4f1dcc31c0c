"""What OpenSpiel's tools rely on, for every `RulesGame`; tests call it through `conformance`."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
from collections.abc import Iterable

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from spiel_dl.games import openspiel

OBSERVATION_TYPES = [
    pyspiel.IIGObservationType(public_info=public, perfect_recall=recall, private_info=private)
    for public, recall, private in itertools.product(
        (False, True), (False, True), pyspiel.PrivateInfoType.__members__.values()
    )
]


def check_openspiel_game(game: openspiel.RulesGame, num_walks: int = 5, seed: int = 0) -> None:
    """Plays random games and checks what OpenSpiel's tools rely on.

    Args:
      game: the game.
      num_walks: how many games are played.
      seed: of the random moves.
    """
    _check_game(game)
    generator = random.Random(seed)
    states = []
    for _ in range(num_walks):
        state = game.new_initial_state()
        states.append(state.clone())
        while not state.is_terminal():
            _check_step(game, state, generator.choice(possible_actions(state)))
            states.append(state.clone())
    for state in states:
        _check_state(game, state)
    for observation_type in OBSERVATION_TYPES:
        _check_observer(game, observation_type, states, generator)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def possible_actions(state: pyspiel.State) -> list[int]:
    """Legal actions, or chance's outcomes."""
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return state.legal_actions()


def all_states(game: pyspiel.Game) -> Iterable[pyspiel.State]:
    """The states of all histories, depth first."""
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        yield state
        if not state.is_terminal():
            stack.extend(state.child(action) for action in possible_actions(state))


def _check_game(game: openspiel.RulesGame) -> None:
    """The game's facts are those of its rules, and it survives pickling and its own string."""
    game_type, rules = game.get_type(), game.rules
    modes = pyspiel.GameType.ChanceMode
    expected_mode = modes.EXPLICIT_STOCHASTIC if rules.max_chance_nodes else modes.DETERMINISTIC
    assert game_type.chance_mode == expected_mode
    assert game_type.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert game_type.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert game_type.utility == pyspiel.GameType.Utility.ZERO_SUM
    assert game_type.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert game.num_players() == 2
    assert game.num_distinct_actions() == rules.num_actions
    assert game.max_chance_outcomes() == rules.num_chance_outcomes
    assert game.max_chance_nodes_in_history() == rules.max_chance_nodes
    assert game.max_game_length() == rules.max_game_length
    assert game.max_history_length() == rules.max_game_length + rules.max_chance_nodes
    assert (game.min_utility(), game.max_utility()) == (rules.min_utility, rules.max_utility)
    assert game.utility_sum() == 0
    size = 2 + rules.public_size(True) + rules.private_size(True)
    assert game.information_state_tensor_size() == size
    size = 2 + rules.public_size(False) + rules.private_size(False)
    assert game.observation_tensor_size() == size
    registered = {known.short_name: known for known in pyspiel.registered_games()}
    default = pyspiel.load_game(game_type.short_name)
    assert registered[game_type.short_name].chance_mode == default.get_type().chance_mode
    for other in (pyspiel.load_game(str(game)), pickle.loads(pickle.dumps(game))):
        assert str(other) == str(game)
        assert other.get_parameters() == game.get_parameters()
    assert pyspiel.load_game(str(game)).get_parameters().keys() == (
        game_type.parameter_specification.keys()
    )


def _check_step(game: openspiel.RulesGame, state: openspiel.RulesState, action: int) -> None:
    """Moves on by `action`; clones, children and the rules themselves must tell the same."""
    before = _facts(state)
    width = max(game.num_distinct_actions(), game.max_chance_outcomes()) + 1
    for impossible in set(range(width)) - set(possible_actions(state)):
        with pytest.raises(ValueError, match="not possible"):
            state.apply_action(impossible)
    assert _facts(state) == before, "a refused action changed the state"
    clone, copied, pickled = state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))
    child = state.child(action)
    assert _facts(state) == before, "child() changed its parent"
    state.apply_action(action)
    assert clone.history() == state.history()[:-1]
    assert _facts(clone) == before, "a clone moved along with its original"
    for other in (clone, copied, pickled):
        other.apply_action(action)
        assert _facts(other) == _facts(state)
    assert _facts(child) == _facts(state)
    replayed = game.new_initial_state()
    for step in state.history():
        replayed.apply_action(step)
    assert _facts(replayed) == _facts(state)


def _facts(state: openspiel.RulesState) -> tuple:
    """All that a state tells, but for tensors, whose partition is that of the strings."""
    outcomes = state.chance_outcomes() if state.is_chance_node() else []
    legal = [] if state.is_chance_node() else state.legal_actions()
    strings = [state.information_state_string(player) for player in (0, 1)]
    observations = [state.observation_string(player) for player in (0, 1)]
    return (
        state.current_player(),
        state.history(),
        outcomes,
        legal,
        state.returns(),
        str(state),
        strings,
        observations,
    )


def _check_state(game: openspiel.RulesGame, state: openspiel.RulesState) -> None:
    """Lengths, actions of both players, rewards and the information states of both players."""
    assert len(state.history()) <= game.max_history_length()
    player = state.current_player()
    assert state.is_terminal() == (player == pyspiel.PlayerId.TERMINAL)
    if state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        assert list(outcomes) == sorted(outcomes)
        assert min(probabilities) > 0
        assert sum(probabilities) == pytest.approx(1, abs=1e-12)
    else:
        with pytest.raises(ValueError, match="chance does not act"):
            state.chance_outcomes()
        for other in (0, 1):
            legal = state.legal_actions(other)
            assert legal == sorted(legal)
            assert bool(legal) == (other == player)
    names = [state.action_to_string(player, action) for action in possible_actions(state)]
    assert len(set(names)) == len(names)
    assert sum(state.returns()) == 0
    if not state.is_terminal():
        assert state.returns() == [0, 0]
    if not state.is_chance_node():
        assert state.rewards() == state.returns()
    for observer in (0, 1):
        tensor = game.rules.information_state_tensor(state.batch, observer)[0]
        assert state.information_state_tensor(observer) == tensor.tolist()


def _check_observer(
    game: openspiel.RulesGame,
    observation_type: pyspiel.IIGObservationType,
    states: list[openspiel.RulesState],
    generator: random.Random,
) -> None:
    """One observer against fresh ones, in any order; strings against tensors; views; shapes."""
    observer = make_observation(game, observation_type)
    shape = observer.tensor.shape
    views = dict(observer.dict)
    assert sum(view.size for view in views.values()) == observer.tensor.size
    assert all(np.shares_memory(view, observer.tensor) for view in views.values())
    queries = [(state, player) for state in states for player in (0, 1)]
    strings_of_tensor: dict[bytes, set[str]] = {}
    tensors_of_string: dict[str, set[bytes]] = {}
    for state, player in generator.sample(queries, len(queries)):
        observer.set_from(state, player)
        tensor = observer.tensor.tobytes()
        string = observer.string_from(state, player)
        assert observer.tensor.tobytes() == tensor, "string_from changed the tensor"
        assert observer.tensor.shape == shape
        assert all(observer.dict[name] is view for name, view in views.items())
        joined = [view.reshape(-1) for view in observer.dict.values()]
        assert np.concatenate([*joined, np.zeros(0, np.float32)]).tobytes() == tensor
        fresh = make_observation(game, observation_type)
        fresh.set_from(state, player)
        assert fresh.tensor.tobytes() == tensor, "an observation depends on earlier ones"
        strings_of_tensor.setdefault(tensor, set()).add(string)
        tensors_of_string.setdefault(string, set()).add(tensor)
    assert all(len(strings) == 1 for strings in strings_of_tensor.values())
    assert all(len(tensors) == 1 for tensors in tensors_of_string.values())
    for player in (-1, 2):
        with pytest.raises(ValueError, match=f"player={player}"):
            observer.set_from(states[0], player)
    with pytest.raises(ValueError, match="observation parameters"):
        make_observation(game, observation_type, {"no_such_parameter": 1})
