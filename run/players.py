"""Flags for the options of policies, from the configurations of all kinds."""

from __future__ import annotations

import contextlib
from typing import Any

from absl import flags

from spiel_dl.commands import config_flags, script
from spiel_dl.games.own import import_modules
from spiel_dl.play import registry
from spiel_dl.play.kinds import KINDS, all_options

# The flags belong to the script.
flags.disclaim_key_flags()


_NAMES = {"effort": "iterations"}
"""Names of flags that differ from those of options."""


class OptionFlags:
    """The flags for the options of all kinds of policies."""

    def __init__(self, *, has_depth_limit: bool = True):
        """Defines the flags; imports the modules of --import first, for their kinds' options."""
        # One that cannot be imported is told once all flags are parsed.
        with contextlib.suppress(ValueError):
            import_modules(list(filter(None, config_flags.read_early("import", "").split(","))))
        options = all_options(KINDS.values())
        options.pop("depth_limit")  # It has flags of its own, one for each unit.
        parameters = {_NAMES.get(name, name): option for name, option in options.items()}
        self._flags: config_flags.Flags[dict[str, Any]] = config_flags.Flags(dict, parameters)
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
