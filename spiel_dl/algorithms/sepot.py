"""SePoT: look-ahead search on top of a policy, from any public state.

Kubíček, Burch, Lisý (2023), "Look-ahead Search on Top of Policy Networks in Imperfect Information
Games", section 4.2. To decide in a public state:

  1. The player's range is its own reach of its infosets there. The opponent's given cfvs are what
     it could get at most against the search before; where there was none, what the critic says of
     the identity transformation, summed over an infoset's histories with chance's and the player's
     reach.
  2. `algorithms.sepot_search` solves the game from there to the depth limit.
  3. The player's strategy down to the next public state where it searches is kept.

    critic = ExactCritic(tree, blueprint.strategies, transformations)
    policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1))
    bot = SePoTBot(policy, player=0, seed=1)

    policy = load("runs/sepot/leduc/checkpoint.safetensors", DepthLimit(rounds=1))  # trained ones

What may be relied upon, if `own_range` is "played" and searches are `continual`:

  * If they look to the end of the game and `given_cfvs` is "best_response", no search makes its
    player more exploitable, up to the error of the solution: what the player would do otherwise
    keeps the opponent at its given cfvs, so the gadget can be solved.
  * If the blueprint is an equilibrium, the transformations are all continuations of the opponent,
    and the first search starts at the root, the searched policy is an equilibrium.

With given cfvs of the critic, nothing keeps the opponent at them where its own blueprint makes
mistakes. Without continual searches, the strategy down to the next search was made to go with one
that is given up there.

Two deviations. The paper's range is that of the network, replayed ("blueprint"). Where a player has
searched before, that is not the range with which it comes; "played" takes the strategy it follows,
and so searches in all public states on the way. And the paper takes the critic's given cfvs
throughout (`continual=False`), by which a player need not have searched before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.bots.policy import PolicyBot

from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic
from spiel_dl.policies.array_policy import AnyGame, ArrayPolicy, check_player, compile_game
from spiel_dl.search import sepot_search
from spiel_dl.search.response_policy import BEYOND_THE_GAME
from spiel_dl.search.sepot_config import SearchConfig as SearchConfig
from spiel_dl.search.sepot_search import SearchEffort as SearchEffort
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.multi_valued import LeafUtilities, MultiValuedStates


class SePoTPolicy(openspiel_policy.Policy):
    """Both players' policies by search on a compiled game, each as if only that player searched.

    Nothing is searched before it is asked for; what was found is kept. Where a player's own
    strategy never comes, and in public states that are too large, it is the blueprint.

    Attributes:
      tree: the compiled game.
      num_searches: how many there were so far.
    """

    def __init__(
        self,
        game: AnyGame,
        blueprint: openspiel_policy.Policy,
        critic: Critic | None,
        depth_limit: DepthLimit,
        config: SearchConfig | None = None,
    ):
        """Compiles the game and reads the blueprint.

        Args:
          game: the game, its game string, or the compiled game.
          blueprint: a policy of both players.
          critic: of this blueprint. It may be None if all searches reach the end of the game and
            `given_cfvs` is "best_response".
          depth_limit: how deep each search looks.
          config: the rest; None: the defaults.

        Raises:
          ValueError: if the game cannot be compiled or taken apart so, or if the blueprint is not
            a policy for it.
        """
        self.tree = compile_game(game, blueprint)
        super().__init__(self.tree.game, [0, 1])
        self.config = config or SearchConfig()
        self.num_searches = 0
        self._critic = critic
        self._pieces = Pieces(self.tree, depth_limit, self.config.scheme)
        self._blueprint = ArrayPolicy.from_policy(self.tree, blueprint)
        first, second = (strategy.copy() for strategy in self._blueprint.strategies)
        self._solved = ArrayPolicy(self.tree, (first, second))
        self._results: dict[tuple[int, int], _Result | None] = {}

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; searches where that is needed for them.

        Arguments and errors are those of `ArrayPolicy.action_probabilities`; also a ValueError if a
        critic is needed and there is none.
        """
        player = state.current_player() if player_id is None else player_id
        if player in (0, 1):
            infoset = self.tree.find_infoset(state, player)
            self._decide(player, [int(self._pieces.of_infosets(player)[infoset])])
        return self._solved.action_probabilities(state, player_id)

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets; searches where that was not done yet.

        All public states of a level are searched at once: the same games, solved side by side.
        """
        for player in (0, 1):
            self._decide(player, np.unique(self._pieces.of_infosets(player)).tolist())
        strategy_0, strategy_1 = (strategy.copy() for strategy in self._solved.strategies)
        return ArrayPolicy(self.tree, (strategy_0, strategy_1))

    def _decide(self, player: int, pieces: Sequence[int]) -> None:
        """Searches from pieces' public states, after those on the way to them if need be."""
        depends = self.config.own_range == "played" or self.config.continual
        wanted = set(pieces)
        if depends:
            wanted.update(each for piece in pieces for each in self._pieces.path(piece))
        levels: dict[int, list[int]] = {}
        for piece in sorted(wanted):
            if (player, piece) not in self._results:
                levels.setdefault(self._pieces.start(piece), []).append(piece)
        for level in sorted(levels):
            # Those that go on from one search go on together.
            groups: dict[int, list[int]] = {}
            for piece in levels[level]:
                groups.setdefault(id(self._result_before(player, piece)), []).append(piece)
            for group in groups.values():
                self._search(player, group)

    def _result_before(self, player: int, piece: int) -> _Result | None:
        """What a piece goes on from; None if there was no search, or it does not matter."""
        if piece == ROOT or not self.config.continual:
            return None
        return self._results[player, self._pieces.path(piece)[-2]]

    def _search(self, player: int, pieces: Sequence[int]) -> None:
        """Searches from pieces of one level, side by side, and keeps what was found.

        All of them go on from the same search, or from none.
        """
        before = self._result_before(player, pieces[0])
        self._results.update({(player, piece): None for piece in pieces})
        starts = self._starts(player, self._pieces_with_choices(player, pieces))
        if starts is None:
            return
        trunk = self._cut(self._pieces.depth_limit, starts)
        own_range = np.zeros(len(trunk.root_infosets[player]))
        own_range[trunk.root_of_history[player, starts.histories]] = starts.reach
        is_root = starts.pieces == [ROOT]
        given = None if is_root else self._given_cfvs(player, starts, trunk, own_range, before)
        leaf_values = self._leaf_values(player)
        plan = sepot_search.search(trunk, own_range, given, leaf_values, self.config.effort)
        self.num_searches += len(starts.pieces)
        treeplex = trunk.sequence_form.treeplexes[player]
        strategy = behaviour_strategy(treeplex, plan)
        kept = np.isin(self._pieces.of_infosets(player), starts.pieces)
        keeps = kept[trunk.infosets[player]] & (treeplex.sum_per_infoset(plan) > 0)
        sequences = treeplex.sequences_of(keeps)
        self._solved.strategies[player][trunk.sequences[player][sequences]] = strategy[sequences]
        if self.config.continual:
            level = self._pieces.start(starts.pieces[0])
            result = _Result(level, trunk, strategy, leaf_values)
            self._results.update({(player, piece): result for piece in starts.pieces})

    def _pieces_with_choices(self, player: int, pieces: Sequence[int]) -> list[int]:
        """Those in which the player is to search."""
        if self._pieces.start(pieces[0]) < self.config.first_level:
            return []
        found, most = list(pieces), self.config.max_histories
        if most is not None:
            states = self.tree.public_states
            found = [p for p in found if p == ROOT or len(states.histories(p)) <= most]
        if self.config.continual:
            return found
        has_choice = self.tree.treeplexes[player].num_actions > 1
        deciding = set(self._pieces.of_infosets(player)[has_choice].tolist())
        return [piece for piece in found if piece in deciding]

    def _starts(self, player: int, pieces: Sequence[int]) -> _Starts | None:
        """Where pieces begin; without those to which the player never comes. None: no such one."""
        source = self._solved if self.config.own_range == "played" else self._blueprint
        plan = realization_plan(self.tree.treeplexes[player], source.strategies[player])
        kept, histories, reaches = [], [], []
        for piece in pieces:
            here = self._histories(piece)
            reach = plan[self.tree.sequence[player, here]]
            mass = float(reach @ self.tree.chance_reach[here])
            if mass > 0:
                kept.append(piece)
                histories.append(here)
                # In long games reaches become tiny; a solver's tolerances are in utility units.
                reaches.append(reach / mass)
        if not kept:
            return None
        return _Starts(kept, np.concatenate(histories), np.concatenate(reaches))

    def _histories(self, piece: int) -> np.ndarray:
        """The histories with which a piece begins: int64 [n]."""
        return np.zeros(1, np.int64) if piece == ROOT else self.tree.public_states.histories(piece)

    def _cut(self, depth_limit: DepthLimit, starts: _Starts) -> Trunk:
        return cut(self.tree, depth_limit, None if starts.pieces == [ROOT] else starts.pieces)

    def _given_cfvs(
        self,
        player: int,
        starts: _Starts,
        trunk: Trunk,
        own_range: np.ndarray,
        before: _Result | None,
    ) -> np.ndarray:
        """What the opponent may have instead: float64 [R_-p]."""
        if before is not None:
            return self._cfvs_of_search(player, starts, trunk, own_range, before)
        if self.config.given_cfvs == "best_response":
            rest = self._cut(BEYOND_THE_GAME, starts)
            plan = self._plan_on(rest, player, self._blueprint.strategies[player], own_range)
            return self._opponent_cfvs(rest, player, plan)
        identity = self._checked_critic().values(self.tree, starts.histories, player)[:, 0]
        reach = starts.reach * self.tree.chance_reach[starts.histories]
        infoset = trunk.root_of_history[1 - player, starts.histories]
        num_roots = len(trunk.root_infosets[1 - player])
        return -np.bincount(infoset, reach * identity, minlength=num_roots)

    def _cfvs_of_search(
        self,
        player: int,
        starts: _Starts,
        trunk: Trunk,
        own_range: np.ndarray,
        before: _Result,
    ) -> np.ndarray:
        """The opponent's best-response cfvs against the search before: float64 [R_-p]."""
        opponent = 1 - player
        end = before.level + self._pieces.depth_limit.value
        levels = end - self._pieces.start(starts.pieces[0])
        if levels > 0:
            rest = self._cut(self._pieces.limit(levels), starts)
            strategy = self._blueprint.strategies[player].copy()
            num_roots = before.trunk.sequence_form.treeplexes[player].num_root_sequences
            found = before.trunk.sequences[player][num_roots:]
            strategy[found] = before.strategy[num_roots:]
            return self._opponent_cfvs(
                rest, player, self._plan_on(rest, player, strategy, own_range)
            )
        # The public states are some of the leaves of the search before.
        leaves, augmented = before.trunk.leaves, self.tree.public_states.augmented_infoset
        by_infoset = [np.zeros(augmented[p].max() + 1) for p in (0, 1)]
        by_infoset[player][trunk.root_infosets[player]] = own_range
        ranges = [by_infoset[p][leaves.infosets[p]] for p in (0, 1)]
        cfvs = before.leaf_values.evaluate(ranges[0], ranges[1])
        by_infoset[opponent][leaves.infosets[opponent]] = cfvs[opponent]
        return by_infoset[opponent][trunk.root_infosets[opponent]]

    def _plan_on(
        self, trunk: Trunk, player: int, strategy: np.ndarray, own_range: np.ndarray
    ) -> np.ndarray:
        """A strategy of the tree (float64 [S]) as a realization plan of a trunk."""
        treeplex = trunk.sequence_form.treeplexes[player]
        return realization_plan(treeplex, strategy[trunk.sequences[player]], own_range)

    def _opponent_cfvs(self, trunk: Trunk, player: int, plan: np.ndarray) -> np.ndarray:
        return sepot_search.opponent_cfvs(trunk, plan, self._leaf_values(player))

    def _leaf_values(self, player: int) -> MultiValuedStates:
        return MultiValuedStates(player, self._leaf_utilities(player))

    def _leaf_utilities(self, player: int) -> LeafUtilities:
        def utilities(leaves: LeafSet) -> np.ndarray:
            critic = self._checked_critic()
            if self.config.two_sided:
                return critic.pair_values(self.tree, leaves.histories, player)
            return critic.values(self.tree, leaves.histories, player)[:, None, :]

        return utilities

    def _checked_critic(self) -> Critic:
        if self._critic is None:
            raise ValueError(
                f"a search of {self._pieces.depth_limit} in {self.tree.game} needs the values of "
                "histories, and no critic was given; pass critic="
            )
        return self._critic


