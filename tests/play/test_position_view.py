"""A policy's ranges and values at a position, compared with values of the whole game."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyspiel
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, load_policy
from spiel_dl.algorithms import sepot
from spiel_dl.play import position_view
from spiel_dl.play.position_view import Insight, Watched, look
from spiel_dl.play.public_state_view import InfosetView
from spiel_dl.play.public_tree_view import view_public_tree
from spiel_dl.play.registry import options_of
from spiel_dl.search.policy import LocalStrategy, Search, SearchPath, SearchPolicy, Source
from spiel_dl.search.spec import Spec
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from spiel_dl.tree.load import turn_based_game
from tests.reference import state_after
from tests.small_learners import CRITIC, small_learner

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending,returns_type=win_loss)"

SMALL = "python_goofspiel_ii(num_cards=3,points_order=descending,returns_type=win_loss)"
DICE, FORCED = "python_liars_dice(dice_sides=2)", (0, 0, 3)


def insight_of(name: str, game: str, *actions: int, **settings: object) -> Insight:
    options = {"depth_limit": DepthLimit(moves=1), "effort": Effort(100), **settings}
    used = {each: value for each, value in options.items() if each in options_of(name)}
    watched = Watched(lambda: load_policy(name, game, **used))  # type: ignore[arg-type]
    return look(watched, state_after(game, actions))


def rows(insight: Insight, player: int) -> list[InfosetView]:
    return sorted(insight.state.infosets[player], key=lambda row: row.string)


def check_zero_sum(insight: Insight) -> bool:
    """Checks that both players' values in a public state sum to 0; False: some are unknown."""
    both = [rows(insight, player) for player in (0, 1)]
    if any(row.cfv is None for own in both for row in own):
        return False
    totals = [sum(row.range * (row.cfv or 0.0) for row in own) for own in both]
    assert totals[0] == pytest.approx(-totals[1], abs=1e-9)
    return True


@pytest.mark.parametrize("actions", [(0, 1), (0, 1, 1), (2, 0, 0, 1)])
def test_a_search_of_the_whole_game_thinks_what_its_policy_is_worth(
    actions: tuple[int, ...],
) -> None:
    """The numbers of a solved trunk are those of its average policy, computed from histories."""
    watched = Watched(
        lambda: load_policy(
            "resolving:zero", "kuhn_poker", depth_limit=BEYOND_THE_GAME, effort=Effort(40)
        )
    )
    state = state_after("kuhn_poker", actions)
    insight = look(watched, state)
    assert insight.how == position_view.SEARCHED
    policy = watched.searcher(0).to_array_policy()  # type: ignore[attr-defined]
    expected = view_public_tree("kuhn_poker", policy, BEYOND_THE_GAME, "the same")
    [there] = [each for each in expected.public_states if each.number == insight.state.number]
    mover = state.current_player()
    for player in (0, 1):
        theirs = sorted(there.infosets[player], key=lambda row: row.string)
        total = sum(row.range for row in theirs)
        for found, known in zip(rows(insight, player), theirs, strict=True):
            assert found.string == known.string
            assert found.range == pytest.approx(known.range / total)
            if player == mover and known.range > 0:
                assert found.value == pytest.approx(known.value, abs=1e-9)
                for one, other in zip(found.actions, known.actions, strict=True):
                    assert one.probability == pytest.approx(other.probability)
                    assert one.value == pytest.approx(other.value, abs=1e-9)


def test_a_best_response_believes_its_model() -> None:
    """Against a player that bets alike with all cards, ranges are those of the deal."""
    insight = insight_of("cdbr:uniform", "kuhn_poker", 0, 1, 1)
    assert [row.range for row in rows(insight, 0)] == pytest.approx([1 / 3] * 3)
    worst, _, best = rows(insight, 1)
    # With the worst card a call loses 2 and a fold 1; with the best, a call wins 2.
    assert [action.value for action in worst.actions] == pytest.approx([-1.0, -2.0])
    assert [action.value for action in best.actions] == pytest.approx([-1.0, 2.0])
    assert [action.probability for action in best.actions] == pytest.approx([0.0, 1.0])


