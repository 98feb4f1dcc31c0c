"""Checks of requests; invalid input is a ValueError in one sentence."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from spiel_dl.play import kinds, registry, zoo
from spiel_dl.play.presets import game_string
from spiel_dl.serve.thinking import Player
from spiel_dl.system.parameters import Parameter
from spiel_dl.value_functions import network_files

MAX_BODY = 16_384
"""Maximum bytes of a request."""
_MAX_TEXT = 500
_MAX_NUMBER = 100_000
"""Maximum of an option: more would exceed the time limit."""
DEFAULTS = {"effort": "500"}
"""Defaults of options that differ from those of policies."""
_FILELESS = (
    "uniform", "highest", "hunter", "random", "equilibrium", "cfr", "cfr_last", "cfr+", "solved",
)  # fmt: skip
"""Kinds of policies that read no files of users."""


def body_of(content: bytes) -> dict[str, Any]:
    """The JSON object of a request."""
    try:
        body = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        raise ValueError("the request is not valid JSON") from None
    if not isinstance(body, dict):
        raise ValueError("the request must be a JSON object")
    return body


def check_fields(body: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuses unknown fields."""
    unknown = sorted(set(body) - set(known))
    if unknown:
        raise ValueError(
            f"unknown fields {', '.join(unknown)[:_MAX_TEXT]}; known are {', '.join(known)}"
        )


def number(
    body: Mapping[str, Any], name: str, low: int, high: int, default: int | None = None
) -> int:
    """An integer field within bounds."""
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name}={_short(value)} must be a whole number from {low} to {high:,}")
    return value


def text(body: Mapping[str, Any], name: str) -> str:
    """A text field: not empty, of limited length, stripped of spaces around it."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_TEXT:
        raise ValueError(f"{name} must be a text of 1 to {_MAX_TEXT} characters")
    if not value.isprintable():
        raise ValueError(f"{name} must be printable text in one line")
    return value.strip()


def game(body: Mapping[str, Any]) -> str:
    """The game string of a request, which may name a preset."""
    return game_string(text(body, "game"))


def player(body: Mapping[str, Any], allowed: Collection[str], name: str = "policy") -> Player:
    """A policy and its options.

    Args:
      body: the request.
      allowed: names of policies beyond those of the registry, such as files, that are offered.
      name: the field with the policy's name.
    """
    policy = text(body, name)
    check_name(policy, allowed)
    given = body.get("options", {})
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise ValueError("options must be an object of texts, such as {'effort': '100'}")
    if not all(map(str.isprintable, given.values())):
        raise ValueError("options must be printable text in one line")
    offered, known = offered_options(), registry.options_of(policy)
    check_fields(given, offered)
    texts = {n: value for n, value in {**DEFAULTS, **given}.items() if n in known and value.strip()}
    return Player(policy, tuple((n, _read(offered[n], value)) for n, value in texts.items()))


def offered_options() -> dict[str, Parameter]:
    """All options of the policies that may be offered, by name."""
    return kinds.all_options(kind for kind in kinds.KINDS.values() if may_be_offered(kind))


def _read(option: Parameter, text: str) -> Any:
    try:
        value = option.read(text)
    except ValueError as error:
        raise ValueError(f"{option.name}={_short(text)}: {error}") from None
    if isinstance(value, int | float) and not 0 <= value <= _MAX_NUMBER:
        raise ValueError(f"{option.name}={_short(text)} must be from 0 to {_MAX_NUMBER:,}")
    return value


def check_name(name: str, allowed: Collection[str]) -> None:
    """Refuses names of policies that are not offered, such as files of the server."""
    if name in allowed:
        return
    kind = kinds.KINDS.get(name.partition(":")[0])
    if kind is not None and not kind.fits(name):
        kind = None
    if kind is not None and kind.takes == "MODEL" and kind.source_of(name):
        check_name(kind.source_of(name), allowed)
    elif kind is None or not _is_offered(kind, kind.source_of(name)):
        raise ValueError(
            f"no policy {_short(name)} is offered here; take one of those that the page lists"
        )


def policies_of(names: Collection[str]) -> tuple[str, ...]:
    """Checked names of policies that a server offers beyond the registry's, without duplicates.

    Raises:
      ValueError: if there is no such policy.
    """
    unique = tuple(dict.fromkeys(name for name in names if name))
    for name in unique:
        registry.check_name(name)
    return unique


def may_be_offered(kind: kinds.Kind) -> bool:
    """Whether policies of a kind can be offered without being named by the server's owner."""
    return kind.takes != "FILE"


def _is_offered(kind: kinds.Kind, source: str) -> bool:
    """Whether a policy uses installed files only; unknown, thus False, for registered kinds."""
    if not may_be_offered(kind):
        return False
    if kind.name in _FILELESS:
        return True
    if kind.name == "resolving":
        return source in (network_files.EXACT, network_files.ZERO)
    # Models of the zoo, with or without "ALGORITHM:".
    return bool({f"{kind.name}:{source}", source, f"{kind.models}:{source}"} & set(zoo.names()))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
