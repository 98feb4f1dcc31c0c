"""What a player of a game sees, as text for people.

A view is made of the public pieces and of the player's own private pieces, never of the state, so
it shows nothing that is hidden from the player. Views exist for the games of this package; any
other `Rules` is shown by its pieces, written out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from spiel_dl.games import (
    battleships,
    goofspiel_ii,
    leduc,
    liars_dice,
    oshi_zumo_ii,
    phantom,
    rules,
)
from spiel_dl.games.pieces import strings_of_pieces
from spiel_dl.games.sights import Sight, index_of, indices_of, see

SUITS = ("spades", "hearts", "diamonds", "clubs")
_SHOWN_ROUNDS = 15  # as many columns as fit into a terminal


@dataclasses.dataclass(frozen=True)
class _Game:
    """How a game is shown.

    Attributes:
      view: writes what a player sees.
      summary: says in a few lines how the game is played.
    """

    view: Callable[[Any, Sight], list[str]]
    summary: Callable[[Any], str]


def view(game_rules: rules.Rules, state: rules.StateBatch, player: int, row: int = 0) -> str:
    """What a player sees in one row of a batch of states, as lines of text.

    Args:
      game_rules: the game.
      state: the states.
      player: 0 or 1.
      row: which state.

    Raises:
      ValueError: if `player` is neither 0 nor 1.
    """
    seen = see(game_rules, state, player, row)
    game = _GAMES.get(type(game_rules))
    write = game.view if game else _view_pieces
    return "\n".join(write(game_rules, seen))


def summary(game_rules: rules.Rules) -> str:
    """How the game is played, in a few lines; empty for a game without a view of its own."""
    game = _GAMES.get(type(game_rules))
    return game.summary(game_rules) if game else ""


def _view_pieces(game_rules: rules.Rules, sight: Sight) -> list[str]:
    shapes = {name: piece.shape for name, piece in sight.past.items()}
    row = np.concatenate([piece.ravel() for piece in sight.past.values()])
    return [f"You are player {sight.player}.", *strings_of_pieces(shapes, row).split("; ")]


def _table(rows: Mapping[str, Sequence[object]]) -> list[str]:
    """Rows of cells in columns, the last ones only if there are many."""
    start = max(0, max(map(len, rows.values())) - _SHOWN_ROUNDS)
    cells = [[name, *map(str, row[start:])] for name, row in rows.items()]
    head = max(len(row[0]) for row in cells)
    width = max((len(cell) for row in cells for cell in row[1:]), default=0)
    return [
        " ".join([f"{row[0]:{head}}", *(f"{cell:>{width}}" for cell in row[1:])]).rstrip()
        for row in cells
    ]


def rounds_of_bids(
    sight: Sight, public: Mapping[str, Sequence[object]], bids: Sequence[object]
) -> tuple[dict[str, list[object]], bool]:
    """All rounds begun, in a game of hidden bids.

    Args:
      sight: what a player sees.
      public: what else there is to say of each round, by its name.
      bids: the player's own.

    Returns:
      Rows of cells by their names, a column for each round; and whether player 0 has bid in a round
      in which player 1 has not.
    """
    outcomes = indices_of(sight.past["round_winners"])
    names = ("you", "draw", "them") if sight.player == 0 else ("them", "draw", "you")
    over = sum(outcome >= 0 for outcome in outcomes)
    waits = over < len(outcomes) and bool(sight.past["player_0_has_bid"][over])
    begun = max([over + waits, *map(len, public.values())])
    rows: dict[str, list[object]] = {
        "round": list(range(1, begun + 1)),
        **{name: list(row) for name, row in public.items()},
        "your bid": [bid for bid in bids[:begun] if bid != ""],
        "winner": [names[outcome] for outcome in outcomes[:over]],
    }
    return rows, waits


def _rounds_of_bids(
    sight: Sight, public: Mapping[str, Sequence[object]], bids: Sequence[object]
) -> list[str]:
    """A table of all rounds begun, in a game of hidden bids."""
    rows, waits = rounds_of_bids(sight, public, bids)
    if not rows["round"]:
        return []
    return _table(rows) + ["Your opponent has bid."] * (waits and sight.player == 1)


def goofspiel_rounds(sight: Sight) -> tuple[list[int], list[object]]:
    """Point cards that were turned up, and the player's bids; "" where there is none."""
    cards = [card + 1 for card in indices_of(sight.past["point_cards"]) if card >= 0]
    bids: list[object] = ["" if c < 0 else c + 1 for c in indices_of(sight.past["bids"])]
    return cards, bids


def _view_goofspiel(game_rules: goofspiel_ii.GoofspielIIRules, sight: Sight) -> list[str]:
    points = [index_of(total) for total in sight.now["point_totals"]]
    cards, bids = goofspiel_rounds(sight)
    return [
        f"You are player {sight.player}. Rounds: {game_rules.num_turns}.",
        *_rounds_of_bids(sight, {"point card": cards}, bids),
        f"Points: you {points[sight.player]}, opponent {points[1 - sight.player]}",
        f"Your hand: {' '.join(str(card + 1) for card in np.flatnonzero(sight.now['hand']))}",
    ]


