"""Pictures of reports are composed, but drawn in few tests only: that took a third of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.figure
import pytest

_DRAWN = {
    f"tests.runs.test_{name}" for name in ("dl_cfr_run", "plots", "reports", "solver_run")
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def undrawn_pictures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Files of pictures are empty, except in these modules."""

    def leave_empty(figure: matplotlib.figure.Figure, path: Path, **options: Any) -> None:
        Path(path).touch()

    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ not in _DRAWN:
            patch.setattr(matplotlib.figure.Figure, "savefig", leave_empty)
        yield
