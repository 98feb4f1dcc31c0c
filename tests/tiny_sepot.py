"""Studies of the SePoT paper's experiments on kuhn_poker, as small as they can be."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyspiel

from experiments.sepot.experiments import EXPERIMENTS
from experiments.sepot.study import GameStudy, Settings, Study
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.transformations import action_values, paper_transformations
from spiel_dl.runs.reports import Report
from spiel_dl.runs.workspace import Workspace
from spiel_dl.value_functions.training import TrainingConfig

TINY = Settings(
    ("kuhn_poker",),
    seeds=(0, 1),
    num_steps=4,
    steps_per_evaluation=3,
    learner=RNaDConfig(batch_size=4, hidden_sizes=(4,)),
    critic=CriticConfig(hidden_sizes=(4,), learning_rate=3e-4, final_learning_rate=None),
    iterations=20,
    num_games=8,
    num_strategies=30,
    num_layers=1,
    num_units=8,
    training=TrainingConfig(num_epochs=2, networks_per_decade=0),
)


def study(directory: Path, **changes) -> Study:
    return Study(dataclasses.replace(TINY, **changes), Workspace(directory))


def game_study(directory: Path, **changes) -> GameStudy:
    [found] = study(directory, **changes).games()
    return found


def report(name: str, directory: Path, **changes) -> Report:
    return EXPERIMENTS[name].report(study(directory, **changes))


def networks(game: pyspiel.Game, directory: Path, number: int) -> Path:
    """Networks with critics of so many seeds, and the file of the last one."""
    transformations = paper_transformations(action_values(game))
    for seed in range(number):
        learner = RNaDSolver(
            game,
            RNaDConfig(hidden_sizes=(8,), batch_size=4, seed=seed, max_tree_histories=1),
            transformations=transformations,
            critic=CriticConfig(hidden_sizes=(4,)),
        )
        learner.step()
        learner.save(directory / f"{seed}.safetensors")
    return directory / f"{number - 1}.safetensors"