def test_others_are_looked_at_to_the_end_of_the_game() -> None:
    insight = insight_of("uniform", "kuhn_poker", 0, 1, 1)
    assert insight.how == position_view.WHOLE_GAME
    assert check_zero_sum(insight)
    assert [row.range for row in rows(insight, 0)] == pytest.approx([0.5] * 3)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a hardly trained learner with a critic."""
    learner = small_learner("rnad", GOOFSPIEL, critic=CRITIC)
    learner.step()
    path = tmp_path_factory.mktemp("run") / "checkpoint.safetensors"
    learner.save(path)
    return path


@pytest.mark.parametrize("largest", [10, 10_000])
def test_sepot_reconstructed_and_compiled(
    largest: int, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sepot, "_MAX_TREE_HISTORIES", largest)
    for actions in ((0,), (0, 1), (1, 2, 0)):
        limit = DepthLimit(rounds=1)
        insight = insight_of(f"sepot:{checkpoint}", GOOFSPIEL, *actions, depth_limit=limit)
        assert insight.how == position_view.SEARCHED
        # In the middle of a round, who waits is not valued.
        assert check_zero_sum(insight) == (len(actions) == 2)


def test_where_nothing_was_searched_the_blueprint_is_told(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sepot, "_MAX_TREE_HISTORIES", 10)
    settings = {"depth_limit": DepthLimit(rounds=1), "max_histories": 2}
    insight = insight_of(f"sepot:{checkpoint}", GOOFSPIEL, 0, 1, **settings)
    assert insight.how == position_view.RECONSTRUCTED
    with monkeypatch.context() as small:
        small.setattr(position_view, "MAX_COMPILED", 10)
        position_view.compiled.cache_clear()
        network = insight_of(str(checkpoint), GOOFSPIEL, 0, 1)
    position_view.compiled.cache_clear()
    assert network.how == position_view.RECONSTRUCTED
    assert network.state.num_histories == insight.state.num_histories
    # The same ranges and strategies as by the whole game, up to their scale and to rounding.
    whole = insight_of(str(checkpoint), GOOFSPIEL, 0, 1)
    assert whole.how == position_view.WHOLE_GAME
    for shown, player in itertools.product((network, insight), (0, 1)):
        ours, theirs = rows(shown, player), rows(whole, player)
        total = sum(row.range for row in theirs)
        assert [row.string for row in ours] == [row.string for row in theirs]
        np.testing.assert_allclose(
            [row.range for row in ours], [row.range / total for row in theirs], atol=1e-6
        )
        for one, other in zip(ours, theirs, strict=True):
            probabilities = [action.probability for action in other.actions]
            assert [a.probability for a in one.actions] == pytest.approx(probabilities, abs=1e-6)


def test_who_starts_from_what_it_knows_alone_tells_it_at_the_end() -> None:
    from spiel_dl.algorithms.particle_search import ParticlePolicy

    def make() -> ParticlePolicy:
        return ParticlePolicy(
            turn_based_game(GOOFSPIEL), None, DepthLimit(moves=20), effort=Effort(10)
        )

    watched, state = Watched(make), state_after(GOOFSPIEL, ())
    hidden = look(watched, state)
    assert hidden.is_private
    assert hidden.state is None
    insight = look(watched, state, may_tell_private=True)
    assert insight.is_private
    assert check_zero_sum(insight)


@pytest.mark.parametrize(("kind", "budget"), [("klss", {}), ("particle_sepot", {"budget": 4})])
def test_what_was_searched_in_another_infoset_is_not_told(
    kind: str, budget: dict[str, int], checkpoint: Path
) -> None:
    """The first infoset's policy is cached; the newest search is the second infoset's."""
    settings = {"depth_limit": DepthLimit(rounds=1), "effort": Effort(10), **budget}
    watched = Watched(lambda: load_policy(f"{kind}:{checkpoint}", GOOFSPIEL, **settings))  # type: ignore[arg-type]
    # Player 1 has won the first round in both, which is all that is public.
    states = [state_after(GOOFSPIEL, bids) for bids in ((0, 1), (1, 2))]
    before, _, after = (
        look(watched, state, may_tell_private=True) for state in (*states, states[0])
    )
    assert before.state == after.state
    assert before.state is not None


SEEN = [(), (2, 1), (0, 1), (), (2,), (2, 1), (1,), (2,), (1, 2), (1, 2, 0), (2, 1, 0), (), (0, 1)]
"""Positions in the order in which somebody looks at them, back and forth."""


@pytest.mark.parametrize("name", ["cdrnr:0.5:uniform", "abd:0.5:uniform", "sepot", "klss"])
def test_what_was_looked_at_before_changes_nothing(name: str, checkpoint: Path) -> None:
    """Gadget "joint" starts every search at the game's root; the others seed their own draws."""
    game = SMALL if ":" in name else GOOFSPIEL
    name = name if ":" in name else f"{name}:{checkpoint}"
    limit, effort = DepthLimit(rounds=1), Effort(5)

    def make() -> Watched:
        return Watched(lambda: load_policy(name, game, depth_limit=limit, effort=effort))

    def seen(watched: Watched, actions: tuple[int, ...]) -> Insight:
        return look(watched, state_after(game, actions), may_tell_private=True)

    watched, fresh = make(), {each: seen(make(), each) for each in dict.fromkeys(SEEN)}
    for actions in SEEN:
        assert seen(watched, actions) == fresh[actions]


