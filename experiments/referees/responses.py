"""CDBR, CDRNR and RNR beside their authors' own, infoset by infoset.

  python experiments/referees/responses.py --program=../responses

Theirs is C++, of `github.com/milecdav/open_spiel_w_papers`, as of April 2026 (87f5a85; `rnr` of
d12636e, `full_gadget` of 02b04c3), without its linear programs: `RNRSolver`, `ContinualResolve`,
`FullGadgetGame`, and what these need. Two things were added to it: portfolios are remembered, and
histories of converted games are grouped by what the simultaneous game shows to all. The program is
`responses.cc` beside this file, linked to them; it reads the model, and prints strategies.

Their depth limit counts moves, and behind it both players pick one of all pure strategies of what
is left. In the games here each has one decision left there, so that this is the game itself, and
iterates can be compared, not solutions alone. All is CFR+ with alternating updates, the player that
responds first, and linear averaging.
"""

import dataclasses
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import common

from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.policies.portfolios import by_hand
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers import depth_limited
from spiel_dl.solvers.best_response import (
    BestResponse,
    FixedStrategy,
    best_response,
    realization_plan,
)
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import restrict
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME, DepthLimit
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import cut

GAMES = (
    ("kuhn_poker", 2, 1000),
    ("goofspiel(imp_info=True,num_cards=4,points_order=descending)", 4, 20),
    ("leduc_poker", 0, 50),
)
"""Games, the moves after which both programs cut them (0: not at all), and iterations of CFR+."""
_MIXTURES = (0.2, 0.5, 0.8)
_ALMOST = 1.0 - 1e-15
"""Instead of p = 1, for which ours takes a best response at once: so it iterates as theirs does."""
_SAME = 1e-6
_DIFFERENCES = ("trunk", "subgames", "weighted as theirs")

Theirs = Mapping[str, Mapping[int, float]]  # By infoset strings, by actions.


