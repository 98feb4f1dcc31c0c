"""What search earns against its own network in Goofspiel with 8 cards, exactly.

As `earned`, in a game of Table 1 of Kubíček et al. (2023) that is far too large to be compiled:
policies are tables of all infosets, searched in all public states that are small enough, and
judged by compiled walks (`sepot.goofspiel_tables`). Critics are those that were trained for
the networks, and exact ones.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple, TypeAlias

from experiments.sepot.goofspiel_critic import GoofspielCritic, critic_of
from experiments.sepot.goofspiel_tables import (
    Deck,
    PolicyTable,
    expected_return,
    nash_conv,
    tables,
    with_searches,
)
from experiments.sepot.networks import Networks
from experiments.sepot.search_readings import DEFAULTS, READINGS, transformations_of
from experiments.sepot.study import Study
from experiments.study import Experiment, verdict
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic
from spiel_dl.play import registry
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = ("goofspiel_8_descending",)
TRAINED, EXACT = "trained", "exact"
PolicyPair: TypeAlias = tuple[PolicyTable, PolicyTable]
Rows = list[dict[str, Any]]
_TITLES = {
    "network": "network",
    "critic": "critic",
    "max_histories": "largest search (unique histories)",
    "searched": "infosets searched",
    "before": "network's NashConv",
    "after": "with search",
    "earned": "earned against the network (utility a game)",
    "most": "earned by a best response",
}


class Item(NamedTuple):
    """One way to search on top of one network.

    Attributes:
      networks: of a game.
      seed: of the network.
      critic: which critic.
      most: unique histories of a search.
      reading: how it searches, one of `READINGS`; others than the defaults need exact critics.
    """

    networks: Networks
    seed: int
    critic: str
    most: int
    reading: str = DEFAULTS


def measure(item: Item) -> dict[str, Any]:
    """What a search earns, and how exploitable it is."""
    deck = Deck(load_turn_based(item.networks.study.game))
    own, found, number = _policies(item, deck)
    before = nash_conv(deck, *own)
    as_first = expected_return(deck, found[0], own[1])
    as_second = -expected_return(deck, own[0], found[1])
    return {
        "before": before,
        "after": nash_conv(deck, *found),
        "earned": (as_first + as_second) / 2,
        # Against a policy that plays both seats, which two best responses do.
        "most": before / 2,
        "searched": number,
    }


def _policies(item: Item, deck: Deck) -> tuple[PolicyPair, PolicyPair, int]:
    """Both players' policies by the network and by search, and how many infosets were searched."""
    networks, reading = item.networks, READINGS[item.reading]
    critic: Critic
    if item.critic == EXACT:
        critic = exact = _exact_critic(networks, item.seed, reading.may_choose)
        act, own = exact.act, exact.policies
    else:
        loaded = checkpoints.load(networks.with_critic(item.seed), deck.game)
        assert isinstance(loaded.blueprint, NetworkPolicy)  # Its game cannot be compiled.
        act, critic = loaded.blueprint.act, loaded.critic
        own = (tables(deck, act, 0)[0], tables(deck, act, 1)[0])
    policy = networks.study.searching(act, critic, item.most, **reading.config)
    (first, number), (second, other_number) = (
        with_searches(deck, policy, player, own[player], item.most) for player in (0, 1)
    )
    return own, (first, second), number + other_number


@functools.lru_cache(maxsize=1)
def _exact_critic(networks: Networks, seed: int, may_choose: bool) -> GoofspielCritic:
    """The latest is kept, for other ways to search by it."""
    study = networks.study
    game = load_turn_based(study.game)
    known = transformations_of(study.transformations, game, may_choose=may_choose)
    return critic_of(networks, seed, known)


def part_of(item: Item) -> dict[str, Any]:
    """What `measure` says, as a part of the game's workspace."""
    study = item.networks.study
    told = {
        "game": study.game,
        "depth_limit": str(study.limits[0]),
        "iterations": study.settings.iterations,
        "transformations": study.transformations,
        "file": registry.digest(item.networks.player(item.seed)),
    }
    name = file_name("earned_large", item.seed, item.critic, item.most, item.reading)
    part: dict[str, Any] = study.workspace.part(name, told, functools.partial(measure, item))
    return part


def _rows(study: Study) -> Rows:
    """What is found of every network, critic and bound.

    Raises:
      ValueError: if a network is missing, or a game is none that `Deck` knows.
    """
    rows: Rows = []
    for each in study.games(*GAMES):
        networks = Networks(each)
        networks.check()
        for seed in networks.seeds:
            for critic in (TRAINED, EXACT):
                for most in study.settings.bounds:
                    labels = {"game": each.name, "network": f"seed {seed}", "critic": critic}
                    part = part_of(Item(networks, seed, critic, most))
                    rows.append({**labels, "max_histories": most, **part})
    return rows


def _report(study: Study, rows: Rows) -> Report:
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    kinds = {
        row["critic"]: [each for each in rows if each["critic"] == row["critic"]] for row in rows
    }
    return Report(
        "",
        [
            "Returns are exact means over both seats, in utility units, but for single precision; "
            "what best responses earn is half of NashConv. Search is SePoT with its defaults, in "
            "all public states whose look-ahead has no more histories than allowed; elsewhere it "
            "is the network.",
            *(f"{each.describe()}; searches look {each.limits[0]} ahead." for each in games),
            "Held: search earns something against its network.",
        ],
        {"By network and critic": Table(rows, _TITLES)},
        verdict=verdict(
            {
                f"{row['network']}, {row['critic']} critic, {row['max_histories']:,} histories": (
                    row["earned"] > 0
                )
                for row in rows
            }
        ),
        headline="; ".join(
            f"{critic} critics: NashConv {_mean(found, 'before'):.3g}, with search "
            f"{_mean(found, 'after'):.3g}; earned {_mean(found, 'earned'):.4f}"
            for critic, found in kinds.items()
        ),
    )


def _mean(rows: Rows, name: str) -> float:
    return math.fsum(row[name] for row in rows) / len(rows)


EARNED_LARGE = Experiment(
    "earned_large",
    "What SePoT earns against its own network in Goofspiel with 8 cards, exactly",
    "mean return (utility)",
    "SePoT wins against R-NaD in all games (Table 1); held against exact mean returns.",
    _rows,
    _report,
    ("games", "seeds", "transformations", "limits", "iterations", "network", "bounds"),
)