class _Starts(NamedTuple):
    """Where pieces of one level begin.

    Attributes:
      pieces: their public states, or `ROOT` alone.
      histories: int64 [n], theirs.
      reach: float64 [n], the searching player's of these histories, scaled such that its product
        with chance's sums to 1 in each public state.
    """

    pieces: list[int]
    histories: np.ndarray
    reach: np.ndarray


class _Result(NamedTuple):
    """What searches side by side found.

    Attributes:
      level: where they started.
      trunk: what it looked at.
      strategy: float64 [S_p], the player's average behaviour strategy there.
      leaf_values: bound to the leaves.
    """

    level: int
    trunk: Trunk
    strategy: np.ndarray
    leaf_values: MultiValuedStates


def load(
    path: str | os.PathLike[str],
    depth_limit: DepthLimit,
    config: SearchConfig | None = None,
    game: AnyGame | None = None,
    device: torch.device | str = "cpu",
) -> SePoTPolicy:
    """Search on top of the blueprint and the critic of a checkpoint (`run/train_sepot.py`).

    Args:
      path: the checkpoint, or the run directory that it is in.
      depth_limit: how deep each search looks.
      config: the rest; None: the defaults.
      game: the game, or the compiled game; None: as named in the file.
      device: where the networks live.

    Raises:
      ValueError: as `checkpoints.load` and `SePoTPolicy`.
    """
    blueprint, critic = checkpoints.load(path, game, device)
    return SePoTPolicy(game or critic.game, blueprint, critic, depth_limit, config)


class SePoTBot(PolicyBot):
    """A `pyspiel.Bot` that searches only from where it comes."""

    def __init__(self, policy: openspiel_policy.Policy, player: int, seed: int | None = None):
        """Takes a seat.

        Args:
          policy: a `SePoTPolicy`, or a `sepot_play.SePoTPlayPolicy` in large games.
          player: the seat, 0 or 1.
          seed: of its choices; None: another one every time.
        """
        check_player(player)
        super().__init__(player, np.random.default_rng(seed), policy)