def test_who_does_not_search_has_no_numbers_of_the_other_seat() -> None:
    """Each seat responds to a model of the other; player 0's search of the root is not player 1's.

    After the highest bid player 1 has one legal action, so that it does not search.
    """

    def make() -> Watched:
        return Watched(lambda: load_policy("cdbr:uniform", DICE, effort=Effort(5)))

    forced = state_after(DICE, FORCED)
    watched = make()
    look(watched, state_after(DICE, FORCED[:2]))
    assert look(watched, forced) == look(make(), forced)


def test_searches_stay_when_a_state_without_one_is_looked_at() -> None:
    made = []

    def make() -> SearchPolicy:
        made.append(load_policy("cdbr:uniform", DICE, effort=Effort(5)))
        return made[-1]  # type: ignore[return-value]

    watched = Watched(make)
    for actions in (FORCED, FORCED[:2], FORCED, (1, *FORCED[1:])):
        look(watched, state_after(DICE, actions))
    assert len(made) == 1


def test_searches_that_take_too_much_memory_are_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def make() -> ArrayPolicy:
        made.append(load_policy("cdbr:uniform", SMALL, effort=Effort(5)))
        return made[-1]  # type: ignore[return-value]

    watched, first = Watched(make), state_after(SMALL, ())
    insight = look(watched, first)
    assert look(watched, first) == insight
    assert len(made) == 1
    monkeypatch.setattr(position_view, "_MAX_HISTORIES_KEPT", 10)
    assert look(watched, first) == insight
    assert len(made) == 2


class OneStep(Source[SearchPath, None]):
    """A source of one's own, with no more than `Source` asks for; it searches nowhere."""

    def __init__(self) -> None:
        self.game = turn_based_game("kuhn_poker")

    def path(self, state: pyspiel.State, player: int, spec: Spec) -> SearchPath:
        return OnePosition(player, [0])

    def key(self, path: SearchPath, position: int) -> str:
        return "the only one"

    def solve(
        self, path: SearchPath, position: int, previous: None, spec: Spec, search: Search
    ) -> None:
        return None

    def local_strategy(self, path: SearchPath, state: pyspiel.State, result: None) -> LocalStrategy:
        return LocalStrategy(dict.fromkeys(state.legal_actions(), 0.5))


class OnePosition(NamedTuple):
    player: int
    decisions: list[int]


def test_a_source_of_ones_own_can_be_looked_at() -> None:
    insight = look(
        Watched(lambda: SearchPolicy(OneStep(), Spec(), Effort(5))),
        state_after("kuhn_poker", (0, 1)),
    )
    assert insight.state is None


@pytest.mark.parametrize("name", ["cdbr:uniform", "klss"])
def test_ones_own_infoset_is_shown_in_a_large_public_state(
    name: str, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = name if ":" in name else f"{name}:{checkpoint}"
    game, limit = turn_based_game(GOOFSPIEL), DepthLimit(rounds=1)
    watched = Watched(lambda: load_policy(name, game, depth_limit=limit, effort=Effort(5)))
    monkeypatch.setattr(position_view, "_MAX_SHOWN_COMPLETELY", 0)
    monkeypatch.setattr(position_view, "_MAX_SHOWN", 0)
    for actions in [(0, 1), (0, 2), (1, 2)]:  # One public state, two infosets of player 0.
        state = state_after(GOOFSPIEL, actions)
        insight = look(watched, state, may_tell_private=True, own=0)
        assert insight.how == position_view.SEARCHED
        [shown] = insight.state.infosets[0]  # type: ignore[union-attr]
        assert shown.string == game.rules.information_state_strings(state.batch, 0)[0]
