"""Played games against OpenSpiel's states, and the sources of games against one another."""

from __future__ import annotations

import collections
import dataclasses
import functools
from pathlib import Path
from typing import Any

import pyspiel
import pytest
import torch

from spiel_dl.algorithms import rnad
from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.games.features import features
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from spiel_dl.games.rules import Rules
from spiel_dl.learning import play_kernels
from spiel_dl.learning.compiled_sources import CompiledSource, TreeSource
from spiel_dl.learning.config import RNaDConfig
from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.self_play import ActingNetwork, LayerOutputs
from spiel_dl.learning.sources import Moves, Source, TensorSource, Trajectories, sampled
from spiel_dl.learning.state_environment import StateEnvironment
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.networks.perceptron import output_buffers
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from tests.games.flips import FlipsRules
from tests.games.frequencies import check_frequencies, exact_ends
from tests.games.test_compiled import LARGE, SMALL
from tests.games.test_environments import successor_states
from tests.learning.learner_checks import uniform
from tests.reference import turn_based
from tests.tiny_games import HiddenMoves
from tests.trees import compiled

GAMES = [
    "leduc_poker",
    "python_goofspiel_ii(num_cards=3,points_order=random)",
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
]
DICE = "python_liars_dice(numdice=1,dice_sides=3)"
COMPILED = {n: LARGE[n] for n in ("goofspiel 8", "battleships 5x5")} | {
    n: SMALL[n] for n in ("liar's dice 2x2", "goofspiel 3, random, last round")
}
SETTINGS: dict[str, Any] = {
    "batch_size": 24,
    "hidden_sizes": (32, 16),
    "max_tree_histories": 0,
    "seed": 1,
}
KINDS = ("tree", "tree by tensors", "states", "rules", "compiled rules")


def self_play_by(kind: str, game_string: str, batch_size: int, num_steps: int, seed: int) -> Source:
    """Self-play in one of the ways to play a game."""
    tree = compiled(game_string)
    source: Source
    if kind.startswith("tree"):
        of_tree = TreeEnvironment(tree, batch_size, seed=seed)
        source = (TreeSource if kind == "tree" else TensorSource)(of_tree, num_steps)
    elif kind == "states":
        source = TensorSource(StateEnvironment(tree.game, batch_size, seed=seed), num_steps)
    elif kind == "rules":
        batch = BatchedEnvironment(tree.game.rules, batch_size, seed=seed)
        source = TensorSource(batch, num_steps)
    else:
        of_loops = CompiledEnvironment(tree.game.rules, batch_size, seed)
        source = CompiledSource(of_loops, num_steps)
    return source


@pytest.mark.parametrize(
    ("game_string", "kind"),
    [(g, k) for g in GAMES for k in KINDS if "rules" not in k or "python" in g],
)
def test_every_move_is_one_of_the_openspiel_game(game_string: str, kind: str) -> None:
    played = self_play_by(kind, game_string, batch_size=40, num_steps=8, seed=1).play(uniform)
    root = turn_based(pyspiel.load_game(game_string)).new_initial_state()
    observation = played.observations.at_moves(played.observations.rows)
    assert played.valid.any(dim=0).all()
    for row in range(40):
        # All states that what was seen so far allows; chance's moves are not recorded.
        states = successor_states(root)
        for t in range(int(played.valid[:, row].sum())):
            seen = observation[t, row].tolist()
            states = [state for state in states if shows(state, played, seen, (t, row))]
            assert states, (row, t)
            action = int(played.action[t, row])
            states = [end for state in states for end in successor_states(state.child(action))]
        ends = {state.returns()[0] for state in states if state.is_terminal()}
        assert played.reward[t, row].item() in ends
        assert (played.reward[:t, row] == 0).all()
        assert (played.reward[t + 1 :, row] == 0).all()


def shows(
    state: pyspiel.State, played: Trajectories, seen: list[float], place: tuple[int, int]
) -> bool:
    """Whether a recorded move was made in a state like this."""
    if state.is_terminal() or state.current_player() != played.player[place]:
        return False
    legal = played.legal[place].nonzero()[:, 0].tolist()
    known = features(state, state.current_player()).tolist()
    return bool(legal == state.legal_actions() and seen == known)


