"""The learners of kubicon/rlg, in a process and an environment of their own.

`learners.py` starts it. It needs a clone of rlg and an environment without spiel_dl:

  git clone https://github.com/kubicon/rlg
  python -m venv peer
  peer/bin/pip install jax==0.10.0 flax==0.12.8 optax==0.2.8 pyyaml

  peer/bin/python experiments/benchmarks/rlg_peer.py RLG SETTINGS

RLG is the clone. SETTINGS are JSON: `env` (rlg's name and parameters of the game), `loss_type` (mmd
or rnad), `batch_size`, `hidden`. Everything else is as in rlg's own public experiments with this
loss; those are the same for all their games, in particular one more layer without activation
(`feature_dim`) before the heads.

It says "ready" once it is compiled. Then, for every line on standard input, a number of seconds, it
does learner steps for at least so long, and prints the seconds per step. The processor's seconds,
of all threads.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import jax
import yaml

_STEPS_PER_CALL = 20  # steps that are one XLA program; rlg makes it 2000


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
    """Does learner steps as long as it is asked to."""
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


def main() -> None:
    """Answers with times."""
    rlg, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    sys.path.insert(0, str(rlg))
    answer_times(rlg, settings)


if __name__ == "__main__":
    main()
