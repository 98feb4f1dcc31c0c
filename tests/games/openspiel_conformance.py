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
from tests.reference import state_after

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
    facts = {
        "chance_mode": (game_type.chance_mode, expected_mode),
        "dynamics": (game_type.dynamics, pyspiel.GameType.Dynamics.SEQUENTIAL),
        "information": (game_type.information, pyspiel.GameType.Information.IMPERFECT_INFORMATION),
        "utility": (game_type.utility, pyspiel.GameType.Utility.ZERO_SUM),
        "reward_model": (game_type.reward_model, pyspiel.GameType.RewardModel.TERMINAL),
        "num_players": (game.num_players(), 2),
        "num_distinct_actions": (game.num_distinct_actions(), rules.num_actions),
        "max_chance_outcomes": (game.max_chance_outcomes(), rules.num_chance_outcomes),
        "max_chance_nodes_in_history": (game.max_chance_nodes_in_history(), rules.max_chance_nodes),
        "max_game_length": (game.max_game_length(), rules.max_game_length),
        "max_history_length": (
            game.max_history_length(),
            rules.max_game_length + rules.max_chance_nodes,
        ),
        "min_utility": (game.min_utility(), rules.min_utility),
        "max_utility": (game.max_utility(), rules.max_utility),
        "utility_sum": (game.utility_sum(), 0),
        "information_state_tensor_size": (
            game.information_state_tensor_size(),
            2 + rules.public_size(True) + rules.private_size(True),
        ),
        "observation_tensor_size": (
            game.observation_tensor_size(),
            2 + rules.public_size(False) + rules.private_size(False),
        ),
    }
    for name, (found, expected) in facts.items():
        _check_equal(f"the game's {name}", found, expected)
    registered = {known.short_name: known for known in pyspiel.registered_games()}
    default = pyspiel.load_game(game_type.short_name)
    announced = registered[game_type.short_name].chance_mode
    assert announced == default.get_type().chance_mode, (
        "has_chance of the Registration must say whether the game with default parameters has "
        f"chance events: it says {announced == modes.EXPLICIT_STOCHASTIC}, and its rules say "
        f"max_chance_nodes={default.max_chance_nodes_in_history()}"
    )
    for what, other in (
        ("loaded by its string", pyspiel.load_game(str(game))),
        ("pickled", pickle.loads(pickle.dumps(game))),
    ):
        _check_equal(f"the string of a game {what}", str(other), str(game))
        parameters = (other.get_parameters(), game.get_parameters())
        _check_equal(f"the parameters of a game {what}", *parameters)
    pieces = [each.public_pieces(True) for each in (pickle.loads(pickle.dumps(rules)), rules)]
    _check_equal("the pieces of pickled rules", *pieces)
    names = pyspiel.load_game(str(game)).get_parameters().keys()
    _check_equal("the parameters' names", names, game_type.parameter_specification.keys())


def _check_equal(what: str, found: object, expected: object) -> None:
    assert found == expected, f"{what}: {found}, where it should be {expected}"


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
    _check_equal("a clone's history", clone.history(), state.history()[:-1])
    assert _facts(clone) == before, "a clone moved along with its original"
    for what, other in (("clone", clone), ("deep copy", copied), ("pickled state", pickled)):
        other.apply_action(action)
        _check_equal(f"a {what} after an action", _facts(other), _facts(state))
    _check_equal("a child", _facts(child), _facts(state))
    replayed = state_after(game, state.history())
    _check_equal("a state replayed by its history", _facts(replayed), _facts(state))


def _facts(state: openspiel.RulesState) -> tuple:
    """All properties of a state except tensors, whose partition equals that of the strings."""
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
    assert len(state.history()) <= game.max_history_length(), (
        f"{state.history()} is longer than max_game_length + max_chance_nodes, "
        f"{game.max_history_length()}"
    )
    player = state.current_player()
    _check_equal("is_terminal", state.is_terminal(), player == pyspiel.PlayerId.TERMINAL)
    if state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        _check_equal("chance_outcomes, in order", list(outcomes), sorted(outcomes))
        assert min(probabilities) > 0, f"chance_outcomes has probabilities {probabilities}"
        _check_equal("chance's total", sum(probabilities), pytest.approx(1, abs=1e-12))
    else:
        with pytest.raises(ValueError, match="chance does not act"):
            state.chance_outcomes()
        for other in (0, 1):
            legal = state.legal_actions(other)
            _check_equal("legal_actions, in order", legal, sorted(legal))
            _check_equal(f"whether player {other} has actions", bool(legal), other == player)
    names = [state.action_to_string(player, action) for action in possible_actions(state)]
    assert len(set(names)) == len(names), f"action_to_string names two actions alike: {names}"
    _check_equal("the sum of returns", sum(state.returns()), 0)
    if not state.is_terminal():
        _check_equal("returns before the end", state.returns(), [0, 0])
    if not state.is_chance_node():
        _check_equal("rewards", state.rewards(), state.returns())
    for observer in (0, 1):
        tensor = game.rules.information_state_tensor(state.batch, observer)[0]
        found = state.information_state_tensor(observer)
        _check_equal("information_state_tensor", found, tensor.tolist())


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
    total = sum(view.size for view in views.values())
    _check_equal("the size of an observer's pieces", total, observer.tensor.size)
    shared = all(np.shares_memory(view, observer.tensor) for view in views.values())
    assert shared, "an observer's pieces are no views of its tensor"
    queries = [(state, player) for state in states for player in (0, 1)]
    strings_of_tensor: dict[bytes, set[str]] = {}
    tensors_of_string: dict[str, set[bytes]] = {}
    for state, player in generator.sample(queries, len(queries)):
        observer.set_from(state, player)
        tensor = observer.tensor.tobytes()
        string = observer.string_from(state, player)
        assert observer.tensor.tobytes() == tensor, "string_from changed the tensor"
        _check_equal("the shape of an observer's tensor", observer.tensor.shape, shape)
        kept = all(observer.dict[name] is view for name, view in views.items())
        assert kept, "set_from replaced an observer's pieces"
        joined = [view.reshape(-1) for view in observer.dict.values()]
        pieces = np.concatenate([*joined, np.zeros(0, np.float32)]).tobytes()
        assert pieces == tensor, "an observer's pieces, joined, are not its tensor"
        fresh = make_observation(game, observation_type)
        fresh.set_from(state, player)
        assert fresh.tensor.tobytes() == tensor, "an observation depends on earlier ones"
        strings_of_tensor.setdefault(tensor, set()).add(string)
        tensors_of_string.setdefault(string, set()).add(tensor)
    for many in (*strings_of_tensor.values(), *tensors_of_string.values()):
        assert len(many) == 1, "observations' strings are equal elsewhere than their tensors are"
    for player in (-1, 2):
        with pytest.raises(ValueError, match=f"player={player}"):
            observer.set_from(states[0], player)
    with pytest.raises(ValueError, match="observation parameters"):
        make_observation(game, observation_type, {"no_such_parameter": 1})
