"""Networks that were just trained go into a zoo of their own, and are found there by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyspiel
import pytest

import spiel_dl as dl
import spiel_dl.games
from spiel_dl import DepthLimit, nash_conv
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.learning import checkpoints
from spiel_dl.play import registry, zoo
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs import publishing
from spiel_dl.runs.learner_run import FINISHED_FILE, run_learner
from spiel_dl.runs.publishing import publish
from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from tests.run.scripts import succeed
from tests.small_learners import CRITIC, small_critic, small_learner

GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=descending)"
NETWORK: dict[str, Any] = {"hidden_sizes": (16,), "learning_rate": 0.01}


def train(path: Path, learner: Any) -> Path:
    directory = RunDirectory(path, {"learner": learner.settings()}, resume=True)
    run_learner(learner, directory, 20, steps_per_evaluation=10, show_progress=False)
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of run directories, and an empty zoo."""
    path = tmp_path_factory.mktemp("trained")
    (path / "zoo").mkdir()
    (path / "zoo" / zoo.INDEX_FILE).write_text("{}\n")
    train(path / "rnad", small_learner("rnad", critic=CRITIC, **NETWORK))
    train(path / "ppo", small_learner("ppo", GOOFSPIEL, max_tree_histories=1, **NETWORK))
    config = ParticleSelfPlayConfig(budget=4, iterations=3, batch_size=4)
    network = ParticleNetwork(ParticleSizes(base=4, regression_width=1.0))
    train(path / "particle", ParticleSelfPlay(GOOFSPIEL, network, DepthLimit(rounds=1), config))
    return path


