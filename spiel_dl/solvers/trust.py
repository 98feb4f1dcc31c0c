"""Resolving with some trust that the opponent has come as expected.

A resolving gadget guards each of the opponent's root infosets alike, also those to which nobody who
plays well would come. Without a gadget, nothing is guarded but the range that is expected of the
opponent. With a trust of t the opponent does both: a share t of its reach comes by that range, and
the rest chooses in each root infoset between entering and its given cfv. Johanson, Zinkevich,
Bowling (2007), "Computing Robust Counter-Strategies", and Milec et al. (2025), CDRNR, mix in this
way a model of the opponent with an opponent that is free.

With R root infosets, given cfvs w, the expected range p scaled to sum to 1, and the opponent's
best-response cfvs v against a strategy, the strategy that is found minimises

    (1 - t) * sum of max(v, w)  +  t * R * sum of p v.

So trust gives up no more safety than it gains against the expected range. If some strategy keeps
the opponent at w, with cfvs u, then the sum of max(v - w, 0) is at most t / (1 - t) times R times
the sum of p (u - v).

```python
floors, free = trust.floors(0.3, expected_range)
gadget = gadgets.resolving(form, player, player_range, cfvs, floors, free)
```
"""

from __future__ import annotations

import numpy as np

from spiel_dl.solvers.refinement import known_prior


def check_trust(
    trust: float,
    gadget: str = "resolving",
    refinement: str | None = None,
    *,
    leaf_trust: float = 0.0,
) -> None:
    """Raises a ValueError if there is no such trust, or if it does not go with a gadget.

    Args:
      trust: from 0 to below 1.
      gadget: "resolving", if there is some trust.
      refinement: None, if there is some trust.
      leaf_trust: behind the leaves of a search, from 0 to 1.
    """
    if not 0.0 <= leaf_trust <= 1.0:
        raise ValueError(f"leaf_trust={leaf_trust} must be from 0 to 1")
    if not 0.0 <= trust < 1.0:
        raise ValueError(
            f"trust={trust} must be from 0 to below 1; with gadget='unsafe' the opponent is "
            "trusted altogether"
        )
    if trust and (gadget != "resolving" or refinement is not None):
        raise ValueError(
            f"trust={trust} needs gadget='resolving' and refinement=None, not {gadget!r} and "
            f"{refinement!r}: whoever is trusted enters by its range already"
        )


def floors(
    trust: float, expected_range: np.ndarray, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What a trusted opponent passes into a subgame, and what its choices weigh.

    Args:
      trust: t, from 0 to below 1.
      expected_range: float64 [R_-p], at least 0, of any scale. Where it is 0 in all of a public
        state, all root infosets count alike.
      groups: int [R_-p], the public state of each root infoset, from 0 on, if subgames are solved
        side by side. None: there is one.

    Returns:
      The `floors` and `free` of `gadgets.resolving`: float64 [R_-p] each.
    """
    groups = np.zeros(len(expected_range), np.int64) if groups is None else groups
    expected = known_prior(expected_range, groups)
    means = np.bincount(groups, expected) / np.bincount(groups)
    return trust * expected / means[groups], np.full(len(expected), 1.0 - trust)
