"""A player's observations of a game: a picture that a page can draw, and the same as text.

Both are made of the public pieces and of the player's own private pieces, never of the state, so
they show nothing that is hidden from the player. A picture is a list of `blocks`. The games of this
package have pictures; any other `Rules` is shown by its pieces, written out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from spiel_dl.games import (
    battleships,
    blocks,
    goofspiel_ii,
    holdem,
    holdem_view,
    leduc,
    liars_dice,
    oshi_zumo_ii,
    phantom,
    rules,
)
from spiel_dl.games.blocks import Block
from spiel_dl.games.pieces import strings_of_pieces
from spiel_dl.games.sights import Sight, index_of, indices_of, see

SUITS = ("\u2660", "\u2665", "\u2666", "\u2663")


@dataclasses.dataclass(frozen=True)
class _Game:
    """The functions that show a game.

    Attributes:
      draw: returns the blocks of a player's observations; the last argument are its legal actions.
      summary: returns a summary of the game, in a few lines.
    """

    draw: Callable[[Any, Sight, Collection[int]], list[Block]]
    summary: Callable[[Any], str]


def picture(
    game_rules: rules.Rules, state: rules.StateBatch, player: int, actions: Collection[int]
) -> list[Block]:
    """The picture of a state (batch dimension 1) for a player; empty for games without one.

    Args:
      game_rules: the game.
      state: the state.
      player: 0 or 1.
      actions: the player's legal actions; empty while it waits.

    Raises:
      ValueError: if there is no such player.
    """
    sight, game = see(game_rules, state, player), _GAMES.get(type(game_rules))
    return game.draw(game_rules, sight, actions) if game else []


def view(game_rules: rules.Rules, state: rules.StateBatch, player: int, row: int = 0) -> str:
    """A player's observations in one row of a batch of states, as lines of text.

    Args:
      game_rules: the game.
      state: the states.
      player: 0 or 1.
      row: the row of the state.

    Raises:
      ValueError: if `player` is neither 0 nor 1.
    """
    sight, game = see(game_rules, state, player, row), _GAMES.get(type(game_rules))
    if game is None:
        shapes = {name: piece.shape for name, piece in sight.past.items()}
        pieces = np.concatenate([piece.ravel() for piece in sight.past.values()])
        lines = strings_of_pieces(shapes, pieces).split("; ")
    else:
        picture_blocks = game.draw(game_rules, sight, ())
        lines = [line for block in picture_blocks for line in blocks.write(block)]
    return "\n".join([f"You are player {player}.", *lines])


def summary(game_rules: rules.Rules) -> str:
    """A summary of the game, in a few lines; empty for a game without a picture."""
    game = _GAMES.get(type(game_rules))
    return game.summary(game_rules) if game else ""


def _rounds(
    sight: Sight, public: Mapping[str, Sequence[object]], bids: Sequence[object]
) -> list[Block]:
    """A table of all rounds begun, in a game of hidden bids; none before the first one.

    Args:
      sight: a player's observations.
      public: further rows of the table, by name.
      bids: the player's bids; "" for a future one.
    """
    outcomes = indices_of(sight.past["round_winners"])
    names = ("you", "draw", "them") if sight.player == 0 else ("them", "draw", "you")
    over = sum(outcome >= 0 for outcome in outcomes)
    waits = over < len(outcomes) and bool(sight.past["player_0_has_bid"][over])
    begun = max([over + waits, *map(len, public.values())])
    rows: dict[str, Sequence[object]] = {
        "round": range(1, begun + 1),
        **public,
        "your bid": [bid for bid in bids[:begun] if bid != ""],
        "winner": [names[outcome] for outcome in outcomes[:over]],
    }
    return [blocks.table("Rounds", rows)] if begun else []


def _draw_goofspiel(
    game_rules: goofspiel_ii.GoofspielIIRules, sight: Sight, actions: Collection[int]
) -> list[Block]:
    points = [index_of(total) for total in sight.now["point_totals"]]
    cards = [card + 1 for card in indices_of(sight.past["point_cards"]) if card >= 0]
    bids = ["" if bid < 0 else bid + 1 for bid in indices_of(sight.past["bids"])]
    is_open = sum(winner >= 0 for winner in indices_of(sight.past["round_winners"])) < len(cards)
    prize = [blocks.card(cards[-1], note="points", mark="prize")] if is_open else []
    hand = np.flatnonzero(sight.now["hand"]).tolist()
    facts = {"Your points": points[sight.player], "Opponent's points": points[1 - sight.player]}
    return [
        blocks.facts(facts),
        blocks.cards("To be won", prize),
        blocks.cards(
            "Your hand", [blocks.card(card + 1, [card] if card in actions else []) for card in hand]
        ),
        *_rounds(sight, {"point card": cards}, bids),
    ]


def _summarize_goofspiel(game_rules: goofspiel_ii.GoofspielIIRules) -> str:
    return (
        "In every round a point card is turned up and both players bid one card of their hand,\n"
        "unseen. The higher bid wins the points; on a draw nobody does. Bids are never shown.\n"
        f"Point cards come in {game_rules.points_order} order, one in each of "
        f"{game_rules.num_turns} rounds. Most points win."
    )


def wrestlers_field(game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight) -> list[str]:
    """The locations: "W" the wrestler, "#" off the board, "." others."""
    # By rounds only: its location after an endgame depends on the coins, which are hidden.
    won, _, lost = sight.past["round_winners"].sum(axis=0)
    field = ["#", *"." * (2 * game_rules.start_location + 1), "#"]
    field[game_rules.start_location + 1 + won - lost] = "W"
    return field


def _draw_oshi_zumo(
    game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight, actions: Collection[int]
) -> list[Block]:
    marks = {"W": ("\u25cf", "wrestler"), "#": ("#", "off"), ".": ("", "tile")}
    field = [marks[sign] for sign in wrestlers_field(game_rules, sight)]
    side = ("right \u2192", "\u2190 left")[sight.player]
    facts: dict[str, object] = {"Your coins": index_of(sight.now["coins"])}
    if game_rules.optimal_endgame and sight.past["game_over"][0]:
        facts["Field"] = "before the pushes that ended the game, if there were any"
    coins = [blocks.card(action, [action], mark="coin") for action in sorted(actions)]
    bids = ["" if bid < 0 else bid for bid in indices_of(sight.past["bids"])]
    return [
        blocks.grid(
            f"You push to the {side}", [blocks.card(t, mark=m) for t, m in field], len(field)
        ),
        blocks.facts(facts),
        blocks.cards("Bid", coins),
        *_rounds(sight, {}, bids),
    ]


def _summarize_oshi_zumo(game_rules: oshi_zumo_ii.OshiZumoIIRules) -> str:
    lines = [
        "In every round both players bid coins, unseen; both bids are spent and never shown. The",
        "higher bid pushes the wrestler one step, player 0's to the right, player 1's to the left.",
        f"The smallest bid is {game_rules.min_bid}; who has fewer coins bids them all. You win if",
        "the wrestler ends on the other side of the centre from where you stand, or off the board",
        "there.",
    ]
    if game_rules.optimal_endgame:
        lines.append("Once a player cannot bid any more, the other's last pushes are made for it.")
    return "\n".join(lines)


def _draw_battleships(
    game_rules: battleships.BattleshipsRules, sight: Sight, actions: Collection[int]
) -> list[Block]:
    tiles, width = game_rules.num_tiles, game_rules.board_width
    # The last announcement of a tile: 0 none, 1 miss, 2 hit, 3 sunk.
    own, other = (sight.now["boards"][p].argmax(axis=1) for p in (sight.player, 1 - sight.player))
    ships = [""] * tiles
    for ship, placed in enumerate(sight.now["ships"]):
        for tile in np.flatnonzero(placed):
            ships[tile] = chr(ord("a") + ship)
    own_cells = [
        blocks.card(
            (ship, "*", ship.upper(), ship.upper())[code],
            [action for action in (tiles + tile, 2 * tiles + tile) if action in actions],
            mark=("ship" if ship else "water", "miss", "hit", "hit")[code],
        )
        for tile, (ship, code) in enumerate(zip(ships, own, strict=True))
    ]
    opponent_cells = [
        blocks.card(
            ("", "*", "X", "#")[code],
            [tile] if tile in actions else [],
            mark=("water", "miss", "hit", "sunk")[code],
        )
        for tile, code in enumerate(other)
    ]
    sizes = enumerate(game_rules.ship_sizes)
    fleet = ", ".join(f"{chr(ord('a') + ship)} of {size}" for ship, size in sizes)
    facts = {
        "Ships": f"{fleet}; capitals where hit",
        "Shots": "* missed, X hit, # the hit that sank a ship",
    }
    for player, whose in ((sight.player, "Your"), (1 - sight.player, "Opponent's")):
        shots = [tile for tile in indices_of(sight.past["shot_tiles"][:, player]) if tile >= 0]
        if shots:
            outcome = index_of(sight.past["shot_outcomes"][len(shots) - 1, player])
            word = ("missed", "hit", "hit and sank a ship")[outcome]
            facts[f"{whose} last shot"] = f"at {divmod(shots[-1], width)}, {word}"
    return [
        blocks.grid("Your board", own_cells, width),
        blocks.grid("Opponent's board", opponent_cells, width),
        blocks.facts(facts),
    ]


def _summarize_battleships(game_rules: battleships.BattleshipsRules) -> str:
    goal = {
        "win_loss": "Who sinks the whole fleet of the other first, wins.",
        "ship_values": f"Every ship sunk counts its value, of {list(game_rules.ship_values)}.",
    }[game_rules.returns_type]
    return (
        "First the players place their ships in turn, unseen; then they shoot in turn, and hear\n"
        f"whether they missed, hit or sank a ship. Each has {game_rules.num_shots} shots.\n"
        f"{goal}\nTiles are (row, column), counted from 0."
    )


def _draw_leduc(
    game_rules: leduc.LeducRules, sight: Sight, actions: Collection[int]
) -> list[Block]:
    del actions  # They are buttons.
    chips = [index_of(contribution) for contribution in sight.now["contributions"]]
    cards = [
        _leduc_card(game_rules, index_of(sight.past[piece]), note)
        for note, piece in (("yours", "private_card"), ("public", "public_card"))
    ]
    facts: dict[str, object] = {
        "You put in": chips[sight.player],
        "Opponent put in": chips[1 - sight.player],
    }
    for name, piece in (("First round", "first_round"), ("Second round", "second_round")):
        # Player 0 opens both rounds.
        moves = [
            f"{sight.name(move % 2)} {game_rules.action_to_string(move % 2, action)}"
            for move, action in enumerate(indices_of(sight.past[piece]))
            if action >= 0
        ]
        facts[name] = ", ".join(moves) or "-"
    return [
        blocks.cards("Cards", [*cards, blocks.card("?", note="theirs", mark="back")]),
        blocks.facts(facts),
    ]


def rank_name(game_rules: leduc.LeducRules, rank: int) -> str:
    """The name of a rank on a card: of three ranks J, Q and K, as in Leduc poker."""
    names = ("J", "Q", "K") if game_rules.num_ranks == 3 else "23456789TJQKA"
    return names[rank - game_rules.num_ranks] if game_rules.num_ranks <= len(names) else str(rank)


def _leduc_card(game_rules: leduc.LeducRules, card: int, note: str) -> Block:
    if card < 0:
        return blocks.card("", note=note, mark="back")
    if game_rules.deal_ranks:
        return blocks.card(rank_name(game_rules, card), note=note, mark="plain")
    rank, suit = divmod(card, game_rules.num_suits)
    sign = SUITS[suit] if suit < len(SUITS) else f" of suit {suit}"
    mark = "red" if suit in (1, 2) else "plain"
    return blocks.card(f"{rank_name(game_rules, rank)}{sign}", note=note, mark=mark)


def _summarize_leduc(game_rules: leduc.LeducRules) -> str:
    ranks = ", ".join(rank_name(game_rules, rank) for rank in range(game_rules.num_ranks))
    return (
        f"The deck has the ranks {ranks}, the last one highest, in {game_rules.num_suits} suits. "
        "Each player has one card;\na betting round, one public card, and a second betting round "
        "with doubled stakes follow.\nWho does not fold wins the pot. At the end, the rank of the "
        "public card beats all others;\nelse the higher rank wins, and equal ranks split. To call "
        "when nobody has bet is to check."
    )


def _draw_liars_dice(
    game_rules: liars_dice.LiarsDiceRules, sight: Sight, actions: Collection[int]
) -> list[Block]:
    del actions  # They are buttons.
    # The tensor shows no die before the last one is rolled.
    faces = [place + 1 for place in indices_of(sight.past["dice"]) if place >= 0]
    dice = [blocks.card(face, note="yours", mark="plain") for face in faces]
    dice += [blocks.card("?", note="theirs", mark="back")] * game_rules.num_dice
    bids = bids_made(game_rules, sight)
    rows = {"who": [bidder for bidder, _ in bids], "bid": [bid for _, bid in bids]}
    return [blocks.cards("Dice", dice), *([blocks.table("Bids", rows)] if bids else [])]


def bids_made(game_rules: liars_dice.LiarsDiceRules, sight: Sight) -> list[tuple[str, str]]:
    """The bidder and name of each bid of liar's dice, in order; the last one may be a call."""
    actions = np.flatnonzero(sight.past["bids"]).tolist()
    actions += [game_rules.num_bids] * bool(sight.past["called"])
    return [
        (sight.name(turn % 2), game_rules.action_to_string(turn % 2, action))
        for turn, action in enumerate(actions)
    ]


