"""Layouts of leaf infosets by public state, and those that look alike, by hand."""

import numpy as np
import torch

from spiel_dl.value_functions.particle_features import LeafFeatures
from spiel_dl.value_functions.particle_leaves import Alike, LeafTensors

# Six infosets of three public states.
STATE = np.array([0, 2, 0, 1, 2, 0])


def test_entries_are_the_infosets_of_a_public_state():
    infostates = np.arange(12, dtype=np.float32).reshape(6, 2)
    public = np.array([[1], [2], [3]], np.float32)
    tensors = LeafTensors.of_infosets(STATE, LeafFeatures(public, infostates), torch.device("cpu"))
    # 6 is the place behind all infosets, where rows are 0.
    assert tensors.entry.tolist() == [[0, 2, 5], [3, 6, 6], [1, 4, 6]]
    assert tensors.infostate.tolist() == [[0, 2, 5], [3, 5, 5], [1, 4, 5]]
    assert tensors.place.tolist() == [0, 6, 1, 3, 7, 2]
    row = torch.tensor([10.0, 11, 12, 13, 14, 15, 0])
    entries = row[tensors.entry]
    assert entries.tolist() == [[10, 12, 15], [13, 0, 0], [11, 14, 0]]
    assert entries.flatten()[tensors.place].tolist() == row[:6].tolist()
    assert tensors.features.tolist() == infostates.tolist()
    assert tensors.public.tolist() == public.tolist()


def test_the_same_features_in_the_same_public_state_are_one():
    # Infosets 0, 2 and 5 share a public state; 0 and 5 look alike. So does 3, but elsewhere.
    kinds = np.array([7, 8, 9, 7, 6, 7], np.float32)[:, None]
    alike = Alike(kinds, STATE)
    assert alike.first.tolist() == [0, 1, 2, 3, 4]
    rows = np.array([[1.0, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 1]])
    assert alike.sum(rows).tolist() == [[7, 2, 3, 4, 5, 0], [1, 0, 0, 0, 0, 0]]
    spread = alike.spread(np.array([[10.0, 20, 30, 40, 50]]))
    assert spread.tolist() == [[10, 20, 30, 40, 50, 10]]
