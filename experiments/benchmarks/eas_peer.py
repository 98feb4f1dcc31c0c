"""Values and best responses by gabrfarina/exp-a-spiel, in a process and an environment of its own.

`large_games.py` starts it. It needs a clone and an environment without spiel_dl:

  git clone https://github.com/gabrfarina/exp-a-spiel
  python -m venv peer
  peer/bin/pip install pybind11==3.1.0 boost-headers==1.85.0.post1 "numpy<2"
  cd exp-a-spiel
  ../peer/bin/python -c "import boost_headers, sysconfig
  print(boost_headers.__path__[0], sysconfig.get_config_var('EXT_SUFFIX'))"
  g++ -std=c++20 -fopenmp -march=native -Ofast -DNDEBUG -fPIC -fvisibility=hidden -shared \
    csrc/{bindings,traverser,averager,cfr}.cpp $(../peer/bin/python -m pybind11 --includes) \
    -I BOOST_HEADERS/include -o src/eas/pyeasEXT_SUFFIX

with the two words that Python printed. The options are those of its CMakeLists.txt.

  peer/bin/python experiments/benchmarks/eas_peer.py CLONE GAME POLICY...

prints a line of JSON for each policy of `large_policies`: `value`, `best_0`, `best_1`, and the
`seconds` and `processor` seconds of the evaluation and of making its tables. GAME is the name of
one of its traversers without "Traverser". OMP_NUM_THREADS says how many threads.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import large_policies
import numpy as np

_BATCH = 1 << 16


def strategy(traverser: Any, player: int, name: str) -> np.ndarray:
    """A policy as it takes it: float64 [I, 9]."""
    tensors = traverser.compute_openspiel_infostates(player)
    legal = traverser.construct_uniform_strategies()[player] > 0
    parts = [
        large_policies.probabilities(name, tensors[k : k + _BATCH], legal[k : k + _BATCH])
        for k in range(0, len(tensors), _BATCH)
    ]
    return np.concatenate(parts)


def main() -> None:
    """Evaluates policies."""
    sys.path.insert(0, str(Path(sys.argv[1]) / "src"))
    import eas

    begin = time.process_time()
    traverser = getattr(eas, f"{sys.argv[2]}Traverser")()
    tables = time.process_time() - begin
    for name in sys.argv[3:]:
        plans = [strategy(traverser, player, name) for player in (0, 1)]
        start, begin = time.perf_counter(), time.process_time()
        result = traverser.ev_and_exploitability(*plans)
        seconds, processor = time.perf_counter() - start, time.process_time() - begin
        # What it calls exploitability of a player is what the other one gains by a best response.
        value = result.ev0
        line = {
            "policy": name,
            "value": value,
            "best_0": result.expl[1] + value,
            "best_1": result.expl[0] - value,
            "seconds": seconds,
            "processor": processor,
            "tables": tables,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
