"""Gadgets: decisions of the opponent above a subgame, which make resolving it safe.

A subgame starts with both players' ranges: their own reach of their root infosets. The player *who
resolves it* knows its own range, but the opponent's may differ from what is expected. A gadget lets
the opponent choose its range, limited by the values that it would have if the player continued as
before: the opponent's *given cfvs*, one per root infoset.

All values are unnormalised counterfactual values at the opponent's root infosets: sums over their
histories of chance's and the player's reach times the opponent's utility. So given cfvs and the
player's range must have the same scale: if the range is multiplied by a number, so must be the
cfvs. In this unit, if the cfv of a root infoset rises by d, the opponent gains at most d in the
whole game.

| gadget | the opponent at the root | what the solution guarantees |
|---|---|---|
| `unsafe` | has the given range | nothing against another range |
| `resolving` | in each root infoset, enters or takes the given cfv | no cfv above the given one |
| `max_margin` | chooses the root infoset and pays the given cfv | no better smallest margin |
| `reach_max_margin` | as `max_margin`, and pays the gift too | that, for cfvs plus gifts |

The *margin* of a root infoset is the given cfv less the opponent's best-response cfv against the
resolved strategy. Guarantees hold if the given cfvs can be kept at all, that is, if some strategy
in the subgame holds the opponent to them; and up to the error of the solution.

Many strategies solve a gadget, and differ in root infosets that the opponent need not enter. Safe
gadgets can be *refined* (`solvers.refinement`) by *floors*: minimal reaches of the opponent in the
subgame. The refined solution is an optimal strategy that also plays well in these root infosets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers import refinement as refinements
from spiel_dl.solvers.entrances import Decisions, Gadget, by_player, with_decisions
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm

SAFE_GADGETS = ("resolving", "max_margin", "reach_max_margin")
"""Gadgets that the opponent need not enter; they can be refined."""
GADGETS = (*SAFE_GADGETS, "unsafe")
"""The names of all gadgets, for `add_gadget`."""
WITHOUT_GIFTS = ("resolving", "max_margin", "unsafe")
"""Gadgets that need no gifts."""


class Roots(NamedTuple):
    """Ranges, given cfvs and gifts at the root infosets of a subgame, for `add_gadget`.

    Attributes:
      player_range: float64 [R_p], the reach of the player who resolves.
      opponent_range: float64 [R_-p], an estimate of the opponent's reach; None: not known.
      opponent_cfvs: float64 [R_-p], the given cfvs, in the opponent's utility; None: there are
        none, as `unsafe` needs none.
      gifts: float64 [R_-p], see `solvers.gifts`; for `reach_max_margin` only.
      groups: int [R_-p], the public state of each of the opponent's root infosets, from 0 on, if
        subgames are solved side by side; None: there is one.
    """

    player_range: np.ndarray
    opponent_range: np.ndarray | None = None
    opponent_cfvs: np.ndarray | None = None
    gifts: np.ndarray | None = None
    groups: np.ndarray | None = None


def check_gadget(gadget: str, refinement: str = "none", allowed: tuple[str, ...] = GADGETS) -> None:
    """Raises a ValueError if there is no such gadget, or if it cannot be refined.

    Args:
      gadget: one of `allowed`.
      refinement: one of `refinement.REFINEMENTS`.
      allowed: the names of the gadgets.
    """
    if gadget not in allowed:
        raise ValueError(f"gadget={gadget!r} must be one of {allowed}")
    refinements.check_name(refinement)
    if refinement != "none" and gadget not in SAFE_GADGETS:
        raise ValueError(
            f"refinement={refinement!r} needs a gadget that the opponent need not enter, one of "
            f"{SAFE_GADGETS}; gadget={gadget!r} is none"
        )


def add_gadget(
    gadget: str,
    subgame: SequenceForm | FactoredForm,
    player: int,
    roots: Roots,
    refinement: str = "none",
) -> Gadget:
    """Adds a gadget, by its name, above a subgame.

    Args:
      gadget: one of `GADGETS`.
      subgame: its root sequences are the root infosets.
      player: who resolves.
      roots: "unsafe" needs the opponent's range, all others its given cfvs.
      refinement: one of `refinement.REFINEMENTS`, with the opponent's range as the prior; if that
        is not known, or 0 in all of a public state, the prior is uniform there.

    Raises:
      ValueError: as `check_gadget` and the gadget's own function, or if `roots` lacks something
        that the gadget needs.
    """
    check_gadget(gadget, refinement, WITHOUT_GIFTS if roots.gifts is None else GADGETS)
    own_range, opponent_range = roots.player_range, roots.opponent_range
    cfvs = roots.opponent_cfvs
    if gadget == "unsafe":
        if opponent_range is None:
            raise ValueError("gadget='unsafe' needs the opponent's range")
        return unsafe(subgame, by_player(player, own_range, opponent_range))
    if cfvs is None:
        raise ValueError(f"gadget={gadget!r} needs the opponent's given cfvs")
    floors = None
    if refinement != "none":
        prior = np.ones(len(cfvs)) if opponent_range is None else opponent_range
        margins = gadget != "resolving"
        floors = refinements.floors(refinement, prior, roots.groups, margins=margins)
    if gadget == "resolving":
        return resolving(subgame, player, own_range, cfvs, floors)
    if gadget == "max_margin":
        return max_margin(subgame, player, own_range, cfvs, floors, roots.groups)
    assert roots.gifts is not None
    return reach_max_margin(subgame, player, own_range, cfvs, roots.gifts, floors, roots.groups)


def unsafe(subgame: SequenceForm | FactoredForm, root_ranges: Pair) -> Gadget:
    """No gadget: both players have the given ranges (float64 [R_p]).

    The solution is optimal against this range of the opponent, and may be arbitrarily bad against
    others (Burch, Johanson, Bowling 2014, "Solving Imperfect Information Games Using
    Decomposition").

    Raises:
      ValueError: if a range has another shape, or entries that are negative or not finite.
    """
    for player in (0, 1):
        _check(subgame, player, "range", root_ranges[player], nonnegative=True)
    all_sequences = [np.arange(t.num_sequences, dtype=np.int32) for t in subgame.treeplexes]
    return Gadget(subgame, root_ranges, (all_sequences[0], all_sequences[1]))


def resolving(
    subgame: SequenceForm | FactoredForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
    floors: np.ndarray | None = None,
) -> Gadget:
    """The opponent may leave each root infoset for its given cfv.

    Burch, Johanson, Bowling (2014), section "Subgame Resolving". The opponent reaches every root
    infoset with weight 1 and there chooses between Follow, which enters the subgame, and Terminate,
    which pays the given cfv. The gadget's value for the player is minus the sum, over root
    infosets, of the larger of the given and the best-response cfv. So if the given cfvs can be
    kept, the solution keeps all of them, but need not push any below.

    With floors it must: with floor f, the opponent enters with a reach of f + (1 - f) Follow, while
    Follow and Terminate are chosen as before. The value is minus the sum of (1 - f) times the
    larger cfv, plus f times the best-response cfv.

    Args:
      subgame: its root sequences are the root infosets.
      player: who resolves.
      player_range: float64 [R_p], its reach of its root infosets.
      opponent_cfvs: float64 [R_-p], the given cfvs, in the opponent's utility.
      floors: float64 [R_-p], from 0 to below 1; see `refinement.floors`. None: not refined.

    Returns:
      The gadget. The opponent has one root sequence, or one per root infoset if it is refined; then
      2 sequences per root infoset, Follow and Terminate; then those of the subgame.

    Raises:
      ValueError: if an argument has another shape, or entries that are not finite or, in the range,
        negative; if there is no such player; or if floors are not as above, or all 0.
    """
    _check_resolving(subgame, player, player_range, opponent_cfvs)
    num_roots, root_range = len(opponent_cfvs), np.ones(1)
    if floors is not None:
        _check_floors(subgame, player, floors, np.arange(num_roots))
        root_range = 1.0 - floors
    decisions = Decisions(
        np.arange(num_roots) if floors is not None else np.zeros(num_roots, np.int64),
        np.full(num_roots, 2),
        np.stack([np.zeros(num_roots), opponent_cfvs], axis=1).reshape(-1),
        root_range,
        2 * np.arange(num_roots),
    )
    return with_decisions(subgame, player, player_range, decisions, floors)


def max_margin(
    subgame: SequenceForm | FactoredForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
    floors: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Gadget:
    """The opponent chooses the root infoset, and pays its given cfv for it.

    Moravčík, Schmid, Ha, Hladík, Gaukrodger (2016), "Refining Subgames in Large Imperfect
    Information Games", section "Max-Margin Gadget". The gadget's value for the player is the
    smallest margin of all root infosets, which the solution makes as large as possible. If the
    given cfvs can be kept, it is at least 0, and positive if all of them can be lowered.

    Margins are unnormalised here: the smallest one is the least that the opponent loses by entering
    the subgame, weighted by chance's and the player's reach. In a root infoset that these never
    reach, the margin is always 0.

    With floors f, the opponent enters each root infoset with a reach of at least f, and chooses
    with the rest of 1. The value is this rest times the smallest margin, plus the sum of f times
    the margins.

    Args:
      subgame: its root sequences are the root infosets.
      player: who resolves.
      player_range: float64 [R_p], its reach of its root infosets.
      opponent_cfvs: float64 [R_-p], the given cfvs, in the opponent's utility.
      floors: float64 [R_-p], at least 0, with a sum below 1; see `refinement.floors`. None: not
        refined.
      groups: int [R_-p], the public state of each root infoset, from 0 on and in this order, if
        subgames are solved side by side: each has its own choice. None: there is one.

    Returns:
      The gadget. The opponent has one root sequence per public state; then one sequence per root
      infoset; then those of the subgame.

    Raises:
      ValueError: as `resolving`, or if public states are not in order.
    """
    _check_resolving(subgame, player, player_range, opponent_cfvs)
    num_roots = len(opponent_cfvs)
    groups = np.zeros(num_roots, np.int64) if groups is None else groups
    steps = np.diff(groups, prepend=-1)
    if groups.shape != (num_roots,) or not np.isin(steps, (0, 1)).all() or (steps[:1] != 1).any():
        raise ValueError(f"groups must be {num_roots} numbers from 0 on, in order; got {groups}")
    if floors is not None:
        _check_floors(subgame, player, floors, groups)
    num_actions = np.bincount(groups)
    root_range = np.ones(len(num_actions))
    decisions = Decisions(
        np.arange(len(num_actions)),
        num_actions,
        -opponent_cfvs if floors is None else np.zeros(num_roots),
        root_range if floors is None else root_range - np.bincount(groups, floors),
        np.arange(num_roots),
    )
    entry_payoffs = None if floors is None else -opponent_cfvs
    return with_decisions(subgame, player, player_range, decisions, floors, entry_payoffs)


def reach_max_margin(
    subgame: SequenceForm | FactoredForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
    gifts: np.ndarray,
    floors: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Gadget:
    """`max_margin` with larger given cfvs in root infosets that the opponent reaches by mistakes.

    Brown and Sandholm (2017), "Safe and Nested Subgame Solving for Imperfect-Information Games",
    section "Reach Subgame Solving". A root infoset's gift is what the opponent lost by mistakes on
    the way to it. Its cfv may rise by the gift, and the opponent still gains nothing by going
    there. Margins are counted from the given cfv plus the gift, so the solution can concentrate on
    root infosets that an opponent without mistakes reaches.

    Args:
      subgame, player, player_range, opponent_cfvs, floors, groups: as in `max_margin`.
      gifts: float64 [R_-p], nonnegative, in the unit of the given cfvs; see `solvers.gifts`.

    Returns:
      The gadget, of the same form as that of `max_margin`.

    Raises:
      ValueError: as `resolving`, or if a gift is negative.
    """
    _check_resolving(subgame, player, player_range, opponent_cfvs)
    _check(subgame, 1 - player, "gifts", gifts, nonnegative=True)
    return max_margin(subgame, player, player_range, opponent_cfvs + gifts, floors, groups)


def _check_resolving(
    subgame: SequenceForm | FactoredForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
) -> None:
    if player not in (0, 1):
        raise ValueError(f"player={player} must be 0 or 1")
    _check(subgame, player, "range", player_range, nonnegative=True)
    _check(subgame, 1 - player, "given cfvs", opponent_cfvs, nonnegative=False)


def _check_floors(
    subgame: SequenceForm | FactoredForm,
    player: int,
    floors: np.ndarray,
    groups: np.ndarray,
) -> None:
    """Raises a ValueError if floors are invalid, or all 0.

    The floors of one group must have a sum below 1.
    """
    _check(subgame, 1 - player, "floors", floors, nonnegative=True)
    largest = np.bincount(groups, floors).max(initial=0.0)
    if largest >= 1.0:
        raise ValueError(
            f"floors must have a sum below 1 where the opponent decides once; the largest sum is "
            f"{largest:.6g}; give smaller ones"
        )
    if not floors.any():
        raise ValueError(
            "floors are 0 in all root infosets, which refines nothing: the prior that they are "
            "made of may be 0 everywhere; give positive ones, or do not refine the gadget"
        )


def _check(
    subgame: SequenceForm | FactoredForm,
    player: int,
    name: str,
    values: np.ndarray,
    *,
    nonnegative: bool,
) -> None:
    """Raises a ValueError if `values` are not one finite number per root infoset of a player."""
    num_roots = subgame.treeplexes[player].num_root_sequences
    valid = np.shape(values) == (num_roots,) and np.isfinite(values).all()
    if not valid or (nonnegative and (values < 0).any()):
        bound = " >= 0" if nonnegative else ""
        raise ValueError(
            f"player {player}'s {name} must be {num_roots} finite numbers{bound}, one per root "
            f"infoset; got {values}"
        )
