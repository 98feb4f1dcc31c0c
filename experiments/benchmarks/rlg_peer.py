"""The learners of kubicon/rlg, in a process and an environment of their own.

`learners.py` and `rlg_strength.py` start it. It needs a clone of rlg and an
environment without spiel_dl:

  git clone https://github.com/kubicon/rlg
  python -m venv peer
  peer/bin/pip install jax==0.10.0 flax==0.12.8 optax==0.2.8 pyyaml

  peer/bin/python experiments/benchmarks/rlg_peer.py COMMAND RLG SETTINGS

RLG is the clone. SETTINGS are JSON: `env` (rlg's name and parameters of the game), `loss_type` (mmd
or rnad), `batch_size`, `hidden`. Everything else is as in rlg's own public experiments with this
loss; those are the same for all their games, in particular one more layer without activation
(`feature_dim`) before the heads. COMMANDs:

  time    Says "ready" once it is compiled. Then, for every line on standard input, a number of
          seconds, does learner steps for at least so long, and prints the seconds per step. The
          processor's seconds, of all threads.
  replay  Plays the games of `games` (npz: actions int [K, T, 2]; cards int [K, 3] in Leduc) and
          writes to `out` what the players were shown, could do and got.
  train   Learns with `seed` until the last of `steps`. At each of them it writes to `folder` what
          the policies of `observations` (npz: observation [N, D], legal [N, A]) are. What is there
          already is not done again.
"""

import json
import os
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import yaml

_STEPS_PER_CALL = 20  # steps that are one XLA program when they are timed; rlg makes it 2000
_STEPS_PER_CHUNK = 500  # and when it learns


def make_environment(settings: dict[str, Any]) -> Any:
    """Rlg's game."""
    from src.envs import build_env

    return build_env(settings["env"])


def make_algorithm(rlg: Path, settings: dict[str, Any]) -> Any:
    """Rlg's learner, with the settings of its public experiments."""
    from src.agents.actor_critic import ActorCriticAgent
    from src.algorithms.mmd import MMD
    from src.networks.configs import build_network

    experiment = rlg / "public_experiments" / f"{settings['loss_type']}_goofspiel" / "config.yaml"
    algorithm: dict[str, Any] = yaml.safe_load(experiment.read_text())["algorithm"]
    environment = make_environment(settings)
    del algorithm["type"]
    network = algorithm.pop("agent")["network"]
    network["torso"]["hidden"] = settings["hidden"]
    network["head1"]["n_actions"] = environment.num_actions
    algorithm["batch_size"] = settings["batch_size"]
    agent = ActorCriticAgent(build_network(network))
    return MMD(env=environment, agent=agent, **algorithm)


def many_steps(algorithm: Any, count: int) -> Any:
    """A compiled function of a learner's state that does so many steps."""

    def step(state: Any, _: None) -> tuple[Any, None]:
        return algorithm.step(state)[0], None

    return jax.jit(lambda state: jax.lax.scan(step, state, None, length=count)[0])


def answer_times(rlg: Path, settings: dict[str, Any]) -> None:
    """The command `time`."""
    algorithm = make_algorithm(rlg, settings)
    advance = many_steps(algorithm, _STEPS_PER_CALL)
    state = jax.block_until_ready(advance(algorithm.init(jax.random.PRNGKey(0))))
    print("ready", flush=True)
    for line in sys.stdin:
        begin, steps = time.process_time(), 0
        while time.process_time() - begin < float(line):
            state = jax.block_until_ready(advance(state))
            steps += _STEPS_PER_CALL
        print((time.process_time() - begin) / steps, flush=True)


def replay(settings: dict[str, Any]) -> None:
    """The command `replay`: observation [K, T + 1, 2, D], legal [K, T + 1, 2, A], reward [K, T, 2],
    done [K, T]. At time t the first t actions have been made."""
    environment, key = make_environment(settings), jax.random.key(0)
    with np.load(settings["games"]) as games:
        actions = jnp.asarray(games["actions"], jnp.int32)
        cards = jnp.asarray(games["cards"], jnp.int32) if "cards" in games else None

    def shown(state: Any) -> tuple[Any, Any]:
        players = jnp.arange(2)
        observation = jax.vmap(lambda p: environment.information_set(state, p, key))(players)
        return observation, jax.vmap(lambda p: environment.legal_actions(state, p))(players)

    def play(actions: jax.Array, dealt: jax.Array | None) -> Any:
        state = environment.init_state(key)
        if dealt is not None:
            ranks = dealt // 2
            state = state._replace(private_cards=ranks[:2], pending_public=ranks[2])

        def move(state: Any, joint: jax.Array) -> Any:
            after, reward, done, _ = environment.apply_action(state, joint, key)
            return after, (*shown(state), reward, done)

        last, (observation, legal, reward, done) = jax.lax.scan(move, state, actions)
        at_end = shown(last)
        return (
            jnp.concatenate([observation, at_end[0][None]]),
            jnp.concatenate([legal, at_end[1][None]]),
            reward,
            done,
        )

    played = jax.jit(jax.vmap(play, in_axes=(0, None if cards is None else 0)))(actions, cards)
    names = ("observation", "legal", "reward", "done")
    np.savez(settings["out"], **dict(zip(names, map(np.asarray, played), strict=True)))


def train(rlg: Path, settings: dict[str, Any]) -> None:
    """The command `train`."""
    algorithm, folder = make_algorithm(rlg, settings), Path(settings["folder"])
    with np.load(settings["observations"]) as shown:
        observation, legal = jnp.asarray(shown["observation"]), jnp.asarray(shown["legal"])
    logits = algorithm.agent.build_eval_fn(algorithm.env)

    def policy(parameters: Any) -> np.ndarray:
        return np.asarray(jax.nn.softmax(logits(parameters, observation), where=legal))

    advance = many_steps(algorithm, _STEPS_PER_CHUNK)
    state = algorithm.init(jax.random.PRNGKey(settings["seed"]))
    last = folder / "last.pickle"
    seconds = 0.0
    if last.exists():
        state, seconds = pickle.loads(last.read_bytes())
    done = int(state.step)
    for step in settings["steps"]:
        if step < done:
            continue
        begin = time.perf_counter()
        while done < step:
            state = jax.block_until_ready(advance(state))
            done += _STEPS_PER_CHUNK
        seconds += time.perf_counter() - begin
        parts = {"smoothed": state.extras["target_params"], "last": state.params}
        _write(folder / f"parameters_{step}.pickle", pickle.dumps(jax.device_get(parts)))
        with (folder / "part.npz").open("wb") as file:
            np.savez(file, seconds=seconds, **{name: policy(p) for name, p in parts.items()})
        os.replace(folder / "part.npz", folder / f"policies_{step}.npz")
        _write(last, pickle.dumps((jax.device_get(state), seconds)))
        print(f"{step} steps, {seconds:.0f} s", flush=True)


def _write(path: Path, content: bytes) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(content)
    os.replace(part, path)


def main() -> None:
    """Does a command."""
    command, rlg, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    sys.path.insert(0, str(rlg))
    if command == "time":
        answer_times(rlg, settings)
    elif command == "replay":
        replay(settings)
    elif command == "train":
        train(rlg, settings)
    else:
        raise SystemExit(f"{command!r} is no command; use time, replay or train")


if __name__ == "__main__":
    main()
