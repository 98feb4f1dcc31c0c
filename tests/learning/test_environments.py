"""Environments beside OpenSpiel's states, row by row, and self-play in them."""

from __future__ import annotations

import collections
import functools
from pathlib import Path
from typing import Any

import pyspiel
import pytest
import scipy.stats
import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.self_play import Distinct, Environment, SelfPlay, Trajectories
from spiel_dl.learning.state_environment import StateEnvironment
from spiel_dl.learning.table_self_play import TableSelfPlay
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.tree import GameTree
from tests.games.flips import FlipsRules
from tests.reference import turn_based, walk
from tests.tiny_games import HiddenMoves

GAMES = [
    "kuhn_poker",
    "leduc_poker",
    "python_leduc",
    "python_goofspiel_ii(num_cards=3,points_order=random)",
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
]
LEAST_P_VALUE = 1e-4


@functools.cache
def tree_of(game_string: str) -> GameTree:
    return GameTree.from_game(game_string)


def environment_of(kind: str, game_string: str, batch_size: int, seed: int) -> Environment:
    """One of the ways to play a game."""
    tree = tree_of(game_string)
    if kind == "tree":
        return TreeEnvironment(tree, batch_size, seed=seed)
    if kind == "states":
        return StateEnvironment(tree.game, batch_size, seed=seed)
    assert kind == "rules"
    return BatchedEnvironment(tree.game.rules, batch_size, seed=seed)


class TorchSelfPlay(TableSelfPlay):
    """What `TableSelfPlay` does on other devices."""

    _play_by_kernel = TableSelfPlay._play_by_torch


TABLE_KINDS = {"table": TableSelfPlay, "torch table": TorchSelfPlay}


def self_play_by(
    kind: str, game_string: str, batch_size: int, num_steps: int, seed: int
) -> SelfPlay:
    """Self-play in one of these environments, or by "table": the way that learners go in trees."""
    if kind in TABLE_KINDS:
        environment = TreeEnvironment(tree_of(game_string), batch_size, seed=seed)
        return TABLE_KINDS[kind](environment, num_steps)
    return SelfPlay(environment_of(kind, game_string, batch_size, seed), num_steps)


