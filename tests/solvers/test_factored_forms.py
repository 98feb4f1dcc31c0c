"""Solvers on factored payoffs: what they learn is what they learn from listed ones."""

import signal
from typing import NamedTuple

import numpy as np
import pytest

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.factored.families import factored_game
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import CFR_PLUS
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import place_of_sequences, tree_of_tensors


class Forms(NamedTuple):
    """One game, factored and listed, and which sequences of the former those of the latter are."""

    factored: FactoredGame
    listed: GameTree
    places: list[np.ndarray]


@pytest.fixture(scope="module")
def forms() -> Forms:
    factored = factored_game("dark_hex(num_rows=2,num_cols=3)")
    listed = tree_of_tensors(factored.game)
    places = [place_of_sequences(listed, factored, player) for player in (0, 1)]
    return Forms(factored, listed, places)


@pytest.mark.parametrize("alternating_updates", [True, False])
def test_regrets_are_those_of_listed_payoffs(forms: Forms, alternating_updates: bool) -> None:
    factored, listed = (
        RegretMinimizer(game.sequence_form, CFR_PLUS, alternating_updates=alternating_updates)
        for game in (forms.factored, forms.listed)
    )
    for minimizer in (factored, listed):
        minimizer.run(5)
    for player, place in enumerate(forms.places):
        # Not more iterations: rounding may break ties, and then regrets part.
        np.testing.assert_allclose(
            factored.learned[player].regret[place], listed.learned[player].regret, atol=1e-12
        )


def test_a_run_goes_on_from_its_state(forms: Forms) -> None:
    whole, first, second = (CFRPlusSolver(forms.factored) for _ in range(3))
    whole.run(20)
    first.run(8)
    second.load_state(first.state())
    second.run(12)
    for player in (0, 1):
        np.testing.assert_array_equal(
            whole.minimizer.learned[player].regret, second.minimizer.learned[player].regret
        )
    other = CFRPlusSolver(forms.listed)
    with pytest.raises(ValueError, match="saved for another game"):
        other.load_state(first.state())


def test_an_interrupt_is_raised_after_the_iteration(forms: Forms, monkeypatch) -> None:
    form = forms.factored.sequence_form
    interrupted, expected = RegretMinimizer(form), RegretMinimizer(form)
    values_against, calls = type(form).values_against, []

    def interrupt_once(self, player: int, plan: np.ndarray) -> np.ndarray:
        calls.append(player)
        if len(calls) == 6:
            assert player == 1  # player 0's part of the third iteration is done
            signal.raise_signal(signal.SIGINT)
        return values_against(self, player, plan)

    monkeypatch.setattr(type(form), "values_against", interrupt_once)
    # Where tests run in the background, a shell may have had Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted.run(10)
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted.iteration == 3
    expected.run(3)
    for mine, other in zip(interrupted.learned, expected.learned, strict=True):
        assert mine.average.tobytes() == other.average.tobytes()
        assert mine.regret.tobytes() == other.regret.tobytes()
