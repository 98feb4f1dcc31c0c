"""OpenSpiel's solvers and learners, with the settings of its own examples.

Solvers in Python play a game whose states count the moves made on them. OpenSpiel's modules are
imported when an algorithm is made, because some need packages that this one does not.

Deep CFR and ESCHER do all their work in one call, `DeepCFRSolver.solve` or `escher.train`, which
also trains the average policy. Here an iteration of that call is a step, and the average policy is
trained when it is asked for.
"""

from __future__ import annotations

import abc
import copy
import importlib
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from experiments.compare.algorithm import (
    Algorithm,
    AskedPolicy,
    ComparedGame,
    num_moves,
)

_PYTORCH = "open_spiel.python.pytorch"


class CountingGame:
    """A game in Python's eyes, whose states count the moves that players make on them.

    Attributes:
      moves: so far.
    """

    def __init__(self, game: pyspiel.Game):
        """Wraps a turn-based game."""
        self._game = game
        self.moves = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def new_initial_state(self) -> CountingState:
        """A root that counts."""
        return CountingState(self._game.new_initial_state(), self)


class CountingState:
    """A state that tells its game of every move of a player."""

    def __init__(self, state: pyspiel.State, counter: CountingGame):
        """Wraps a state."""
        self._state = state
        self._counter = counter

    def __str__(self) -> str:
        return str(self._state)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def child(self, action: int) -> CountingState:
        """The state after an action."""
        self._counter.moves += not self._state.is_chance_node()
        return CountingState(self._state.child(action), self._counter)

    def apply_action(self, action: int) -> None:
        """Moves on to the state after an action."""
        self._counter.moves += not self._state.is_chance_node()
        self._state.apply_action(action)

    def clone(self) -> CountingState:
        """A copy that counts, too."""
        return CountingState(self._state.clone(), self._counter)


class CppCFRPlus(Algorithm):
    """CFR+ in C++. Steps are those of full traversals, though it skips what nobody reaches."""

    def __init__(self, game: ComparedGame, seed: int):
        """There is nothing random, so the seed has no effect."""
        del seed
        self._solver = pyspiel.CFRPlusSolver(game.theirs.game)
        self._steps_per_iteration = 2 * num_moves(game.theirs)  # a traversal for each player
        self._num_iterations = 0

    def step(self) -> None:
        """One iteration."""
        self._solver.evaluate_and_update_policy()
        self._num_iterations += 1
        self.environment_steps = self._num_iterations * self._steps_per_iteration

    def policy(self) -> pyspiel.Policy:
        """The average policy."""
        return self._solver.average_policy()


class CppMCCFR(Algorithm):
    """MCCFR in C++, which does not tell how many steps it makes."""

    environment_steps = None
    _STRETCH = 100

    def __init__(self, game: ComparedGame, seed: int, sampling: str):
        """Makes a solver; `sampling` is "outcome" or "external"."""
        kinds = {
            "outcome": pyspiel.OutcomeSamplingMCCFRSolver,
            "external": pyspiel.ExternalSamplingMCCFRSolver,
        }
        self._solver = kinds[sampling](game.theirs.game, seed=seed)

    def step(self) -> None:
        """Some iterations: one would be shorter than a look at the clock is worth."""
        for _ in range(self._STRETCH):
            self._solver.run_iteration()

    def policy(self) -> pyspiel.Policy:
        """The average policy."""
        return self._solver.average_policy()


class _Counted(Algorithm):
    """An algorithm that plays a counting game."""

    def __init__(self, game: ComparedGame, seed: int):
        self._game = CountingGame(game.theirs.game)
        self._plain_game = game.theirs.game
        _seed_everything(seed)

    def step(self) -> None:
        """One iteration, counted."""
        self._iterate()
        self.environment_steps = self._game.moves

    @abc.abstractmethod
    def _iterate(self) -> None:
        """One iteration."""


