"""How the server begins."""

from __future__ import annotations

import re
import socket

import pytest
import uvicorn

from spiel_dl.serve import server


def test_who_reads_the_address_can_open_it_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = []

    def connect(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        found = re.search(r"Play at http://127\.0\.0\.1:(\d+)\n", capsys.readouterr().out)
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1])), timeout=10):
            opened.append(sockets[0].getsockname())

    monkeypatch.setattr(uvicorn.Server, "run", connect)
    server.serve(port=0)
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"port": 70_000}, "port=70000 must be"), ({"num_workers": 0}, "num_workers=0")],
)
def test_wrong_numbers_are_told(arguments: dict[str, int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        server.serve(**arguments)
