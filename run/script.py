"""What all scripts have in common: one main function, one way to open a run directory.

  def main(*, game: str = "leduc_poker", iterations: int = 1000) -> None:
      ...

  if __name__ == "__main__":
      script.run(main)

The keyword arguments of the function become flags, beside those of the groups that the script
defined by `config_flags.define`.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import config_flags
from absl import app, flags

from spiel_dl.runs.distributed import ENGINES, Engine, make_engine
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.runs.workers import WorkerDiedError
from spiel_dl.tree.depth_limit import DepthLimit

# The flags belong to the script.
flags.disclaim_key_flags()
_HELP = ("help", "helpshort", "h", "?")


def run(main: Callable[..., None], *, one_of: Sequence[str] = (), **options: Any) -> None:
    """Starts a script: defines the flags of its main function, parses all flags, and calls it.

    A ValueError, an error of the operating system, the death of workers and Ctrl-C end the script
    with one line on standard error and exit code 1.

    Args:
      main: the script's work; its keyword arguments become the first group of flags.
      one_of: names of flags of which exactly one is to be given.
      **options: as `config_flags.define` takes them.
    """
    own = config_flags.define(main, is_first=True, **options)
    if one_of:
        flags.mark_flags_as_mutual_exclusive(one_of, required=True)
    app.run(lambda _: _call(own), flags_parser=_parse)


def _parse(argv: list[str]) -> list[str]:
    """Parses the command line, and ends the program if it asks for help or is wrong."""
    before_dashes = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    if any(word.lstrip("-") in _HELP and word.startswith("-") for word in before_dashes):
        print(config_flags.help_text(sys.modules["__main__"].__doc__ or ""))
        sys.exit(0)
    try:
        rest = flags.FLAGS(argv)
    except flags.Error as error:
        lacks = "must have a value other than None" in str(error)
        _fail(next(iter(config_flags.missing() if lacks else []), _of_flag(error)))
    if len(rest) > 1:
        _fail(f"unexpected arguments: {rest[1:]}; every setting is a flag, such as --game=...")
    return rest


def _call(own: config_flags.Flags[None]) -> None:
    try:
        if "device" in flags.FLAGS:
            check_device(str(flags.FLAGS["device"].value))
        own.call()
    except (ValueError, WorkerDiedError) as error:
        _fail(str(error))
    except OSError as error:
        _fail(_of_system(error))
    except MemoryError as error:
        _fail(f"out of memory: {error}")
    except KeyboardInterrupt:
        _fail(f"interrupted{_how_to_resume()}")


def _fail(message: str) -> NoReturn:
    sys.exit(f"error: {' '.join(message.split())}")


def _of_flag(error: flags.Error) -> str:
    text = str(error).removeprefix("flag ")
    is_unknown = isinstance(error, flags.UnrecognizedFlagError)
    return f"{text}; --help lists the flags" if is_unknown else text


def _of_system(error: OSError) -> str:
    """What went wrong with a file, a directory or a process, and what to do."""
    remedies = {
        errno.ENOSPC: "free some space; a run goes on with --resume",
        errno.EACCES: "choose another place, or change its permissions",
        errno.EROFS: "choose a place that can be written",
        errno.EISDIR: "give a file's path, not a directory's",
        errno.ENOTDIR: "one of the folders on the way is a file; choose another path",
        errno.EMFILE: "use fewer workers",
        errno.EAGAIN: "use fewer workers",
    }
    what = error.strerror or str(error)
    where = f": {error.filename2 or error.filename}" if error.filename else ""
    remedy = f"; {remedies[error.errno]}" if error.errno in remedies else ""
    return f"{what}{where}{remedy}"


_opened: list[RunDirectory] = []


def open_run(
    default: str,
    identity: Mapping[str, Any],
    /,
    *,
    run_dir: str | None = None,
    resume: bool = False,
) -> RunDirectory:
    """Opens the run directory that the flags ask for.

    Args:
      default: its path if there is no --run_dir.
      identity: see `RunDirectory`.
      run_dir: run directory, where checkpoints and results go.
      resume: go on with the run in the run directory.

    Raises:
      ValueError: as `RunDirectory`.
    """
    path = default if run_dir is None else run_dir
    if not path:
        raise ValueError("--run_dir is empty; give the path of a directory")
    _opened.append(RunDirectory(path, identity, resume=resume))
    return _opened[-1]


def run_directory(*, is_required: bool = False) -> config_flags.Flags[RunDirectory]:
    """Defines --run_dir and --resume; `build` takes the first two arguments of `open_run`."""
    required = ["run_dir"] if is_required else []
    return config_flags.define(open_run, "Run directory", required=required)


def workers() -> config_flags.Flags[Engine]:
    """Defines the flags that say who does the work; `build` makes the engine."""
    return config_flags.define(
        make_engine,
        "Workers; no result depends on them",
        names={"name": "engine"},
        defaults={"name": None},
        choices={"name": ENGINES},
        texts={
            "name": "who does the work. Default: this process, if there is one worker.",
            "ray_address": "of a running Ray cluster. Default: one on this machine.",
        },
    )


def depth_limit(subject: str = "Depth limit") -> config_flags.Flags[DepthLimit]:
    """Defines --moves, --plies and --rounds, of which one is to be given."""
    return config_flags.define(
        DepthLimit,
        f"{subject}, in one of three units",
        texts={
            "moves": "player actions.",
            "plies": "player actions, and chance events after the first of them.",
            "rounds": "a game's own rounds, if it has any.",
        },
    )


def _how_to_resume() -> str:
    """Says how to go on with what Ctrl-C stopped, if anything was kept."""
    for directory in _opened:
        if any(directory.path.rglob("*.safetensors")):
            return f"; the same command goes on with the run in {directory.path} with --resume"
    return "; nothing was kept to go on with"


def check_device(device: str) -> None:
    """Raises a ValueError if torch cannot compute there."""
    if device == "cpu":
        return
    import torch  # The scripts that need no network start sooner without it.

    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"--device={device} cannot be used here; take cpu, or cuda where torch finds a GPU"
        ) from error
