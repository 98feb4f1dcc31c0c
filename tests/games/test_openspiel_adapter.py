"""The adapter to OpenSpiel, seen with OpenSpiel's own tests, tools and playthroughs.

What each game must satisfy is in `conformance`; the games' own tests call it.
"""

from __future__ import annotations

import dataclasses
import inspect
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pyspiel
import pytest
from absl import flags
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms import generate_playthrough
from open_spiel.python.observation import make_observation

from spiel_dl import games
from spiel_dl.games import openspiel, registry
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from tests.games.flips import FlipsRules
from tests.public_states import history_tensor
from tests.reference import state_after

_PLAYTHROUGHS = pathlib.Path(__file__).parents[1] / "data" / "playthroughs"
_FOUR_CARDS = "num_cards=4,points_order=descending"


@pytest.mark.slow
class TestOpenSpielsFullTreeTests(api_test.EnforceAPIOnFullTreeBase):
    """OpenSpiel's own tests, with the numbers they expect of the twin."""

    game_name = "iigoofspiel4"
    game = pyspiel.load_game(f"python_goofspiel_ii({_FOUR_CARDS})")


class TestOpenSpielsPartialTreeTestsWithChance(api_test.EnforceAPIOnPartialTreeBase):
    game_name = "python_goofspiel_ii"
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=6)")


@pytest.mark.parametrize("path", sorted(_PLAYTHROUGHS.glob("*.txt")), ids=lambda path: path.stem)
def test_playthrough_is_reproduced(path: pathlib.Path) -> None:
    # Regenerate one with open_spiel.python.algorithms.generate_playthrough.update_path.
    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()
    original, new = generate_playthrough.replay(str(path))
    assert new == original


def test_observation_pieces() -> None:
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=3,points_order=descending)")
    state = state_after(game, (2, 0, 1))
    private = pyspiel.PrivateInfoType
    public = {
        "point_cards": [[0, 0, 1], [0, 1, 0], [0, 0, 0]],
        "player_0_has_bid": [1, 1, 0],
        "round_winners": [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
    }
    bids = [[[0, 0, 1], [0, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]]
    both = {"player_0_bids": bids[0], "player_1_bids": bids[1]}
    for include_public, private_info, player, expected in (
        (False, private.NONE, 0, {}),
        (True, private.NONE, 1, public),
        (False, private.SINGLE_PLAYER, 1, {"player": [0, 1], "bids": bids[1]}),
        (True, private.SINGLE_PLAYER, 0, {"player": [1, 0], **public, "bids": bids[0]}),
        (False, private.ALL_PLAYERS, 0, both),
        (True, private.ALL_PLAYERS, 1, {**public, **both}),
    ):
        observation_type = pyspiel.IIGObservationType(
            public_info=include_public, perfect_recall=True, private_info=private_info
        )
        observer = make_observation(game, observation_type)
        observer.set_from(state, player)
        assert list(observer.dict) == list(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(observer.dict[name], value)
            assert np.shares_memory(observer.dict[name], observer.tensor)
        if private_info == private.ALL_PLAYERS and include_public:
            np.testing.assert_array_equal(
                observer.tensor, history_tensor(game.rules, state.batch)[0]
            )


def test_default_observer_is_that_of_the_observation_tensor() -> None:
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=3)")
    state = game.new_initial_state()
    for observer in (game.make_py_observer(), game.make_py_observer(None, {})):
        observer.set_from(state, 1)
        assert observer.tensor.tolist() == state.observation_tensor(1)
    # OpenSpiel's C++ side passes only the parameters when it has no type.
    assert game.make_py_observer({}).tensor.shape == observer.tensor.shape
    with pytest.raises(ValueError, match="observation parameters"):
        game.make_py_observer({"egocentric": True})


def test_openspiel_s_own_games_are_not_replaced() -> None:
    ours = pyspiel.load_game("python_leduc").registration
    with pytest.raises(ValueError, match="short_name='kuhn_poker' is a game of OpenSpiel"):
        registry.register(dataclasses.replace(ours, short_name="kuhn_poker"))
    assert not hasattr(pyspiel.load_game("kuhn_poker"), "rules")
    registry.register(ours)


def test_unknown_or_mistyped_parameters_are_refused() -> None:
    # OpenSpiel sees to it for game strings ...
    with pytest.raises(pyspiel.SpielError, match="Unknown parameter 'cards'"):
        pyspiel.load_game("python_goofspiel_ii(cards=4)")
    with pytest.raises(pyspiel.SpielError, match="Wrong type for parameter num_cards"):
        pyspiel.load_game("python_goofspiel_ii(num_cards=four)")
    # ... and the game itself for those who call its class.
    registration = pyspiel.load_game("python_goofspiel_ii").registration
    with pytest.raises(ValueError, match="python_goofspiel_ii has no parameter 'cards'"):
        openspiel.RulesGame(registration, {"cards": 4})
    with pytest.raises(ValueError, match="num_cards='four' of python_goofspiel_ii is of type str"):
        openspiel.RulesGame(registration, {"num_cards": "four"})
    with pytest.raises(ValueError, match="forced_last_round=1 of python_goofspiel_ii is of type"):
        openspiel.RulesGame(registration, {"forced_last_round": 1})
    assert openspiel.RulesGame(registration, {"num_cards": 4}).rules.num_cards == 4


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("bets", "33%, pot, allin", "33% pot allin"),
        ("range_0", "22+,A2s+", "22+;A2s+"),
        ("range_1", "77", "77;"),
        ("min_wager", 1 / 3, 0.333333333333333),
    ],
)
def test_games_have_strings_by_which_they_are_pickled(
    name: str, value: str | float, accepted: str | float
) -> None:
    small = {"board": "QsJh2h4d", "board_cards": "[0;1]", "stacks": "[3;3]"}
    with pytest.raises(ValueError, match=f"{name}=.*separate by spaces or semicolons.* with ';'"):
        pyspiel.load_game("python_holdem", {**small, name: value})
    game = pyspiel.load_game("python_holdem", {**small, name: accepted})
    for again in (pickle.loads(pickle.dumps(game)), pyspiel.load_game(str(game))):
        assert again.get_parameters() == game.get_parameters()
        assert again.get_parameters()[name] == accepted


