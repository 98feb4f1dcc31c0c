"""Changes of the code after which experiments come to other numbers: what makes reports old."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of the code after which an experiment comes to other numbers.

    Attributes:
      when: date and time of it, as `datetime.isoformat` writes them, in UTC.
      what: what changed, in a few words.
      rows: patterns of the names of the rows whose earlier reports are old since, as `fnmatch` has
        them.
    """

    when: str
    what: str
    rows: tuple[str, ...]


CHANGES: Sequence[Change] = (
    # Elsewhere, searches below samples only draw by other random numbers since.
    Change(
        "2026-11-24T11:59:21+00:00",
        "trees that grow are bounded, and beliefs that have to be found again are drawn anew",
        ("particle_search/goofspiel_4_descending*", "particle_search/*dark_hex_2x2/curves"),
    ),
    Change(
        "2026-11-26T03:55:00+00:00",
        "rises of refined max-margin gadgets are told",
        ("sepot/refined",),
    ),
    Change(
        "2026-11-26T03:55:00+00:00",
        "claims of Figure 5 are not told of biased rock-paper-scissors",
        ("responses/biased_rps",),
    ),
    Change(
        "2026-11-21T12:00:00+00:00",
        "value networks normalise their layers",
        ("dl_cfr/*/checkpoints", "dl_cfr/*/ranges", "dl_cfr/leduc/left_out"),
    ),
    Change(
        "2026-11-22T21:00:00+00:00",
        "SePoT searches with the ranges that were played, block by block, with the cfvs of the "
        "opponent's best transformation",
        ("sepot/*/curves", "sepot/*/cfvs", "sepot/*/table_1", "sepot/*/position"),
    ),
    Change(
        "2026-11-22T21:00:00+00:00",
        "R-NaD learns with a bounded force, tempered regularisation and action values of histories",
        ("sepot/*/curves", "sepot/*/cfvs", "compare/*"),
    ),
    Change(
        "2026-11-23T00:45:00+00:00",
        "errors on policy are of ranges that no training has seen; rounds end without polishes",
        ("dl_cfr/*/on_policy", "dl_cfr/*/resolving", "particle/*/on_policy"),
    ),
    Change(
        "2026-11-24T03:50:00+00:00",
        "learning rates on policy fall from round to round",
        ("dl_cfr/*/on_policy", "dl_cfr/*/resolving", "particle/*/on_policy"),
    ),
    Change(
        "2026-11-24T15:10:00+00:00",
        "training on policy learns all ranges that are asked for, and not player 0's alone",
        ("dl_cfr/*/on_policy", "dl_cfr/*/resolving", "particle/*/on_policy"),
    ),
    Change(
        "2026-11-24T20:00:00+00:00",
        "the network of training on policy is the mean of those of its last rounds",
        ("dl_cfr/*/on_policy", "dl_cfr/*/resolving", "particle/*/on_policy"),
    ),
    Change(
        "2026-11-24T15:10:00+00:00",
        "concatenations that learn are told from those that hardly do",
        ("particle/linear_targets/*",),
    ),
    Change(
        "2026-11-24T15:10:00+00:00",
        "what gadgets recover is held against restricted Nash responses of their own",
        ("responses/gadgets",),
    ),
    Change(
        "2026-11-24T15:10:00+00:00",
        "settings that biased rock-paper-scissors ignores are not told",
        ("responses/biased_rps",),
    ),
    Change(
        "2026-11-23T01:30:00+00:00",
        "what an equilibrium reaches leaves out what it reaches with probability 1e-3 in all",
        ("particle/*/fractions",),
    ),
    Change(
        "2026-11-23T04:30:00+00:00",
        "critics learn bounded values, by other defaults",
        (
            "sepot/safety",
            "sepot/*/curves",
            "sepot/*/cfvs",
            "sepot/*/table_1",
            "sepot/distilled",
            "sepot/*/position",
        ),
    ),
    Change(
        "2026-11-25T18:30:00+00:00",
        "searches that look to the end of the game are left out of counts and means",
        (
            "sepot/leduc/ablation",
            "sepot/leduc/gadgets/ablation",
            "sepot/leduc/trained/ablation",
            "sepot/leduc/trained_gadgets/ablation",
            "sepot/readings",
            "sepot/critic_errors",
        ),
    ),
)
"""What made earlier reports old. Whoever changes what an experiment comes to adds a line."""
