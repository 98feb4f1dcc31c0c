"""The start of the server."""

from __future__ import annotations

import re
import socket

import pytest
import uvicorn
from starlette.testclient import TestClient

from spiel_dl.serve import server


def test_who_reads_the_address_can_open_it_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = []

    def connect(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        found = re.search(r"Play at http://127\.0\.0\.1:(\d+)\n", capsys.readouterr().out)
        with socket.create_connection(("127.0.0.1", int(found[1])), timeout=10):
            opened.append(sockets[0].getsockname())

    monkeypatch.setattr(uvicorn.Server, "run", connect)
    server.serve(port=0)
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("host", "status"), [("127.0.0.2", 200), ("localhost", 200), ("elsewhere.example", 400)]
)
def test_it_is_asked_by_the_address_it_listens_at(
    host: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def ask(this: uvicorn.Server, _: list[socket.socket]) -> None:
        client = TestClient(this.config.app, base_url=f"http://{host}:8000")
        found.append(client.get("/serve.css").status_code)

    monkeypatch.setattr(uvicorn.Server, "run", ask)
    server.serve("127.0.0.2", 0)
    assert found == [status]


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=rf"at 127\.0\.0\.1:{port}: .*; try another port"):
            server.serve(port=port)
