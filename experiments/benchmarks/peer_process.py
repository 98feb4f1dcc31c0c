"""A peer in a process and an environment of its own, which does steps when it is asked."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence


def own_variables() -> dict[str, str]:
    """Our environment variables, without what would lead a peer to our packages."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@contextlib.contextmanager
def started(
    command: Sequence[str], variables: Mapping[str, str]
) -> Iterator[Callable[[float], float]]:
    """Starts a peer that says "ready" once it is compiled, and ends it.

    Args:
      command: how to start it. For every line that it reads, a number of seconds, it does steps for
        at least so long, and prints the seconds per step.
      variables: its environment variables.

    Returns:
      A context with a function from the least seconds to the seconds per step.
    """
    with subprocess.Popen(
        command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def answer() -> str:
            line = stdout.readline()
            if not line:
                raise SystemExit(f"the peer has ended: {' '.join(command)}")
            return line

        def seconds_per_step(least_seconds: float) -> float:
            print(least_seconds, file=stdin, flush=True)
            return float(answer())

        while answer().strip() != "ready":
            pass  # what the peer says besides
        yield seconds_per_step
        stdin.close()
