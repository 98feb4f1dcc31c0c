"""Computations of workers with policies: the opponent's moves, analyses, and public trees.

A worker keeps its most recently used policies, with their searches' solutions.
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

_MAX_CHILDREN = 500


class Player(NamedTuple):
    """A policy in a request.

    Attributes:
      name: in the registry.
      options: its options, by name.
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()


def check(player: Player, game: str) -> None:
    """Loads a policy; a ValueError if there is no such policy for this game."""
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
    """Plays the opponent's and chance's moves, until the person is to move or the game is over.

    Raises:
      ValueError: if the policy has no valid answer; the text tells nothing hidden.
    """
    state = table.state_of(place)
    while not state.is_terminal() and state.current_player() != place.seat:
        turn, watched = len(place.history), _watched(player, place.game)
        mover = state.current_player()
        try:
            probabilities = asking.checked_probabilities(watched.policy, state, mover)
        except asking.NoAnswerError as error:
            raise ValueError(
                f"{player.name} has no valid answer here; choose another opponent"
            ) from error
        action = table.draw(probabilities, seed, turn)
        place = table.play_chance(place._replace(history=(*place.history, action)), seed)
        state = table.state_of(place)
    return place


def blueprint_of(player: Player) -> Player | None:
    """The blueprint or model of a policy that searches or responds, by its name; None: none."""
    name = registry.blueprint_of(player.name)
    if name is None:
        return None
    return Player(name, tuple(registry.select_options(dict(player.options), name).items()))


def analyse(place: Place, length: int, player: Player, compared: Player | None) -> dict[str, Any]:
    """A policy's numbers in the public state after the first `length` actions.

    Args:
      place: the game.
      length: number of actions.
      player: the policy, in the place of the player to move.
      compared: another policy whose strategy is added for comparison; None: none.

    Raises:
      ValueError: if no player is to move there, or the policy is undefined there.
    """
    state = table.state_of(place, length)
    if state.is_terminal():
        raise ValueError("the game is over here, so nobody has anything to think about")
    insight = _look(place, state, player)
    analysis = dataclasses.asdict(insight) | {"policy": player.name, "compared": None}
    _mark_actual(analysis, place, state)
    if compared is not None and insight.state is not None:
        other = _look(place, state, compared)
        if other.state is not None:
            analysis["compared"] = compared.name
            _add_comparison(analysis["state"], dataclasses.asdict(other.state))
    return analysis


def _look(place: Place, state: pyspiel.State, player: Player) -> position_view.Insight:
    is_own = state.current_player() == place.seat
    is_over = table.state_of(place).is_terminal()
    return position_view.look(
        _watched(player, place.game),
        state,
        may_tell_private=is_own or is_over or place.revealed,
        own=place.seat,
    )


def _mark_actual(analysis: dict[str, Any], place: Place, state: pyspiel.State) -> None:
    """Marks the person's actual infoset; if everything is revealed, the opponent's too."""
    if analysis["state"] is None:
        return
    for player in (0, 1):
        is_known = place.revealed or player == place.seat
        actual = _infoset_string(state, player) if is_known else None
        for infoset in analysis["state"]["infosets"][player]:
            infoset["is_actual"] = actual is not None and infoset["string"] == actual


def _infoset_string(state: pyspiel.State, player: int) -> str | None:
    game = state.get_game()
    if hasattr(game, "rules"):
        strings: list[str] = game.rules.information_state_strings(state.batch, player)
        return strings[0]
    if game.get_type().provides_information_state_string:
        return str(state.information_state_string(player))
    return None


def _add_comparison(state: dict[str, Any], other: dict[str, Any]) -> None:
    """Adds another policy's probabilities to the infosets of a public state, and the distance."""
    for infosets, other_infosets in zip(state["infosets"], other["infosets"], strict=True):
        other_actions = {infoset["string"]: infoset["actions"] for infoset in other_infosets}
        for infoset in infosets:
            actions = other_actions.get(infoset["string"], ())
            probabilities = {action["id"]: action["probability"] for action in actions}
            infoset["difference"] = None
            if probabilities and infoset["actions"]:
                for action in infoset["actions"]:
                    action["compared"] = probabilities.get(action["id"], 0.0)
                gaps = [abs(a["probability"] - a["compared"]) for a in infoset["actions"]]
                infoset["difference"] = sum(gaps) / 2


def branch(game: str, player: Player, number: int) -> dict[str, Any]:
    """A public state of a game's tree, and its children.

    Args:
      game: the game string.
      player: the policy.
      number: of the public state; 0 is the first one.

    Raises:
      ValueError: if there is no such public state, or the game is too large to be compiled.
    """
    numbers = _tree_numbers(player, game)
    tree = numbers.tree
    if not 0 <= number < tree.num_public_states:
        raise ValueError(f"there is no public state {number}; {tree.num_public_states:,} there are")
    all_children = in_order(tree, np.flatnonzero(tree.public_states.parent == number).tolist())
    children = all_children[:_MAX_CHILDREN]
    shown = {n: position_view.shown_histories(numbers, n) for n in (number, *children)}
    texts = {n: public_text(tree, n, shown[n]) for n in shown}
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
                "number": child,
                "name": names[child],
                "reach": numbers.state_reach(child),
                "ends": not (tree.public_states.parent == child).any(),
            }
            for child in children
        ],
        "num_below_left_out": len(all_children) - len(children),
        "above": _ancestors(tree, number),
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


def _ancestors(tree: CompiledTree, number: int) -> list[int]:
    """The ancestors of a public state, the first public state first."""
    ancestors: list[int] = []
    while (number := int(tree.public_states.parent[number])) >= 0:
        ancestors.insert(0, number)
    return ancestors
