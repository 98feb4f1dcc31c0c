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

import dataclasses
import os
from typing import NamedTuple

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.bots.policy import PolicyBot

from spiel_dl.algorithms import sepot_search, trained_blueprint
from spiel_dl.algorithms.array_policy import AnyGame, ArrayPolicy, check_player, compile_game
from spiel_dl.algorithms.response_policy import BEYOND_THE_GAME
from spiel_dl.algorithms.sepot_search import SearchEffort
from spiel_dl.learning.critics import Critic
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.regret_minimization import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import LeafSet, Trunk, cut
from spiel_dl.value_functions.multi_valued import LeafUtilities, MultiValuedStates

GIVEN_CFVS = ("critic", "best_response")
OWN_RANGES = ("played", "blueprint")


@dataclasses.dataclass(frozen=True)
class SearchConfig:
    """Where and how SePoT searches.

    Attributes:
      scheme: "sliding" searches again at every level, "block" when the last search ends; see
        `tree.pieces`.
      given_cfvs: what the opponent may have instead of entering a subgame, where there was no
        search before: "critic", what it gets if both go on by the blueprint, or "best_response",
        what it could get at most against the blueprint, by the rest of the game's tree.
      continual: whether it may have, where there was a search before, what it could get at most
        against what that one found; if not, given cfvs are those above everywhere.
      own_range: "played" or "blueprint"; see above.
      first_level: above this level, in the unit of the depth limit, the blueprint is played.
      two_sided: whether the searching player, too, chooses a transformation at the leaves.
      max_histories: public states of more histories are left to the blueprint; None: search always.
      effort: how each search solves its game.
    """

    scheme: str = "sliding"
    given_cfvs: str = "critic"
    continual: bool = True
    own_range: str = "played"
    first_level: int = 0
    two_sided: bool = False
    max_histories: int | None = None
    effort: SearchEffort = dataclasses.field(default_factory=SearchEffort)

    def __post_init__(self) -> None:
        if self.given_cfvs not in GIVEN_CFVS:
            raise ValueError(f"given_cfvs={self.given_cfvs!r} must be one of {GIVEN_CFVS}")
        if self.own_range not in OWN_RANGES:
            raise ValueError(f"own_range={self.own_range!r} must be one of {OWN_RANGES}")
        if self.first_level < 0:
            raise ValueError(f"first_level={self.first_level} must be at least 0")
        if self.max_histories is not None and self.max_histories < 1:
            raise ValueError(f"max_histories={self.max_histories} must be at least 1, or None")
        if self.two_sided and self.effort.leaf_choice == "best_response":
            raise ValueError(
                "two_sided=True needs leaf_choice='regret_matching': if both players choose, best "
                "responses go round in circles"
            )
        if self.two_sided and self.continual:
            raise ValueError(
                "two_sided=True needs continual=False: where the player itself chooses how to go "
                "on at the leaves, a search keeps no strategy that the next one could start from"
            )


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
            self._decide(player, int(self._pieces.of_infosets(player)[infoset]))
        return self._solved.action_probabilities(state, player_id)

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets; searches where that was not done yet."""
        for player in (0, 1):
            for piece in np.unique(self._pieces.of_infosets(player)).tolist():
                self._decide(player, piece)
        strategy_0, strategy_1 = (strategy.copy() for strategy in self._solved.strategies)
        return ArrayPolicy(self.tree, (strategy_0, strategy_1))

    def _decide(self, player: int, piece: int) -> None:
        """Searches from a piece's public state, after those on the way to it if need be."""
        depends = self.config.own_range == "played" or self.config.continual
        for each in self._pieces.path(piece) if depends else [piece]:
            if (player, each) not in self._results:
                self._results[player, each] = self._search(player, each)

    def _search(self, player: int, piece: int) -> _Result | None:
        """Searches, keeps the strategy in the piece, and returns the solution; None: no search."""
        kept = self._pieces.of_infosets(player) == piece
        if not self._is_needed(player, piece, kept):
            return None
        trunk = self._cut(self._pieces.depth_limit, piece)
        own_range = self._own_range(player, piece, trunk)
        if not own_range.any():
            return None
        given = None if piece == ROOT else self._given_cfvs(player, piece, trunk, own_range)
        leaf_values = self._leaf_values(player)
        # In long games reaches become tiny; a solver's tolerances are in utility units.
        scale = 1.0 / self._mass(player, piece, trunk, own_range)
        scaled = None if given is None else scale * given
        plan = sepot_search.search(
            trunk, scale * own_range, scaled, leaf_values, self.config.effort
        )
        self.num_searches += 1
        treeplex = trunk.sequence_form.treeplexes[player]
        strategy = behaviour_strategy(treeplex, plan)
        keeps = kept[trunk.infosets[player]] & (treeplex.sum_per_infoset(plan) > 0)
        sequences = treeplex.sequences_of(keeps)
        self._solved.strategies[player][trunk.sequences[player][sequences]] = strategy[sequences]
        return _Result(piece, trunk, strategy, leaf_values)

    def _is_needed(self, player: int, piece: int, kept: np.ndarray) -> bool:
        """Whether the player decides something in a piece (its infosets: bool [I])."""
        if self._pieces.start(piece) < self.config.first_level:
            return False
        most = self.config.max_histories
        states = self.tree.public_states
        if most is not None and piece != ROOT and len(states.histories(piece)) > most:
            return False
        has_choice = bool((self.tree.treeplexes[player].num_actions[kept] > 1).any())
        return has_choice or self.config.continual

    def _cut(self, depth_limit: DepthLimit, piece: int) -> Trunk:
        return cut(self.tree, depth_limit, None if piece == ROOT else piece)

    def _own_range(self, player: int, piece: int, trunk: Trunk) -> np.ndarray:
        """The player's reach of its root infosets: float64 [R]."""
        if piece == ROOT:
            return np.ones(1)
        source = self._solved if self.config.own_range == "played" else self._blueprint
        plan = realization_plan(self.tree.treeplexes[player], source.strategies[player])
        histories = self.tree.public_states.histories(piece)
        own_range = np.zeros(len(trunk.root_infosets[player]))
        own_range[trunk.root_of_history[player, histories]] = plan[
            self.tree.sequence[player, histories]
        ]
        return own_range

    def _mass(self, player: int, piece: int, trunk: Trunk, own_range: np.ndarray) -> float:
        """How much of the player's and chance's reach comes to the histories of a public state."""
        if piece == ROOT:
            return 1.0
        histories = self.tree.public_states.histories(piece)
        reach = own_range[trunk.root_of_history[player, histories]]
        return float(reach @ self.tree.chance_reach[histories])

    def _given_cfvs(
        self, player: int, piece: int, trunk: Trunk, own_range: np.ndarray
    ) -> np.ndarray:
        """What the opponent may have instead: float64 [R_-p]."""
        before = self._results.get((player, self._pieces.path(piece)[-2]))
        if self.config.continual and before is not None:
            return self._cfvs_of_search(player, piece, trunk, own_range, before)
        if self.config.given_cfvs == "best_response":
            rest = self._cut(BEYOND_THE_GAME, piece)
            plan = self._plan_on(rest, player, self._blueprint.strategies[player], own_range)
            return self._opponent_cfvs(rest, player, plan)
        histories = self.tree.public_states.histories(piece)
        identity = self._checked_critic().values(self.tree, histories, player)[:, 0]
        reach = own_range[trunk.root_of_history[player, histories]]
        reach *= self.tree.chance_reach[histories]
        infoset = trunk.root_of_history[1 - player, histories]
        num_roots = len(trunk.root_infosets[1 - player])
        return -np.bincount(infoset, reach * identity, minlength=num_roots)

    def _cfvs_of_search(
        self, player: int, piece: int, trunk: Trunk, own_range: np.ndarray, before: _Result
    ) -> np.ndarray:
        """The opponent's best-response cfvs against the search before: float64 [R_-p]."""
        opponent = 1 - player
        end = self._pieces.start(before.piece) + self._pieces.depth_limit.value
        levels = end - self._pieces.start(piece)
        if levels > 0:
            rest = self._cut(self._pieces.limit(levels), piece)
            strategy = self._blueprint.strategies[player].copy()
            num_roots = before.trunk.sequence_form.treeplexes[player].num_root_sequences
            found = before.trunk.sequences[player][num_roots:]
            strategy[found] = before.strategy[num_roots:]
            return self._opponent_cfvs(
                rest, player, self._plan_on(rest, player, strategy, own_range)
            )
        # The public state is one of the leaves of the search before.
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


class _Result(NamedTuple):
    """What a search found.

    Attributes:
      piece: where it started.
      trunk: what it looked at.
      strategy: float64 [S_p], the player's average behaviour strategy there.
      leaf_values: bound to the leaves.
    """

    piece: int
    trunk: Trunk
    strategy: np.ndarray
    leaf_values: MultiValuedStates


def load(
    path: str | os.PathLike[str],
    depth_limit: DepthLimit,
    config: SearchConfig | None = None,
    game: AnyGame | None = None,
) -> SePoTPolicy:
    """Search on top of the blueprint and the critic of a checkpoint (`run/train_sepot.py`).

    Args:
      path: the checkpoint.
      depth_limit: how deep each search looks.
      config: the rest; None: the defaults.
      game: the game, or the compiled game; None: as named in the file.

    Raises:
      ValueError: as `trained_blueprint.load` and `SePoTPolicy`.
    """
    blueprint, critic = trained_blueprint.load(path, game)
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
