"""How large public states of Goofspiel with hidden bids are: bounds, and exact counts.

Šustr et al. (2021), Lemma 2 and Table 1 (appendix A), bound the largest public state of depth k
from below by the pigeonhole principle. Exact counts depend only on the numbers of rounds that
player 0 won, drew and lost, as exchanging two rounds exchanges histories one to one. Both counts go
through the card values once, from low to high.

Point cards come in a fixed order, and a depth is a number of complete rounds.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
import operator
from collections.abc import Iterator
from typing import Any

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.settings import Checked
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.parameters import Positive


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Which game.

    Attributes:
      num_cards: cards of each player.
    """

    num_cards: Positive = 13


Study = experiment.Study[Settings]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    cards = study.settings.num_cards
    title = f"The largest public states of Goofspiel with {cards} cards and hidden bids"
    return Report(title, [], {"By depth": Table.of(rows)})


def _judge(tables: Tables) -> Judgement:
    """Judges that there are as many histories as the lemma says, at every depth."""
    [rows] = tables.values()
    larger = all(row["histories, exactly"] >= row["histories, at least"] for row in rows)
    most = max(rows, key=operator.itemgetter("histories, exactly"))
    return Judgement(
        verdict({"at least as many": larger}),
        f"{most['histories, exactly']:.3g} after {most['rounds']} rounds, where the lemma has at "
        f"least {most['histories, at least']:.3g}",
    )


PUBLIC_STATES = Experiment(
    name="public_states",
    title="The largest public states of Goofspiel",
    metric="histories and infosets of the largest public state",
    claim="at least as many histories as Lemma 2 says (Table 1).",
    study=Study,
    compute=lambda study: [*largest_public_states(study.settings.num_cards)],
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        PUBLIC_STATES,
        "particle/goofspiel_13",
        Settings(),
        "Table 1 (appendix A)",
        paper="at least 7.3e14 histories after 12 rounds",
    ),
)


def largest_public_states(num_cards: int) -> Iterator[dict[str, Any]]:
    """Table 1 with exact counts, for depths 0 to N - 1.

    Bounds are Lemma 2's X(k), or 1 before the first round, and 2 sqrt(X(k)). Both players'
    infosets are counted, of the public state that has most.
    """
    for depth in range(num_cards):
        bound = _histories_bound(num_cards, depth)
        outcomes = [
            (wins, draws, depth - wins - draws)
            for wins in range(depth + 1)
            for draws in range(depth + 1 - wins)
        ]
        yield {
            "rounds": depth,
            "histories, at least": bound,
            "histories, exactly": max(count_histories(num_cards, *each) for each in outcomes),
            "infosets, at least": 2 * math.sqrt(bound),
            "infosets, exactly": max(
                count_infosets(num_cards, *each) + count_infosets(num_cards, *each[::-1])
                for each in outcomes
            ),
        }


def count_histories(num_cards: int, wins: int, draws: int, losses: int) -> int:
    """Histories of a public state.

    Args:
      num_cards: N.
      wins: rounds that player 0 won.
      draws: rounds that nobody won.
      losses: rounds that player 1 won.
    """
    pairs = _count_pairs(num_cards).get((wins, draws, losses), 0)
    return pairs * _orders(wins, draws, losses)


def count_infosets(num_cards: int, wins: int, draws: int, losses: int) -> int:
    """Infosets of player 0 in a public state: its bids for which some bids of player 1 exist.

    Player 1's bids exist if its lowest cards, those of draws left out, can lose to player 0's won
    bids, and its highest ones can beat the lost bids. So for a bid of value v that won there must
    be at least as many cards below v, without draws, as won bids up to v; for one that lost, as
    many above v as lost bids from v on.

    Args:
      num_cards: N.
      wins, draws, losses: as in `count_histories`.
    """
    # Numbers of choices by (wins, draws, losses) among the values so far.
    counts: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
    for value in range(1, num_cards + 1):
        after: dict[tuple[int, int, int], int] = collections.defaultdict(int)
        for (won, drawn, lost), count in counts.items():
            after[won, drawn, lost] += count
            if drawn < draws:
                after[won, drawn + 1, lost] += count
            if won < wins and won + 1 <= value - 1 - drawn:
                after[won + 1, drawn, lost] += count
            above = num_cards - value - (draws - drawn)
            if lost < losses and losses - lost <= above:
                after[won, drawn, lost + 1] += count
        counts = after
    return counts.get((wins, draws, losses), 0) * _orders(wins, draws, losses)


@functools.lru_cache(maxsize=4)
def _count_pairs(num_cards: int) -> dict[tuple[int, int, int], int]:
    """The number of sets of bid pairs by (wins, draws, losses).

    Pairs are formed value by value. A card of either player stays out, draws with its equal, beats
    a smaller card of the other player that waits for it, or waits for a larger one itself.
    """
    # Numbers of sets by (waiting cards of player 0, of player 1, wins, draws, losses).
    counts = {(0, 0, 0, 0, 0): 1}
    for _ in range(num_cards):
        after: dict[tuple[int, int, int, int, int], int] = collections.defaultdict(int)
        for (waiting_0, waiting_1, wins, draws, losses), count in counts.items():
            after[waiting_0, waiting_1, wins, draws + 1, losses] += count
            # For each player's card: more cards that wait, cards that it beats, number of choices.
            for more_0, beaten_1, ways_0 in ((0, 0, 1), (1, 0, 1), (0, 1, waiting_1)):
                for more_1, beaten_0, ways_1 in ((0, 0, 1), (1, 0, 1), (0, 1, waiting_0)):
                    if ways_0 and ways_1:
                        waits = (waiting_0 + more_0 - beaten_0, waiting_1 + more_1 - beaten_1)
                        key = (*waits, wins + beaten_1, draws, losses + beaten_0)
                        after[key] += count * ways_0 * ways_1
        counts = after
    return {key[2:]: count for key, count in counts.items() if key[:2] == (0, 0)}


def _histories_bound(num_cards: int, depth: int) -> float:
    """Lemma 2's X(k)."""
    return math.perm(num_cards, depth) * math.perm(num_cards - 1, depth) / 2**depth


def _orders(wins: int, draws: int, losses: int) -> int:
    """The number of orders of the bids of each kind over the rounds of that kind."""
    return math.factorial(wins) * math.factorial(draws) * math.factorial(losses)
