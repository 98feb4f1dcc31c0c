"""Refined gadgets: solutions that also play well where the opponent need not enter.

Kubíček, Lisý, Sandholm (2026), "Equilibrium Refinements Improve Subgame Solving in
Imperfect-Information Games" (arXiv 2601.17131). A gadget's solutions keep the opponent at its given
cfvs w, and are arbitrary where it would not enter. The *refined* solution is defined in two steps.
With the opponent's best-response cfvs v and a weight c for each of its root infosets,

  * resolving: of the strategies that minimise the sum of max(v, w), one that minimises the sum of
    c v;
  * max-margin: of those that minimise the largest (v - w) / r, one that minimises the sum of
    c (v - w) / r. With r the reach of a root infoset by chance and the player, margins are in
    utility units; with r = 1, as in `solvers.gadgets`, they are unnormalised.

CFR approximates it if the opponent enters each root infoset with at least a small reach, its
*floor*.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.solvers.checks import check_weights

WEIGHTS = ("ones", "prior", "mixed")
"""Weights of root infosets: all equal; a prior, an estimate of the opponent's own reach of them; or
the prior plus a tenth of its largest entry."""
REFINEMENTS = ("none", *WEIGHTS)
"""Weights by which gadgets are refined; "none": they are not."""
FLOOR = 0.01
"""The floor of a weight of 1. A tenth of it refines too slowly, and floors that decrease over the
iterations leave a bias in their average."""
LARGEST_WEIGHT = 10.0
"""The largest weight, so that no floor is above a tenth."""
LARGEST_SUM = 0.1
"""The largest sum of the floors of a max-margin gadget."""
_MIXED_SHARE = 0.1


def check_name(refinement: str, allowed: tuple[str, ...] = REFINEMENTS) -> None:
    """Raises a ValueError unless `refinement` is one of the allowed names."""
    if refinement not in allowed:
        raise ValueError(f"refinement={refinement!r} must be one of {allowed}")


def weights(name: str, prior: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """The weights c of root infosets: float64 [R_-p], of mean 1, but none above `LARGEST_WEIGHT`.

    Args:
      name: one of `WEIGHTS`.
      prior: float64 [R_-p], the opponent's own reach of its root infosets, of any scale; for
        "ones", only its length is used. Where it is 0 in all of a public state, because the
        opponent was not expected there, it is replaced by 1.
      groups: int [R_-p], the public state of each root infoset, from 0 on, if subgames are solved
        side by side; weights are scaled for each by itself. None: there is one.

    Raises:
      ValueError: if there are no such weights, or if the prior is negative or not finite somewhere.
    """
    check_name(name, WEIGHTS)
    check_weights(prior, len(prior), "the prior", "root infoset")
    if name == "ones":
        return np.ones(len(prior))
    groups = _one_group(prior) if groups is None else groups
    prior = np.where(_largest(prior, groups)[groups] > 0, prior, 1.0)
    unscaled = prior + _MIXED_SHARE * _largest(prior, groups)[groups] if name == "mixed" else prior
    means = np.bincount(groups, unscaled) / np.bincount(groups)
    return unscaled / np.maximum(means, _largest(unscaled, groups) / LARGEST_WEIGHT)[groups]


def floors(
    name: str, prior: np.ndarray, groups: np.ndarray | None = None, *, margins: bool = False
) -> np.ndarray:
    """Floors of the reach that the opponent passes into a subgame: `FLOOR` times the weights.

    Args:
      name, prior, groups: as in `weights`.
      margins: whether the gadget is a max-margin one, in which the opponent's reaches of all root
        infosets sum to 1. Then the floors of a public state sum to at most `LARGEST_SUM`.

    Raises:
      ValueError: as `weights`.
    """
    scaled_weights = weights(name, prior, groups)
    if not margins:
        return FLOOR * scaled_weights
    groups = _one_group(prior) if groups is None else groups
    return np.minimum(FLOOR, LARGEST_SUM / np.bincount(groups))[groups] * scaled_weights


def _one_group(prior: np.ndarray) -> np.ndarray:
    return np.zeros(len(prior), np.int64)


def _largest(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The largest value (float64 [R], at least 0) of each group."""
    largest = np.zeros(groups.max(initial=-1) + 1)
    np.maximum.at(largest, groups, values)
    return largest
