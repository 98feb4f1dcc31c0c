"""Approximate best response: what a reinforcement learner finds against a fixed model.

The idea is of Timbers et al. (2022), "Approximate Exploitability: Learning a Best Response":
against a fixed opponent, the game is a decision problem of one player, so any learner gives a lower
bound of the best response's value. The learner here is OpenSpiel's DQN in PyTorch, without that
paper's search. It needs dm-tree.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy
from open_spiel.python import rl_agent_policy, rl_environment
from open_spiel.python.pytorch import dqn

from spiel_dl.policies import asking

_BATCH_SIZE = 128
_DQN = {
    "hidden_layers_sizes": [64, 64],
    "batch_size": _BATCH_SIZE,
    "replay_buffer_capacity": 50_000,
    "min_buffer_size_to_learn": _BATCH_SIZE,
    "learning_rate": 1e-3,
    "learn_every": 8,
    "update_target_network_every": 200,
    "epsilon_start": 1.0,
    "epsilon_end": 0.05,
    "epsilon_decay_schedule_str": "linear",
    "optimizer_str": "adam",
}
"""The learner's settings. Exploration falls linearly over as many steps as there are episodes, and
an episode has at least two."""


def approximate_best_response(
    game: pyspiel.Game,
    player: int,
    model: openspiel_policy.Policy,
    *,
    num_episodes: int,
    seed: int = 0,
) -> openspiel_policy.Policy:
    """Trains a DQN agent against a fixed opponent, in a turn-based game with tensors.

    The returned policy is greedy and defined for the responding player only.

    Raises:
      ValueError: if training diverges.
    """
    environment = rl_environment.Environment(
        game, chance_event_sampler=rl_environment.ChanceEventSampler(seed)
    )
    generator = np.random.default_rng(seed)
    with _own_random_states():
        agent = dqn.DQN(
            player_id=player,
            state_representation_size=environment.observation_spec()["info_state"][0],
            num_actions=environment.action_spec()["num_actions"],
            epsilon_decay_duration=num_episodes,
            seed=seed,
            device="cpu",
            **_DQN,
        )
        for _ in range(num_episodes):
            _play_episode(environment, agent, player, model, generator)
    return rl_agent_policy.JointRLAgentPolicy(game, {player: agent}, use_observation=False)


def _play_episode(
    environment: rl_environment.Environment,
    agent: dqn.DQN,
    player: int,
    model: openspiel_policy.Policy,
    generator: np.random.Generator,
) -> None:
    """One episode; the agent learns as it steps."""
    time_step = environment.reset()
    while not time_step.last():
        if time_step.current_player() == player:
            output = agent.step(time_step)
            if output is None:
                raise ValueError("training diverged; try another seed, or fewer episodes")
            action = int(output.action)
        else:
            policy = asking.action_probabilities(model, environment.get_state, 1 - player)
            probabilities = np.array(list(policy.values()))
            action = int(generator.choice(list(policy), p=probabilities / probabilities.sum()))
        time_step = environment.step([action])
    agent.step(time_step)


@contextlib.contextmanager
def _own_random_states() -> Iterator[None]:
    """Restores the global random generators, which OpenSpiel's DQN seeds and uses."""
    state = np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng():
        try:
            yield
        finally:
            np.random.set_state(state)  # noqa: NPY002