@dataclasses.dataclass(frozen=True)
class Setting:
    """The input of both programs.

    Attributes:
      program: theirs.
      model: the opponent's model; its part for the player that responds is not read.
      moves: the depth limit.
      iterations: of CFR+ in each search.
    """

    program: str
    model: ArrayPolicy
    moves: int
    iterations: int

    @property
    def tree(self) -> GameTree:
        """The game."""
        assert isinstance(self.model.tree, GameTree)
        return self.model.tree

    @property
    def pieces(self) -> Pieces[GameTree]:
        """The game, cut."""
        return Pieces(self.tree, DepthLimit(moves=self.moves), "block")

    def ours(self, kind: type, player: int, **options: Any) -> ArrayPolicy:
        """Our response, block by block."""
        limit = DepthLimit(moves=self.moves)
        effort = Effort(self.iterations)
        policy = kind(
            self.tree, player, self.model, limit, scheme="block", effort=effort, **options
        )
        response: ArrayPolicy = policy.to_array_policy()
        return response

    def theirs(self, method: str, player: int, p: float, read: ArrayPolicy | None = None) -> Theirs:
        """The strategies of their program by one of its methods; it reads `read`, or the model."""
        numbers = [str(player), repr(p), str(self.iterations), str(self.moves)]
        done = subprocess.run(
            [self.program, str(self.tree.game), method, *numbers],
            input="".join(_lines(self.model if read is None else read)),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        strategies = {}
        for line in done.stdout.splitlines():
            name, pairs = line.split("\t")
            probabilities = (pair.split(":") for pair in pairs.split())
            strategies[name] = {int(action): float(number) for action, number in probabilities}
        return strategies


def measure(*, program: str, seeds: int = 2) -> Report:
    """Compares responses to random models.

    Args:
      program: theirs, built from `responses.cc` and their files.
      seeds: how many models, of seeds from 0 on.
    """
    rnr, cdbr, cdrnr, mixtures = [], [], [], []
    for game, moves, iterations in GAMES:
        tree = GameTree.from_game(load_turn_based(game))
        models = {f"random {seed}": random_policy(tree, seed) for seed in range(seeds)}
        if game == "kuhn_poker":
            models["uniform"] = ArrayPolicy.uniform(tree)  # As in their log.
        for name, model in models.items():
            setting = Setting(program, model, moves, iterations)
            labels = {"game": game.split("(")[0], "model": name}
            rnr += [{**labels, **row} for row in _rnr(setting)]
            if moves:
                cdbr += [{**labels, **row} for row in _cdbr(setting)]
                cdrnr += [{**labels, **row} for row in _cdrnr(setting)]
                mixtures += [{**labels, **row} for row in _mixtures(setting)]
    alike = [row for row in cdbr if row["ours"] == "iterating"]
    largest = {
        "RNR": _largest(rnr, "largest difference"),
        "CDBR": _largest(alike, "largest difference"),
        "CDRNR": _largest(cdrnr, "largest difference"),
        "CDRNR's trunks": _largest(mixtures, "trunk"),
        "CDRNR, weighted as theirs": _largest(mixtures, "weighted as theirs"),
    }
    worth = {name: name for name in mixtures[0] if name not in _DIFFERENCES}
    return Report(
        "CDBR, CDRNR and RNR beside their authors' own",
        [
            "; ".join(f"`{game}`, {iterations} iterations" for game, _, iterations in GAMES)
            + ", of CFR+ in each search. Random models, and in Kuhn poker the uniform one. Kuhn "
            "poker is cut after 2 moves, Goofspiel after 4 of 8. Compared are infosets with two "
            "actions and more.",
            "CDBR. Theirs takes the model for what the opponent does behind the depth limit, too, "
            "so all of it is a best response to the model. *Iterating*: ours in the same games, p "
            f"= {_ALMOST!r}. *Best response*: ours at once; *not best* is how often theirs at most "
            "takes an action that is no best one, where best ones lead: first iterates stay in the "
            "average. *The paper's*: the opponent is rational behind the depth limit.",
            "CDRNR. Their `RNRSolver` in their full gadget of each subgame (its whole trunk), "
            "below what ours decided above. *Joint*: the model goes on in the subgames beside; "
            "*full*: its opponent is free there, as behind a depth limit.",
            "CDRNR as their program composes it: the trunk and the subgames of one run of it. Ours "
            "is the same trunk, and the joint gadget below it. *Weighted as theirs*: ours with the "
            "model's part of what is solved as their program has it: of this subgame alone, "
            "divided by the player's own reach of its infosets and by the model's reach of the "
            "subgame.",
        ],
        {
            "RNR in the whole game": Table.of(rnr),
            "CDBR": Table.of(cdbr),
            "CDRNR": Table.of(cdrnr),
            "CDRNR as their program composes it": Table.of(mixtures),
            "What these are worth": Table(mixtures, worth),
        },
        headline="largest difference of a probability: "
        + ", ".join(f"{name} {value:.2g}" for name, value in largest.items()),
        verdict="the same to 1e-6 where both solve the same game"
        if max(largest.values()) <= _SAME
        else "not the same to 1e-6",
    )


def _largest(rows: list[dict[str, Any]], column: str) -> float:
    return max(row[column] for row in rows if row.get(column) is not None)


def _rnr(setting: Setting) -> Iterator[dict[str, Any]]:
    for player in (0, 1):
        for p in _MIXTURES:
            effort = Effort(setting.iterations)
            policy = RNRPolicy(setting.tree, player, setting.model, p=p, effort=effort)
            theirs = setting.theirs("rnr", player, p)
            yield {"player": player, "p": p, **_compared(policy.to_array_policy(), theirs, player)}


def _cdbr(setting: Setting) -> Iterator[dict[str, Any]]:
    """Player 0's; where player 1 responds, theirs updates it second."""
    tree, model = setting.tree, setting.model
    value = exploitability.game_value(tree, 0)
    form = cut(tree, BEYOND_THE_GAME).sequence_form
    model_plan = realization_plan(tree.treeplexes[1], model.strategies[1])
    best = best_response(form, 0, model_plan)
    longer = dataclasses.replace(setting, iterations=10 * setting.iterations)
    for name, policy, run in (
        ("iterating", _abd(setting, _ALMOST), setting),
        ("best response", ArrayPolicy(tree, (best.strategy, model.strategies[1])), setting),
        ("best response", ArrayPolicy(tree, (best.strategy, model.strategies[1])), longer),
        ("the paper's", setting.ours(CDBRPolicy, 0, exact=True), longer),
    ):
        theirs = run.theirs("none", 0, 1.0)
        response = _read(tree, theirs, model)
        row: dict[str, Any] = {"ours": name, "their iterations": run.iterations}
        if name == "iterating":
            row["largest difference"] = _compared(policy, theirs, 0)["largest difference"]
        elif name == "best response":
            row["not best"] = _not_best(tree, best, response)
        yield {
            **row,
            "gain of ours": exploitability.gain(tree, policy, model, 0, value),
            "gain of theirs": exploitability.gain(tree, response, model, 0, value),
        }


def _not_best(tree: GameTree, best: BestResponse, policy: ArrayPolicy) -> float:
    """Player 0's largest probability of non-best actions in infosets reached by best actions."""
    treeplex = tree.treeplexes[0]
    largest = 0.0
    reached = np.ones(treeplex.num_sequences, np.bool_)
    for infoset in range(treeplex.num_infosets):
        here = treeplex.sequences(infoset)
        is_best = best.cfv[here] > best.cfv[here].max() - 1e-9
        reached[here] = reached[treeplex.parent_sequence[infoset]] & is_best
        if reached[treeplex.parent_sequence[infoset]]:
            largest = max(largest, float(policy.strategies[0][here] @ ~is_best))
    return largest


def _cdrnr(setting: Setting) -> Iterator[dict[str, Any]]:
    for player in (0, 1):
        if not setting.pieces.with_choices[player] - {ROOT}:
            continue
        for p in _MIXTURES:
            for gadget in ("joint", "full"):
                policy = setting.ours(CDRNRPolicy, player, p=p, gadget=gadget)
                theirs = setting.theirs(gadget, player, p, policy)
                row = {"player": player, "p": p, "gadget": gadget}
                yield {**row, **_compared(policy, theirs, player)}


def _mixtures(setting: Setting) -> Iterator[dict[str, Any]]:
    """Player 0's; where player 1 responds, theirs updates it second."""
    tree, model = setting.tree, setting.model
    value = exploitability.game_value(tree, 0)
    above = setting.pieces.infoset_depths[0] < setting.moves
    for p in _MIXTURES:
        policy = _abd(setting, p)
        for gadget in ("full_trunk", "full_path", "resolving"):
            theirs = setting.theirs(gadget, 0, p)
            row: dict[str, Any] = {"p": p, "their gadget": gadget}
            row["trunk"] = _compared(policy, theirs, 0, above)["largest difference"]
            row["subgames"] = _compared(policy, theirs, 0, ~above)["largest difference"]
            if gadget == "full_trunk":
                weighted = _weighted_as_theirs(setting, policy, p)
                compared = _compared(weighted, theirs, 0, ~above)
                row["weighted as theirs"] = compared["largest difference"]
            for name, each in (("ours", policy), ("theirs", _read(tree, theirs, model))):
                row[f"gain, {name}"] = exploitability.gain(tree, each, model, 0, value)
                lost = exploitability.player_exploitability(tree, each, 0, value)
                row[f"exploitability, {name}"] = lost
            yield row


def _abd(setting: Setting, p: float) -> ArrayPolicy:
    """Their response for player 0, by our ABD with all pure strategies behind the depth limit."""
    picks = [_pick(setting.tree, number) for number in (0, 1)]
    portfolios = by_hand(setting.tree, 0, setting.model, picks, picks)
    return setting.ours(ABDPolicy, 0, p=p, portfolios=portfolios)


def _pick(tree: GameTree, number: int) -> ArrayPolicy:
    """The policy that takes the first action everywhere, or the second."""
    strategies = []
    for treeplex in tree.treeplexes:
        strategy = np.zeros(treeplex.num_sequences)
        strategy[: treeplex.num_root_sequences] = 1.0
        strategy[treeplex.first_sequence + np.minimum(number, treeplex.num_actions - 1)] = 1.0
        strategies.append(strategy)
    return ArrayPolicy(tree, strategies)


def _weighted_as_theirs(setting: Setting, policy: ArrayPolicy, p: float) -> ArrayPolicy:
    """Solves player 0's subgames again, below what a policy does above.

    In theirs, the opponent follows the model in a game of its own: a subgame that begins with a
    history by the model's and chance's reach, which sum to 1. The player's own reach is not in it,
    as it is where the opponent is free.
    """
    tree, pieces = setting.tree, setting.pieces
    treeplex, others = tree.treeplexes
    form = cut(tree, BEYOND_THE_GAME).sequence_form
    model_plan = realization_plan(others, setting.model.strategies[1])
    everywhere = np.ones(others.num_infosets, np.bool_)
    game = restrict(form, (np.ones(1), np.ones(1)), model_plan, everywhere, p)
    above = pieces.infoset_depths[0] < setting.moves
    game = game._replace(fixed=FixedStrategy(above, policy.strategies[0]))
    own_reach = _reach_above(setting, policy, above)
    strategy = policy.strategies[0].copy()
    for places in _their_subgames(tree, pieces):
        starts = np.concatenate([tree.public_states.histories(place) for place in places])
        reach = tree.chance_reach[starts] @ model_plan[tree.sequence[1, starts]]
        here = treeplex.sequences_of(np.isin(pieces.of_infosets(0), places))
        constants = np.zeros(treeplex.num_sequences)
        constants[here] = game.constants[here] / (reach * own_reach[here])
        form_here = form.replacing_constants((constants, np.zeros(others.num_sequences)))
        solved = depth_limited.solve(
            game._replace(sequence_form=form_here), Effort(setting.iterations)
        )
        strategy[here] = solved.strategy[here]
    return ArrayPolicy(tree, (strategy, policy.strategies[1]))


def _their_subgames(tree: GameTree, pieces: Pieces[GameTree]) -> list[list[int]]:
    """Our public states, by what their observer shows: in Goofspiel all but a tie's cards."""
    alike: dict[str, list[int]] = {}
    for place in sorted(pieces.with_choices[0] - {ROOT}):
        state = tree.state(int(tree.public_states.histories(place)[0]))
        lines = state.information_state_string(0).splitlines()
        alike.setdefault("".join(each for each in lines if "P0" not in each), []).append(place)
    return list(alike.values())


def _reach_above(setting: Setting, policy: ArrayPolicy, above: np.ndarray) -> np.ndarray:
    """Player 0's reach of the beginning of each sequence's subgame: float64 [S_0]."""
    treeplex = setting.tree.treeplexes[0]
    strategy = policy.strategies[0].copy()
    strategy[treeplex.sequences_of(~above)] = 1.0
    reach = strategy.copy()
    for infoset in range(treeplex.num_infosets):
        reach[treeplex.sequences(infoset)] *= reach[treeplex.parent_sequence[infoset]]
    return reach


def _lines(policy: ArrayPolicy) -> Iterator[str]:
    """A policy in the program's input format."""
    for player in (0, 1):
        for name, actions, here in _infosets(policy.tree, player):
            probabilities = policy.strategies[player][here].tolist()
            pairs = (f"{a}:{p!r}" for a, p in zip(actions, probabilities, strict=True))
            yield f"{name}\t{' '.join(pairs)}\n"


def _infosets(tree: GameTree | FactoredGame, player: int) -> Iterator[tuple[str, list[int], slice]]:
    """The program's name of each infoset of a player, its actions, and its sequences."""
    for infoset in range(tree.num_infosets(player)):
        name = tree.infoset_string(player, infoset).replace("\n", "|")
        actions = tree.legal_actions(player, infoset).tolist()
        yield name, actions, tree.treeplexes[player].sequences(infoset)


def _read(tree: GameTree, theirs: Theirs, model: ArrayPolicy) -> ArrayPolicy:
    """A policy of player 0's strategy by theirs, uniform where they have none, and the model."""
    strategy = tree.treeplexes[0].uniform_strategy()
    for name, actions, here in _infosets(tree, 0):
        if name in theirs:
            strategy[here] = [theirs[name][action] for action in actions]
    return ArrayPolicy(tree, (strategy, model.strategies[1]))


def _compared(
    policy: ArrayPolicy, theirs: Theirs, player: int, which: np.ndarray | None = None
) -> dict[str, Any]:
    """The distance of their strategies from ours in a player's infosets, or in `which` of them."""
    differences = []
    for infoset, (name, actions, here) in enumerate(_infosets(policy.tree, player)):
        is_compared = which is None or which[infoset]
        if name not in theirs or not is_compared or len(actions) < 2:
            continue
        ours = policy.strategies[player][here].tolist()
        pairs = zip(actions, ours, strict=True)
        differences.append(max(abs(theirs[name][action] - number) for action, number in pairs))
    return {
        "infosets": len(differences),
        "differ": sum(difference > _SAME for difference in differences),
        "largest difference": max(differences, default=0.0),
    }


if __name__ == "__main__":
    common.run(measure)
