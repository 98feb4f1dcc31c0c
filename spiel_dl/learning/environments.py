"""Self-play in any two-player zero-sum OpenSpiel game."""

from __future__ import annotations

import pyspiel
import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import BatchedEnvironment, keep_freed_memory
from spiel_dl.games.features import num_features
from spiel_dl.learning.compiled_sources import CompiledSource, TreeSource
from spiel_dl.learning.sources import Source, TensorSource
from spiel_dl.learning.state_environment import StateEnvironment
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_if_small, turn_based_game

LARGEST_COMPILED_BATCH = 4096
"""Batches of at most so many games are played by the rules' compiled form, if any, on a CPU."""


def self_play_of(
    game: AnyGame,
    batch_size: int,
    device: torch.device | str = "cpu",
    *,
    seed: int = 0,
    max_tree_histories: int,
) -> Source:
    """Self-play in a game: by its tree if it is small, else by its rules, else by its states.

    Rules with a compiled form are played by it where that is faster: on a CPU, in batches of at
    most `LARGEST_COMPILED_BATCH` games. The games are the same.

    Args:
      game: the game, its game string, or the compiled game, which is then used whatever its size.
      batch_size: games played at once.
      device: the device of all tensors.
      seed: the seed of chance and actions.
      max_tree_histories: compile games of at most so many histories; 0: none.

    Raises:
      ValueError: if the game cannot be learned here, or has no decisions, or `batch_size` is not
        positive.
    """
    turn_based = turn_based_game(game)
    num_features(turn_based)  # Raises for games without features, before their tree is built.
    tree = game if isinstance(game, GameTree) else None
    if tree is None and max_tree_histories > 0:
        tree = compile_if_small(turn_based, max_tree_histories)
    longest = turn_based.max_game_length() if tree is None else int(tree.move_number.max())
    if longest < 1:
        raise ValueError(f"{turn_based} has no decisions, so there is nothing to learn in it")
    keep_freed_memory()
    return _source(turn_based, tree, batch_size, torch.device(device), seed, longest)


def _source(
    game: pyspiel.Game,
    tree: GameTree | None,
    batch_size: int,
    device: torch.device,
    seed: int,
    num_steps: int,
) -> Source:
    is_cpu = device.type == "cpu"
    if tree is not None:
        of_tree = TreeEnvironment(tree, batch_size, device, seed)
        return (TreeSource if is_cpu else TensorSource)(of_tree, num_steps)
    if not hasattr(game, "rules"):
        return TensorSource(StateEnvironment(game, batch_size, device, seed), num_steps)
    is_small = is_cpu and batch_size <= LARGEST_COMPILED_BATCH
    if is_small and game.rules.compiled() is not None:
        return CompiledSource(CompiledEnvironment(game.rules, batch_size, seed), num_steps)
    return TensorSource(BatchedEnvironment(game.rules, batch_size, device, seed), num_steps)