class PythonMCCFR(_Counted):
    """MCCFR in Python (examples/mccfr_example.py)."""

    def __init__(self, game: ComparedGame, seed: int, sampling: str):
        """Makes a solver; `sampling` is "outcome" or "external"."""
        super().__init__(game, seed)
        module = importlib.import_module(f"open_spiel.python.algorithms.{sampling}_sampling_mccfr")
        self._solver = getattr(module, f"{sampling.capitalize()}SamplingSolver")(self._game)

    def _iterate(self) -> None:
        self._solver.iteration()

    def policy(self) -> openspiel_policy.Policy:
        """The average policy."""
        average = self._solver.average_policy()
        return AskedPolicy(self._plain_game, average.action_probabilities)


class DeepCFR(_Counted):
    """Deep CFR (examples/deep_cfr_pytorch.py)."""

    def __init__(
        self,
        game: ComparedGame,
        seed: int,
        *,
        num_traversals: int = 375,
        batch_size: int = 256,
        advantage_steps: int = 375,
        policy_steps: int = 2500,
    ):
        """Makes a solver; the numbers are those of the example."""
        super().__init__(game, seed)
        self._num_traversals = num_traversals
        self._solver = importlib.import_module(f"{_PYTORCH}.deep_cfr").DeepCFRSolver(
            self._game,
            policy_network_layers=(64,),
            advantage_network_layers=(64,),
            num_traversals=num_traversals,
            reinitialize_advantage_networks=True,
            learning_rate=1e-3,
            batch_size_advantage=batch_size,
            batch_size_strategy=batch_size,
            memory_capacity=100_000,
            policy_network_train_steps=policy_steps,
            advantage_network_train_steps=advantage_steps,
            seed=seed,
        )

    def _iterate(self) -> None:
        solver = self._solver
        for player in (0, 1):
            for _ in range(self._num_traversals):
                solver._traverse_game_tree(solver._root_node, player)
            solver._reinitialize_advantage_network(player)
            solver._learn_advantage_network(player)
        solver._iteration += 1

    def policy(self) -> openspiel_policy.Policy:
        """The policy network, trained from scratch on all that was gathered."""
        self._solver._reinitialize_policy_network()
        self._solver._learn_strategy_network()
        return AskedPolicy(self._plain_game, self._solver.action_probabilities)


class Escher(_Counted):
    """ESCHER (examples/escher.py: the defaults)."""

    def __init__(self, game: ComparedGame, seed: int, **settings: int):
        """Makes an agent; settings replace those of OpenSpiel's `escher.Config`."""
        super().__init__(game, seed)
        self._escher = importlib.import_module(f"{_PYTORCH}.escher")
        config = self._escher.Config()
        for name, value in settings.items():
            setattr(config, name, value)
        self._agent = self._escher.Agent(self._game, config)
        self._training = self._escher.TrainConfig(self._game)
        _seed_everything(seed)  # its networks have set a seed of their own

    def _iterate(self) -> None:
        self._escher._train_regret(self._training, self._agent)
        self._agent.t += 1

    def policy(self) -> openspiel_policy.Policy:
        """The average policy's network, trained on all that was gathered.

        OpenSpiel trains on from where the network was left the time before. Here a copy is trained
        from where it began, so that a policy does not depend on how often one was asked for.
        """
        judged = copy.copy(self._agent)
        judged.avg_policy_net = copy.deepcopy(self._agent.avg_policy_net)
        # The weights of its loss take the last finished iteration as the newest.
        judged.t -= 1
        self._escher._train_avg_policy(judged)  # with an optimizer of its own
        return AskedPolicy(self._plain_game, judged.action_probabilities)


