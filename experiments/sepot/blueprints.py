"""Policies of known quality to search upon, most of them made without any network.

They are exact fixed points of R-NaD, the same with noise on their logits, quantal responses, and
the uniform policy. A name of the registry does as well, such as one of the model zoo.
"""

from __future__ import annotations

import functools

import numpy as np

from experiments.fixed_points.fixed_points import MMDFixedPoints, RNaDFixedPoints
from experiments.sepot.evaluation import compiled
from spiel_dl.play import registry
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy

# Of the next regularisation policy, in utility units: Leduc's are larger.
_ETA, _ETA_LEDUC = 0.2, 1.0


def digest_of(blueprint: str) -> str:
    """A short hash of the files of a blueprint, as `blueprint_of` takes it; "" if it has none."""
    return registry.digest(blueprint.partition("~")[0])[:12]


def blueprint_of(game: str, name: str) -> ArrayPolicy:
    """A policy of a compiled game.

    Args:
      game: game string.
      name: "fixed:K", R-NaD's fixed point after K regularisation policies; "quantal:T", the quantal
        response equilibrium of temperature T; or a name of `play.registry`. Behind it there may be
        "~SIGMA~SEED": normal noise of this deviation on the logits.

    Raises:
      ValueError: if there is no such policy.
    """
    base, *noise = name.split("~")
    kind, _, number = base.partition(":")
    tree = compiled(game)
    if kind == "fixed":
        policy = _fixed_points(game, int(number))
    elif kind == "quantal":
        quantal = MMDFixedPoints(tree, temperature=float(number))
        quantal.run(1)
        policy = quantal.current_policy()
    else:
        policy = load_array_policy(base, tree)
    return _with_noise(policy, float(noise[0]), int(noise[1])) if noise else policy


@functools.lru_cache(maxsize=8)
def _fixed_points(game: str, number: int) -> ArrayPolicy:
    tree, start = compiled(game), _fixed_points(game, number - 1) if number > 1 else None
    eta = _ETA_LEDUC if "leduc" in game else _ETA
    exact = RNaDFixedPoints(tree, start, eta=eta)
    exact.run(1)
    return exact.current_policy()


def _with_noise(policy: ArrayPolicy, sigma: float, seed: int) -> ArrayPolicy:
    generator, found = np.random.default_rng(seed), []
    for treeplex, strategy in zip(policy.tree.treeplexes, policy.strategies, strict=True):
        weights = strategy * np.exp(sigma * generator.standard_normal(len(strategy)))
        sums = treeplex.sum_per_infoset(weights)
        roots = np.ones(treeplex.num_root_sequences)
        weights[: len(roots)] = 1.0
        found.append(weights / np.concatenate([roots, np.repeat(sums, treeplex.num_actions)]))
    return ArrayPolicy(policy.tree, (found[0], found[1]))
