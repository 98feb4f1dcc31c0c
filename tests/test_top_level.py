"""The package's own names: what they are, and what importing them costs."""

import subprocess
import sys

import pytest

import spiel_dl
from spiel_dl import cli

HEAVY = ("torch", "matplotlib", "numba", "open_spiel", "numpy", "scipy")


def imported_by(code: str) -> set[str]:
    """Top-level modules that a fresh process has imported after some code."""
    ending = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{ending}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_every_name_is_what_type_checkers_see() -> None:
    assert sorted(spiel_dl.__all__) == sorted(spiel_dl._sources())
    for name, (source, attribute) in spiel_dl._sources().items():
        assert getattr(spiel_dl, name) is getattr(sys.modules[source], attribute)
        assert name in dir(spiel_dl)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'CFRMinus'"):
        spiel_dl.CFRMinus  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean ValueFunction"):
        spiel_dl.ValuFunction  # noqa: B018


def test_importing_the_package_imports_openspiel_alone() -> None:
    assert not imported_by("import spiel_dl; import spiel_dl.games") & set(HEAVY)


def test_commands_import_no_torch_until_a_network_is_asked_for() -> None:
    """So help is quick. Torch comes with the first game of this package, which is known by name."""
    names = [f"commands.{name}" for name in (*cli.COMMANDS, "reproduce")]
    code = f"""
import importlib, sys
for name in {[*names, "serve.app"]}:
    importlib.import_module("spiel_dl." + name)
    for module in ("torch", "scipy.stats", "scipy.optimize", "matplotlib", "jinja2"):
        assert module not in sys.modules, f"{{name}} imports {{module}}"
import pyspiel
game = pyspiel.load_game("python_leduc(num_ranks=4)")
assert game.rules.num_ranks == 4
try:
    pyspiel.load_game("python_leduc(num_ranks=1)")
except ValueError as error:
    assert "use 2 or more" in str(error)
else:
    raise AssertionError("it was made")
assert "spiel_dl.games.goofspiel_ii" not in sys.modules
"""
    assert "torch" in imported_by(code)


def test_solving_and_a_match_import_no_torch() -> None:
    code = """
import sys
import spiel_dl as dl
tree = dl.compile_game("leduc_poker")
uniform = dl.ArrayPolicy.uniform(tree)
assert round(dl.nash_conv("leduc_poker", uniform), 3) == 4.747
assert round(dl.exploitability(tree, dl.load_policy("cfr+:3", tree)), 3) < 4.747 / 2
dl.DLCFR(tree, value_function=dl.ZeroValue(), depth_limit=dl.DepthLimit(plies=2)).run(1)
dl.solve_lp("kuhn_poker")
sys.argv = ["spiel-dl", "head-to-head", "--game=kuhn_poker", "--first=cfr+:5", "--second=uniform",
    "--num_games=4"]
from spiel_dl import cli
try:
    cli.main()
except SystemExit as ending:
    assert not ending.code, ending.code
print()
"""
    assert not imported_by(code) & {"torch", "matplotlib", "jinja2", "ray"}