def uniform(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    return legal / legal.sum(dim=1, keepdim=True).clamp(min=1)


def after_chance(state: pyspiel.State) -> list[pyspiel.State]:
    """The states of players or ends that chance may lead to."""
    if not state.is_chance_node():
        return [state]
    return [end for a, _ in state.chance_outcomes() for end in after_chance(state.child(a))]


@pytest.mark.parametrize(
    ("game_string", "kind"),
    [
        (g, k)
        for g in GAMES
        for k in ("tree", *TABLE_KINDS, "states", "rules")
        if k != "rules" or "python" in g
    ],
)
def test_every_move_is_one_of_the_openspiel_game(game_string: str, kind: str) -> None:
    self_play = self_play_by(kind, game_string, batch_size=40, num_steps=8, seed=1)
    root = turn_based(pyspiel.load_game(game_string)).new_initial_state()
    played = self_play.play(uniform)
    assert played.valid.any(dim=0).all()
    for row in range(40):
        # All states that what was seen so far allows; chance's moves are not recorded.
        states = after_chance(root)
        for t in range(int(played.valid[:, row].sum())):
            states = [state for state in states if shows(state, played, t, row)]
            assert states
            action = int(played.action[t, row])
            states = [end for state in states for end in after_chance(state.child(action))]
        assert played.reward[t, row].item() in {
            state.returns()[0] for state in states if over(state)
        }
        assert (played.reward[:t, row] == 0).all()
        assert (played.reward[t + 1 :, row] == 0).all()


def over(state: pyspiel.State) -> bool:
    return bool(state.is_terminal())


def shows(state: pyspiel.State, played: Trajectories, t: int, row: int) -> bool:
    """Whether a recorded move was made in a state like this."""
    if over(state) or state.current_player() != played.player[t, row]:
        return False
    legal = played.legal[t, row].nonzero()[:, 0].tolist()
    tensor = state.information_state_tensor(state.current_player())
    return legal == state.legal_actions() and played.observation[t, row].tolist() == tensor


@pytest.mark.parametrize("game_string", ["leduc_poker", "kuhn_poker", GAMES[-1]])
@pytest.mark.parametrize("kind", ["tree", *TABLE_KINDS, "states"])
def test_lengths_and_returns_have_their_frequencies(game_string: str, kind: str) -> None:
    batch_size = 3000
    played = self_play_by(kind, game_string, batch_size, num_steps=8, seed=3).play(uniform)
    lengths, returns = played.valid.sum(dim=0).tolist(), played.reward.sum(dim=0).tolist()
    observed = collections.Counter(zip(lengths, returns, strict=True))
    expected = exact_ends(game_string)
    assert observed.keys() <= expected.keys()
    common = [end for end, probability in expected.items() if probability * batch_size >= 5]
    pairs = [(observed[end], expected[end] * batch_size) for end in common]
    rest = batch_size - sum(count for count, _ in pairs)
    pairs.append((rest, max(1e-9, batch_size - sum(mean for _, mean in pairs))))
    if pairs[-1][1] < 5:
        pairs[-2:] = [(pairs[-2][0] + rest, pairs[-2][1] + pairs[-1][1])]
    assert scipy.stats.chisquare(*zip(*pairs, strict=True)).pvalue > LEAST_P_VALUE


@functools.cache
def exact_ends(game_string: str) -> dict[tuple[int, float], float]:
    """Probabilities of (moves, player 0's return), when all legal actions are equally likely."""
    probabilities: dict[tuple[int, float], float] = collections.defaultdict(float)
    reach: dict[tuple[int, ...], float] = {(): 1.0}
    for node in walk(turn_based(pyspiel.load_game(game_string))):
        here = reach[node.history]
        if node.player == pyspiel.PlayerId.TERMINAL:
            probabilities[node.moves, node.utility] += here * node.chance_reach
        for action in node.legal:
            share = len(node.legal) if node.player >= 0 else 1
            reach[(*node.history, action)] = here / share
    return probabilities


@pytest.mark.parametrize("kind", ["tree", *TABLE_KINDS])
def test_actions_have_their_probabilities(kind: str) -> None:
    def policy(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        del legal
        return torch.tensor([0.1, 0.9]).expand(len(observation), 2)

    played = self_play_by(kind, "kuhn_poker", 20_000, 3, seed=0).play(policy)
    assert played.action[0].float().mean().item() == pytest.approx(0.9, abs=0.01)
    assert (played.behaviour[0, :, 1] == torch.tensor(0.9)).all()


@pytest.mark.parametrize("kind", ["tree", *TABLE_KINDS, "states", "rules"])
def test_the_seed_decides_everything(kind: str) -> None:
    def play(seed: int) -> list[torch.Tensor]:
        self_play = self_play_by(kind, "python_leduc", 16, 8, seed)
        first = [tensor.clone() for tensor in self_play.play(uniform)]
        return first + [tensor.clone() for tensor in self_play.play(uniform)]

    assert all(torch.equal(a, b) for a, b in zip(play(4), play(4), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(play(4), play(5), strict=True))


@pytest.mark.parametrize("kind", ["tree", *TABLE_KINDS, "states"])
def test_games_that_do_not_end_in_time_are_masked(kind: str) -> None:
    played = self_play_by(kind, "kuhn_poker", 200, 2, seed=0).play(uniform)
    lengths = played.valid.sum(dim=0)
    assert set(lengths.tolist()) == {0, 2}
    assert (played.reward.sum(dim=0) != 0).equal(lengths == 2)


@pytest.mark.parametrize("num_steps", [1, 3])
def test_chance_runs_longer_than_observed_are_told(num_steps: int) -> None:
    """A run of chance events of each length up to 9 ends the game; 9 of them nearly never."""
    rules = FlipsRules()
    rules.longest_chance_run = 2
    self_play = SelfPlay(BatchedEnvironment(rules, 2000), num_steps)
    with pytest.raises(ValueError, match="set the rules' longest_chance_run"):
        self_play.play(uniform)
    rules.longest_chance_run = 9
    played = SelfPlay(BatchedEnvironment(rules, 2000), num_steps).play(uniform)
    assert played.valid.sum(dim=0).eq(1).all()
    assert played.reward.max() > 3


def test_a_table_plays_as_the_policy_it_holds() -> None:
    by_function, by_table = (self_play_by("table", "leduc_poker", 50, 8, seed=2) for _ in "ab")
    assert isinstance(by_table, TableSelfPlay)
    environment = by_table.environment
    numbers = torch.rand(environment.infoset_legal.shape, generator=torch.manual_seed(0))
    table = numbers * environment.infoset_legal
    rows = {x.numpy().tobytes(): row for row, x in enumerate(environment.infoset_tensors)}

    def policy(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        assert len({x.numpy().tobytes() for x in observation}) == len(observation)
        found = table[[rows[x.numpy().tobytes()] for x in observation]]
        assert (found > 0).equal(legal)
        return found

    pairs = zip(by_function.play(policy), by_table.play(table), strict=True)
    assert all(torch.equal(mine, theirs) for mine, theirs in pairs)


@pytest.mark.parametrize("kind", ["table", "states"])
def test_distinct_tensors_are_those_of_all_moves(kind: str) -> None:
    self_play = self_play_by(kind, "leduc_poker", 50, 8, seed=0)
    self_play.record_histories()
    played = self_play.play(uniform)
    histories = played.history
    if kind == "table":
        # Trajectories list the distinct ones alone; the environment knows all.
        assert histories.shape == (8, 50, 0)
        _, rows = self_play.environment.history_tables()
        histories = rows[played.history_number]
    pairs = (
        (played.observation, played.distinct_observations()),
        (histories, played.distinct_histories().dense()),
    )
    for tensors, seen in pairs:
        assert torch.equal(seen.at_moves(seen.tensors), tensors)
        different = len(tensors[played.valid].unique(dim=0))
        # All moves after a game's end are one row of a table.
        assert len(seen.tensors) == (different + 1 if kind == "table" else 400)
    elsewhere = Distinct.of(played.observation.to("meta"), played.infoset.to("meta"))
    assert elsewhere.at_moves(elsewhere.tensors).shape == played.observation.shape


def test_only_table_self_play_takes_tables() -> None:
    self_play = self_play_by("states", "kuhn_poker", 2, 3, seed=0)
    with pytest.raises(ValueError, match=r"shape \(13, 2\) can only be played in a compiled game"):
        self_play.play(torch.ones(13, 2))


def test_the_fastest_environment_is_chosen() -> None:
    def kind(game: Any) -> type:
        return type(self_play_of(game, 2, max_tree_histories=100).environment)

    assert kind("kuhn_poker") is TreeEnvironment
    assert kind("python_leduc") is CompiledEnvironment
    assert kind("python_oshi_zumo_ii") is BatchedEnvironment
    assert kind("leduc_poker") is StateEnvironment
    assert kind(GameTree.from_game("leduc_poker")) is TreeEnvironment


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(ValueError, match="player"):
        self_play_of("kuhn_poker(players=3)", 2, max_tree_histories=100)
    for limit in (1, 100):
        with pytest.raises(ValueError, match="no information state tensors"):
            self_play_of(HiddenMoves(), 2, max_tree_histories=limit)
        with pytest.raises(ValueError, match="batch_size=0"):
            self_play_of("kuhn_poker", 0, max_tree_histories=limit)
    with pytest.raises(ValueError, match="num_steps=0"):
        SelfPlay(TreeEnvironment(GameTree.from_game("kuhn_poker"), 2), 0)
    with pytest.raises(ValueError, match="player=1"):
        TreeEnvironment(GameTree.from_game("kuhn_poker"), 2).information_state_tensor(1)


@pytest.mark.parametrize("kind", [SelfPlay, TableSelfPlay])
@pytest.mark.parametrize("device", ["meta"])
def test_trees_do_not_look_at_values_on_the_host(
    device: str, kind: type[SelfPlay], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors on the meta device have no values, so whoever asks for one fails."""
    environment = TreeEnvironment(GameTree.from_game("leduc_poker"), 3)
    self_play = kind(environment, 8)
    for owner in (environment, self_play):
        for name, value in vars(owner).items():
            setattr(owner, name, to_device(value, device))
    rand = torch.rand
    monkeypatch.setattr(torch, "rand", lambda *a, generator, **k: rand(*a, **k))
    monkeypatch.setattr(torch.Tensor, "uniform_", lambda x, generator: x)
    assert {tensor.device.type for tensor in self_play.play(uniform)} == {device}


def to_device(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, Trajectories):
        return Trajectories(*(tensor.to(device) for tensor in value))
    if isinstance(value, list):
        return [to_device(item, device) for item in value]
    return value


def test_games_without_decisions_are_refused(tmp_path: Path) -> None:
    lines = [
        'EFG 2 R "luck" { "a" "b" } ""',
        'c "" 1 "" { "x" 1/2 "y" 1/2 } 0',
        't "" 1 "" { 1 -1 }',
        't "" 2 "" { -1 1 }',
    ]
    path = tmp_path / "luck.efg"
    path.write_text("\n".join(lines) + "\n")
    game = pyspiel.load_game(f"efg_game(filename={path})")
    with pytest.raises(ValueError, match=r"efg_game.* has no decisions, so there is nothing to"):
        self_play_of(game, 4, max_tree_histories=1000)