@pytest.mark.parametrize("game_string", ["leduc_poker", GAMES[-1]])
@pytest.mark.parametrize("kind", ["tree", "tree by tensors", "states"])
def test_lengths_and_returns_have_their_frequencies(game_string: str, kind: str) -> None:
    batch_size = 3000
    played = self_play_by(kind, game_string, batch_size, num_steps=8, seed=3).play(uniform)
    lengths, returns = played.valid.sum(dim=0).tolist(), played.reward.sum(dim=0).tolist()
    observed = collections.Counter(zip(lengths, returns, strict=True))
    check_frequencies(observed, ends_of(game_string))


@functools.cache
def ends_of(game_string: str) -> collections.Counter[tuple[int, float]]:
    return exact_ends(turn_based(pyspiel.load_game(game_string)).new_initial_state())


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_everything(kind: str) -> None:
    def play(seed: int) -> list[torch.Tensor]:
        self_play = self_play_by(kind, DICE, 16, 8, seed)
        games = [self_play.play(uniform)[1:7] for _ in range(2)]
        return [tensor.clone() for game in games for tensor in game if tensor is not None]

    before = torch.get_rng_state()
    assert all(torch.equal(a, b) for a, b in zip(play(4), play(4), strict=True))
    assert torch.equal(torch.get_rng_state(), before)
    assert not all(torch.equal(a, b) for a, b in zip(play(4), play(5), strict=True))


@pytest.mark.parametrize("kind", ["tree", "tree by tensors", "states"])
def test_games_that_do_not_end_in_time_are_masked(kind: str) -> None:
    played = self_play_by(kind, "kuhn_poker", 200, 2, seed=0).play(uniform)
    lengths = played.valid.sum(dim=0)
    assert set(lengths.tolist()) == {0, 2}
    assert (played.reward.sum(dim=0) != 0).equal(lengths == 2)


@pytest.mark.parametrize("num_steps", [1, 3])
def test_chance_runs_longer_than_declared_are_told(num_steps: int) -> None:
    """A run of chance events of each length up to 9 ends the game; 9 of them nearly never."""
    rules = FlipsRules()
    TensorSource(BatchedEnvironment(rules, 2000), num_steps).play(uniform)
    rules.longest_chance_run = 2
    self_play = TensorSource(BatchedEnvironment(rules, 2000), num_steps)
    with pytest.raises(ValueError, match="set the rules' longest_chance_run"):
        self_play.play(uniform)
    compiled = GoofspielIIRules(3)
    compiled.longest_chance_run = 0  # as if chance never acted
    with pytest.raises(ValueError, match="set the rules' longest_chance_run"):
        CompiledSource(CompiledEnvironment(compiled, 4), 4).play(uniform)


