"""A headless browser, for tests of pages. No driver: what it makes of a page is printed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_BROWSER = next(filter(None, map(shutil.which, _NAMES)), None)

needs_browser = pytest.mark.skipif(
    _BROWSER is None, reason=f"no browser on PATH (one of {', '.join(_NAMES)}); install chromium"
)


def dump(page: Path, fragment: str = "") -> str:
    """The document of a page once its scripts have run, as HTML."""
    assert _BROWSER is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # Nor may it talk to a desktop that is not there, or to a user's.
        environment = {**os.environ, "HOME": profile, "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        command = [_BROWSER, *_FLAGS, f"--user-data-dir={profile}", "--dump-dom"]
        result = subprocess.run(
            [*command, page.resolve().as_uri() + fragment],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env=environment,
        )
    return result.stdout
