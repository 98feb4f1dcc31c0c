"""Common functions of all scripts: starting a main function, opening run directories.

  def main(*, game: str = "leduc_poker", iterations: int = 1000) -> None:
      ...

  if __name__ == "__main__":
      script.run(main)

The keyword arguments of the function become flags, in addition to those that the script defines by
`config_flags.define`, and --import, which all scripts have.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from absl import app, flags

from spiel_dl.commands import config_flags
from spiel_dl.games.own import import_modules
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.distributed import Engine, make_engine
from spiel_dl.system.parameters import Bounds, parameters_of
from spiel_dl.system.run_directory import RunDirectory, numbered
from spiel_dl.system.workers import WorkerDiedError
from spiel_dl.tree.depth_limit import DepthLimit

# The flags belong to the script.
flags.disclaim_key_flags()
EXPECTED = (ValueError, WorkerDiedError, ImportError)
"""Errors whose messages say to a user what to do."""
_HELP = ("help", "helpshort", "h", "?")
_REMEDIES = {
    errno.ENOSPC: "free some space; a run goes on with --resume",
    errno.EDQUOT: "free some space; a run goes on with --resume",
    errno.EFBIG: "raise the limit on files' sizes; a run goes on with --resume",
    errno.EACCES: "choose another place, or change its permissions",
    errno.EPERM: "choose another place, or change its permissions",
    errno.EROFS: "choose a place that can be written",
    errno.EISDIR: "give a file's path, not a directory's",
    errno.ENOTDIR: "one of the folders on the way is a file; choose another path",
    errno.ENAMETOOLONG: "choose a shorter path",
    errno.ENOLCK: "choose a place on a disk of this machine",
    errno.EMFILE: "use fewer workers",
    errno.EAGAIN: "use fewer workers",
}


def run(main: Callable[..., None], *, one_of: Sequence[str] = (), **options: Any) -> None:
    """Starts a script: defines the flags of its main function, parses all flags, and calls it.

    A ValueError, an error of the operating system, the death of workers and Ctrl-C end the script
    with one line on standard error and exit code 1.

    Args:
      main: the main function; its keyword arguments become flags.
      one_of: names of flags of which exactly one must be given.
      **options: as `config_flags.define` takes them.
    """
    import_flags = config_flags.define(_import, names={"modules": "import"})
    main_flags = config_flags.define(main, **options)
    if one_of:
        flags.mark_flags_as_mutual_exclusive(one_of, required=True)
    try:
        app.run(lambda _: _call(import_flags, main_flags), flags_parser=_parse)
    except BrokenPipeError:
        sys.exit(1)
    finally:
        _flush()


def _flush() -> None:
    """Flushes standard output, unless it was closed by its reader, as in `... | head`."""
    if sys.stdout is None:  # It was closed before the program began.
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parse(argv: list[str]) -> list[str]:
    """Parses the command line; exits if it asks for help or is invalid."""
    before_dashes = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    if any(word.lstrip("-") in _HELP and word.startswith("-") for word in before_dashes):
        print(f"{_description()}\n{flags.FLAGS.main_module_help()}")
        sys.exit(0)
    try:
        rest = flags.FLAGS(argv)
    except flags.Error as error:
        _fail(_flag_message(error))
    if len(rest) > 1:
        _fail(f"unexpected arguments: {rest[1:]}; every setting is a flag, such as --game=...")
    return rest


def _description() -> str:
    """The script's docstring, with examples by file or by command, as it was started."""
    main = sys.modules["__main__"]
    text = main.__doc__ or ""
    if main.__spec__ is None:
        return text
    return re.sub(
        r"python run/(\w+)\.py", lambda match: f"spiel-dl {match[1].replace('_', '-')}", text
    )


def _import(*, modules: tuple[str, ...] | None = None) -> None:
    """Imports modules that register games, networks and policies.

    Args:
      modules: your own games, networks and policies: modules or files.
    """
    import_modules(modules or ())


