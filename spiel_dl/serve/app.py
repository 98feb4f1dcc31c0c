"""The server's application: routes, request handlers and error responses.

Every response is JSON, except the page and its files. An error is `{"error": one sentence}`: 400
for an invalid request, 404 for an unknown game, 409 for a game in which another request is under
way, 503 if too many requests wait or a worker died, 504 for a timeout.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib.resources
import logging
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from spiel_dl.serve import inputs, menu, poker, table, thinking
from spiel_dl.serve.pool import BusyError, Pool, TooLongError, WorkerGoneError
from spiel_dl.serve.sessions import Session, Sessions, UnknownGameError

_LOG = logging.getLogger(__name__)
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_FILES = {
    "/": ("serve", "page.html", "text/html"),
    "/serve.css": ("serve", "serve.css", "text/css"),
    **{
        f"/{name}.js": ("serve", f"{name}.js", "text/javascript")
        for name in ("drawings", "setup", "serve")
    },
    "/page.css": ("play", "page.css", "text/css"),
    "/public_tree.js": ("play", "public_tree.js", "text/javascript"),
    "/tables.js": ("play", "tables.js", "text/javascript"),
    **poker.FILES,
}


class ConflictError(ValueError):
    """Another request on this game is under way, or the game has gone on."""


_STATUS = {
    ConflictError: 409,
    ValueError: 400,
    UnknownGameError: 404,
    WorkerGoneError: 503,
    BusyError: 503,
    TooLongError: 504,
}


_MAX_AGE = 3600.0
"""Seconds since its last request after which a game is deleted."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a server.

    Attributes:
      hosts: allowed host names of requests; "*" is any.
      num_workers: number of searches at a time, each in a process.
      seconds: time limit of a search, including the time that it waits for a worker.
      max_games: number of games that are kept.
      policies: names of policies beyond those of the registry, such as files, that are offered.
    """

    hosts: tuple[str, ...] = ("127.0.0.1", "localhost")
    num_workers: int = 2
    seconds: float = 30.0
    max_games: int = 500
    policies: tuple[str, ...] = ()


def make_app(settings: Settings | None = None) -> Starlette:
    """The application; its workers start and end with it."""
    server = _Server(settings or Settings())
    routes = [
        *(Route(path, _file(*file)) for path, file in _FILES.items()),
        Route("/api/menu", server.endpoint(server.menu)),
        Route("/api/games", server.endpoint(server.begin), methods=["POST"]),
        Route("/api/games/{key}", server.endpoint(server.see)),
        Route("/api/games/{key}", server.endpoint(server.leave), methods=["DELETE"]),
        Route("/api/games/{key}/move", server.endpoint(server.move), methods=["POST"]),
        Route("/api/games/{key}/answer", server.endpoint(server.answer), methods=["POST"]),
        Route("/api/games/{key}/analysis", server.endpoint(server.analyse), methods=["POST"]),
        Route("/api/games/{key}/reveal", server.endpoint(server.reveal), methods=["POST"]),
        Route("/api/games/{key}/back", server.endpoint(server.back), methods=["POST"]),
        Route("/api/games/{key}/opponent", server.endpoint(server.change), methods=["POST"]),
        Route("/api/branch", server.endpoint(server.branch), methods=["POST"]),
        *server.poker.routes(server.endpoint),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        server.start()
        try:
            yield
        finally:
            await server.close()

    hosts = list(server.settings.hosts)
    return Starlette(
        routes=routes,
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)],
        exception_handlers={404: _not_found, 405: _not_found},
        lifespan=lifespan,
    )


class _Server:
    """The request handlers."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.poker = poker.Poker(settings.seconds)
        self._sessions = Sessions(settings.max_games, max_age=_MAX_AGE)
        # Fast calls do not wait for searches.
        self._quick = Pool(1, settings.seconds, modules=(table.__name__,))
        self._searches = Pool(settings.num_workers, settings.seconds, modules=(thinking.__name__,))

    def start(self) -> None:
        self._quick.start()
        self._searches.start()

    async def close(self) -> None:
        await self._quick.close()
        await self._searches.close()
        await self.poker.close()

    def endpoint(
        self, handle: Callable[[Request, dict[str, Any]], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint that reads the request, calls a handler, and cancels it on disconnect."""

        async def respond(request: Request) -> Response:
            try:
                body = await _read(request)
                work = asyncio.ensure_future(handle(request, body))
                disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
                try:
                    await asyncio.wait([work, disconnect], return_when=asyncio.FIRST_COMPLETED)
                    if not work.done():
                        return _error(499, "nobody waits for this any more")
                    content = work.result()
                finally:
                    disconnect.cancel()
                    work.cancel()
            except tuple(_STATUS) as error:
                # Most are invalid requests, but a ValueError may be a bug; --verbosity=1 shows it.
                _LOG.debug("%s %s", request.method, request.url.path, exc_info=True)
                return _error(_status_of(error), str(error))
            except ClientDisconnect:
                return _error(499, "nobody waits for this any more")
            except Exception:
                return _failed(request)
            try:
                return JSONResponse(content, headers=_HEADERS)
            except Exception:  # Such as NaN, which JSON does not have.
                return _failed(request)

        return respond

    async def menu(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """The games and opponents that are offered."""
        del request, body
        return menu.menu(self.settings.policies, self.settings.seconds)

    async def begin(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Begins a new game."""
        del request
        inputs.check_fields(body, ("game", "policy", "seat", "options"))
        game = inputs.game(body)
        opponent = inputs.player(body, self.settings.policies)
        seat = inputs.number(body, "seat", 0, 1, 0)
        seed = secrets.randbits(64)
        # Loading an arbitrary game string may take long.
        place, about = await self._searches.run(table.begin, game, seat, seed)
        await self._searches.run(thinking.check, opponent, place.game, key=(opponent, place.game))
        session = self._sessions.add(place, opponent, seed, {**about, "asked": body})
        return await self._view(session)

    async def see(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """The view of a game now, or at an earlier moment."""
        del body
        session = self._session(request)
        at = request.query_params.get("at")
        if at is not None and not (at.isdecimal() and len(at) < 10):
            raise ValueError("at must be a whole number, the moment to look back at")
        return await self._view(session, None if at is None else int(at))

    async def leave(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Deletes a game."""
        del body
        self._sessions.remove(request.path_params["key"])
        return {}

    async def move(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Makes the person's move."""
        session = self._session(request)
        inputs.check_fields(body, ("action", "count"))
        action = inputs.number(body, "action", 0, 10**9)
        async with _exclusive(session):
            await self._check_count(session, body)
            place = await self._quick.run(table.move, session.place, action, session.seed)
            session.place = place
            return await self._view(session)

    async def answer(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Makes the opponent's moves; a simultaneous second request waits and gets the same."""
        session = self._session(request)
        inputs.check_fields(body, ())
        async with session.lock:
            key = (session.opponent, session.place.game)
            session.place = await self._searches.run(
                thinking.answer, session.place, session.opponent, session.seed, key=key
            )
            return await self._view(session)

    async def analyse(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """A policy's numbers at a moment; the opponent's, if no policy is named."""
        session = self._session(request)
        inputs.check_fields(body, ("at", "policy", "compared", "options"))
        place = session.place
        moments = await self._quick.run(table.moments, place)
        at = inputs.number(body, "at", 0, 10**9, len(moments) - 1)
        length = table.length_at(moments, at)
        player = session.opponent
        if "policy" in body:
            player = inputs.player(body, self.settings.policies)
        compared = thinking.blueprint_of(player)
        if body.get("compared"):
            compared = inputs.player(body, self.settings.policies, "compared")
        key = (player, place.game)
        analysis: dict[str, Any] = await self._searches.run(
            thinking.analyse, place, length, player, compared, key=key
        )
        return analysis

    async def reveal(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Shows all hidden information from now on."""
        session = self._session(request)
        inputs.check_fields(body, ())
        async with _exclusive(session):
            session.place = session.place._replace(revealed=True)
            return await self._view(session)

    async def back(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Takes the game back to a moment."""
        session = self._session(request)
        inputs.check_fields(body, ("at",))
        at = inputs.number(body, "at", 0, 10**9)
        async with _exclusive(session):
            session.place = await self._quick.run(table.back_to, session.place, at)
            # New random numbers, so that nobody can go back to use known luck.
            session.seed = secrets.randbits(64)
            return await self._view(session)

    async def change(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Changes the opponent."""
        session = self._session(request)
        inputs.check_fields(body, ("policy", "options"))
        opponent = inputs.player(body, self.settings.policies)
        game = session.place.game
        async with _exclusive(session):
            await self._searches.run(thinking.check, opponent, game, key=(opponent, game))
            session.opponent = opponent
            return await self._view(session)

    async def branch(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """A public state and its children."""
        del request
        inputs.check_fields(body, ("game", "policy", "number", "options"))
        game = inputs.game(body)
        player = inputs.player(body, self.settings.policies)
        number = inputs.number(body, "number", 0, 10**9, 0)
        key = ("tree", player, game)
        branch: dict[str, Any] = await self._searches.run(
            thinking.branch, game, player, number, key=key
        )
        return branch

    def _session(self, request: Request) -> Session:
        return self._sessions.find(request.path_params["key"])

    async def _view(self, session: Session, at: int | None = None) -> dict[str, Any]:
        """The view of a game for the page."""
        view: dict[str, Any] = await self._quick.run(table.see, session.place, at)
        blueprint = thinking.blueprint_of(session.opponent)
        return view | {
            "key": session.key,
            "opponent": session.opponent.name,
            "blueprint": None if blueprint is None else blueprint.name,
            "summary": session.about["summary"],
            "utility": session.about["utility"],
            "asked": session.about["asked"],
        }

    async def _check_count(self, session: Session, body: dict[str, Any]) -> None:
        """Refuses a move for an earlier moment, as after a second click."""
        if "count" in body:
            count = inputs.number(body, "count", 1, 10**9)
            now = len(await self._quick.run(table.moments, session.place))
            if count != now:
                raise ConflictError("the game has gone on meanwhile; look at it again")


@contextlib.asynccontextmanager
async def _exclusive(session: Session) -> AsyncIterator[None]:
    """Locks a game; a ConflictError if it is locked already."""
    if session.lock.locked():
        raise ConflictError("this game is going on already; wait for it")
    async with session.lock:
        yield


async def _read(request: Request) -> dict[str, Any]:
    if request.method not in ("POST", "DELETE"):
        return {}
    content_type = request.headers.get("content-type", "")
    if request.method == "POST" and content_type.partition(";")[0].strip() != "application/json":
        # Browsers let pages of other sites send this only after a CORS preflight request.
        raise ValueError("the request must be of the type application/json")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > inputs.MAX_BODY:
            raise ValueError(f"the request is longer than {inputs.MAX_BODY:,} bytes")
    return inputs.body_of(content)


async def _wait_for_disconnect(request: Request) -> None:
    """Returns when the client has disconnected."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return


def _status_of(error: Exception) -> int:
    return next(status for kind, status in _STATUS.items() if isinstance(error, kind))


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": _sentence(message)}, status, headers=_HEADERS)


def _failed(request: Request) -> Response:
    """The response to an internal error; logs the exception that is being handled."""
    _LOG.exception("%s %s failed", request.method, request.url.path)
    return _error(500, "the server failed at this; its log says why")


def _sentence(message: str) -> str:
    """A message as one line of valid UTF-8, at most 400 characters, without paths of folders."""
    # The message may quote lone surrogates of the request.
    message = message.encode("utf-8", "replace").decode("utf-8")
    line = " ".join(message.split()) or "this was refused, without a reason"
    # The server's folders are not disclosed.
    line = re.sub(r"(?<![\w:/.])/(?:[\w.+-]+/)+(?=[\w.+-])", "", line)
    return line if len(line) <= 400 else f"{line[:397]}..."


async def _not_found(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    return _error(status, f"there is nothing to {request.method} at this address")


def _file(package: str, name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    path = importlib.resources.files("spiel_dl") / package / "templates" / name

    async def send(request: Request) -> Response:
        del request
        return PlainTextResponse(path.read_bytes(), media_type=media_type, headers=_HEADERS)

    return send