def _summarize_goofspiel(game_rules: goofspiel_ii.GoofspielIIRules) -> str:
    return (
        "In every round a point card is turned up and both players bid one card of their hand,\n"
        "unseen. The higher bid wins the points; on a draw nobody does. Bids are never shown.\n"
        f"Point cards come in {game_rules.points_order} order. Most points win."
    )


def wrestlers_field(game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight) -> list[str]:
    """The locations: "W" the wrestler, "#" off the board, "." others."""
    # From the rounds: where an endgame took the wrestler depends on the coins, which are hidden.
    won, _, lost = sight.past["round_winners"].sum(axis=0)
    field = ["#", *"." * (2 * game_rules.start_location + 1), "#"]
    field[game_rules.start_location + 1 + won - lost] = "W"
    return field


def _view_oshi_zumo(game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight) -> list[str]:
    field = wrestlers_field(game_rules, sight)
    bids = ["" if bid < 0 else bid for bid in indices_of(sight.past["bids"])]
    side = ("right", "left")[sight.player]
    lines = [
        f"You are player {sight.player} and push to the {side}.",
        *_rounds_of_bids(sight, {}, bids),
        f"Field: {''.join(field)}   (W wrestler, # off the board)",
        f"Your coins: {index_of(sight.now['coins'])}",
    ]
    if game_rules.optimal_endgame and sight.past["game_over"][0]:
        lines.append("The field is shown before the pushes that ended the game, if there were any.")
    return lines


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


def _view_battleships(game_rules: battleships.BattleshipsRules, sight: Sight) -> list[str]:
    mine, theirs = marks_of_boards(game_rules, sight)
    width = max(2 * game_rules.board_width + 1, len("Your board"))
    boards = zip(_board(game_rules, mine), _board(game_rules, theirs), strict=True)
    sizes = enumerate(game_rules.ship_sizes)
    fleet = ", ".join(f"{chr(ord('a') + ship)} of {size}" for ship, size in sizes)
    return [
        f"You are player {sight.player}. Ships: {fleet}.",
        f"{'Your board':{width}}   Opponent's board",
        *(f"{left:{width}}   {right}" for left, right in boards),
        "Left: a, b, ... ships, A, B, ... where hit. Right: X hit, # the hit that sank a ship.",
        "Both: * missed shot.",
        *_last_shots(game_rules, sight),
    ]


def marks_of_boards(
    game_rules: battleships.BattleshipsRules, sight: Sight
) -> tuple[list[str], list[str]]:
    """Marks of the tiles of the player's board and of the opponent's, as the view explains them."""
    # Codes of what was announced of a tile: 0 nothing, 1 miss, 2 hit, 3 sunk.
    own, other = (sight.now["boards"][p].argmax(axis=1) for p in (sight.player, 1 - sight.player))
    marks = np.full(game_rules.num_tiles, ".")
    for ship, tiles in enumerate(sight.now["ships"]):
        marks[tiles] = chr(ord("a") + ship)
    mine = [
        (mark, "*", mark.upper(), mark.upper())[code] for code, mark in zip(own, marks, strict=True)
    ]
    return mine, [".*X#"[code] for code in other]


def _board(game_rules: battleships.BattleshipsRules, marks: Sequence[str]) -> list[str]:
    width = game_rules.board_width
    rows = [marks[start : start + width] for start in range(0, len(marks), width)]
    header = " ".join(map(str, range(width)))
    return [f"  {header}", *(f"{number} {' '.join(row)}" for number, row in enumerate(rows))]


def _last_shots(game_rules: battleships.BattleshipsRules, sight: Sight) -> list[str]:
    lines = []
    for player, whose in ((sight.player, "Your"), (1 - sight.player, "Opponent's")):
        tiles = [tile for tile in indices_of(sight.past["shot_tiles"][:, player]) if tile >= 0]
        if tiles:
            row, column = divmod(tiles[-1], game_rules.board_width)
            outcome = index_of(sight.past["shot_outcomes"][len(tiles) - 1, player])
            word = ("missed", "hit", "hit and sank a ship")[outcome]
            lines.append(f"{whose} last shot: at ({row}, {column}), {word}.")
    return lines


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


def _view_leduc(game_rules: leduc.LeducRules, sight: Sight) -> list[str]:
    chips = [index_of(put) for put in sight.now["contributions"]]
    cards = {
        name: card_name(game_rules, index_of(sight.past[name]))
        for name in ("private_card", "public_card")
    }
    lines = [
        f"You are player {sight.player}.",
        f"Your card: {cards['private_card']}",
        f"Public card: {cards['public_card']}",
        f"In the pot: you {chips[sight.player]}, opponent {chips[1 - sight.player]}",
    ]
    return lines + [f"{name}: {moves or '-'}" for name, moves in betting(game_rules, sight)]


