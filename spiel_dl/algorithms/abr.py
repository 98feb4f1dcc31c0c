"""Approximate best response: what a reinforcement learner finds against a fixed model.

Timbers et al. (2022), "Approximate Exploitability: Learning a Best Response", is the idea: against
a fixed opponent, the game is a decision problem of one player, so any learner gives a lower bound
of the best response's value. The learner here is OpenSpiel's DQN in PyTorch, without the search of
that paper's. It needs no compiled game, but a budget of episodes for every single opponent, which
is reported with the result.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
import tqdm
from open_spiel.python import policy as openspiel_policy
from open_spiel.python import rl_agent_policy, rl_environment

from spiel_dl.policies import asking
from spiel_dl.system.messages import how_to_install
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, turn_based_game

try:
    from open_spiel.python.pytorch import dqn
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"OpenSpiel's PyTorch agents need {error.name!r}: {how_to_install('abr')}"
    ) from error


_DIVERGED = "training diverged: the loss is not finite; try another seed, or fewer episodes"
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


class ApproximateBestResponse(NamedTuple):
    """A learned response and what it cost.

    Attributes:
      policy: answers for the responding player only; greedy.
      episodes: episodes played.
      seconds: of training.
    """

    policy: openspiel_policy.Policy
    episodes: int
    seconds: float


def approximate_best_response(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    *,
    num_episodes: int = 20_000,
    seed: int = 0,
    device: str = "cpu",
    show_progress: bool = False,
) -> ApproximateBestResponse:
    """Trains a DQN agent against a fixed opponent.

    Args:
      game: the game, its game string, or the compiled game; one with simultaneous moves is played
        turn by turn.
      player: who responds.
      model: the opponent's policy.
      num_episodes: how many episodes to play.
      seed: of the learner, chance and the opponent's choices.
      device: of the networks.
      show_progress: show a progress bar on standard error.

    Raises:
      ValueError: if the game cannot be loaded, has no information state tensors (with observations
        alone the learner would forget), if there is no such player, if `num_episodes` is not
        positive, or if training diverges.
    """
    check_player(player)
    if num_episodes < 1:
        raise ValueError(f"num_episodes={num_episodes} must be at least 1")
    turn_based = turn_based_game(game)
    if not turn_based.get_type().provides_information_state_tensor:
        raise ValueError(
            f"{turn_based} has no information state tensors, which the learner's network needs; "
            "use an exact best response"
        )
    environment = rl_environment.Environment(
        turn_based, chance_event_sampler=rl_environment.ChanceEventSampler(seed)
    )
    generator = np.random.default_rng(seed)
    with _own_random_states():
        agent = _new_agent(environment, player, num_episodes, seed, device)
        start = time.perf_counter()
        for _ in tqdm.trange(num_episodes, unit="episode", disable=None if show_progress else True):
            _play_episode(environment, agent, player, model, generator)
        seconds = time.perf_counter() - start
    policy = rl_agent_policy.JointRLAgentPolicy(turn_based, {player: agent}, use_observation=False)
    return ApproximateBestResponse(policy, num_episodes, seconds)


def _new_agent(
    environment: rl_environment.Environment,
    player: int,
    num_episodes: int,
    seed: int,
    device: str,
) -> dqn.DQN:
    return dqn.DQN(
        player_id=player,
        state_representation_size=environment.observation_spec()["info_state"][0],
        num_actions=environment.action_spec()["num_actions"],
        epsilon_decay_duration=num_episodes,
        seed=seed,
        device=device,
        **_DQN,
    )


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
                raise ValueError(_DIVERGED)
            action = int(output.action)
        else:
            state = environment.get_state
            answer = asking.action_probabilities(model, state, 1 - player)
            probabilities = np.array(list(answer.values()))
            action = int(generator.choice(list(answer), p=probabilities / probabilities.sum()))
        time_step = environment.step([action])
    agent.step(time_step)
    if agent.loss is not None and not np.isfinite(agent.loss):
        raise ValueError(_DIVERGED)


@contextlib.contextmanager
def _own_random_states() -> Iterator[None]:
    """OpenSpiel's DQN seeds and uses the global generators; afterwards they are as before."""
    state = np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng():
        try:
            yield
        finally:
            np.random.set_state(state)  # noqa: NPY002
