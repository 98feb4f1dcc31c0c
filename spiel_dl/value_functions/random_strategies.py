"""Random strategies of the trunk, for the training data of value functions."""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex

_CONCENTRATIONS = (0.1, 10.0)
_IMPURITIES = (1e-3, 1e-1)


def random_strategy(
    generator: np.random.Generator,
    treeplex: Treeplex,
    pure_share: float,
    near_pure_share: float,
) -> np.ndarray:
    """A player's random behaviour strategy.

    In each infoset one of three: a pure action; a mixture of a pure action with a Dirichlet one of
    log-uniform small weight; or a Dirichlet one with a log-uniform concentration.

    Args:
      generator: the random generator.
      treeplex: the player's strategy space.
      pure_share: probability that an infoset's strategy is pure.
      near_pure_share: probability that it is nearly so.

    Returns:
      float64 [S], a behaviour strategy, 1 at root sequences.
    """
    roots, sizes = treeplex.num_root_sequences, treeplex.num_actions
    num_infosets = treeplex.num_infosets
    concentration = _log_uniform(generator, _CONCENTRATIONS, num_infosets)
    # Normalised gamma variates are Dirichlet.
    gammas = np.zeros(treeplex.num_sequences)
    gammas[roots:] = generator.standard_gamma(np.repeat(concentration, sizes))
    strategy = gammas / np.concatenate(
        [np.ones(roots), np.repeat(treeplex.sum_per_infoset(gammas), sizes)]
    )
    kind = generator.random(num_infosets)
    impurity = _log_uniform(generator, _IMPURITIES, num_infosets)
    is_near_pure = kind < pure_share + near_pure_share
    weight = np.where(kind < pure_share, 0.0, np.where(is_near_pure, impurity, 1.0))
    pure = np.zeros(treeplex.num_sequences)
    choice = np.floor(generator.random(num_infosets) * sizes).astype(np.int64)
    pure[treeplex.first_sequence + choice] = 1.0
    weights = np.concatenate([np.zeros(roots), np.repeat(weight, sizes)])
    mixed = weights * strategy + (1 - weights) * pure
    mixed[:roots] = 1.0
    return mixed


def _log_uniform(
    generator: np.random.Generator, bounds: tuple[float, float], size: int
) -> np.ndarray:
    return np.exp(generator.uniform(np.log(bounds[0]), np.log(bounds[1]), size))
