"""The page of poker: its addresses, and what they take."""

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
"""Fields, and the most characters of each."""
_NUMBERS = ("pot", "stack")
_LONGEST_PATH = 100
Handler = Callable[[Request, dict[str, Any]], Awaitable[Any]]


class Poker:
    """What the addresses do. All is computed by one worker, which keeps what it solved."""

    def __init__(self, seconds: float):
        """Starts nothing yet; `seconds` is how long an answer may take."""
        self._pool = Pool(1, seconds, modules=(poker_solving.__name__,))

    def routes(self, answer: Callable[[Handler], Callable[[Request], Awaitable[Response]]]) -> Any:
        """The addresses; `answer` makes an endpoint of what answers."""
        handlers = {"check": self._check, "solve": self._solve, "see": self._see}
        return [
            Route(f"/api/poker/{name}", answer(each), methods=["POST"])
            for name, each in handlers.items()
        ]

    async def close(self) -> None:
        """Ends the worker."""
        await self._pool.close()

    async def _check(self, request: Request, body: dict[str, Any]) -> Any:
        """What a spot is, before it is solved."""
        del request
        inputs.take(body, Spot._fields)
        return await self._pool.run(poker_solving.check, spot(body))

    async def _solve(self, request: Request, body: dict[str, Any]) -> Any:
        """Solves a spot for a moment, and says how far it is; who wants more asks again."""
        del request
        inputs.take(body, Spot._fields)
        return await self._pool.run(poker_solving.go_on, spot(body))

    async def _see(self, request: Request, body: dict[str, Any]) -> Any:
        """A node of a solved spot."""
        del request
        inputs.take(body, (*Spot._fields, "path"))
        path: Any = body.get("path")
        is_path = isinstance(path, list) and len(path) <= _LONGEST_PATH
        if not is_path or not all(type(step) is int and 0 <= step < 10**6 for step in path):
            raise ValueError("path must be a list of whole numbers, actions and cards")
        return await self._pool.run(poker_solving.see, spot(body), tuple(path))


def spot(body: Mapping[str, Any]) -> Spot:
    """The spot of a request.

    Raises:
      ValueError: if a field is missing or has another type; what poker says of it comes later.
    """
    found: dict[str, Any] = {}
    for name, most in _TEXTS.items():
        value: Any = body.get(name)
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"{name} must be a text of at most {most} characters")
        found[name] = " ".join(value.split())
    for name in _NUMBERS:
        number: Any = body.get(name)
        if type(number) not in (int, float) or not 0 < number <= 1e9:
            raise ValueError(f"{name} must be a number of chips, more than 0")
        found[name] = float(number)
    return Spot(**found)