def _call(import_flags: config_flags.Flags[None], main_flags: config_flags.Flags[None]) -> None:
    try:
        _check_flags()
        import_flags.build()
        main_flags.build()
    except EXPECTED as error:
        _fail(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        path = f": {error.filename2 or error.filename}" if error.filename else ""
        remedy = f"; {_REMEDIES[error.errno]}" if error.errno in _REMEDIES else ""
        _fail(f"{error.strerror or error}{path}{remedy}")
    except MemoryError as error:
        _fail(f"out of memory: {error}")
    except RuntimeError as error:
        if not re.search(r"can't allocate memory|out of memory", str(error)):
            raise
        _fail("out of memory: a network or a batch is too large for this machine; take a smaller")
    except KeyboardInterrupt:
        _fail(f"interrupted{_how_to_resume()}")


@contextlib.contextmanager
def waiting(activity: str) -> Iterator[None]:
    """Shows on a terminal which activity takes a while, as long as there is no progress bar."""
    is_terminal = sys.stderr.isatty()
    if is_terminal:
        print(f"{activity} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if is_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _check_flags() -> None:
    """Checks the flags of the device and of output paths, before hours of work.

    Raises:
      ValueError: if a flag is invalid.
    """
    if "device" in flags.FLAGS and flags.FLAGS["device"].value != "cpu":
        from spiel_dl.networks.devices import check_device  # Imports torch.

        try:
            check_device(str(flags.FLAGS["device"].value))
        except ValueError as error:
            raise ValueError(f"--{error}") from error
    for name in ("run_dir", "output", "page"):
        value = flags.FLAGS[name].value if name in flags.FLAGS else None
        if value == "":
            raise ValueError(f"--{name} is empty; give a path")
        path = Path(value or ".").absolute()
        parents = [parent for parent in path.parents if parent.exists()]
        if value and not parents:
            raise ValueError(f"--{name}={value} is the root of all files; give a path below it")
        if parents and not parents[0].is_dir():
            raise ValueError(f"--{name}={value}: {parents[0].name} is a file; choose another path")
        if value and name == "page" and path.is_dir():
            raise ValueError(f"--page={value} is a folder; give a file, such as page.html in it")


def _fail(message: str) -> NoReturn:
    sys.exit(f"error: {' '.join(message.split())}")


def _flag_message(error: flags.Error) -> str:
    """The message of an error of the command line; for a missing flag, with its help text."""
    one_of = re.search(r"Exactly one of \((.*)\) must have a value", str(error))
    names = one_of[1].split(", ") if one_of else []
    if len(names) > 1:
        return f"give one of {' and '.join(f'--{name}' for name in names)}, and no more"
    for name in flags.FLAGS:
        if name in names or f"flag --{name}=None: Flag --{name} must have a value" in str(error):
            return f"give --{name}: {flags.FLAGS[name].help}"
    message = str(error).removeprefix("flag ")
    if isinstance(error, flags.UnrecognizedFlagError) and "Did you mean" not in message:
        message += "; --help lists the flags"
        message += " of this --algorithm" if "algorithm" in flags.FLAGS else ""
    return message


_opened: list[RunDirectory | Workspace] = []


def open_run(
    default: str,
    identity: Mapping[str, Any],
    /,
    *,
    run_dir: str | None = None,
    resume: bool = False,
) -> RunDirectory:
    """Opens the run directory of the flags.

    Args:
      default: its path without --run_dir; if it is taken, "-2" or a higher number is appended.
      identity: see `RunDirectory`.
      run_dir: directory of the run. Default: a new folder below runs/. With --resume, the newest
        one of these settings.
      resume: go on with the run in the run directory.

    Raises:
      ValueError: as `RunDirectory`.
    """
    path = run_dir or numbered(default, identity if resume else None)
    directory = RunDirectory(path, identity, resume=resume)
    if not run_dir:
        print(f"results go to {directory.path}", file=sys.stderr)
    _opened.append(directory)
    return directory


def open_workspace(path: str, engine: Engine, *, only_own: bool = False) -> Workspace:
    """Opens a workspace of finished parts.

    Args:
      path: of --run_dir.
      engine: computes the parts.
      only_own: as `Workspace` takes it.

    Raises:
      ValueError: if it is a file.
    """
    if Path(path).exists() and not Path(path).is_dir():
        raise ValueError(f"--run_dir={path} is a file; choose another path")
    workspace = Workspace(path, engine, show_progress=True, only_own=only_own)
    _opened.append(workspace)
    return workspace


def run_directory(*, is_required: bool = False) -> config_flags.Flags[RunDirectory]:
    """Defines --run_dir and --resume; `build` takes the first two arguments of `open_run`."""
    if not is_required:
        return config_flags.define(open_run)
    text = {"run_dir": "directory of checkpoints and results."}
    return config_flags.define(open_run, required=["run_dir"], texts=text)


def workers() -> config_flags.Flags[Engine]:
    """Defines --num_workers and --ray_address; `build` makes the engine."""
    return config_flags.define(make_engine)


def depth_limit(subject: str = "") -> config_flags.Flags[DepthLimit]:
    """Defines --moves, --plies and --rounds, exactly one of which must be given.

    Args:
      subject: what the limit applies to, for help texts.
    """
    of_subject = f" of {subject}" if subject else ""
    units = {
        unit.name: dataclasses.replace(
            unit, bounds=Bounds(1), text=f"depth limit{of_subject}, in {unit.name}: {unit.text}"
        )
        for unit in parameters_of(DepthLimit)
    }
    return config_flags.Flags(DepthLimit, units)


def _how_to_resume() -> str:
    """The end of a message that says how to resume after Ctrl-C, if anything was saved."""
    for opened in _opened:
        if isinstance(opened, Workspace) and opened.directory.exists():
            return f"; the same command goes on with what is finished in {opened.directory}"
        if isinstance(opened, RunDirectory) and any(opened.path.rglob("*.safetensors")):
            return f"; the same command goes on with the run in {opened.path} with --resume"
    return "; nothing was kept to go on with"
