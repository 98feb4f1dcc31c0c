"""Batched environments against OpenSpiel's games, step by step, and their frequencies."""

import collections
import copy
import dataclasses

import pyspiel
import pytest
import torch

from spiel_dl.games import environments
from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.games.features import features
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from spiel_dl.games.leduc import LeducRules
from spiel_dl.games.oshi_zumo_ii import OshiZumoIIRules
from tests.games.flips import EarlyEndRules, FlipsRules
from tests.games.frequencies import check_frequencies

PYTHON_GAMES = [
    "python_goofspiel_ii(num_cards=4,points_order=random)",
    "python_oshi_zumo_ii(coins=6)",
    "python_battleships(board_width=2,board_height=3,ship_sizes=[2;1])",
    "python_leduc",
    "python_liars_dice(dice_sides=2)",
    "python_abrupt_dark_hex(num_rows=2,num_cols=2)",
    "python_dark_hex(num_rows=2,num_cols=2)",
]


def rows_equal(first, second):
    """Whether two batches agree: bool [B]."""
    columns = [
        (getattr(first, field.name) == getattr(second, field.name)).reshape(first.batch_size, -1)
        for field in dataclasses.fields(first)
    ]
    return torch.cat(columns, dim=1).all(dim=1)


def successor_states(state):
    """The states of players or ends that chance may lead to, given an OpenSpiel state."""
    if not state.is_chance_node():
        return [state]
    return [
        end
        for outcome, _ in state.chance_outcomes()
        for end in successor_states(state.child(outcome))
    ]


def random_actions(environment):
    """Legal actions, all with the same probability: int64 [B]."""
    return environments.sample(environment.legal_actions(), environment._uniform(1)[0], torch.int32)


@pytest.mark.parametrize("game_string", PYTHON_GAMES)
def test_every_transition_is_one_of_the_openspiel_game(game_string):
    game = pyspiel.load_game(game_string)
    num_rows = 6
    environment = BatchedEnvironment(game.rules, num_rows, seed=5, check_actions=True)
    roots = successor_states(game.new_initial_state())

    def the_one(candidates, row):
        found = [
            s
            for s in candidates
            if rows_equal(s.batch, environment.state.take(torch.tensor([row])))
        ]
        assert len(found) == 1
        return found[0]

    states = [the_one(roots, row) for row in range(num_rows)]
    num_finished = 0
    for _ in range(2 * game.rules.max_game_length + 1):
        seen = environment.features()
        for row, state in enumerate(states):
            player = environment.current_player()[row].item()
            assert player == state.current_player()
            legal = environment.legal_actions()[row].nonzero()[:, 0].tolist()
            assert legal == state.legal_actions()
            assert seen[row].tolist() == features(state, player).tolist()
        action = random_actions(environment)
        finished, returns = environment.step(action)
        for row, state in enumerate(states):
            after = successor_states(state.child(action[row].item()))
            if finished[row]:
                assert len(after) == 1
                assert after[0].is_terminal()
                assert returns[row].item() == after[0].returns()[0]
                after = roots
                num_finished += 1
            else:
                assert returns[row].item() == 0
            states[row] = the_one(after, row)
    assert num_finished >= 2 * num_rows


def test_point_cards_of_goofspiel_have_their_frequencies():
    game_rules = GoofspielIIRules(num_cards=4, points_order="random")
    environment = BatchedEnvironment(game_rules, 20_000, seed=13)
    for _ in range(4):
        environment.step(random_actions(environment))
    order = collections.Counter(map(tuple, environment.state.played[:, 8:11].tolist()))
    orders = [(i, j, k) for i in range(1, 5) for j in range(1, 5) for k in range(1, 5)]
    check_frequencies(order, {o: 1 / 24 for o in orders if len(set(o)) == 3})


def test_random_actions_are_uniform_over_the_legal_ones():
    environment = BatchedEnvironment(OshiZumoIIRules(coins=8, min_bid=3), 20_000, seed=14)
    counts = collections.Counter(random_actions(environment).tolist())
    check_frequencies(counts, dict.fromkeys(range(3, 9), 1 / 6))


def test_extreme_random_numbers_choose_possible_columns():
    weights = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0]], dtype=torch.float64)
    largest = torch.tensor([1 - 2**-53], dtype=torch.float64)
    zero = torch.zeros(1, dtype=torch.float64)
    for kind, dtype in ((weights, torch.float64), (weights > 0, torch.int32)):
        assert environments.sample(kind, zero, dtype).item() == 1
        assert environments.sample(kind, largest, dtype).item() == 3
    split = torch.tensor([0.25], dtype=torch.float64)
    assert environments.sample(weights, split, torch.float64).item() == 3
    assert environments.sample(weights, split - 1e-9, torch.float64).item() == 1


