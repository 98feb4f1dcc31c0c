"""Options of named policies: fields of configurations, declared once.

A kind of policy has one configuration. Its fields are the options, and so are those fields of a
nested algorithm's configuration that it offers:

    @dataclasses.dataclass(frozen=True)
    class SePoT(LookingAhead, Solving):
        search: SearchConfig = offered(SearchConfig(), "max_histories", "leaf_choice")

`load_policy`, flags and the page take names, texts, types and defaults from the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import pyspiel

from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.system.parameters import Parameter, parameters_of
from spiel_dl.tree.counts import is_count
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit, default_depth_limit
from spiel_dl.tree.histories import check_player

_OFFERED = "offered"
T = TypeVar("T", bound="Options")


@dataclasses.dataclass(frozen=True)
class Options:
    """Base of options: a kind of policy without any."""

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            if getattr(self, name, None) is not None:
                check(getattr(self, name))


@dataclasses.dataclass(frozen=True)
class LookingAhead(Options):
    """Options of depth-limited search.

    Attributes:
      depth_limit: how deep each search looks. Default: one round; in Battleships one move, and
        in games without rounds two moves.
    """

    depth_limit: DepthLimit | None = None

    def depth_limit_in(self, game: pyspiel.Game) -> DepthLimit:
        """The depth limit in a turn-based game."""
        return self.depth_limit or default_depth_limit(game)


@dataclasses.dataclass(frozen=True)
class Solving(Options):
    """Options of policies that solve games or subgames.

    Attributes:
      effort: iterations of CFR at most, in each search; from Python, also an Effort. Default: 1500,
        and all else as the kind of policy has it.
    """

    effort: Effort | int | None = None

    def effort_or(self, default: Effort) -> Effort:
        """The effort; what is not given is taken from the kind's default."""
        if self.effort is None or isinstance(self.effort, Effort):
            return self.effort or default
        return dataclasses.replace(default, iterations=int(self.effort))


@dataclasses.dataclass(frozen=True)
class Responding(Solving):
    """Options of responses to a model.

    Attributes:
      player: who responds, 0 or 1, while the other one plays the model. Default: each player
        responds to the other one's part of the model.
    """

    player: int | None = None


def _check_effort(effort: object) -> None:
    if not (isinstance(effort, Effort) or is_count(effort)):
        raise ValueError(f"effort={effort!r} must be an Effort, a whole number, or None")


_CHECKS = {"depth_limit": check_depth_limit, "effort": _check_effort, "player": check_player}


def offered(default: Any, *names: str) -> Any:
    """A field for an algorithm's configuration, some of whose fields (`names`) are options."""
    return dataclasses.field(default=default, metadata={_OFFERED: names})


def options_of(config: type[Options]) -> dict[str, Parameter]:
    """The options of a kind's configuration, by name."""
    options: dict[str, Parameter] = {}
    for field in dataclasses.fields(config):
        names, default = field.metadata.get(_OFFERED), field.default
        if names is None:
            [options[field.name]] = parameters_of(config, only=[field.name])
            continue
        for option in parameters_of(type(default), only=names):
            own_default = getattr(default, option.name)
            options[option.name] = dataclasses.replace(option, default=own_default)
    return options


def configure(config: type[T], given: Mapping[str, Any]) -> T:
    """A kind's configuration with those of the given options that it has; None: not given."""
    given = {name: value for name, value in given.items() if value is not None}
    values = {}
    for field in dataclasses.fields(config):
        names = field.metadata.get(_OFFERED)
        if names is not None:
            default: Any = field.default
            changes = {name: given[name] for name in names if name in given}
            values[field.name] = dataclasses.replace(default, **changes)
        elif field.name in given:
            values[field.name] = given[field.name]
    return config(**values)


def as_reported(game: pyspiel.Game, options: Any) -> dict[str, Any]:
    """JSON-serialisable options for reports; without those that are None."""
    entries: dict[str, Any] = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if field.name == "effort":
            entries |= _effort_entries(value)
        elif field.name == "depth_limit":
            entries["depth_limit"] = str(options.depth_limit_in(game))
        elif _OFFERED in field.metadata:
            entries |= {name: getattr(value, name) for name in field.metadata[_OFFERED]}
        else:
            entries[field.name] = value
    return {name: value for name, value in entries.items() if value is not None}


def _effort_entries(effort: Effort | int | None) -> dict[str, Any]:
    """Iterations, and those fields of an effort that are not the defaults of `Effort`."""
    if not isinstance(effort, Effort):
        return {"iterations": int(effort or DEFAULT_EFFORT.iterations)}
    names = [name for name, variant in VARIANTS.items() if variant == effort.variant]
    variant = names[0] if names else str(effort.variant)
    fields = {"tolerance": effort.tolerance, "seconds": effort.seconds, "variant": variant}
    default = Effort()
    changed = {n: value for n, value in fields.items() if getattr(effort, n) != getattr(default, n)}
    return {"iterations": effort.iterations, **changed}
