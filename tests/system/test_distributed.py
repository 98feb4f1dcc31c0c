"""One `map` for all engines: the same results in the same order, also if workers die."""

from __future__ import annotations

import functools
import importlib
import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import ray

from spiel_dl.system import distributed
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.system.workers import worker_environment
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.value_functions import generation
from spiel_dl.value_functions.dataset import DatasetConfig
from tests import distributed_functions as functions
from tests.run.scripts import run_script, succeed
from tests.value_functions.datasets import shards

IN_PROCESS = distributed.IN_PROCESS
PROCESSES = distributed.LocalProcesses(2)
RAY = distributed.Ray(2)
CONFIG = DatasetConfig(
    str(load_turn_based("python_goofspiel_ii(num_cards=4,points_order=descending)")),
    DepthLimit(rounds=2),
    shard_size=3,
    tolerance=0.01,
)
# Workers are born into another environment than this.
ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    "OMP_NUM_THREADS": "2",
    "NUMBA_NUM_THREADS": "2",
    "RAY_USAGE_STATS_ENABLED": "0",
}
ON_RAY = pytest.param(RAY, marks=pytest.mark.slow)
WITH_WORKERS = pytest.mark.parametrize("engine", [PROCESSES, ON_RAY])
WITH_ALL = pytest.mark.parametrize("engine", [IN_PROCESS, PROCESSES, ON_RAY])


@pytest.fixture(scope="module", autouse=True)
def environment():
    """Another one than that of workers."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True)
def connected(request):
    """Ray's tests share a cluster."""
    if request.node.get_closest_marker("slow"):
        request.getfixturevalue("cluster")


@pytest.fixture(scope="module")
def cluster():
    """The address of a Ray cluster of two workers, to which this process is connected."""
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@WITH_ALL
def test_results_are_in_order_and_those_of_the_builtin_map(engine):
    found = distributed.map(functions.draw, range(7), engine)
    expected = list(map(functions.draw, range(7)))
    assert [seed for seed, _ in found] == [seed for seed, _ in expected]
    np.testing.assert_array_equal([array for _, array in found], [array for _, array in expected])
    assert distributed.map(functions.draw, [], engine) == []


@WITH_ALL
def test_an_error_keeps_its_type_names_its_item_and_loses_no_result(engine, tmp_path):
    results = {}
    function = functools.partial(functions.fail_at_two, mark=tmp_path / "mark")
    with pytest.raises(KeyError) as caught:
        distributed.for_each(function, [1, 0, 2, 3, 4, 5], results.__setitem__, engine)
    assert type(caught.value) is KeyError
    assert caught.value.args == ("no",)
    assert caught.value.__notes__ == ["raised for item 2, counted from 0: 2"]
    assert results.items() >= {0: 10, 1: 0}.items()
    assert not results.keys() & {2, 4, 5}, "an item was begun after the error"


@WITH_WORKERS
def test_a_killed_worker_is_noticed_and_changes_nothing(engine, tmp_path, caplog):
    function = functools.partial(functions.die, folder=tmp_path, at=2, times=2)
    assert distributed.map(function, range(5), engine) == [0, 10, 20, 30, 40]
    assert functions.attempts(tmp_path) == {0: 1, 1: 1, 2: 3, 3: 1, 4: 1}
    assert [record.getMessage() for record in caplog.records] == [
        "a worker died over item 2, counted from 0"
    ] * 2


@WITH_WORKERS
def test_an_item_that_kills_every_worker_is_given_up(engine, tmp_path):
    function = functools.partial(functions.die, folder=tmp_path, at=1, times=99)
    results = {}
    with pytest.raises(distributed.WorkerDiedError, match=r"^2 worker\(s\) died over item 1,"):
        distributed.for_each(function, range(5), results.__setitem__, engine, max_retries=1)
    assert functions.attempts(tmp_path)[1] == 2
    assert results[0] == 0
    assert 1 not in results


def test_a_process_killed_between_two_items_is_replaced():
    processes = []

    def kill_the_first(_, process):
        processes.append(process)
        if len(processes) == 1:
            os.kill(process, signal.SIGKILL)
            time.sleep(0.5)

    engine = distributed.LocalProcesses(1)
    distributed.for_each(functions.process_id, range(3), kill_the_first, engine, max_retries=0)
    first, second, third = processes
    assert first != second == third != os.getpid()


@WITH_WORKERS
def test_workers_compute_with_one_thread(engine):
    assert distributed.map(functions.count_threads, [0], engine) == [(1, 1)]
    assert os.environ["OMP_NUM_THREADS"] == ENVIRONMENT["OMP_NUM_THREADS"]


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_tasks_under_way_end_with_a_result_that_cannot_be_used(tmp_path):
    sleeper = tmp_path / "sleeper"

    def refuse(*_):
        wait_until(sleeper.exists)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        distributed.for_each(functions.sleep_over, [sleeper, None], refuse, RAY)
    wait_until(lambda: ray.available_resources().get("CPU") == 2)