@pytest.fixture
def models(trained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The zoo that names are looked up in."""
    monkeypatch.setattr(zoo, "folder", lambda: trained / "zoo")
    return trained / "zoo"


def test_a_policy_network_and_its_critic(trained: Path, models: Path) -> None:
    name, model = publish(trained / "rnad", models, "kuhn", num_games=20)
    assert name == "rnad:kuhn"
    assert zoo.models()[name] == model
    assert (model.game, model.algorithm, model.num_steps) == ("kuhn_poker()", "rnad", 20)
    assert model.dtype == "float16"
    policy = dl.load_policy("rnad:kuhn")
    assert isinstance(policy, NetworkPolicy)
    game = pyspiel.load_game("kuhn_poker")
    # What was measured is what is stored.
    assert nash_conv(game, policy) == pytest.approx(model.measured["nash_conv"], abs=1e-7)
    exact = nash_conv(game, checkpoints.load(trained / "rnad").blueprint)
    assert model.measured["nash_conv"] == pytest.approx(exact, abs=1e-3)
    assert model.measured["against_uniform"]["games"] == 20
    arrays, _ = tensor_files.load(models / model.file)
    assert {array.dtype.name for array in arrays.values()} == {"float16"}
    curve = json.loads((models / model.curve).read_text())["metrics"]
    assert [line["step"] for line in curve] == [10, 20]
    # SePoT searches with both.
    state = game.new_initial_state().child(0).child(1)
    limit = DepthLimit(moves=1)
    for searched in ("sepot:kuhn", "sepot:rnad:kuhn"):
        found = dl.load_policy(searched, depth_limit=limit).action_probabilities(state)
        assert sum(found.values()) == pytest.approx(1)
        assert registry.path_in(searched) == models / model.file
    assert dl.load_policy("cdbr:rnad:kuhn", "kuhn_poker", depth_limit=limit)
    with pytest.raises(ValueError, match=r"is of kuhn_poker\(\), not of leduc_poker"):
        dl.load_policy("rnad:kuhn", "leduc_poker")


def test_a_model_stays_until_its_successor_is_written(
    trained: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(trained / "rnad", models, "kept", num_games=0)
    before = {path.name: path.read_bytes() for path in models.iterdir()}
    other = train(trained / "other", small_learner("rnad", seed=1, **NETWORK))

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(zoo, "write_json", fail)
    with pytest.raises(OSError, match="disk full"):
        publish(other, models, "kept", num_games=0)
    assert {path.name: path.read_bytes() for path in models.iterdir()} == before


def test_a_critic_and_how_the_policy_learned_that_it_is_of(trained: Path, models: Path) -> None:
    path = trained / "critic"
    blueprint = checkpoints.load_blueprint(trained / "rnad")
    learner = small_critic(blueprint=blueprint)
    directory = RunDirectory(path, {"blueprint": str(trained / "rnad")})
    run_learner(learner, directory, 2, steps_per_evaluation=2, show_progress=False)
    name, model = publish(path, models, "with_critic", num_games=0)
    assert name == "rnad:with_critic"
    with pytest.raises(ValueError, match="is a model of rnad; give rnad:other"):
        publish(path, models, "mmd:other", num_games=0)
    assert (model.algorithm, model.num_steps) == ("critic", 2)
    assert (model.blueprint["algorithm"], model.blueprint["num_steps"]) == ("rnad", 20)
    assert model.blueprint["config"]["batch_size"] == 8
    # A critic of a model of the zoo has the same policy, whatever critic that model has.
    again = RunDirectory(trained / "again", {"blueprint": str(models / model.file)})
    run_learner(learner, again, 4, steps_per_evaluation=2, show_progress=False)
    _, second = publish(trained / "again", models, "rnad:again", num_games=0)
    assert second.blueprint == model.blueprint
    publish(trained / "rnad", models, "rnad:alone", num_games=0)
    for known, expected in ((str(models / "rnad_alone.safetensors"), "rnad"), (None, None)):
        found = publishing._blueprint_origin(known)
        assert (found and found["algorithm"]) == expected
    with pytest.raises(ValueError, match="gone"):
        publishing._blueprint_origin(str(trained / "gone"))


def test_a_particle_network(trained: Path, models: Path) -> None:
    name, model = publish(trained / "particle", models, "three_cards", num_games=2)
    assert name == "particle:three_cards"
    assert model.measured["trunk_nash_conv"] > 0
    assert model.measured["against_uniform"]["half_width"] is None  # of one pair of games
    game = pyspiel.load_game(GOOFSPIEL)
    for known in (name, f"particle:{trained / 'particle'}"):
        found = dl.load_policy(known).action_probabilities(game.new_initial_state())
        assert sum(found.values()) == pytest.approx(1)


def test_the_script_publishes_into_a_folder_of_ones_own(trained: Path, tmp_path: Path) -> None:
    (tmp_path / zoo.INDEX_FILE).write_text("{}\n")
    arguments = (f"--run_dir={trained / 'ppo'}", "--name=own", f"--models={tmp_path}")
    output, _ = succeed("publish.py", *arguments, "--num_games=0")
    [(name, model)] = zoo.models(tmp_path).items()
    assert (name, model.num_steps) == ("ppo:own", 20)
    lines = dict(line.split(maxsplit=1) for line in output.splitlines())
    assert (lines["name"], lines["file"]) == (name, str(tmp_path / model.file))


def test_errors(trained: Path, models: Path, tmp_path: Path, monkeypatch: Any) -> None:
    publish(trained / "ppo", models, "one", num_games=0)
    with pytest.raises(ValueError, match=r"no model 'rnad:none' in the zoo; there are .*ppo:one"):
        dl.load_policy("rnad:none")
    with pytest.raises(ValueError, match="nor a model of the zoo: there are"):
        dl.load_policy("sepot:none")
    with pytest.raises(ValueError, match="give ALGORITHM:NAME"):
        publish(trained / "ppo", models)  # no preset has its game
    with pytest.raises(ValueError, match="is a model of ppo; give ppo:one, or one alone"):
        publish(trained / "ppo", models, "rnad:one")
    publish(trained / "ppo", models, "my-net", num_games=0)
    with pytest.raises(ValueError, match=r"ppo:my-net has the file ppo_my_net\.safetensors"):
        publish(trained / "ppo", models, "my_net", num_games=0)
    with pytest.raises(ValueError, match="there is no model zoo"):
        publish(trained / "ppo", tmp_path, "one")
    with pytest.raises(ValueError, match="holds no run"):
        publish(tmp_path, models, "one")
    with pytest.raises(ValueError, match="num_games=3 must be a whole number, at least 2 and even"):
        publish(trained / "ppo", models, "one", num_games=3)
    for name in (FINISHED_FILE, "metrics.jsonl"):
        path = trained / "ppo" / name
        text = path.read_text()
        path.unlink()
        with pytest.raises(ValueError, match="is not finished"):
            publish(trained / "ppo", models, "one")
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ppo:one").mkdir()
    with pytest.raises(ValueError, match="is both a path and the model ppo:one"):
        dl.load_policy("sepot:ppo:one")
