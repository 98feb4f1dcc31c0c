"""CFR variants against OpenSpiel's solvers, exact arithmetic, and hand calculations."""

import pickle
from functools import partial

import numba
import numpy as np
import pyspiel
import pytest
import scipy.sparse
from open_spiel.python.algorithms import cfr as openspiel_cfr
from open_spiel.python.algorithms import discounted_cfr

from spiel_dl.algorithms import cfr
from spiel_dl.solvers import linear_program, regret_minimization, variants
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree import GameTree, SequenceForm, Treeplex
from tests.reference import assert_same_arrays
from tests.solvers.matrix_games import matrix_game

LEDUC = "leduc_poker"
NO_LEAVES = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def test_to_do_no_iteration_loads_all_that_is_compiled(monkeypatch):
    """So what compilation takes is not taken for seconds of solving."""
    loaded = []
    for kernels in (regret_minimization.kernels, regret_minimization.arranged_kernels):
        name = kernels.__name__
        monkeypatch.setattr(kernels, "run_iterations", lambda *_, name=name: loaded.append(name))
    cfr.CFRPlusSolver(LEDUC).run(0)
    assert len(set(loaded)) == 2


def subgame() -> SequenceForm:
    """Two root infosets per player, two actions each, and constants: a tiny resolving subgame."""
    rng = np.random.default_rng(7)
    parents, first = np.array([0, 1], np.int32), np.array([2, 4], np.int32)
    sizes = np.array([2, 2], np.int32)
    treeplexes = (Treeplex(parents, first, sizes, 2), Treeplex(parents, first, sizes, 2))
    payoffs = np.zeros((6, 6))
    payoffs[2:, 2:] = rng.integers(-3, 4, (4, 4))
    constants = (np.array([0, 0, 1.0, 0, 0, -0.5]), np.array([0.25, 0, 0, 0.5, 0, 0]))
    return SequenceForm(treeplexes, scipy.sparse.csr_array(payoffs), 6.0, constants)


