"""Runs the server until it is stopped."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Sequence

from spiel_dl.system.distributed import LocalProcesses
from spiel_dl.system.messages import how_to_install


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    num_workers: int = 2,
    seconds: float = 30.0,
    max_games: int = 500,
    policies: Sequence[str] = (),
) -> None:
    """Serves the page until Ctrl-C.

    Args:
      host: the address to listen at. The loopback address can be reached from this machine only.
      port: the port; 0: any that is free.
      num_workers: number of searches that run at a time, each in a process of its own.
      seconds: time limit of a search.
      max_games: number of games that are kept in memory.
      policies: names of policies that are offered beyond those of the registry, such as files.

    Raises:
      ValueError: if a number is out of its bounds, or Starlette and uvicorn are not installed.
      OSError: if the address or port cannot be used.
    """
    try:
        import uvicorn

        from spiel_dl.serve import app, inputs
    except ImportError as error:
        raise ValueError(f"the page needs {error.name}: {how_to_install('serve')}") from error
    LocalProcesses(num_workers)  # Raises if the machine cannot hold so many.
    if not 0 <= port <= 65_535:
        raise ValueError(f"port={port} must be from 0 to 65535")
    hosts = ("127.0.0.1", "localhost", "[::1]", _url_host(host)) if is_loopback(host) else ("*",)
    settings = app.Settings(
        hosts=hosts,
        num_workers=num_workers,
        seconds=seconds,
        max_games=max_games,
        policies=inputs.policies_of(policies),
    )
    config = uvicorn.Config(
        app.make_app(settings),
        host,
        port,
        log_config=None,  # The default would close the program's logging handlers.
        log_level="warning",
        timeout_graceful_shutdown=2,
    )
    with _listen(host, port, config.backlog) as listening:
        print(_greeting(host, listening.getsockname()[1]), flush=True)
        with contextlib.suppress(KeyboardInterrupt):  # The normal end.
            uvicorn.Server(config).run([listening])


def _listen(host: str, port: int, backlog: int) -> socket.socket:
    """A listening socket, so that connections wait until the server runs.

    uvicorn itself would exit the program if this fails.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(backlog)
    except OSError as error:
        listening.close()
        raise OSError(
            f"nothing can listen at {_url_host(host)}:{port}: {error.strerror}; try another port, "
            "or 0"
        ) from error
    return listening


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from its own machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _url_host(host: str) -> str:
    """A host as written in URLs: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def _greeting(host: str, port: int) -> str:
    address = f"http://{_url_host(host)}:{port}"
    if is_loopback(host):
        access = "Only this machine can reach it."
    else:
        access = (
            "Everybody who reaches this machine by its network can play here and make it search; "
            "nothing is encrypted, and there is no password."
        )
    return f"Play at {address}\n{access} Ctrl-C ends it."
