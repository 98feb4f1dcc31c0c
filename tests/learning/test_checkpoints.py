"""Checkpoints of every learner, those of earlier versions among them, are read as what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.learning import checkpoints
from spiel_dl.learning.learner import Learner
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import CHECKPOINT_FILE
from tests.reference import assert_same_policy
from tests.small_learners import CRITIC, small_critic, small_learner

CRITICS = ["critic of a network", "critic of a table", "rnad with a critic"]
KINDS = ["rnad", "mmd", "ppo", *CRITICS]


def learner_of(kind: str) -> Learner:
    """After a few large steps, so that no two of its policies are the same."""
    learner: Learner
    if kind.startswith("rnad"):
        critic = CRITIC if "critic" in kind else None
        learner = small_learner("rnad", critic=critic, learning_rate=0.1, target_averaging=0.5)
    elif kind in ("mmd", "ppo"):
        learner = small_learner(kind, learning_rate=0.1)
    elif kind == "critic of a network":
        network = small_learner("rnad", max_tree_histories=1, seed=5)
        learner = small_critic(blueprint=network.policy(FineTuning(0.2, 8)))
    else:
        learner = small_critic()
    learner.run(3)
    return learner


def assert_is_policy_of(learner: Learner, found: Any) -> None:
    tree = GameTree.from_game("kuhn_poker")
    ours, theirs = (ArrayPolicy.from_policy(tree, p) for p in (learner.policy(), found))
    assert_same_policy(theirs, ours, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_is_the_one_that_is_handed_out(kind: str, tmp_path: Path) -> None:
    learner = learner_of(kind)
    learner.save(tmp_path / CHECKPOINT_FILE)
    for path in (tmp_path, tmp_path / CHECKPOINT_FILE):
        assert checkpoints.is_checkpoint(path)
        assert_is_policy_of(learner, checkpoints.load_blueprint(path))


@pytest.mark.parametrize(("utility_unit", "expected"), [(None, 2.0), (0.5, 0.5)])
def test_the_unit_of_values_is_told(
    utility_unit: float | None, expected: float, tmp_path: Path
) -> None:
    """By default it is the game's largest utility, 2 in Kuhn poker."""
    learner = small_learner("rnad", max_tree_histories=1, utility_unit=utility_unit)
    critic = small_critic(blueprint=learner.policy())
    path = tmp_path / CHECKPOINT_FILE
    for each in (learner, critic):
        each.save(path)
        found = checkpoints.load_blueprint(path)
        assert isinstance(found, NetworkPolicy)
        assert found.value_unit == expected


@pytest.mark.parametrize("said_more", [False, True])
@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("mmd", r"train anew \(run/train.py --algorithm=mmd --game="),
        (
            "critic of a network",
            r"train anew first its policy, then the critic \(.* --algorithm=critic --blueprint=RUN",
        ),
    ],
)
def test_checkpoints_of_earlier_versions_are_refused_with_the_way_out(
    said_more: bool, kind: str, remedy: str, tmp_path: Path
) -> None:
    """The second version said where a network is, and not what it saw."""
    path = tmp_path / CHECKPOINT_FILE
    learner_of(kind).save(path)
    arrays, header = tensor_files.load(path)
    del header["policy"]
    if said_more:
        header["policy"] = {"array": "parameters", "row": None, "hidden_sizes": [8]}
    tensor_files.save(path, arrays, header)
    with pytest.raises(ValueError, match=remedy):
        checkpoints.load_blueprint(path)


@pytest.mark.parametrize("kind", CRITICS)
def test_a_critic_comes_with_its_blueprint(kind: str, tmp_path: Path) -> None:
    learner = learner_of(kind)
    learner.save(tmp_path / CHECKPOINT_FILE)
    found = checkpoints.load(tmp_path)
    assert found.critic.names == ("identity", "action 0", "action 1")
    assert_is_policy_of(learner, found.blueprint)
    tree = GameTree.from_game("kuhn_poker")
    acting = np.flatnonzero(tree.player >= 0)
    for player in (0, 1):
        expected = learner.critic().values(tree, acting, player)
        np.testing.assert_array_equal(found.critic.values(tree, acting, player), expected)


def test_what_is_no_checkpoint_of_the_game_is_refused(tmp_path: Path) -> None:
    assert not checkpoints.is_checkpoint(tmp_path)
    learner_of("mmd").save(tmp_path / CHECKPOINT_FILE)
    with pytest.raises(ValueError, match=r"is of kuhn_poker\(\), not of leduc_poker\(\)"):
        checkpoints.load_blueprint(tmp_path, "leduc_poker")
    same = checkpoints.load_blueprint(tmp_path, "kuhn_poker(players=2)")
    assert str(same.game) == "kuhn_poker(players=2)"
    with pytest.raises(ValueError, match="checkpoint of mmd without a critic"):
        checkpoints.load(tmp_path)
    tensor_files.save(tmp_path / "policy", {}, {"kind": "policy"})
    assert not checkpoints.is_checkpoint(tmp_path / "policy")
    with pytest.raises(ValueError, match=r"holds a policy .* not a learner's checkpoint"):
        checkpoints.load_blueprint(tmp_path / "policy")
