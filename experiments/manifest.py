"""Every experiment of the papers, as it is to be run: the one list behind `docs/scoreboard.md`.

A `Row` is an experiment with its game, settings and seeds, and what it may cost. All that can be
chosen is chosen in the module `rows` of a paper's package, before it is run; what a report's
settings are is in its JSON file, and `scoreboard.state` compares the two. The scoreboard says what
all rows together may take on two cores; most take less.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from experiments.paper import PAPERS
from experiments.row import Row

MANIFEST: Sequence[Row] = tuple(
    row for name in PAPERS for row in importlib.import_module(f"experiments.{name}.rows").rows()
)
"""All rows, in the order of the scoreboard."""
