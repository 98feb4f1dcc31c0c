"""Figures 3 and 4 of the particle paper on small games: right numbers, each made once."""

import dataclasses
import json

import numpy as np
import pytest
from papers.dl_cfr.report import write_result
from papers.dl_cfr.study import Study
from papers.particle import architectures as particle_architectures
from papers.particle import fractions as particle_fractions
from papers.particle import on_policy as particle_on_policy
from papers.particle import study as particle_study
from papers.particle.fractions import FractionsConfig
from papers.particle.linear_targets import LinearTargetsConfig
from papers.particle.played_game import PlayedGame
from papers.particle.study import DOMAINS, Domain, NetworkSizes

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.jobs.on_policy import OnPolicyConfig
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions.network_files import load_network
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.training import TrainingConfig

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"
SIZES = NetworkSizes(1, 1.0, ParticleSizes(4, 1, 1.0, 2, 1.0))
SETTINGS = {"seeds": (0, 1), "num_iterations": 20, "data_iterations": 10}
TRAINING = TrainingConfig(batch_size=64, networks_per_decade=1)


def study(path, rounds, samples=500):
    domain = Domain(GOOFSPIEL_4, DepthLimit(rounds=rounds), samples, 2)
    config = particle_study.study_config(domain, TRAINING, **SETTINGS)
    return Study(config, path, show_progress=False)


@pytest.mark.parametrize(("name", "states"), [("leduc", 37), ("goofspiel", 9)])
def test_training_sets_have_the_papers_sizes(name, states):
    domain = DOMAINS[name]
    config = particle_study.study_config(domain, TRAINING, **SETTINGS)
    training = config.training
    assert domain.num_samples <= training.max_strategies * states < domain.num_samples + states
    assert training.loss == "l2"
    left, _ = particle_study.split_strategies(
        config.num_shards * config.data.shard_size, training.validation_share, training.split_seed
    )
    assert len(left) >= training.max_strategies


def test_architectures(tmp_path):
    result = particle_architectures.architectures(study(tmp_path / "work", 2), SIZES)
    rows = list(result.table.rows)
    kinds = {
        kind: [row for row in rows if row["kind"] == kind] for kind in ("positional", "particle")
    }
    # 56 strategies of 9 states are 504 samples: 8 steps an epoch.
    assert [[row["step"] for row in found] for found in kinds.values()] == [[1, 10, 16]] * 2
    assert [line["kind"] for line in result.summary.rows] == ["positional", "particle"]
    for kind, found in kinds.items():
        folders = sorted((tmp_path / "work" / "networks").glob(f"{kind}-*"))
        assert len(folders) == 2
        values, errors = [], []
        for folder in folders:
            solver = DLCFRSolver(
                GOOFSPIEL_4,
                load_network(folder / "network-step-00000010.safetensors"),
                DepthLimit(rounds=2),
            )
            solver.run(20)
            values.append(trunk_losses(solver.trunk, solver.average_policy()).nash_conv)
            lines = [json.loads(line) for line in (folder / "metrics.jsonl").open()]
            errors += [line["training_loss"] for line in lines if line["step"] == 10]
        assert found[1]["trunk_nash_conv"] == pytest.approx(np.mean(values), abs=1e-9)
        assert found[1]["by network"] == pytest.approx(values, abs=1e-9)
        assert found[1]["mse"] == pytest.approx(np.mean(errors))


def test_on_policy(tmp_path):
    config = OnPolicyConfig(num_rounds=1, num_iterations=20, max_ranges=5)
    config = config.with_epochs([1, 1, 1, 1])
    whole = study(tmp_path / "work", 2)
    result = particle_on_policy.on_policy(whole, SIZES, config)
    rows = {(row["kind"], row["round"]): row for row in result.table.rows}
    assert list(rows) == [(kind, n) for kind in ("positional", "particle") for n in (0, 1)]
    assert [row["kind"] for row in result.summary.rows] == ["positional", "particle"]
    for kind in ("positional", "particle"):
        folders = sorted((tmp_path / "work" / "on_policy").glob(f"{kind}-*"))
        networks = [load_network(folder / "network.safetensors") for folder in folders]
        assert [network.kind for network in networks] == [f"{kind}_network"] * 2
        values, solvers = [], []
        for network in networks:
            solver = DLCFRSolver(GOOFSPIEL_4, network, DepthLimit(rounds=2))
            solver.run(20)
            values.append(trunk_losses(solver.trunk, solver.average_policy()).nash_conv)
            solvers.append(solver)
        assert rows[kind, 1]["by network"] == pytest.approx(values, abs=1e-9)
        assert rows[kind, 1]["trunk_nash_conv"] == pytest.approx(np.mean(values), abs=1e-9)
        for solver in solvers:
            solver.run(180)
        longer = [trunk_losses(s.trunk, s.average_policy()).nash_conv for s in solvers]
        [summary] = [row for row in result.summary.rows if row["kind"] == kind]
        assert summary["longer"] == pytest.approx(np.mean(longer), abs=1e-9)
        added = rows[kind, 1]["num_samples"] - rows[kind, 0]["num_samples"]
        assert added == 5 * 9  # ranges asked for, of 9 leaf public states
    assert "training" not in result.settings, "rounds have trainings of their own"
    assert result.settings["on_policy"]["num_rounds"] == 1
    assert not [name for name in whole.reused if name.startswith("on_policy")]
    resumed = study(tmp_path / "work", 2)
    again = particle_on_policy.on_policy(resumed, SIZES, config)
    # Two rounds of two networks of two kinds.
    assert len([name for name in resumed.reused if name.startswith("on_policy")]) == 8
    assert [row["by network"] for row in again.table.rows] == [
        row["by network"] for row in result.table.rows
    ]