class NFSP(Algorithm):
    """NFSP, judged by its average policy (examples/nfsp_leduc_pytorch.py, in every game)."""

    def __init__(self, game: ComparedGame, seed: int, **settings: int):
        """Makes two agents; settings replace those of the example."""
        _seed_everything(seed)
        environments = importlib.import_module("open_spiel.python.rl_environment")
        self._nfsp = importlib.import_module(f"{_PYTORCH}.nfsp")
        self._time_step = environments.TimeStep
        sampler = environments.ChanceEventSampler(seed=seed)
        self._game = game.theirs.game
        self._environment = environments.Environment(self._game, chance_event_sampler=sampler)
        chosen = {
            "reservoir_buffer_capacity": 2_000_000,
            "replay_buffer_capacity": 200_000,
            "min_buffer_size_to_learn": 1000,
            "anticipatory_param": 0.1,
            "batch_size": 128,
            "learn_every": 64,
            "rl_learning_rate": 0.01,
            "sl_learning_rate": 0.01,
            "optimizer_str": "sgd",
            "loss_str": "mse",
            "update_target_network_every": 19_200,
            "discount_factor": 1.0,
            "epsilon_decay_duration": 20_000_000,
            "epsilon_start": 0.06,
            "epsilon_end": 0.001,
            **settings,
        }
        size = self._environment.observation_spec()["info_state"][0]
        num_actions = self._environment.action_spec()["num_actions"]
        self._agents = [
            self._nfsp.NFSP(player, size, num_actions, [128], seed=seed + player, **chosen)
            for player in (0, 1)
        ]
        self._num_moves = 0

    def step(self) -> None:
        """One game."""
        time_step = self._environment.reset()
        while not time_step.last():
            agent = self._agents[time_step.observations["current_player"]]
            time_step = self._environment.step([agent.step(time_step).action])
            self._num_moves += 1
        for agent in self._agents:
            agent.step(time_step)
        self.environment_steps = self._num_moves

    def policy(self) -> openspiel_policy.Policy:
        """The average policies of both agents."""
        return AskedPolicy(self._game, self._answer)

    def _answer(self, state: pyspiel.State) -> np.ndarray:
        player = state.current_player()
        agent = self._agents[player]
        observations = {
            "info_state": {player: state.information_state_tensor(player)},
            "legal_actions": {player: state.legal_actions()},
        }
        time_step = self._time_step(observations, None, None, None)
        with agent.temp_mode_as(self._nfsp.MODE.AVERAGE_POLICY):
            answer: np.ndarray = agent.step(time_step, is_evaluation=True).probs
        return answer


def ppo_refusal(game: ComparedGame) -> str | None:
    """Why OpenSpiel's PPO cannot learn a two-player game; None if it can.

    It is made for a single agent: it keeps one reward per environment, and the environments of a
    two-player game give two. Gives it both, as its example does.
    """
    ppo = importlib.import_module(f"{_PYTORCH}.ppo")
    turn_based = game.theirs.game
    agent = ppo.PPO(
        tuple(turn_based.information_state_tensor_shape()),
        turn_based.num_distinct_actions(),
        turn_based.num_players(),
        num_envs=2,
        agent_fn=ppo.PPOAgent,
    )
    try:
        agent.post_step([[0.0, 0.0]] * 2, [False] * 2)
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return None


def neurd_refusal(game: ComparedGame) -> str | None:
    """Why OpenSpiel's NeuRD cannot learn a game; None if it can.

    In open_spiel 2.0.2 its model answers a batch of all sequences with the outputs for the first
    one. In small games these happen to be enough numbers for the solver not to stop.
    """
    neurd = importlib.import_module(f"{_PYTORCH}.neurd")
    turn_based = game.theirs.game
    models = [
        neurd.DeepNeurdModel(turn_based, num_hidden_units=13, autoencode=True) for _ in (0, 1)
    ]
    solver = neurd.CounterfactualNeurdSolver(turn_based, models)
    try:
        solver.evaluate_and_update_policy(lambda model, data: None)
    except ValueError as error:
        return str(error).splitlines()[0]
    for player, weights in enumerate(solver._sequence_weights()):
        num_sequences = solver._root_wrapper.num_player_sequences[player]
        if len(weights) != num_sequences:
            return f"{len(weights)} weights for {num_sequences} sequences of player {player}"
    return None


def _seed_everything(seed: int) -> None:
    """Seeds the global generators, which OpenSpiel's learners draw from."""
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
