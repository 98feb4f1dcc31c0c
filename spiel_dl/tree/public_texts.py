"""Readable names of public states and infosets.

Texts are cut into parts (lines, or texts between brackets or semicolons). Parts that all histories
of a public state share are common knowledge there; parts that differ between a player's infosets
are its private knowledge.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spiel_dl.tree.histories import CHANCE_PLAYER
from spiel_dl.tree.information_states import information_string_function

if TYPE_CHECKING:
    from spiel_dl.tree.compiled_tree import CompiledTree

_PART_ENDS = re.compile(r"\n|; |(?<=\])(?=\[)")
# Empty lists, cards that are not dealt (OpenSpiel's kInvalidCard), and nobody's turn.
_UNINFORMATIVE = re.compile(r":( (-10000)?)?$|^Player: -\d+$")
Parts = tuple[str, ...]


class InfosetText(NamedTuple):
    """The texts of an augmented infoset.

    Attributes:
      string: `information_state_string`, or the player's own past if the game has none there.
      own: the parts that the player's other infosets of its public state do not share; empty if
        there are no others.
    """

    string: str
    own: str


class PublicText(NamedTuple):
    """The texts of a public state and its infosets.

    Attributes:
      observation: the common knowledge there; empty if the game's strings do not have it.
      infosets: for each player, in the order of `PublicStates.infosets`.
    """

    observation: Parts
    infosets: tuple[list[InfosetText], list[InfosetText]]


def public_text(
    tree: CompiledTree, public_state: int, histories: np.ndarray | None = None
) -> PublicText:
    """Describes a public state, by the texts of a game's `Rules` if it has them.

    For other games, common knowledge is what the information states of both players share.

    Args:
      tree: the game, or a part of it; a part needs `Rules`.
      public_state: the public state.
      histories: int [n], sorted, the histories to describe; None: all of the public state. Infosets
        without any of these are left out, and common knowledge is what these histories share.
    """
    if histories is None:
        histories = tree.public_states.histories(public_state)
    describe = _describe_by_rules if hasattr(tree.game, "rules") else _describe_by_strings
    return describe(tree, histories)


def step_names(tree: CompiledTree, texts: Mapping[int, PublicText]) -> dict[int, str]:
    """Names public states by the public action or observation that leads into them.

    An action that is not public is called hidden. Siblings of one name are distinguished by the
    parts of their observations that differ or, if there are none, by numbers.

    Args:
      tree: the game.
      texts: the texts of the public states to name.
    """
    names = {state: _entering_action(tree, state) for state in texts}
    states_by_name = collections.defaultdict(list)
    for state, name in names.items():
        states_by_name[int(tree.public_states.parent[state]), name].append(state)
    for (_, name), states in states_by_name.items():
        if len(states) == 1:
            continue
        observations = [texts[state].observation for state in states]
        shared = set(_common(observations))
        rests = ["; ".join(p for p in parts if p not in shared) for parts in observations]
        for number, (state, rest) in enumerate(zip(states, rests, strict=True), start=1):
            is_unique = bool(rest) and rests.count(rest) == 1
            names[state] = f"{name} \u00b7 {rest}" if is_unique else f"{name} ({number})"
    return names


def in_order(tree: CompiledTree, public_states: Iterable[int]) -> list[int]:
    """Public states, parents before children, and siblings by the action that leads into them."""
    partition = tree.public_states
    actions = {state: int(tree.action[partition.histories(state)[0]]) for state in public_states}
    return sorted(actions, key=lambda state: (partition.depth[state], actions[state], state))


def action_name(tree: Any, history: int, action: int) -> str:
    """The name of an action or chance outcome, without "[P0]" and "Chance outcome:"."""
    player = int(tree.player[history])
    if hasattr(tree.game, "rules"):
        name = tree.game.rules.action_to_string(player, action)
    else:
        name = tree.state(history).action_to_string(player, action)
    return re.sub(r"^(\[P\d\]\s*|Chance outcome:\s*(?=\S))", "", name)


def _entering_action(tree: CompiledTree, public_state: int) -> str:
    """The mover and its action right before a public state, as far as they are public."""
    partition = tree.public_states
    above = partition.parent[public_state]
    if above < 0:
        return "start"
    histories = partition.histories(public_state)
    entering = histories[partition.of_history[tree.parent[histories]] == above]
    movers = np.unique(tree.player[tree.parent[entering]])
    if len(movers) > 1:
        return "hidden move"
    mover = int(movers[0])
    mover_name = "chance" if mover == CHANCE_PLAYER else f"player {mover}"
    actions = np.unique(tree.action[entering])
    if len(actions) > 1:
        return f"{mover_name}: hidden"
    return f"{mover_name}: {action_name(tree, int(tree.parent[entering[0]]), int(actions[0]))}"


def _describe_by_rules(tree: Any, histories: np.ndarray) -> PublicText:
    import torch  # The import takes a second, and games without rules do not need it.

    from spiel_dl.games import views

    game_rules = tree.game.rules
    batch = tree.states_of(histories)
    infosets = []
    for player in (0, 1):
        augmented = tree.public_states.augmented_infoset[player, histories]
        rows = np.unique(augmented, return_index=True)[1].tolist()
        strings = game_rules.information_state_strings(batch.take(torch.tensor(rows)), player)
        infosets.append(
            _infoset_texts(
                strings,
                [_parts(views.view(game_rules, batch, player, row)) for row in rows],
            )
        )
    everywhere = (_parts(game_rules.describe(batch, row)) for row in range(len(histories)))
    return PublicText(_informative(_common(everywhere)), (infosets[0], infosets[1]))


def _describe_by_strings(tree: Any, histories: np.ndarray) -> PublicText:
    strings = []
    for player in (0, 1):
        augmented = tree.public_states.augmented_infoset[player, histories]
        own = [histories[augmented == infoset] for infoset in np.unique(augmented)]
        strings.append([_infoset_string(tree, player, members) for members in own])
    parts = [[_parts(string) for string in own] for own in strings]
    infosets = [_infoset_texts(strings[player], parts[player]) for player in (0, 1)]
    return PublicText(_informative(_common([*parts[0], *parts[1]])), (infosets[0], infosets[1]))


def _infoset_string(tree: Any, player: int, histories: np.ndarray) -> str:
    """A player's string of an augmented infoset with some histories (int [n])."""
    history = int(histories[0])
    if tree.player[history] == player:
        return tree.infoset_string(player, int(tree.infoset[history]))
    keys = tree.infoset_key[player, histories]
    if tree.idle_keys_valid and (keys == keys[0]).all():
        return information_string_function(tree.game)(tree.state(history), player)
    # Information states of players who are not to move are invalid; its last sequence is used.
    sequence = int(tree.sequence[player, history])
    if sequence == 0:
        return "has not acted yet"
    infoset = int(tree.treeplexes[player].infoset_of_sequence[sequence])
    first = int(tree.first_history[player][infoset])
    action = action_name(tree, first, int(tree.sequence_action[player][sequence]))
    return f"{tree.infoset_string(player, infoset)}; then {action}"


def _infoset_texts(strings: Sequence[str], parts: Sequence[Parts]) -> list[InfosetText]:
    """Texts of a player's infosets in one public state, from their strings and parts."""
    shared = set(_common(parts))
    own = ["; ".join(part for part in each if part not in shared) for each in parts]
    return [InfosetText(*pair) for pair in zip(strings, own, strict=True)]


def _parts(text: str) -> Parts:
    """The parts of a text, without brackets around them and with single spaces."""
    cleaned = (" ".join(part.split()).strip("[]") for part in _PART_ENDS.split(text))
    return tuple(dict.fromkeys(part for part in cleaned if part))


def _informative(parts: Parts) -> Parts:
    """The parts that carry information."""
    return tuple(part for part in parts if not _UNINFORMATIVE.search(part))


def _common(texts: Iterable[Parts]) -> Parts:
    """The parts that are in all texts, in the order of the first one."""
    shared: Parts | None = None
    for parts in texts:
        shared = parts if shared is None else tuple(part for part in shared if part in parts)
        if not shared:
            return ()
    return shared or ()