def test_fractions_and_what_is_finished_is_not_done_again(tmp_path, monkeypatch):
    config = FractionsConfig(1, (0.0, 0.5, 1.0), num_draws=2, equilibrium_iterations=200)
    whole = study(tmp_path / "work", 2)
    result = particle_fractions.fractions(whole, SIZES, config)
    rows = {(row["choice"], row["histories"]): row for row in result.table.rows}
    # Each player has 4 cards to bid in the first round.
    assert sorted(rows) == [(kind, n) for kind in ("most reached", "random") for n in (1, 8, 16)]
    assert rows["random", 16]["deviation"] == pytest.approx(
        rows["most reached", 16]["deviation"], abs=1e-9
    )
    [row] = [
        row for row in result.table.rows if row["fraction"] == 0.5 and row["choice"] != "random"
    ]
    assert row["exploitability"] == pytest.approx(half_kept_by_hand(whole), abs=1e-9)
    report = write_result(result, whole, tmp_path / "results", 1.0)
    # The paper's numbers are of 5 cards.
    assert "0.42" not in report.read_text()
    settings = json.loads(report.with_suffix(".json").read_text())["settings"]
    assert settings["fractions"]["num_draws"] == 2
    assert settings["sizes"]["particle"]["base"] == 4
    assert report.with_suffix(".png").stat().st_size > 10_000

    def refuse(*_args):
        raise AssertionError("done again")

    monkeypatch.setattr(particle_fractions.PlayedGame, "search", refuse)
    again = particle_fractions.fractions(study(tmp_path / "work", 2), SIZES, config)
    assert again.table.rows == result.table.rows


def test_the_paper_s_numbers_stand_beside_its_own_game():
    def kept(*values):
        return [
            {"choice": "most reached", "histories": number, "exploitability": value}
            for number, value in enumerate(values, 1)
        ]

    ours = particle_fractions.summary(kept(0.1, 0.05), 0.4, is_the_papers=False)
    assert "0.42" not in ours.to_markdown()
    text = particle_fractions.summary(kept(0.1, 0.05), 0.4, is_the_papers=True).to_markdown()
    assert "| uniform | 0.4 | 0.42 |" in text
    assert "| uniform divided by that | 4 | about 3.5 |" in text
    perfect = particle_fractions.summary(kept(0.0, 0.0), 0.4, is_the_papers=True)
    assert "| uniform divided by that |  | about 3.5 |" in perfect.to_markdown()


@pytest.mark.parametrize(
    ("cards", "played", "expected"), [(5, 2, True), (5, 1, False), (4, 2, False)]
)
def test_which_game_is_the_papers(cards, played, expected):
    tree = GameTree.from_game(f"python_goofspiel_ii(num_cards={cards},points_order=descending)")
    limit = DepthLimit(rounds=played)
    assert particle_fractions.is_the_papers(tree, limit) == expected


def half_kept_by_hand(whole):
    """Mean exploitability over the networks, of search below the 8 most reached histories."""
    solver = CFRPlusSolver(whole.trunk.tree)
    solver.run(200)
    limit = DepthLimit(rounds=1)
    strategies = solver.average_policy().strategies
    game = PlayedGame.of_strategies(whole.trunk.tree, strategies, limit, limit)
    kept = np.argsort(-game.reach, kind="stable")[:8]
    values = []
    for folder in sorted((whole.directory / "networks").glob("particle-*")):
        network = load_network(folder / "network.safetensors")
        values.append(game.nash_conv(game.search(np.sort(kept), network, 20)) / 2)
    return np.mean(values)


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="width must be positive"):
        NetworkSizes(width=0)
    with pytest.raises(ValueError, match=r"fractions=\(1.5,\) must be"):
        FractionsConfig(fractions=(1.5,))
    for name, value in (("learning_rate", 0.0), ("final_learning_rate", 0.5), ("num_steps", 0)):
        with pytest.raises(ValueError, match=f"{name}={value}"):
            LinearTargetsConfig(**{name: value})
    with pytest.raises(ValueError, match="played=0"):
        FractionsConfig(played=0)
    with pytest.raises(ValueError, match="0 public states at 9 rounds"):
        study(tmp_path, 9)
    with pytest.raises(ValueError, match="num_samples=0"):
        study(tmp_path, 2, 0)
    whole = study(tmp_path / "work", 2)
    with pytest.raises(ValueError, match="played=2 leaves no look-ahead"):
        particle_fractions.fractions(whole, SIZES, FractionsConfig(2))
    none_kept = dataclasses.replace(whole.config.training, networks_per_decade=0)
    config = dataclasses.replace(whole.config, training=none_kept)
    with pytest.raises(ValueError, match="networks_per_decade=0"):
        particle_architectures.architectures(Study(config, tmp_path / "work"), SIZES)
