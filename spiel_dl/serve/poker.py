"""The page of poker: its routes, request handlers and checks of requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from spiel_dl.serve import inputs, poker_solving
from spiel_dl.serve.poker_solving import Spot
from spiel_dl.serve.pool import Pool

FILES = {
    "/poker": ("serve", "poker.html", "text/html"),
    "/poker_page.js": ("serve", "poker_page.js", "text/javascript"),
    "/poker.js": ("play", "poker.js", "text/javascript"),
    "/poker_play.js": ("play", "poker_play.js", "text/javascript"),
    "/poker.css": ("play", "poker.css", "text/css"),
}
_TEXTS = {"board": 40, "range_0": 7000, "range_1": 7000, "bets": 300}
"""Text fields, and their maximum lengths in characters."""
_NUMBERS = ("pot", "stack")
_MAX_PATH = 100
Handler = Callable[[Request, dict[str, Any]], Awaitable[Any]]


class Poker:
    """The request handlers. One worker computes everything, and keeps its solutions."""

    def __init__(self, seconds: float):
        """Starts no worker yet; `seconds` is the time limit of a request."""
        self._pool = Pool(1, seconds, modules=(poker_solving.__name__,))

    def routes(
        self, endpoint: Callable[[Handler], Callable[[Request], Awaitable[Response]]]
    ) -> list[Route]:
        """The routes; `endpoint` makes an endpoint of a handler."""
        handlers = {"check": self._check, "solve": self._solve, "see": self._see}
        return [
            Route(f"/api/poker/{name}", endpoint(handler), methods=["POST"])
            for name, handler in handlers.items()
        ]

    async def close(self) -> None:
        """Ends the worker."""
        await self._pool.close()

    async def _check(self, request: Request, body: dict[str, Any]) -> Any:
        """Checks a spot, and returns its ranges and size."""
        del request
        inputs.check_fields(body, Spot._fields)
        return await self._pool.run(poker_solving.check, spot(body))

    async def _solve(self, request: Request, body: dict[str, Any]) -> Any:
        """Solves a spot for a short time, and returns its exploitability; repeated by the page."""
        del request
        inputs.check_fields(body, Spot._fields)
        return await self._pool.run(poker_solving.solve_further, spot(body))

    async def _see(self, request: Request, body: dict[str, Any]) -> Any:
        """A node of a solved spot."""
        del request
        inputs.check_fields(body, (*Spot._fields, "path"))
        path: Any = body.get("path")
        is_path = isinstance(path, list) and len(path) <= _MAX_PATH
        if not is_path or not all(type(step) is int and 0 <= step < 10**6 for step in path):
            raise ValueError("path must be a list of whole numbers, actions and cards")
        return await self._pool.run(poker_solving.see, spot(body), tuple(path))


def spot(body: Mapping[str, Any]) -> Spot:
    """The spot of a request.

    Raises:
      ValueError: if a field is missing or has another type; its meaning is not checked here.
    """
    fields: dict[str, Any] = {}
    for name, max_length in _TEXTS.items():
        value: Any = body.get(name)
        if not isinstance(value, str) or len(value) > max_length:
            raise ValueError(f"{name} must be a text of at most {max_length} characters")
        fields[name] = " ".join(value.split())
    for name in _NUMBERS:
        number: Any = body.get(name)
        if type(number) not in (int, float) or not 0 < number <= 1e9:
            raise ValueError(f"{name} must be a number of chips, more than 0")
        fields[name] = float(number)
    return Spot(**fields)