def test_processes_end_with_the_one_that_started_them(tmp_path):
    """Also if that is killed. Nobody has ended before standard output is closed."""
    sleeper = tmp_path / "sleeper"
    program = (
        "from pathlib import Path; from spiel_dl.system import distributed\n"
        "from tests.distributed_functions import sleep_over\n"
        f"distributed.map(sleep_over, [Path({str(sleeper)!r})], distributed.LocalProcesses(1))"
    )
    starter = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    wait_until(sleeper.exists)
    starter.kill()
    starter.communicate(timeout=30)


@WITH_WORKERS
def test_workers_find_what_lies_on_the_path_of_this_process(engine, tmp_path, monkeypatch):
    """As the papers' experiments do, which are not installed; the cluster is older."""
    (tmp_path / "not_installed.py").write_text("def double(item):\n    return 2 * item\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "not_installed", raising=False)
    double = importlib.import_module("not_installed").double
    assert distributed.map(double, [1, 2], engine) == [2, 4]


def test_progress_is_shown_on_terminals(capsys, monkeypatch):
    distributed.map(math.sqrt, range(7), description="roots")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    distributed.map(math.sqrt, range(7))
    assert capsys.readouterr().err == ""
    distributed.map(math.sqrt, range(7), description="roots")
    assert "roots: 100%" in (output := capsys.readouterr().err)
    assert "7/7" in output


def make(directory, engine=IN_PROCESS, num_shards=4):
    """The bytes of a dataset's shards."""
    run = RunDirectory(directory, CONFIG.to_json())
    generation.generate(run, CONFIG, num_shards, engine=engine, show_progress=False)
    return shards(directory)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The result of one process."""
    files = make(tmp_path_factory.mktemp("alone") / "data")
    assert len(files) == len(set(files.values())) == 4
    return files


@WITH_WORKERS
def test_datasets_do_not_depend_on_engines_and_deaths(engine, alone, tmp_path, monkeypatch):
    folder = tmp_path / "attempts"
    folder.mkdir()
    killing = functools.partial(functions.solve_or_die, folder=folder)
    monkeypatch.setattr(generation, "solve_shard", killing)
    assert make(tmp_path / "data", engine) == alone
    assert functions.attempts(folder) == {0: 1, 1: 2, 2: 1, 3: 1}


@pytest.mark.slow
def test_data_from_the_command_line_on_a_running_cluster(alone, cluster, tmp_path):
    output, _ = succeed(
        "generate_data.py",
        f"--game={CONFIG.game}",
        "--rounds=2",
        "--shards=4",
        "--shard_size=3",
        "--tolerance=0.01",
        "--run_dir=data",
        f"--ray_address={cluster}",
        "--num_workers=2",
        directory=tmp_path,
    )
    assert "trunk strategies   12" in output
    assert shards(tmp_path / "data") == alone


@pytest.mark.slow
def test_a_wrong_address_is_found_out_at_once(tmp_path):
    arguments = ("--run_dir=data", "--moves=3", "--ray_address=localhost:1")
    code, _, errors = run_script("generate_data.py", *arguments, directory=tmp_path)
    assert code == 1
    assert "error: no Ray cluster at address=localhost:1 (" in errors
    assert errors.endswith("`ray start --head` starts one and says its address\n")


@pytest.mark.parametrize(
    ("arguments", "engine"),
    [
        ((), IN_PROCESS),
        ((2,), PROCESSES),
        ((1, "here:1"), distributed.Ray(1, "here:1")),
        ((2, "local"), distributed.Ray(2, "local")),
    ],
)
def test_engines_by_workers_and_address(arguments, engine):
    assert distributed.make_engine(*arguments) == engine


@pytest.mark.parametrize("arguments", [(-1,), (-1, "here:1")])
def test_engines_have_workers(arguments):
    with pytest.raises(ValueError, match="num_workers=-1 must be positive"):
        distributed.make_engine(*arguments)


def test_errors(monkeypatch):
    with pytest.raises(ValueError, match="max_retries=-1 must not be negative"):
        distributed.map(math.sqrt, [1], max_retries=-1)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r'pip install .* -e "\.\[ray\]" in the repo'):
        distributed.map(math.sqrt, [1], RAY)


def test_two_threads_that_start_workers_leave_the_environment_as_it_was() -> None:
    before, is_inside, has_left = dict(os.environ), threading.Event(), threading.Event()

    def start_later() -> None:
        is_inside.wait()
        with worker_environment():
            has_left.wait()

    thread = threading.Thread(target=start_later)
    thread.start()
    with worker_environment():
        is_inside.set()
        time.sleep(0.1)
    has_left.set()
    thread.join()
    assert dict(os.environ) == before
