"""The menu of the page: games, opponents and options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from spiel_dl.play import kinds, zoo
from spiel_dl.serve import inputs


class _Game(NamedTuple):
    """A game of the gallery.

    Attributes:
      name: of a preset, or a game string.
      title: for people.
      text: description in a sentence.
      drawing: name of the page's drawing.
      is_small: whether it compiles quickly, as some policies need.
    """

    name: str
    title: str
    text: str
    drawing: str
    is_small: bool = False


_GAMES = (
    _Game(
        "leduc", "Leduc poker", "Six cards, one of them public, two rounds of bets.", "cards", True
    ),
    _Game(
        "kuhn_poker", "Kuhn poker", "The smallest poker: three cards and one bet.", "cards", True
    ),
    _Game(
        "python_holdem(board=QsJh2h4d8c,board_cards=[0],stacks=[60;60],blinds=[10;10],bets=pot,"
        "min_wager=0.0,range_0=AA;T9s;65s,range_1=KK;AQs;76s)",
        "Hold'em, a river",
        "All five cards lie; each has one of few hands, and may bet the pot.",
        "cards",
        True,
    ),
    _Game(
        "goofspiel_5_descending",
        "Goofspiel, 5 cards",
        "Bid your cards, unseen, for prizes that fall from 5 to 1.",
        "prizes",
        True,
    ),
    _Game(
        "goofspiel_5_random",
        "Goofspiel, 5 shuffled prizes",
        "The same; nobody knows which prize comes next.",
        "prizes",
    ),
    _Game("goofspiel_8_descending", "Goofspiel, 8 cards", "A longer game, for networks.", "prizes"),
    _Game(
        "goofspiel_13_random",
        "Goofspiel, 13 shuffled prizes",
        "A whole suit each: far too large to be solved.",
        "prizes",
    ),
    _Game(
        "oshi_zumo",
        "Oshi-Zumo",
        "Bid coins, unseen, to push a wrestler over the edge.",
        "sumo",
        True,
    ),
    _Game("battleships_2x2", "Battleships, 2 by 2", "One ship each, four tiles.", "ships", True),
    _Game("battleships_3x3", "Battleships, 3 by 3", "Two ships each, nine tiles.", "ships"),
    _Game("battleships_5x5", "Battleships, 5 by 5", "Three ships each, 25 tiles.", "ships"),
    _Game(
        "phantom_ttt",
        "Phantom tic-tac-toe",
        "Three in a row, but you see your own marks only.",
        "noughts",
    ),
    _Game(
        "dark_hex_3x3", "Dark hex", "Join your two edges without seeing the other stones.", "hex"
    ),
    _Game(
        "abrupt_phantom_ttt",
        "Abrupt phantom tic-tac-toe",
        "Phantom tic-tac-toe, in which a mark on a taken cell loses the turn.",
        "noughts",
    ),
    _Game(
        "abrupt_dark_hex_3x3",
        "Abrupt dark hex",
        "Dark hex, in which a stone on a taken cell loses the turn.",
        "hex",
    ),
    _Game(
        "python_liars_dice(dice_sides=4)",
        "Liar's dice",
        "One hidden die each; raise the bid, or call it a lie.",
        "dice",
        True,
    ),
    _Game("tic_tac_toe", "Tic-tac-toe", "Nothing is hidden here, to begin with.", "noughts"),
)

_GENERAL_OPPONENTS = (
    # Name, title, strength, text, whether the game must be compiled.
    ("uniform", "Random play", "weakest", "All legal actions alike.", False),
    ("cfr+:20", "A beginner", "medium", "What 20 iterations of CFR+ have found.", True),
    ("cfr+:1000", "A solver", "strong", "The average of 1,000 iterations of CFR+.", True),
    ("equilibrium", "An equilibrium", "unbeatable", "An exact solution; it takes a while.", True),
    (
        "resolving:exact",
        "A search",
        "strong",
        "It solves anew at each of its turns, and shows what it thought.",
        True,
    ),
    (
        "cdbr:uniform",
        "An exploiter",
        "uneven",
        "It looks ahead as if you played at random: strong against who does, easy to fool.",
        True,
    ),
)
_POLICY_NETWORKS = {"rnad": "R-NaD", "mmd": "MMD", "ppo": "PPO"}
_TOO_LARGE = "it lists the whole game first, which takes too long in this one"


def menu(policies: Sequence[str], seconds: float) -> dict[str, Any]:
    """The menu as JSON-serialisable objects.

    Args:
      policies: names of policies that are offered beyond those of the registry.
      seconds: time limit of a search.
    """
    return {
        "games": [{**game._asdict(), "opponents": _opponents(game, policies)} for game in _GAMES],
        "opponents": _opponents(None, policies),
        "kinds": [
            {"pattern": kind.pattern, "meaning": kind.meaning}
            for kind in kinds.KINDS.values()
            if inputs.may_be_offered(kind)
        ],
        "options": [
            {"name": name, "text": option.text, "default": inputs.DEFAULTS.get(name, "")}
            for name, option in inputs.offered_options().items()
        ],
        "seconds": seconds,
    }


def _opponents(game: _Game | None, policies: Sequence[str]) -> list[dict[str, str]]:
    """The opponents of a game, the default first; unavailable ones have a reason.

    Args:
      game: the game; None: a game that is not in the gallery.
      policies: names of policies that are offered beyond those of the registry.
    """
    opponents = [
        _opponent(name, title, strength, text, _TOO_LARGE if compiles and _is_large(game) else "")
        for name, title, strength, text, compiles in _GENERAL_OPPONENTS
    ]
    opponents += [
        _opponent(name, name, "", "Offered by who runs this server.") for name in policies
    ]
    return opponents if game is None else [*_networks(game), *opponents]


def _networks(game: _Game) -> list[dict[str, str]]:
    """One network of the zoo, with a critic if possible, and the search on top of it."""
    names = [f"{algorithm}:{game.name}" for algorithm in _POLICY_NETWORKS]
    models = {name: model for name, model in zoo.models().items() if name in names}
    if not models:
        return []
    name = next((name for name, model in models.items() if model.critic), next(iter(models)))
    model, match = models[name], models[name].measured.get("against_uniform")
    strength = f"{match['mean_return']:+.2f} a game against random play" if match else ""
    text = f"A policy network, trained by {_POLICY_NETWORKS[name.partition(':')[0]]}."
    reason = "" if model.critic else "this network has no critic, which the search needs"
    return [
        _opponent(name, "A network", strength, text),
        _opponent(
            f"sepot:{name}",
            "SePoT",
            "a search, slower",
            "The same network, and a search on top of it at each of its turns.",
            reason,
        ),
    ]


def _opponent(name: str, title: str, strength: str, text: str, reason: str = "") -> dict[str, str]:
    return {"name": name, "title": title, "strength": strength, "text": text, "reason": reason}


def _is_large(game: _Game | None) -> bool:
    return game is not None and not game.is_small
