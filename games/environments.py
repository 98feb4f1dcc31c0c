"""Thousands of games of one `Rules`, stepped at once on CPU or GPU.

    environment = BatchedEnvironment(GoofspielIIRules(num_cards=13), batch_size=4096, seed=1)
    for _ in range(num_steps):
        observation = environment.features()  # of whoever moves, row by row
        action = choose(observation, environment.legal_actions())
        finished, returns = environment.step(action)

Every row is a game of its own. Chance is played inside `step`, and a row whose game ends reports
its return and goes on with a new game, so after a step every row waits for a player. Nothing in
`step` loops over rows, looks at values on the host or has shapes that depend on them, so it can be
captured in a CUDA graph (but `check_actions` looks).

Every step draws random numbers for as many chance events as there may be between two moves; see
`Rules.longest_chance_run`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from spiel_dl.games import rules

_BLOCK_BYTES = 31 * 2**20


class EpisodeEnds(NamedTuple):
    """The games that ended in a step.

    Attributes:
      finished: bool [B], whether the row's game ended.
      returns: float64 [B], player 0's return in the game that ended; 0 in all other rows.
    """

    finished: torch.Tensor
    returns: torch.Tensor


class BatchedEnvironment:
    """B games of self-play; the module's docstring has an example.

    The same seed and actions give the same games on the same kind of device.

    Attributes:
      rules: the game.
      state: the B states. `step` replaces them and never changes them.
      generator: the source of all chance, on the environment's device.
    """

    def __init__(
        self,
        game_rules: rules.Rules,
        batch_size: int,
        device: torch.device | str = "cpu",
        seed: int = 0,
        check_actions: bool = False,
    ):
        """Starts all games.

        Args:
          game_rules: the game.
          batch_size: B, the number of games played at once.
          device: the device of all tensors.
          seed: seed of the chance events.
          check_actions: whether `step` refuses illegal actions: slower, for debugging. Otherwise an
            illegal action leads to an impossible state.

        Raises:
          ValueError: if `batch_size` is not positive.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size} plays nothing; use 1 or more")
        self.rules = game_rules
        self.state: rules.StateBatch
        self.generator = torch.Generator(device).manual_seed(seed)
        self._check_actions = check_actions
        self._num_events = events_per_step(game_rules)
        self._roots = game_rules.initial_state(batch_size, device)
        keep_freed_memory()
        self.restart()

    def current_player(self) -> torch.Tensor:
        """The player to move: int8 [B], 0 or 1."""
        return self._player

    def legal_actions(self) -> torch.Tensor:
        """Legal actions of the player to move: bool [B, A]."""
        return self._legal_actions

    def features(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The inputs of the mover's network: float32 [B, F], see `Rules.features`.

        Args:
          out: the tensor to write, such as a part of a rollout's storage; None: a new one.
        """
        moves_second = (self._player == 1).unsqueeze(1)
        first, second = (self.rules.features(self.state, player) for player in (0, 1))
        return torch.where(moves_second, second, first, out=out)

    def history_features(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """A critic's inputs: float32 [B, 2 F], see `Rules.history_features`.

        Args:
          out: the tensor to write; None: a new one.
        """
        tensor = self.rules.history_features(self.state)
        return tensor if out is None else out.copy_(tensor)

    def restart(self) -> None:
        """Starts a new game in every row."""
        self._play_until_moves(self._roots)

    def step(self, action: torch.Tensor) -> EpisodeEnds:
        """Makes one move in every game, then plays chance and starts new games where due.

        Args:
          action: int64 [B], the movers' actions.

        Raises:
          ValueError: if `action` has another shape or type; if actions are checked, also if one is
            not legal; on a CPU, if the rules' `longest_chance_run` is too small.
        """
        self._check(action)
        return self._play_until_moves(self.rules.apply(self.state, action))

    def _play_until_moves(self, state: rules.StateBatch) -> EpisodeEnds:
        """Plays chance and starts games until players are to move in all rows."""
        finished = torch.zeros(state.batch_size, dtype=torch.bool, device=state.device)
        returns = torch.zeros(state.batch_size, dtype=torch.float64, device=state.device)
        for uniform in self._uniform(self._num_events):
            # A game that chance ends before anybody moves is skipped.
            returns = returns.where(finished, self.rules.returns(state))
            finished |= self.rules.current_player(state) == rules.TERMINAL_PLAYER
            state = _play_event(self.rules, state, self._roots, uniform)
        self.state = state
        self._player = self.rules.current_player(state)
        self._legal_actions = self.rules.legal_actions(state)
        if self.rules.max_chance_nodes and state.device.type == "cpu":
            self._refuse_long_run()
        return EpisodeEnds(finished, returns)

    def _refuse_long_run(self) -> None:
        if (self._player < 0).any():
            raise_too_long_run(self.rules)

    def _uniform(self, count: int) -> torch.Tensor:
        """Random numbers in [0, 1): float64 [count, B]."""
        shape = (count, self._roots.batch_size)
        options: dict[str, Any] = {"dtype": torch.float64, "device": self.generator.device}
        return torch.rand(shape, generator=self.generator, **options)

    def _check(self, action: torch.Tensor) -> None:
        if action.shape != self._player.shape or action.dtype != torch.int64:
            raise ValueError(
                f"action is of type {action.dtype} and shape {tuple(action.shape)}; give one "
                f"torch.int64 for each of the {len(self._player)} games"
            )
        if self._check_actions:
            self._refuse_illegal(action)

    def _refuse_illegal(self, action: torch.Tensor) -> None:
        column = action.clamp(0, self.rules.num_actions - 1)
        legal = self._legal_actions.gather(1, column.unsqueeze(1))[:, 0] & (column == action)
        for row in (~legal).nonzero()[:1, 0].tolist():
            raise ValueError(
                f"row {row}: action {int(action[row])} is not legal for player "
                f"{int(self._player[row])}, who moves; use one of "
                f"{self._legal_actions[row].nonzero()[:, 0].tolist()}"
            )


def keep_freed_memory() -> None:
    """Makes glibc keep freed memory from now on: it frees a block of almost 32 MiB.

    Otherwise it returns a step's intermediate tensors to the system, and every step gets them back
    page by page, at half the speed. It has no effect on other allocators.
    """
    torch.empty(_BLOCK_BYTES, dtype=torch.uint8)  # and freed at once


def _play_event(
    game_rules: rules.Rules, state: rules.State, roots: rules.State, uniform: torch.Tensor
) -> rules.State:
    """Starts a new game where one has ended, and plays one chance event where chance acts.

    `roots` are as many as the states; `uniform` is float64 [B], random numbers in [0, 1).
    """
    state = roots.where(game_rules.current_player(state) == rules.TERMINAL_PLAYER, state)
    if not game_rules.max_chance_nodes:
        return state
    is_chance = game_rules.current_player(state) == rules.CHANCE_PLAYER
    outcome = sample(game_rules.chance_probabilities(state), uniform, torch.float64)
    return game_rules.apply(state, outcome).where(is_chance, state)


def sample(weights: torch.Tensor, uniform: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """One column of every row, with probability proportional to its weight: int64 [B].

    Bisects the cumulative weights, which takes one random number a row and is much faster than
    torch.multinomial. Rows without weight give any column.

    Args:
      weights: [B, N], not negative.
      uniform: float64 [B], random numbers in [0, 1).
      dtype: the type of the sums; an integral one if weights are integers.
    """
    cumulative = weights.cumsum(dim=1, dtype=dtype)
    target = (uniform.unsqueeze(1) * cumulative[:, -1:]).to(dtype)
    # The first column whose sum is above the target; it never has weight 0.
    return torch.searchsorted(cumulative, target, right=True)[:, 0].clamp(max=weights.shape[1] - 1)


def events_per_step(game_rules: rules.Rules) -> int:
    """E, the number of events between two moves for which random numbers are drawn.

    The start of a new game is an event of its own, unless chance acts in it.
    """
    starts = int(game_rules.current_player(game_rules.initial_state())) != rules.CHANCE_PLAYER
    return longest_chance_run(game_rules) + starts


def longest_chance_run(game_rules: rules.Rules) -> int:
    """The largest number of chance events between two moves; see `Rules.longest_chance_run`."""
    declared = game_rules.longest_chance_run
    return 2 * game_rules.max_chance_nodes if declared is None else declared


def raise_too_long_run(game_rules: rules.Rules) -> None:
    """Raises the ValueError for games with more chance events between two moves than declared."""
    raise ValueError(
        f"{type(game_rules).__name__}: between two moves there were more than "
        f"{longest_chance_run(game_rules)} chance events, so a move was lost; set the rules' "
        "longest_chance_run to their largest number"
    )