def test_runs_of_chance_events_of_any_length_are_played():
    """Nine flips in a row happen once in 65,536 games, and must not abort them."""
    environment = BatchedEnvironment(FlipsRules(), 20_000, seed=9, check_actions=True)
    flips = collections.Counter()
    for _ in range(10):
        finished, returns = environment.step(random_actions(environment))
        assert finished.all()
        flips.update(returns.tolist())
    exact = {float(n): 0.75 * 0.25 ** (n - 1) for n in range(1, 9)} | {9.0: 0.25**8}
    check_frequencies(flips, exact)


def test_games_that_chance_ends_before_a_move_are_skipped():
    """One in four; all games pay 1."""
    environment = BatchedEnvironment(EarlyEndRules(), 1000, seed=9, check_actions=True)
    for _ in range(3):
        finished, returns = environment.step(random_actions(environment))
        assert finished.all()
        assert (returns == 1.0).all()


@pytest.mark.parametrize("game_string", PYTHON_GAMES)
def test_every_declared_chance_event_is_needed(game_string):
    game_rules = copy.copy(pyspiel.load_game(game_string).rules)
    if not game_rules.max_chance_nodes:
        assert BatchedEnvironment(game_rules, 2)._num_events == 1
        return
    # Chance acts at the root, so that the start of a game takes no event of its own.
    assert BatchedEnvironment(game_rules, 2)._num_events == game_rules.longest_chance_run
    game_rules.longest_chance_run -= 1
    with pytest.raises(ValueError, match=r"more than \d chance events.* set the rules'"):
        BatchedEnvironment(game_rules, 64)


def test_illegal_actions_are_refused_with_row_and_action():
    environment = BatchedEnvironment(LeducRules(), 4, seed=1, check_actions=True)
    state = environment.state
    action = torch.ones(4, dtype=torch.int64)
    action[2] = 0  # nobody has bet, so there is nothing to fold to
    with pytest.raises(ValueError, match=r"row 2: action 0 .* player 0.* use one of \[1, 2\]"):
        environment.step(action)
    for outside in (-1, 3, 99):
        action[2] = outside
        with pytest.raises(ValueError, match=f"row 2: action {outside} "):
            environment.step(action)
    assert environment.state is state
    action[2] = 2
    environment.step(action)
    with pytest.raises(ValueError, match=r"row 1: action 0 .* player 1"):
        environment.step(torch.tensor([1, 0, 0, 1]))
    environment.step(torch.tensor([1, 1, 0, 1]))


def test_wrong_arguments_are_refused():
    environment = BatchedEnvironment(LeducRules(), 4)
    for wrong in (torch.ones(3, dtype=torch.int64), torch.ones((4, 1), dtype=torch.int64)):
        with pytest.raises(ValueError, match=r"shape .* each of the 4 games"):
            environment.step(wrong)
    with pytest.raises(ValueError, match=r"torch\.float32"):
        environment.step(torch.ones(4))
    with pytest.raises(ValueError, match="batch_size=0"):
        BatchedEnvironment(LeducRules(), 0)


GAMES_OF_ALL_KINDS = [
    LeducRules(),
    GoofspielIIRules(6, points_order="random"),
    OshiZumoIIRules(),
    BattleshipsRules(4, 4, "[2;2]"),
]


@pytest.mark.parametrize("game_rules", GAMES_OF_ALL_KINDS)
def test_nothing_looks_at_values_on_the_host(game_rules):
    """Tensors on the meta device have no values, so whoever asks for one fails."""
    environment = BatchedEnvironment(game_rules, 3)
    environment._roots = game_rules.initial_state(3, "meta")
    environment._uniform = lambda n: torch.zeros((n, 3), dtype=torch.float64, device="meta")
    environment._play_until_moves(environment._roots)
    finished, returns = environment.step(random_actions(environment))
    outputs = [finished, returns, environment.features(), environment.legal_actions()]
    assert {output.device.type for output in outputs} == {"meta"}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("game_rules", GAMES_OF_ALL_KINDS)
def test_cuda_plays_as_the_cpu_does(game_rules):
    """Given the same random numbers; generators differ between devices."""
    on_cpu = BatchedEnvironment(game_rules, 64)
    on_cuda = BatchedEnvironment(game_rules, 64, device="cuda")
    numbers = torch.rand((1000, 8, 64), dtype=torch.float64, generator=on_cpu.generator)
    for environment, device in ((on_cpu, "cpu"), (on_cuda, "cuda")):
        draws = iter(numbers.to(device))
        environment._uniform = lambda count, draws=draws: next(draws)[:count]
        environment._play_until_moves(environment._roots)
    for _ in range(60):
        ends = []
        for environment in (on_cpu, on_cuda):
            action = random_actions(environment)
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode("error")
            try:
                ends.append([action, *environment.step(action)])
            finally:
                torch.cuda.set_sync_debug_mode("default")
        assert all(torch.equal(x, y.cpu()) for x, y in zip(*ends, strict=True))
        assert rows_equal(on_cpu.state, on_cuda.state.to("cpu")).all()
        tensors = [environment.features() for environment in (on_cpu, on_cuda)]
        assert torch.equal(tensors[0], tensors[1].cpu())
