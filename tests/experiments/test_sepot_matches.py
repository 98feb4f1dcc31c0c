"""Matches of networks with other searches than Table 1 has, against the policies' own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from experiments.sepot.readings_match import IdentityCritic
from experiments.sepot.table_1 import match_seed
from spiel_dl.algorithms.particle_sepot import ParticleConfig, ParticleSePoTPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.play.matches import play_match
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.tiny_sepot import networks, report

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=random,returns_type=win_loss)"


def test_matches_of_other_searches_are_those_of_the_policies(tmp_path: Path) -> None:
    game = load_turn_based(GOOFSPIEL)
    networks(game, tmp_path, 2)
    limit, most = DepthLimit(rounds=1), 200
    readings = ("defaults", "no choice", "neither")
    found = report(
        "readings_match", tmp_path, games=(str(game),), network=f"{tmp_path}/{{seed}}.safetensors",
        bounds=(most,), num_games=6, iterations=50, limits=(limit,), readings=readings,
    )  # fmt: skip
    rows = found.tables["All matches"].rows
    assert [row["reading"] for row in rows] == [name for name in readings for _ in range(2)]
    effort = dataclasses.replace(DEFAULT_EFFORT, iterations=50)
    for row, own in zip(rows, (0, 1) * 3, strict=True):
        first, second = (
            checkpoints.load(tmp_path / f"{seed}.safetensors", game) for seed in (own, 1 - own)
        )
        critic = first.critic
        if row["reading"] != "defaults":
            critic = IdentityCritic(critic)
        gadget = "unsafe" if row["reading"] == "neither" else "resolving"
        config = SearchConfig(max_histories=most, effort=effort, gadget=gadget)
        policy = SePoTPlayPolicy(game, first.blueprint.act, critic, limit, config=config)
        result = play_match(game, policy, second.blueprint, 6, match_seed(own, 1 - own))
        assert row["mean"] == result.mean_return
        assert row["share_searched"] > 0
    assert len(found.tables["By search"].rows) == 3


def test_matches_of_the_last_rounds_are_those_of_the_policies(tmp_path: Path) -> None:
    game = load_turn_based(GOOFSPIEL)
    networks(game, tmp_path, 1)
    readings, budget = ("defaults", "no gadget"), 6
    found = report(
        "late_rounds", tmp_path, games=(str(game),), network=f"{tmp_path}/0.safetensors",
        seeds=(0,), bounds=(budget,), num_games=8, iterations=50, readings=readings, last_rounds=3,
    )  # fmt: skip
    rows = found.tables["All matches"].rows
    effort = dataclasses.replace(DEFAULT_EFFORT, iterations=50)
    loaded = checkpoints.load(tmp_path / "0.safetensors", game)
    for row, gadget in zip(rows, ("resolving", "unsafe"), strict=True):
        policy = ParticleSePoTPolicy(
            game, loaded.blueprint.act, loaded.critic, DepthLimit(rounds=3),
            config=SearchConfig(first_level=1, effort=effort, gadget=gadget),
            particles=ParticleConfig(budget),
        )  # fmt: skip
        result = play_match(game, policy, loaded.blueprint, 8, match_seed(0, 0))
        assert row["mean"] == result.mean_return
        # Of three moves with a choice, the network makes the first.
        assert 0 < row["share_searched"] <= 2 / 3
    assert [row["reading"] for row in found.tables["By search"].rows] == list(readings)


def test_the_last_rounds_are_those_of_goofspiel(tmp_path: Path) -> None:
    game = load_turn_based("python_leduc")
    networks(game, tmp_path, 1)
    with pytest.raises(ValueError, match="is not Goofspiel"):
        report(
            "late_rounds", tmp_path, games=(str(game),), network=f"{tmp_path}/0.safetensors",
            seeds=(0,), bounds=(6,), num_games=2,
        )  # fmt: skip
