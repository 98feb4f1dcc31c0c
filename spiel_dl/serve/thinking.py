"""What workers compute with policies: the opponent's moves, what it thought, and public trees.

A worker keeps the policies that it was asked for last, with what their searches found.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from spiel_dl.play import kinds, position_view, registry
from spiel_dl.play.position_view import Watched
from spiel_dl.play.public_tree_view import PolicyNumbers
from spiel_dl.policies import asking
from spiel_dl.serve import table
from spiel_dl.serve.table import Place
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import compile_game
from spiel_dl.tree.public_texts import in_order, public_text, step_names

_MAX_BRANCHES = 500


class Player(NamedTuple):
    """A policy as a person asks for it.

    Attributes:
      name: as the registry knows it.
      options: those of the policy, by name.
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()


def check(player: Player, game: str) -> None:
    """Loads a policy; a ValueError if there is no such policy of this game."""
    _watched(player, game)


@functools.lru_cache(maxsize=4)
def _watched(player: Player, game: str) -> Watched:
    kind = kinds.KINDS.get(player.name.partition(":")[0])
    compiles = kind is not None and kind.compiles
    loaded = _compiled(game) if compiles else game
    return Watched(lambda: registry.load_policy(player.name, loaded, **dict(player.options)))


@functools.lru_cache(maxsize=2)
def _compiled(game: str) -> GameTree:
    return compile_game(game)


def answer(place: Place, player: Player, seed: int) -> Place:
    """The opponent's moves, and chance's, until the person is to move or the game is over."""
    state = table.state_of(place)
    while not state.is_terminal() and state.current_player() != place.seat:
        turn, watched = len(place.history), _watched(player, place.game)
        probabilities = asking.checked_probabilities(watched.policy, state, state.current_player())
        action = table.draw(probabilities, seed, turn)
        place = table.play_chance(place._replace(history=(*place.history, action)), seed)
        state = table.state_of(place)
    return place


def blueprint_of(player: Player) -> Player | None:
    """What a policy is on top of, or responds to, by its name; None: nothing."""
    name = registry.blueprint_of(player.name)
    if name is None:
        return None
    return Player(name, tuple(registry.select_options(dict(player.options), name).items()))


def analyse(place: Place, length: int, player: Player, compared: Player | None) -> dict[str, Any]:
    """What a policy thinks in the public state after the first `length` actions.

    Args:
      place: the game.
      length: how many actions.
      player: the policy; it takes the part of who is to move.
      compared: whose strategy to set beside; None: nobody's.

    Raises:
      ValueError: if nobody is to move there, or the policy has no answer.
    """
    state = table.state_of(place, length)
    if state.is_terminal():
        raise ValueError("the game is over here, so nobody has anything to think about")
    insight = _look(place, state, player)
    found = dataclasses.asdict(insight) | {"policy": player.name, "compared": None}
    _mark_own(found, place, state)
    if compared is not None and insight.state is not None:
        other = _look(place, state, compared)
        if other.state is not None:
            found["compared"] = compared.name
            _set_beside(found["state"], dataclasses.asdict(other.state))
    return found


def _look(place: Place, state: pyspiel.State, player: Player) -> position_view.Insight:
    is_own = state.current_player() == place.seat
    is_over = table.state_of(place).is_terminal()
    return position_view.look(
        _watched(player, place.game),
        state,
        may_tell_private=is_own or is_over or place.revealed,
        own=place.seat,
    )


def _mark_own(found: dict[str, Any], place: Place, state: pyspiel.State) -> None:
    """Marks the infoset in which the person is; once all is revealed, the opponent's too."""
    if found["state"] is None:
        return
    for player in (0, 1):
        known = place.revealed or player == place.seat
        own = _infoset_string(state, player) if known else None
        for infoset in found["state"]["infosets"][player]:
            infoset["is_actual"] = own is not None and infoset["string"] == own


def _infoset_string(state: pyspiel.State, player: int) -> str | None:
    game = state.get_game()
    if hasattr(game, "rules"):
        strings: list[str] = game.rules.information_state_strings(state.batch, player)
        return strings[0]
    if game.get_type().provides_information_state_string:
        return str(state.information_state_string(player))
    return None


def _set_beside(state: dict[str, Any], other: dict[str, Any]) -> None:
    """Writes another policy's probabilities beside those of a public state's infosets."""
    for own, others in zip(state["infosets"], other["infosets"], strict=True):
        known = {each["string"]: each["actions"] for each in others}
        for infoset in own:
            theirs = {a["id"]: a["probability"] for a in known.get(infoset["string"], ())}
            infoset["difference"] = None
            if theirs and infoset["actions"]:
                for action in infoset["actions"]:
                    action["compared"] = theirs.get(action["id"], 0.0)
                apart = [abs(a["probability"] - a["compared"]) for a in infoset["actions"]]
                infoset["difference"] = sum(apart) / 2


def branch(game: str, player: Player, number: int) -> dict[str, Any]:
    """A public state of a game's tree, and those that follow it.

    Args:
      game: the game string.
      player: the policy that is looked at.
      number: of the public state; 0 is the first one.

    Raises:
      ValueError: if there is no such public state, or the game is too large to be compiled.
    """
    numbers = _tree_numbers(player, game)
    tree = numbers.tree
    if not 0 <= number < tree.num_public_states:
        raise ValueError(f"there is no public state {number}; {tree.num_public_states:,} there are")
    all_below = in_order(tree, np.flatnonzero(tree.public_states.parent == number).tolist())
    below = all_below[:_MAX_BRANCHES]
    shown = {each: position_view.shown_histories(numbers, each) for each in (number, *below)}
    texts = {each: public_text(tree, each, shown[each]) for each in shown}
    names = step_names(tree, texts)
    view = numbers.public_state(
        number,
        texts[number],
        name=names[number],
        depth=int(tree.depth[tree.public_states.histories(number)[0]]),
        is_leaf=False,
        shown=shown[number],
    )
    return {
        "state": dataclasses.asdict(view),
        "below": [
            {
                "number": each,
                "name": names[each],
                "reach": numbers.state_reach(each),
                "ends": not (tree.public_states.parent == each).any(),
            }
            for each in below
        ],
        "num_below_left_out": len(all_below) - len(below),
        "above": _above(tree, number),
        "num_public_states": tree.num_public_states,
        "largest_utility": float(np.abs(tree.utility).max()),
        "value": float(numbers.values[0]),
        "policy": player.name,
        "game": game,
    }


@functools.lru_cache(maxsize=2)
def _tree_numbers(player: Player, game: str) -> PolicyNumbers:
    policy = registry.load_array_policy(player.name, _compiled(game), **dict(player.options))
    return PolicyNumbers(policy)


def _above(tree: CompiledTree, number: int) -> list[int]:
    """The public states on the way to one, the first one first."""
    found: list[int] = []
    while (number := int(tree.public_states.parent[number])) >= 0:
        found.insert(0, number)
    return found