def test_game_has_its_rules_and_another_process_can_load_it(tmp_path: pathlib.Path) -> None:
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=4)")
    assert isinstance(game, openspiel.RulesGame)
    assert isinstance(game.rules, GoofspielIIRules)
    state = game.new_initial_state()
    state.apply_action(2)
    path = tmp_path / "pickle"
    path.write_bytes(pickle.dumps([game, state]))
    # The other process has not imported the games, and must end without an abort.
    program = (
        "import pathlib, pickle, sys;"
        "game, state = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes());"
        "print(game, state.history(), state.legal_actions())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{game} [2] [0, 1, 2, 3]\n"


@pytest.mark.parametrize("registration", games.REGISTRATIONS, ids=lambda each: each.short_name)
def test_parameters_are_those_of_the_rules(registration: registry.Registration) -> None:
    parameters = inspect.signature(registration.maker).parameters.values()
    assert registration.maker(**registration.defaults)
    assert {each.name: each.default for each in parameters} == registration.defaults


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"private_pieces": lambda _, recall: {"flips": ()}}, "'flips' names two pieces"),
        ({"private_pieces": lambda _, recall: {"player": ()}}, "'player' names two pieces"),
        ({"num_actions": (1 << 15) + 1}, r"python_wrong has 32769 actions.*at most 32768"),
        ({"max_chance_nodes": 0}, "2 chance outcomes and max_chance_nodes=0; give the largest"),
    ],
)
def test_rules_that_cannot_be_are_refused(changed: dict[str, Any], message: str) -> None:
    wrong = type("WrongRules", (FlipsRules,), changed)
    registration = registry.Registration("python_wrong", "Wrong", {}, wrong, True)
    with pytest.raises(ValueError, match=message):
        openspiel.RulesGame(registration)
