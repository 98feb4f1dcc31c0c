"""Pictures of reports are composed, but drawn in few tests only: that took a third of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.figure
import pytest

_DRAWN = {
    "tests.runs.test_dl_cfr_run",
    "tests.runs.test_plots",
    "tests.runs.test_reports",
    "tests.runs.test_solver_run",
    "tests.test_docs",
}


@pytest.fixture(scope="module", autouse=True)
def undrawn_pictures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Files of pictures are empty, except in these modules."""

    def leave_empty(figure: matplotlib.figure.Figure, path: Path, **options: Any) -> None:
        Path(path).touch()

    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ not in _DRAWN:
            patch.setattr(matplotlib.figure.Figure, "savefig", leave_empty)
        yield
