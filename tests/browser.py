"""A headless browser for tests of pages, controlled by its own protocol without a driver.

`dump` returns a page's document; `open_tab` opens a tab to click in.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    """A page's document as HTML, after its scripts have run."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        result = subprocess.run(
            [*_command(profile), "--dump-dom", page.resolve().as_uri() + fragment],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env=_environment(profile),
        )
    return result.stdout


class Tab:
    """A page that is open in a browser."""

    def __init__(self, connection: Any, address: str):
        self._connection, self._address = connection, address
        self._last = 0
        self.errors: list[str] = []
        self.send("Page.enable")
        self.send("Runtime.enable")
        self.send("Log.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        """Sends a command of the browser's protocol and returns the answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        self._connection.send(json.dumps(message))
        while True:
            found = json.loads(self._connection.recv(timeout=60))
            self._listen(found)
            if found.get("id") == self._last:
                assert "error" not in found, found
                return found["result"]

    def _listen(self, message: dict[str, Any]) -> None:
        """Records the page's errors."""
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(message["params"]["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded":
            entry = message["params"]["entry"]
            if entry["level"] == "error":
                self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def go(self, url: str) -> None:
        """Opens an address."""
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def value(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = 300.0) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(f"Boolean({script})"):
            shown = self.value("document.body?.innerText")
            assert time.monotonic() < end, f"{script} did not come true; the page shows {shown}"
            time.sleep(0.05)

    def click(self, selector: str, times: int = 1) -> None:
        """Clicks on the middle of the first element that a selector fits, with the mouse."""
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.send(
                    "Input.dispatchMouseEvent",
                    type=kind,
                    x=place[0],
                    y=place[1],
                    button="left",
                    clickCount=count,
                )

    def press(self, key: str) -> None:
        """Presses a key, such as Tab or Enter."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    @contextlib.contextmanager
    def beside(self, url: str) -> Iterator[Tab]:
        """Another tab of the same browser, at an address."""
        from websockets.sync.client import connect

        target = self.send("Target.createTarget", url=url)["targetId"]
        address = f"{self._address.rpartition('/')[0]}/{target}"
        try:
            with connect(address, max_size=None) as connection:
                yield Tab(connection, address)
        finally:
            self.send("Target.closeTarget", targetId=target)

    def type(self, selector: str, text: str) -> None:
        """Writes a text into a field, in the place of what stood there."""
        self.click(selector)
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.send("Input.insertText", text=text)
        self.value(
            f"document.querySelector({json.dumps(selector)})"
            ".dispatchEvent(new Event('change', {bubbles: true}))"
        )


@contextlib.contextmanager
def open_tab() -> Iterator[Tab]:
    """An empty page in a browser of its own."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [*_command(profile), "--remote-debugging-port=0", "about:blank"]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_environment(profile)
        )
        try:
            port = _wait_for(Path(profile) / "DevToolsActivePort").splitlines()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [page for page in json.load(answer) if page["type"] == "page"]
            address = pages[0]["webSocketDebuggerUrl"]
            with connect(address, max_size=None) as connection:
                yield Tab(connection, address)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(path: Path, seconds: float = 60.0) -> str:
    """Waits until a file has contents and returns them."""
    end = time.monotonic() + seconds
    while not path.exists() or not path.read_text(encoding="utf-8").count("\n"):
        assert time.monotonic() < end, f"the browser has not written {path}"
        time.sleep(0.05)
    return path.read_text(encoding="utf-8")


def _command(profile: str) -> list[str]:
    assert _BROWSER is not None
    return [_BROWSER, *_FLAGS, f"--user-data-dir={profile}"]


def _environment(profile: str) -> dict[str, str]:
    # Nor may it talk to a desktop that is not there, or to a user's.
    return {**os.environ, "HOME": profile, "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
