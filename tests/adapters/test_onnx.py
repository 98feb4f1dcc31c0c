"""A written network says what the policy says, in another runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyspiel
import pytest

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from spiel_dl.adapters.onnx import write_onnx
from spiel_dl.games.features import features
from spiel_dl.play import registry
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.small_policies import UniformPolicy
from tests.untrained_blueprints import network_policy


def leduc(fine_tuning: FineTuning | None = None) -> NetworkPolicy:
    game = pyspiel.load_game("leduc_poker")
    return network_policy(game, (8, 5), scale=3, fine_tuning=fine_tuning)


def test_the_file_says_what_the_policy_says(tmp_path: Path) -> None:
    policy = leduc()
    write_onnx(policy, tmp_path / "leduc.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "leduc.onnx")
    played = registry.load_policy(f"onnx:{tmp_path / 'leduc.onnx'}", "leduc_poker")
    assert session.get_modelmeta().custom_metadata_map == {
        "game": "leduc_poker()",
        "sight": "features",
    }
    first = policy.game.new_initial_state().child(0).child(3)
    # All three actions are legal after a raise, two before.
    for state in (first, first.child(2)):
        observation = features(state, state.current_player())[None]
        legal = np.array([state.legal_actions_mask()], bool)
        [found] = session.run(["policy"], {"observation": observation, "legal": legal})
        expected = policy.action_probabilities(state)
        assert len(set(np.round(list(expected.values()), 3))) > 1
        for action in range(3):
            assert found[0, action] == pytest.approx(expected.get(action, 0.0), abs=1e-6)
        # As a policy by its name, too.
        assert played.action_probabilities(state) == pytest.approx(expected, abs=1e-6)
    assert str(registry.load_policy(f"onnx:{tmp_path / 'leduc.onnx'}").game) == str(policy.game)


def test_other_policies_are_refused(tmp_path: Path) -> None:
    game = pyspiel.load_game("leduc_poker")
    for policy, message in (
        (UniformPolicy(game, [0, 1]), "is no NetworkPolicy"),
        (leduc(FineTuning()), "leave fine-tuning out"),
    ):
        with pytest.raises(ValueError, match=message):
            write_onnx(policy, tmp_path / "file.onnx")
    assert list(tmp_path.iterdir()) == []