def infoset_rows(solver: cfr.CFRSolver, values: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Splits per-sequence arrays of both players into rows per information state string."""
    tree = solver.tree
    return {
        tree.infoset_string(player, i): values[player][tree.treeplexes[player].sequences(i)]
        for player in (0, 1)
        for i in range(tree.num_infosets(player))
    }


def assert_equals_openspiel(ours: cfr.CFRSolver, theirs, tolerance: float) -> None:
    regrets = infoset_rows(ours, [ours.minimizer.learned[player].regret for player in (0, 1)])
    average = infoset_rows(ours, list(ours.average_policy().strategies))
    current = infoset_rows(ours, list(ours.current_policy().strategies))
    their_average, their_current = theirs.average_policy(), theirs.current_policy()
    nodes = theirs._info_state_nodes
    assert nodes.keys() == regrets.keys()
    for key, node in nodes.items():
        their_regrets = [node.cumulative_regret[action] for action in node.legal_actions]
        np.testing.assert_allclose(regrets[key], their_regrets, rtol=0, atol=tolerance)
        for rows, policy in ((average, their_average), (current, their_current)):
            row = policy.policy_for_key(key)[node.legal_actions]
            np.testing.assert_allclose(rows[key], row, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("game_name", "iterations"), [("kuhn_poker", 10), (LEDUC, 3)])
@pytest.mark.parametrize(
    ("our_class", "their_class"),
    [
        (cfr.CFRSolver, openspiel_cfr.CFRSolver),
        (cfr.CFRPlusSolver, openspiel_cfr.CFRPlusSolver),
        (partial(cfr.CFRSolver, variant="lcfr"), discounted_cfr.LCFRSolver),
        (partial(cfr.CFRSolver, variant="dcfr"), discounted_cfr.DCFRSolver),
    ],
)
def test_equals_openspiel_in_every_iteration(game_name, iterations, our_class, their_class):
    game = pyspiel.load_game(game_name)
    ours, theirs = our_class(game), their_class(game)
    for _ in range(iterations):
        ours.evaluate_and_update_policy()
        theirs.evaluate_and_update_policy()
        assert_equals_openspiel(ours, theirs, 1e-12)


def test_simultaneous_updates_equal_openspiel():
    game = pyspiel.load_game("kuhn_poker")
    ours = cfr.CFRPlusSolver(game, alternating_updates=False)
    theirs = openspiel_cfr._CFRSolver(
        game, alternating_updates=False, linear_averaging=True, regret_matching_plus=True
    )
    for _ in range(10):
        ours.evaluate_and_update_policy()
        theirs.evaluate_and_update_policy()
    assert_equals_openspiel(ours, theirs, 1e-12)


def test_rounding_noise_does_not_break_ties():
    """All rows earn 0.6 / 3 against the uniform column, but in floating point one earns more."""
    form = matrix_game([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]])
    values = form.values_against(0, np.array([1, 1 / 3, 1 / 3, 1 / 3]))[1:]
    assert np.ptp(values) > 0, "the noise that this test is about is gone"
    minimizer = RegretMinimizer(form, variants.CFR_PLUS)
    minimizer.run(1)
    np.testing.assert_array_equal(minimizer.learned[0].strategy[1:], np.full(3, 1 / 3))


def test_run_equals_single_iterations_and_threads_change_nothing():
    one_by_one, at_once = cfr.CFRPlusSolver(LEDUC), cfr.CFRPlusSolver(LEDUC)
    threaded = cfr.CFRPlusSolver(LEDUC, num_threads=2)
    for _ in range(20):
        one_by_one.evaluate_and_update_policy()
    at_once.run(20)
    numba.set_num_threads(1)
    threaded.run(20)
    assert numba.get_num_threads() == 1, "the number is that of whatever else runs here, too"
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    for other in (at_once, threaded):
        assert_same_arrays(other.minimizer.state(), one_by_one.minimizer.state())


def test_fixed_infosets_keep_their_strategy_and_others_best_respond():
    """Against a fixed opponent, CFR's average comes to a best response."""
    tree = GameTree.from_game("kuhn_poker")
    minimizer = RegretMinimizer(tree.sequence_form)
    uniform = tree.treeplexes[1].uniform_strategy()
    minimizer.hold_fixed(1, np.ones(tree.num_infosets(1), np.bool_), uniform)
    minimizer.run(2000)
    np.testing.assert_array_equal(minimizer.learned[1].strategy, uniform)
    np.testing.assert_array_equal(minimizer.learned[1].regret, 0)
    plans = [learner.average / learner.average[0] for learner in minimizer.learned]
    value = plans[0] @ tree.sequence_form.payoffs @ plans[1]
    # A best response to the uniform player 1 earns 1/2 (see values.json).
    assert value == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("game_name", ["kuhn_poker", LEDUC])
def test_equilibrium_is_a_fixed_point(game_name):
    """Started at an equilibrium, no iterate leaves it: no deviation earns regret."""
    tree = GameTree.from_game(game_name)
    equilibrium = linear_program.solve(tree.sequence_form)
    minimizer = RegretMinimizer(tree.sequence_form)
    for player in (0, 1):
        strategy = behaviour_strategy(tree.treeplexes[player], equilibrium.plans[player])
        learner = minimizer.learned[player]
        learner.strategy[:] = strategy
        learner.regret[1:] = strategy[1:]
        minimizer.set_range(player, np.ones(1))
    for _ in range(20):
        minimizer.run(1)
        for player in (0, 1):
            plan = minimizer.learned[player].realization
            np.testing.assert_allclose(plan, equilibrium.plans[player], rtol=0, atol=1e-9)


def test_subgame_with_ranges_and_constants_comes_to_the_lp_value():
    form = subgame()
    ranges = (np.array([0.3, 0.7]), np.array([0.9, 0.2]))
    minimizer = RegretMinimizer(form)
    for player in (0, 1):
        minimizer.set_range(player, ranges[player])
    minimizer.run(2000)
    plans = [learner.average for learner in minimizer.learned]
    plans = [plan * ranges[p][0] / plan[0] for p, plan in enumerate(plans)]
    constants = form.constants
    value = plans[0] @ form.payoffs @ plans[1] + constants[0] @ plans[0] - constants[1] @ plans[1]
    assert value == pytest.approx(linear_program.solve(form, ranges).value, abs=1e-4)


def test_state_round_trip_continues_to_the_same_result():
    whole, first, second = (cfr.CFRSolver("kuhn_poker", variant="dcfr") for _ in range(3))
    whole.run(30)
    first.run(11)
    second.minimizer.load_state(first.minimizer.state())
    second.run(19)
    assert_same_arrays(second.minimizer.state(), whole.minimizer.state())


def test_state_of_another_game_of_the_same_shape_is_refused():
    form = GameTree.from_game("kuhn_poker").sequence_form
    # The game of the same shape in which everybody wants the opposite.
    negated = SequenceForm(form.treeplexes, -form.payoffs, form.utility_range, form.constants)
    minimizer, other = RegretMinimizer(form), RegretMinimizer(negated)
    other.run(5)
    before = minimizer.state()
    with pytest.raises(ValueError, match="another game"):
        minimizer.load_state(other.state())
    for changes in ({"variant": variants.LINEAR_CFR}, {"alternating_updates": False}):
        with pytest.raises(ValueError, match="another variant"):
            minimizer.load_state(RegretMinimizer(form, **changes).state())
    constants = tuple(np.zeros(treeplex.num_sequences) for treeplex in form.treeplexes)
    gadget = SequenceForm(form.treeplexes, form.payoffs, form.utility_range, constants)
    with pytest.raises(ValueError, match="another game"):
        minimizer.load_state(RegretMinimizer(gadget).state())
    assert_same_arrays(minimizer.state(), before)


def test_state_that_is_not_finite_changes_nothing():
    first, second = (cfr.CFRPlusSolver("kuhn_poker") for _ in range(2))
    first.run(5)
    state, before = first.state(), second.state()
    with pytest.raises(ValueError, match="regret_0 has numbers that are not finite"):
        second.load_state(state | {"regret_0": state["regret_0"] * np.nan})
    assert_same_arrays(second.state(), before)
    second.load_state(state)
    assert second.iteration == 5


def test_minimizer_is_pickled_before_and_after_iterations():
    minimizer = RegretMinimizer(GameTree.from_game(LEDUC).sequence_form)
    for _ in range(2):
        minimizer, copy = (pickle.loads(pickle.dumps(minimizer)) for _ in range(2))
        for each in (minimizer, copy):
            each.run(8)
        assert_same_arrays(copy.state(), minimizer.state())
        copy.load_state(minimizer.state())


@pytest.mark.parametrize(
    ("game", "kernels", "name"),
    [
        ("kuhn_poker", regret_minimization.kernels, "run_iterations"),
        (LEDUC, regret_minimization.arranged_kernels, "_run"),
    ],
)
def test_a_keyboards_interrupt_finds_iterations_done(game, kernels, name, monkeypatch):
    """It waits until compiled code has ended, and comes before anything else is done."""
    expected, minimizer = (RegretMinimizer(GameTree.from_game(game).sequence_form) for _ in "ab")
    run = getattr(kernels, name)

    def interrupted(*how):
        run(*how)
        raise KeyboardInterrupt

    expected.run(20)
    monkeypatch.setattr(kernels, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        minimizer.run(20)
    monkeypatch.undo()
    for each in (expected, minimizer):
        each.run(20)
    assert_same_arrays(minimizer.state(), expected.state())


def test_bad_input_is_refused():
    form = subgame()
    minimizer = RegretMinimizer(form)
    everything = np.ones(2, np.bool_)
    with pytest.raises(ValueError, match="num_threads=0"):
        RegretMinimizer(form, num_threads=0)
    with pytest.raises(ValueError, match="num_iterations=-5"):
        minimizer.run(-5)
    with pytest.raises(ValueError, match="num_iterations=-1"):
        minimizer.run_with_leaves(-1, NO_LEAVES, lambda *_: pytest.fail("asked for values"))
    assert minimizer.iteration == 0
    with pytest.raises(ValueError, match="2 finite numbers"):
        minimizer.set_range(0, np.array([0.5]))
    with pytest.raises(ValueError, match="not a distribution"):
        minimizer.hold_fixed(0, everything, np.array([1, 1, 0.5, 0.6, 1, 0]))
    with pytest.raises(ValueError, match="infosets has shape"):
        minimizer.hold_fixed(0, np.ones(5, np.bool_), np.ones(6))
