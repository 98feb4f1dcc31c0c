"""The options of policies as flags, made from the configurations of all kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from absl import flags

from spiel_dl.commands import config_flags, script
from spiel_dl.play import registry
from spiel_dl.play.kinds import KINDS
from spiel_dl.play.options import options_of
from spiel_dl.system.parameters import Parameter

# The flags belong to the script.
flags.disclaim_key_flags()


_NAMES = {"effort": "iterations"}
"""Of flags, where they are not those of options."""


class OptionFlags:
    """A flag for each option of a kind of policy."""

    def __init__(self, *, has_depth_limit: bool = True):
        """Defines the flags."""
        users: dict[str, dict[str, Parameter]] = {}
        for kind in KINDS.values():
            for option, parameter in options_of(kind.options).items():
                users.setdefault(option, {})[kind.name] = parameter
        users.pop("depth_limit")
        found = {_NAMES.get(option, option): _of_kinds(known) for option, known in users.items()}
        self._flags: config_flags.Flags[dict[str, Any]] = config_flags.Flags(dict, found)
        self._limit = script.depth_limit("searches") if has_depth_limit else None

    def build(self, *names: str) -> dict[str, Any]:
        """The options that were given, as `load_policy` takes them.

        Args:
          *names: of the policies.

        Raises:
          ValueError: if flags were given that none of the policies uses.
        """
        known = registry.options_of(*names)
        reason = f"not used by {' and '.join(names)}; leave them out"
        self._flags.refuse(reason, but=known)
        options = self._flags.given
        if self._limit is not None and self._limit.given:
            if "depth_limit" not in known:
                self._limit.refuse(reason)
            options["depth_limit"] = self._limit.build()
        return options


def _of_kinds(known: Mapping[str, Parameter]) -> Parameter:
    """An option without a default, for each kind has its own; the text says it."""
    defaults = {kind: each.default for kind, each in known.items() if each.default is not None}
    told = [f"{kind} ({defaults[kind]})" if kind in defaults else kind for kind in known]
    if len(set(defaults.values())) == 1:
        told = [*known, f"default: {next(iter(defaults.values()))}"]
    first = next(iter(known.values()))
    return dataclasses.replace(first, default=None, text=f"{first.text} For {', '.join(told)}.")
