"""Games with simultaneous moves: each policy is asked for its own player, or refuses the state."""

import io

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl import ArrayPolicy, DepthLimit, GameTree, load_policy, play_match
from spiel_dl.play import bots, terminal
from spiel_dl.play.matches import play_pairs
from spiel_dl.play.registry import load_array_policy, select_options
from spiel_dl.policies import opponent_models
from spiel_dl.policies.small_policies import HighestActionPolicy
from tests.reference import ByHand
from tests.untrained_blueprints import network_policy

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=4,points_order=descending)"


class Recorder(openspiel_policy.Policy):
    """Plays its first or its last card and records its calls."""

    def __init__(self, game, which):
        super().__init__(game, [0, 1])
        self.which = which
        self.asked = []

    def action_probabilities(self, state, player_id=None):
        self.asked.append((player_id, state.history_str(), state.is_simultaneous_node()))
        actions = state.legal_actions(player_id)
        return {action: float(action == actions[self.which]) for action in actions}


def test_both_policies_are_asked_for_their_own_player():
    game = pyspiel.load_game(GOOFSPIEL)
    high, low = Recorder(game, -1), Recorder(game, 0)
    result = play_match(high, low, 4, game=game)
    assert result.mean_return == 1.0
    for recorder in (high, low):
        # Three decisions in each of four games, half of them in each seat; the last card is forced.
        seats = [player for player, _, _ in recorder.asked]
        assert (seats.count(0), seats.count(1)) == (6, 6)
        assert all(is_simultaneous for _, _, is_simultaneous in recorder.asked)
    assert {text for _, text, _ in high.asked} == {text for _, text, _ in low.asked}


def test_policies_of_both_forms_of_a_game_play_alike():
    game = pyspiel.load_game(GOOFSPIEL)
    tree = GameTree.from_game(game)
    policy = opponent_models.random_policy(tree, 3)

    def of_the_original(state, player_id):
        assert state.get_game().get_type().short_name == "goofspiel"
        return policy.action_probabilities(state, player_id)

    uniform = openspiel_policy.UniformRandomPolicy(tree.game)
    originals = (
        ByHand(game, of_the_original),
        openspiel_policy.UniformRandomPolicy(game),
        openspiel_policy.TabularPolicy(game),
    )
    expected = play_pairs(GOOFSPIEL, (policy, uniform), range(20), 1).returns
    assert (expected != 0).any()
    for form in (game, GOOFSPIEL, tree, tree.game):
        for other in (uniform, *originals[1:]):
            for own in (policy, originals[0]):
                returns = play_pairs(form, (own, other), range(20), 1).returns
                np.testing.assert_array_equal(returns, expected)


def test_networks_refuse_simultaneous_states():
    game = pyspiel.load_game(GOOFSPIEL)
    state = game.new_initial_state()
    state.apply_actions([3, 1])
    policy = network_policy(pyspiel.convert_to_turn_based(game), (4,))
    for player in (0, 1):
        with pytest.raises(ValueError, match=r"both players move .* plays .* turn by turn"):
            policy.action_probabilities(state, player)
    # In a match it is asked in the states of its own game.
    assert play_match(policy, policy, 2, game=game).mean_return == 0.0


@pytest.mark.parametrize(
    "name", ["highest", "equilibrium", "cfr:3", "resolving:zero", "cdrnr:0.5:uniform"]
)
def test_policies_by_name_answer_states_of_the_original_game(name):
    game = pyspiel.load_game("goofspiel(imp_info=True,num_cards=3,points_order=descending)")
    search = select_options({"depth_limit": DepthLimit(rounds=1)}, name)
    policy = load_policy(name, game, **search)
    tree = GameTree.from_game(game)
    table = load_array_policy(name, tree, **search)
    generator, num_nodes = np.random.default_rng(0), 0
    for _ in range(10):
        state = game.new_initial_state()
        while not state.is_terminal():
            for player in (0, 1):
                answer = policy.action_probabilities(state, player)
                assert list(answer) == state.legal_actions(player)
                expected = table.action_probabilities(state, player)
                assert answer == pytest.approx(expected, abs=1e-6)
                num_nodes += 1
            with pytest.raises(ValueError, match="both players move in this state"):
                policy.action_probabilities(state)
            state.apply_actions([int(generator.choice(state.legal_actions(p))) for p in (0, 1)])
    assert num_nodes == 40


def test_bots_play_the_game_with_simultaneous_moves():
    game = pyspiel.load_game(GOOFSPIEL)
    tree = GameTree.from_game(game)
    policies = (HighestActionPolicy(game, [0, 1]), Recorder(game, 0))
    # Of a table, too: its tree is of the turn-based game.
    for high in (policies[0], ArrayPolicy.from_policy(tree, policies[0])):
        both = [bots.policy_bot(high, 0), bots.policy_bot(policies[1], 1)]
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_actions([bot.step(state) for bot in both])
        assert state.returns() == [1.0, -1.0]
        assert state.history() == [3, 0, 2, 1, 1, 2]


def test_bots_play_the_only_action_also_if_its_id_is_0():
    """OpenSpiel's `PolicyBot` plays no action there."""
    game = pyspiel.load_game("python_kuhn_poker")
    state = game.new_initial_state().child(0).child(1)
    bot = bots.policy_bot(ByHand(game, lambda *_: {0: 1.0}), 0)
    policy, action = bot.step_with_policy(state)
    assert (dict(policy), action) == ({0: 1.0, 1: 0.0}, 0)


def test_a_policy_in_cpp_plays():
    game = pyspiel.load_game("kuhn_poker")
    bot = bots.policy_bot(pyspiel.UniformRandomPolicy(game), 0)
    assert bot.get_policy(game.new_initial_state().child(0).child(1)) == [(0, 0.5), (1, 0.5)]


def test_the_terminal_asks_the_opponent_for_its_own_player():
    game = pyspiel.load_game(GOOFSPIEL)
    for opponent in (Recorder(game, -1), Recorder(pyspiel.convert_to_turn_based(game), -1)):
        sink = io.StringIO()
        lines = io.StringIO("1\n2\n3\n4\n")
        match = terminal.Match(game, opponent, lines, sink, seat=0, seed=0)
        match.play()
        assert {player for player, _, _ in opponent.asked} == {1}
        assert match.num_finished == 1, sink.getvalue()