@pytest.mark.parametrize("kind", ["tree", "tree by tensors"])
def test_a_table_plays_as_the_policy_it_holds(kind: str) -> None:
    by_function, by_table = (self_play_by(kind, "leduc_poker", 50, 8, seed=2) for _ in "ab")
    environment = by_table.environment
    numbers = torch.rand(environment.infoset_legal.shape, generator=torch.manual_seed(0))
    table = numbers * environment.infoset_legal
    rows = {x.numpy().tobytes(): row for row, x in enumerate(environment.infoset_features)}

    def policy(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        found = table[[rows[x.numpy().tobytes()] for x in observation]]
        assert (found > 0).equal(legal)
        return found

    mine, theirs = by_function.play(policy), by_table.play(table)
    valid = mine.valid
    assert all(torch.equal(a[valid], b[valid]) for a, b in zip(mine[1:7], theirs[1:7], strict=True))
    with pytest.raises(ValueError, match=r"shape \(13, 2\) can only be played in a compiled game"):
        self_play_by("states", "kuhn_poker", 2, 3, seed=0).play(torch.ones(13, 2))


def test_rows_of_trees_are_those_of_their_infosets() -> None:
    self_play = self_play_by("tree", "leduc_poker", 50, 8, seed=0)
    played, environment = self_play.play(uniform), self_play.environment
    seen, valid = played.observations, played.valid
    assert isinstance(seen.rows, torch.Tensor)
    assert len(seen.table_row.unique()) == len(seen.table_row)
    assert torch.equal(environment.infoset_features[seen.table_row], seen.rows)
    rows = seen.at_moves(seen.table_row)[valid]
    assert torch.equal(environment.infoset_legal[rows], played.legal[valid])
    assert (rows < environment.tree.num_infosets(0)).equal(played.player[valid] == 0)


def test_the_gradient_of_rows_is_the_sum_of_that_of_their_moves() -> None:
    for kind in ("tree", "states"):
        seen = self_play_by(kind, "leduc_poker", 50, 8, seed=0).play(uniform).observations
        outputs = torch.rand((len(seen.rows), 3), requires_grad=True)
        weight = torch.rand((*seen.shape, 3))
        (seen.at_moves(outputs) * weight).sum().backward()
        torch.testing.assert_close(seen.sum_by_row(weight), outputs.grad)


def test_the_fastest_way_is_chosen() -> None:
    def kind(game: Any) -> tuple[type, type]:
        self_play = self_play_of(game, 2, max_tree_histories=100)
        return type(self_play), type(self_play.environment)

    assert kind("kuhn_poker") == (TreeSource, TreeEnvironment)
    assert kind(DICE) == (CompiledSource, CompiledEnvironment)
    assert kind("python_oshi_zumo_ii") == (TensorSource, BatchedEnvironment)
    assert kind("leduc_poker") == (TensorSource, StateEnvironment)
    assert kind(compiled("leduc_poker")) == (TreeSource, TreeEnvironment)


def test_what_cannot_be_played_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="player"):
        self_play_of("kuhn_poker(players=3)", 2, max_tree_histories=100)
    for limit in (1, 100):
        with pytest.raises(ValueError, match="a network sees nothing of it"):
            self_play_of(HiddenMoves(), 2, max_tree_histories=limit)
        with pytest.raises(ValueError, match="batch_size=0"):
            self_play_of("kuhn_poker", 0, max_tree_histories=limit)
    lines = ['EFG 2 R "luck" { "a" "b" } ""', 'c "" 1 "" { "x" 1/2 "y" 1/2 } 0']
    lines += ['t "" 1 "" { 1 -1 }', 't "" 2 "" { -1 1 }']
    path = tmp_path / "luck.efg"
    path.write_text("\n".join(lines) + "\n")
    game = pyspiel.load_game(f"efg_game(filename={path})")
    with pytest.raises(ValueError, match=r"efg_game.* has no decisions, so there is nothing to"):
        self_play_of(game, 4, max_tree_histories=1000)


def acting_network(rules: Rules) -> ActingNetwork:
    network = PolicyNetwork(rules.num_features, rules.num_actions, (32, 16))
    return ActingNetwork(network, 3 * network.initial_parameters(7))


def both_ways(
    rules: Rules, acting: ActingNetwork, num_steps: int | None = None
) -> tuple[Trajectories, Trajectories]:
    """The second batch of games by compiled loops, and by tensors, from the same seed."""
    steps = num_steps or rules.max_game_length
    ours = CompiledSource(CompiledEnvironment(rules, 50, seed=2), steps)
    theirs = TensorSource(BatchedEnvironment(rules, 50, seed=2), steps)
    for self_play in (ours, theirs):
        self_play.play(acting)
        self_play.record_histories()
    return ours.play(acting), theirs.play(acting)


@pytest.mark.parametrize(
    "name", [*COMPILED, "liar's dice 2x2, cut short", "liar's dice 2x2, exploring"]
)
def test_a_network_plays_the_same_games_by_compiled_rules(name: str) -> None:
    rules = COMPILED[name.partition(",")[0] if name.startswith("liar") else name]
    acting, num_steps = acting_network(rules), 4 if "cut" in name else None
    if "exploring" in name:
        acting = dataclasses.replace(acting, exploration=0.3)
    ours, theirs = both_ways(rules, acting, num_steps)
    valid = theirs.valid
    assert bool(valid.any(dim=0).all()) == (num_steps is None)
    assert torch.equal(ours.valid, valid)
    for name in ("legal", "player", "action", "reward"):
        assert torch.equal(getattr(ours, name)[valid], getattr(theirs, name)[valid]), name
    assert torch.equal(ours.reward, theirs.reward)
    assert torch.allclose(ours.behaviour[valid], theirs.behaviour[valid], atol=1e-5)
    for mine, other in (
        (ours.observations, theirs.observations),
        (ours.histories, theirs.histories),
    ):
        assert mine is not None
        assert other is not None
        same = [seen.at_moves(seen.rows)[valid] for seen in (mine, other)]
        assert torch.equal(*same)


