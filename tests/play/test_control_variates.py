"""Control variates: no bias by any values, and no luck left by the right ones."""

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl import GameTree, play_match
from spiel_dl.play.control_variates import HistoryValues, luck, without_luck
from spiel_dl.play.history_networks import CriticValues, NetworkValues, load_values
from spiel_dl.policies import opponent_models
from spiel_dl.runs import head_to_head
from tests.small_learners import CRITIC, small_learner

KUHN = "kuhn_poker"
GAMES = [KUHN, "python_goofspiel_ii(num_cards=3,points_order=descending)"]


class Noise(HistoryValues):
    """Something different for every history."""

    def of(self, states):
        return np.array([hash(tuple(state.history())) % 1000 / 100 - 5 for state in states])


class Exact(HistoryValues):
    """What two policies, as players 0 and 1, come to."""

    def __init__(self, policies):
        self.policies = policies
        self.known = {}

    def of(self, states):
        return np.array([self.value(state) for state in states])

    def value(self, state):
        if state.is_terminal():
            return state.returns()[0]
        history = tuple(state.history())
        if history not in self.known:
            found = choices(state, self.policies).items()
            self.known[history] = sum(p * self.value(state.child(b)) for b, p in found)
        return self.known[history]


def choices(state, policies):
    """Probabilities of what may happen next."""
    if state.is_chance_node():
        return dict(state.chance_outcomes())
    return policies[state.current_player()].action_probabilities(state)


def plays(state, policies, steps=(), reach=1.0):
    """Every way in which a game may go: probability, player 0's return and steps."""
    if state.is_terminal():
        yield reach, state.returns()[0], steps
        return
    found = choices(state, policies)
    for outcome, probability in found.items():
        if probability > 0:
            step = (found, outcome)
            yield from plays(state.child(outcome), policies, (*steps, step), reach * probability)


def returns_without_luck(game, policies, values):
    """Of all ways in which the game may go: probabilities, returns, and returns without luck."""
    initial = game.new_initial_state()
    found = list(plays(initial, policies))
    reach, returns, steps = zip(*found, strict=True)
    assert sum(reach) == pytest.approx(1)
    lucks = [luck(initial, each, values) for each in steps]
    return np.array(reach), np.array(returns), np.array(returns) - lucks


def some_policies(name):
    return tuple(opponent_models.random_policy(name, seed) for seed in (1, 2))


@pytest.mark.parametrize("name", GAMES)
def test_any_values_leave_the_mean_as_it_is_and_the_right_ones_no_luck(name):
    game, policies = pyspiel.load_game(name), some_policies(name)
    exact = Exact(policies)
    expected = exact.value(game.new_initial_state())
    _, returns, reduced = returns_without_luck(game, policies, exact)
    np.testing.assert_allclose(reduced, expected, atol=1e-12)
    assert returns.std() > 0.5
    reach, returns, reduced = returns_without_luck(game, policies, Noise())
    assert reach @ reduced == pytest.approx(expected, abs=1e-12)
    assert np.abs(returns - reduced).max() > 1


def test_no_bias_by_factors():
    """Over many matches of 60 observations, of skewed returns."""
    generator = np.random.default_rng(1)
    lucks = generator.exponential(size=(5000, 60)) - 1
    returns = lucks**2 + generator.standard_normal(lucks.shape)
    means = [without_luck(*each).mean() for each in zip(returns, lucks, strict=True)]
    error = np.std(means) / np.sqrt(len(means))
    assert np.mean(means) == pytest.approx(1, abs=3 * error)  # the variance of the luck


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Checkpoints of hardly trained learners, with and without a critic."""
    found = {}
    for name, critic in (("critic", CRITIC), ("network", None)):
        learner = small_learner("rnad", KUHN, critic=critic)
        learner.step()
        found[name] = tmp_path_factory.mktemp(name)
        learner.save(found[name] / "checkpoint.safetensors")
    return found


@pytest.mark.parametrize(("kind", "is_a"), [("critic", CriticValues), ("network", NetworkValues)])
def test_networks_values(runs, kind, is_a):
    game, policies = pyspiel.load_game(KUHN), some_policies(KUHN)
    values = load_values(str(runs[kind]), game)
    assert isinstance(values, is_a)
    expected = Exact(policies).value(game.new_initial_state())
    reach, returns, reduced = returns_without_luck(game, policies, values)
    assert reach @ reduced == pytest.approx(expected, abs=1e-12)
    assert np.abs(returns - reduced).max() > 0.01


def test_a_critic_s_values_are_the_identity_s_of_both_players(runs):
    values = load_values(str(runs["critic"]), pyspiel.load_game(KUHN))
    critic, tree = values._critic, GameTree.from_game(KUHN)
    histories = np.flatnonzero(tree.player >= 0)
    states = [tree.state(history) for history in histories.tolist()]
    # As searches ask it, by other code.
    first, second = (critic.values(tree, histories, player)[:, 0] for player in (0, 1))
    np.testing.assert_allclose(values.of(states), (first - second) / 2, atol=1e-6)
    assert np.ptp(values.of(states)) > 0.01
    # A critic that says of the identity 0.5 and -0.25, and of other transformations 0.75.
    critic.parameters.zero_()
    outputs = torch.full((2, critic.network.num_transformations), 0.75)
    outputs[:, 0] = torch.tensor([0.5, -0.25])
    if critic.network.bound < np.inf:
        outputs = (outputs / critic.network.bound).atanh()
    critic.network.split_layers(critic.parameters)[-1][0].view(-1).copy_(outputs.view(-1))
    np.testing.assert_allclose(values.of(states), 0.375, atol=1e-6)


def test_a_match_by_the_right_values_has_no_interval():
    """As the values are of seats, those who sit there must be the same in both games."""
    policy = opponent_models.random_policy("leduc_poker", 1)
    plain = play_match(policy, policy, 40, seed=3)
    result = play_match(policy, policy, 40, seed=3, values=Exact((policy, policy)))
    assert (result.pairs, result.seats) == (plain.pairs, plain.seats)
    assert (plain.without_luck, plain.variance_left) == (None, None)
    assert result.without_luck.mean == pytest.approx(0, abs=1e-12)


def test_errors(runs, tmp_path):
    for name in ("uniform", str(tmp_path)):
        with pytest.raises(ValueError, match="control_variates="):
            head_to_head.play(KUHN, "uniform", "uniform", num_games=2, control_variates=name)
    with pytest.raises(ValueError, match="is of kuhn_poker"):
        load_values(str(runs["critic"]), "leduc_poker")