def betting(game_rules: leduc.LeducRules, sight: Sight) -> list[tuple[str, str]]:
    """The names of both betting rounds, and what was done in them."""
    rounds = []
    for name, piece in (("First round", "first_round"), ("Second round", "second_round")):
        # Player 0 opens both rounds.
        moves = [
            f"{sight.name(move % 2)} {game_rules.action_to_string(move % 2, action)}"
            for move, action in enumerate(indices_of(sight.past[piece]))
            if action >= 0
        ]
        rounds.append((name, ", ".join(moves)))
    return rounds


def rank_name(game_rules: leduc.LeducRules, rank: int) -> str:
    """What a rank is called on a card: three ranks are J, Q and K, as Leduc poker has them."""
    names = ("J", "Q", "K") if game_rules.num_ranks == 3 else "23456789TJQKA"
    return names[rank - game_rules.num_ranks] if game_rules.num_ranks <= len(names) else str(rank)


def card_name(game_rules: leduc.LeducRules, card: int) -> str:
    """What a card is called; -1 is none."""
    if card < 0:
        return "not dealt"
    if game_rules.deal_ranks:
        return rank_name(game_rules, card)
    rank, suit = divmod(card, game_rules.num_suits)
    name = SUITS[suit] if suit < len(SUITS) else f"suit {suit}"
    return f"{rank_name(game_rules, rank)} of {name}"


def _summarize_leduc(game_rules: leduc.LeducRules) -> str:
    ranks = ", ".join(rank_name(game_rules, rank) for rank in range(game_rules.num_ranks))
    return (
        f"The deck has the ranks {ranks}, the last one highest, in {game_rules.num_suits} suits. "
        "Each player has one card;\na betting round, one public card, and a second betting round "
        "with doubled stakes follow.\nWho does not fold wins the pot. At the end, the rank of the "
        "public card beats all others;\nelse the higher rank wins, and equal ranks split. To call "
        "when nobody has bet is to check."
    )


def _view_liars_dice(game_rules: liars_dice.LiarsDiceRules, sight: Sight) -> list[str]:
    dice = " ".join(map(str, own_dice(sight))) or "not rolled"
    bids = ", ".join(f"{who} {bid}" for who, bid in bids_made(game_rules, sight))
    return [f"You are player {sight.player}.", f"Your dice: {dice}", f"Bids: {bids or '-'}"]


def own_dice(sight: Sight) -> list[int]:
    """The own faces in liar's dice, ascending; empty before the last one is rolled."""
    return [place + 1 for place in indices_of(sight.past["dice"]) if place >= 0]


def bids_made(game_rules: liars_dice.LiarsDiceRules, sight: Sight) -> list[tuple[str, str]]:
    """Who made each bid of liar's dice, in order, and what it was; the last one may call."""
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


def _view_phantom(game_rules: phantom.PhantomRules, sight: Sight) -> list[str]:
    marks, width = marks_of_cells(sight), game_rules.num_columns
    rows = [" ".join(marks[start : start + width]) for start in range(0, len(marks), width)]
    lines = [f"You are player {sight.player} and lay {'xo'[sight.player]}.", *rows]
    return [*lines, *(f"{what}: {number}" for what, number in phantom_facts(game_rules, sight))]


def phantom_facts(game_rules: phantom.PhantomRules, sight: Sight) -> list[tuple[str, int]]:
    """What is public in a phantom game: a name and a number each."""
    if game_rules.is_abrupt:
        return [("Tries of both so far", int(sight.past["tries"].sum()))]
    ends = np.cumsum(game_rules.turn_lengths)
    steps = int(sight.past["steps"].sum())
    return [("Stones that lie already", int(np.searchsorted(ends, steps, side="right")))]


def marks_of_cells(sight: Sight) -> list[str]:
    """What a player of a phantom game knows of each cell: x, o, or a dot where it has not tried."""
    own, other = ("x", "o") if sight.player == 0 else ("o", "x")
    return [(".", own, other)[index_of(kinds)] for kinds in sight.now["cells"]]


def _summarize_phantom(game_rules: phantom.PhantomRules) -> str:
    then = "has lost the turn" if game_rules.is_abrupt else "tries again"
    return (
        "Players try in turn to lay a stone on a cell, player 0 x and player 1 o, and see their\n"
        "own stones only. Who tries a cell where a stone of the opponent lies learns that,\n"
        f"and {then}.\n{game_rules.goal}\nCells are (row, column), counted from 0."
    )


_GAMES = {
    phantom.PhantomRules: _Game(_view_phantom, _summarize_phantom),
    liars_dice.LiarsDiceRules: _Game(_view_liars_dice, _summarize_liars_dice),
    goofspiel_ii.GoofspielIIRules: _Game(_view_goofspiel, _summarize_goofspiel),
    oshi_zumo_ii.OshiZumoIIRules: _Game(_view_oshi_zumo, _summarize_oshi_zumo),
    battleships.BattleshipsRules: _Game(_view_battleships, _summarize_battleships),
    leduc.LeducRules: _Game(_view_leduc, _summarize_leduc),
}
