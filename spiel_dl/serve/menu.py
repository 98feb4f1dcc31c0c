"""What the page offers: games, policies and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spiel_dl.play import kinds, zoo
from spiel_dl.play.presets import PRESETS
from spiel_dl.serve import inputs

_DRAWN = ("leduc", "goofspiel_5_descending", "oshi_zumo", "battleships_2x2", "battleships_3x3")
_OTHERS = ("kuhn_poker", "leduc_poker", "liars_dice(numdice=1,dice_sides=4)", "tic_tac_toe")
_EVERYWHERE = ("uniform", "cfr+:200", "resolving:exact", "cdbr:uniform", "equilibrium")


def menu(policies: Sequence[str], seconds: float) -> dict[str, Any]:
    """What the page is told before it asks for a game.

    Args:
      policies: names that are offered beyond those of the registry.
      seconds: how long a search may take.
    """
    names = [*_DRAWN, *(name for name in PRESETS if name not in _DRAWN and "paper" not in name)]
    games = [{"name": name, "game": PRESETS[name].game} for name in names]
    games += [{"name": game, "game": game} for game in _OTHERS]
    known = zoo.models()
    searches = [
        {"name": f"sepot:{name}", "game": model.game}
        for name, model in known.items()
        if model.critic is not None
    ]
    models = [{"name": name, "game": model.game} for name, model in known.items()]
    return {
        "games": games,
        "policies": [*policies, *_EVERYWHERE],
        "models": [*searches, *models],
        "kinds": [
            {"pattern": kind.pattern, "meaning": kind.meaning}
            for kind in kinds.KINDS.values()
            if inputs.may_be_offered(kind)
        ],
        "options": [
            {"name": name, "text": each.text, "default": inputs.DEFAULTS.get(name, "")}
            for name, each in inputs.offered_options().items()
        ],
        "seconds": seconds,
    }
