"""Safe exploitation search: its objective step by step, and what its ends guarantee."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, GameTree, compile_game
from spiel_dl.algorithms import exploitability, sequence_form_lp, ses
from spiel_dl.policies import opponent_models
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.tree.trunk import cut

END = DepthLimit(moves=100)


class Margins:
    """The two terms of the objective in a public state of a game, written down from the paper."""

    def __init__(
        self,
        tree: GameTree,
        player: int,
        public_state: int,
        blueprint: ArrayPolicy,
        model: ArrayPolicy,
    ):
        self.player = player
        self.subgame = cut(tree, END, public_state)
        self.ranges = []
        for p, policy in ((player, blueprint), (1 - player, model)):
            plan = realization_plan(tree.treeplexes[p], policy.strategies[p])
            reach = np.zeros(len(self.subgame.root_infosets[p]))
            starts, roots = self.subgame.extent.starts, self.subgame.extent.start_roots[p]
            assert (tree.public_states.of_history[starts] == public_state).all()
            reach[roots] = plan[tree.sequence[p, starts]]
            self.ranges.append(reach / max(reach.sum(), 1e-300))
        self.before = self.cfvs(blueprint.strategies[player])

    def cfvs(self, strategy: np.ndarray) -> np.ndarray:
        """The opponent's best-response cfvs at its root infosets."""
        form = self.subgame.sequence_form
        own = strategy[self.subgame.sequences[self.player]]
        plan = realization_plan(form.treeplexes[self.player], own, self.ranges[0])
        return best_response(form, 1 - self.player, plan).cfv[: len(self.ranges[1])]

    def terms(self, strategy: np.ndarray) -> tuple[float, float]:
        """The smallest margin, and the one where the model comes on average."""
        margins = self.before - self.cfvs(strategy)
        return float(margins.min()), float(self.ranges[1] @ margins)


@pytest.mark.parametrize(("limit", "player"), [(2, 0), (1, 1)])
@pytest.mark.parametrize("seed", [4, 5, 6])
def test_a_step_of_kuhn_maximises_the_weighted_sum(limit: int, player: int, seed: int) -> None:
    """No random strategy and no other alpha's solution does better."""
    tree = compile_game("kuhn_poker")
    model = opponent_models.random_policy(tree, seed)
    blueprint = sequence_form_lp.solve_zero_sum_game(tree)[2]
    alphas = (0.0, 0.25, 0.5, 0.75, 1.0)
    # One step is all that is done: the game is over at the next limit.
    solved = [
        ses.safe_exploitation_search(
            tree, player, model, DepthLimit(moves=limit), alpha=alpha, blueprint=blueprint
        ).strategies[player]
        for alpha in alphas
    ]
    others = [
        opponent_models.random_policy(tree, number).strategies[player] for number in range(100)
    ]
    found: list[float] = []
    for public_state in cut(tree, DepthLimit(moves=limit)).leaves.public_states.tolist():
        margins = Margins(tree, player, public_state, blueprint, model)
        if not margins.subgame.sequence_form.treeplexes[player].num_infosets:
            continue
        if not margins.ranges[0].any():
            continue
        terms = [margins.terms(strategy) for strategy in solved]
        for alpha, (smallest, average) in zip(alphas, terms, strict=True):
            reached = (1 - alpha) * smallest + alpha * average
            assert reached >= -1e-9, "the blueprint itself has margins 0"
            for rival in [margins.terms(strategy) for strategy in others] + terms:
                assert reached >= (1 - alpha) * rival[0] + alpha * rival[1] - 1e-9
        found += [average for _, average in terms]
    assert max(found) > 1e-6, "the search changed nothing"


@pytest.mark.parametrize(
    ("game", "limit"),
    [("kuhn_poker", DepthLimit(moves=1)), ("leduc_poker", DepthLimit(plies=4))],
    ids=["kuhn", "leduc"],
)
def test_alpha_0_is_safe_and_knows_no_model(game: str, limit: DepthLimit) -> None:
    tree = compile_game(game)
    models = [opponent_models.random_policy(tree, seed) for seed in (0, 1)]
    found = [ses.safe_exploitation_search(tree, 0, model, limit, alpha=0.0) for model in models]
    np.testing.assert_array_equal(found[0].strategies[0], found[1].strategies[0])
    assert exploitability.player_exploitability(tree, found[0], 0) == pytest.approx(0.0, abs=1e-9)
    for model, policy in zip(models, found, strict=True):
        np.testing.assert_array_equal(policy.strategies[1], model.strategies[1])
        assert exploitability.gain(tree, policy, model, 0) >= -1e-9


def test_perfect_information_cannot_be_exploited() -> None:
    """One root infoset per public state leaves no range to exploit (paper, section 6)."""
    tree = compile_game(
        "goofspiel(num_cards=3,points_order=descending,returns_type=point_difference)"
    )
    model = opponent_models.random_policy(tree, 0)
    values = []
    for alpha in (0.0, 0.5, 1.0):
        policy = ses.safe_exploitation_search(tree, 0, model, DepthLimit(rounds=1), alpha=alpha)
        assert exploitability.player_exploitability(tree, policy, 0) == pytest.approx(0, abs=1e-9)
        values.append(exploitability.gain(tree, policy, model, 0))
    assert max(values) - min(values) < 1e-9


def test_it_gains_with_alpha_and_pays_for_it() -> None:
    tree = compile_game("leduc_poker")
    model = ArrayPolicy.uniform(tree)
    gains, lost = [], []
    for alpha in (0.0, 1.0):
        policy = ses.safe_exploitation_search(tree, 0, model, DepthLimit(plies=2), alpha=alpha)
        gains.append(exploitability.gain(tree, policy, model, 0))
        lost.append(exploitability.player_exploitability(tree, policy, 0))
    assert gains[1] > gains[0] + 0.2
    assert lost[1] > lost[0] + 0.2
