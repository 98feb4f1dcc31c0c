"""What all scripts of `run/` have in common."""

from __future__ import annotations

import pytest

from tests.run.scripts import RUN

WITH_WORKERS = sorted(
    path.name for path in RUN.glob("*.py") if "distributed.define_flags()" in path.read_text()
)


@pytest.mark.parametrize("script", WITH_WORKERS)
def test_whoever_takes_workers_tells_of_their_death(script: str) -> None:
    text = (RUN / script).read_text()
    assert "except (ValueError, distributed.WorkerDiedError) as error:" in text
    assert "except ValueError as error:" not in text


def test_there_are_scripts_with_workers() -> None:
    assert {"generate_data.py", "head_to_head.py", "reproduce.py"} <= set(WITH_WORKERS)