def _summarize_liars_dice(game_rules: liars_dice.LiarsDiceRules) -> str:
    return (
        f"Each player rolls {game_rules.num_dice} dice of {game_rules.num_sides} sides, unseen by "
        "the other.\nThe bid 2-1 says that all dice together show at least two 1; each "
        f"{game_rules.num_sides} counts\nas any face. Bids ascend. Who calls the last bid a lie "
        "wins if it is one,\nand loses if it is true."
    )


def _draw_phantom(
    game_rules: phantom.PhantomRules, sight: Sight, actions: Collection[int]
) -> list[Block]:
    own, other = "xo"[sight.player], "ox"[sight.player]
    styles = (("", "tile"), (own, "own"), (other, "other"))
    contents = [styles[kind] for kind in indices_of(sight.now["cells"])]
    cells = [
        blocks.card(text, [cell] if cell in actions else [], mark=mark)
        for cell, (text, mark) in enumerate(contents)
    ]
    if game_rules.is_abrupt:
        facts = {"Tries of both so far": int(sight.past["tries"].sum())}
    else:
        ends, steps = np.cumsum(game_rules.turn_lengths), int(sight.past["steps"].sum())
        facts = {"Stones that lie already": int(np.searchsorted(ends, steps, side="right"))}
    grid = blocks.grid(f"You lay {own}", cells, game_rules.num_columns)
    if game_rules.board.is_hexagonal:
        edges = ("the top and the bottom edge", "the left and the right edge")
        mine, theirs = edges[sight.player], edges[1 - sight.player]
        grid["shape"] = f"hex of-player-{sight.player}"
        grid["note"] = f"You join {mine}, in blue; your opponent joins {theirs}, in orange."
    return [grid, blocks.facts(facts)]


def _summarize_phantom(game_rules: phantom.PhantomRules) -> str:
    then = "has lost the turn" if game_rules.is_abrupt else "tries again"
    return (
        "Players try in turn to lay a stone on a cell, player 0 x and player 1 o, and see their\n"
        "own stones only. Who tries a cell where a stone of the opponent lies learns that,\n"
        f"and {then}.\n{game_rules.goal}\nCells are (row, column), counted from 0."
    )


_GAMES = {
    phantom.PhantomRules: _Game(_draw_phantom, _summarize_phantom),
    liars_dice.LiarsDiceRules: _Game(_draw_liars_dice, _summarize_liars_dice),
    goofspiel_ii.GoofspielIIRules: _Game(_draw_goofspiel, _summarize_goofspiel),
    oshi_zumo_ii.OshiZumoIIRules: _Game(_draw_oshi_zumo, _summarize_oshi_zumo),
    battleships.BattleshipsRules: _Game(_draw_battleships, _summarize_battleships),
    holdem.HoldemRules: _Game(holdem_view.draw, holdem_view.summary),
    leduc.LeducRules: _Game(_draw_leduc, _summarize_leduc),
}