def test_the_forward_pass_in_play_is_that_of_the_network() -> None:
    for kind in ("tree", "rules", "compiled rules"):
        acting = acting_network(SMALL["liar's dice 1x3"])
        self_play = self_play_by(kind, DICE, 50, 8, seed=3)
        size = self_play.num_steps * self_play.batch_size
        outputs = LayerOutputs(
            output_buffers(acting.network.padded_layers(acting.parameters), size)
        )
        acting = dataclasses.replace(acting, layer_outputs=outputs)
        played = self_play.play(acting)
        found = acting.forward_pass(played.observations.rows)
        again = acting.network.forward_pass(acting.parameters, played.observations.rows)
        pairs = zip(
            (found.outputs, *found.activations), (again.outputs, *again.activations), strict=True
        )
        for mine, other in pairs:
            torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("game", [DICE, "python_phantom_ttt"])
def test_a_network_of_nans_makes_legal_moves_and_its_losses_tell(game: str) -> None:
    learner = rnad.RNaDSolver(game, RNaDConfig(**SETTINGS))
    with torch.no_grad():
        learner.parameters.fill_(torch.nan)
    played = learner.play()
    moved = played.player >= 0
    action = played.action.unsqueeze(-1)
    assert played.valid.any(dim=0).all()
    assert played.legal.gather(-1, action)[moved].all()
    assert played.behaviour.gather(-1, action)[moved].isnan().all()
    with pytest.raises(ValueError, match="is nan at step 1"):
        learner.run(1)


def test_policies_are_the_same_on_all_devices() -> None:
    outputs = 5 * torch.randn((50, 8), generator=torch.manual_seed(0))
    legal = torch.rand((50, 6), generator=torch.manual_seed(1)) < 0.5
    legal[0], legal[1], outputs[2] = False, True, torch.nan
    found = torch.from_numpy(play_kernels.softmax(outputs.numpy(), legal.numpy()))
    expected = policy_of(outputs[:, :6], legal)
    torch.testing.assert_close(found[legal], expected[legal], equal_nan=True)
    assert (found[~legal & legal.any(dim=1, keepdim=True)].nan_to_num() == 0).all()
    torch.testing.assert_close(found[0], expected[0])


def test_actions_are_sampled_alike_on_all_devices_and_have_their_probabilities() -> None:
    generator = torch.manual_seed(0)
    probabilities = torch.rand((5000, 6), generator=generator)
    probabilities *= torch.rand(probabilities.shape, generator=generator) < 0.5
    probabilities[:, 3] += 0.1
    probabilities[3000:] = torch.tensor([0.5, 0.0, 0.2, 0.3, 0.0, 0.0])
    probabilities[0, 4], probabilities[1], probabilities[2, 0] = torch.nan, torch.nan, torch.inf
    threshold = torch.rand((1, 5000), dtype=torch.float64, generator=generator)
    threshold[0, 3:5] = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    legal = torch.ones((5000, 6), dtype=torch.bool)
    legal[:3, :2] = False
    moves = Moves.empty((1, 5000, 6))
    moves.legal[0], moves.row_index[0] = legal, torch.arange(5000)
    play_kernels.sample_moves(0, probabilities.numpy(), threshold.numpy(), moves.arrays())
    found = sampled(probabilities, legal, threshold[0])
    assert torch.equal(moves.action[0], found)
    assert found[:3].tolist() == [2, 2, 2]  # the first legal one, where something is no number
    assert (probabilities[torch.arange(3, 5000), found[3:]] > 0).all()
    frequencies = found[3000:].bincount(minlength=6) / 2000
    torch.testing.assert_close(frequencies, probabilities[-1], atol=0.04, rtol=0)
