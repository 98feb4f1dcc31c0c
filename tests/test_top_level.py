"""The package's own names: what they are, and what importing them costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import spiel_dl

HEAVY = ("torch", "matplotlib", "numba", "pyspiel", "open_spiel", "numpy", "scipy", "tensorboard")


def imported_by(code: str) -> set[str]:
    """Top-level modules that a fresh process has imported after some code."""
    ending = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{ending}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_every_name_is_what_type_checkers_see() -> None:
    module = ast.parse(Path(spiel_dl.__file__).read_text())
    condition = next(node for node in module.body if isinstance(node, ast.If))
    seen = {}
    for node in condition.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            seen[alias.asname or alias.name] = (node.module, alias.name)
    assert sorted(seen) == sorted(spiel_dl.__all__)
    for name, (source, attribute) in seen.items():
        found = getattr(spiel_dl, name)
        assert found is getattr(sys.modules[source], attribute)
        assert name in dir(spiel_dl)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'CFRMinus'"):
        spiel_dl.CFRMinus  # noqa: B018


def test_importing_the_package_imports_nothing_else() -> None:
    assert not imported_by("import spiel_dl") & set(HEAVY)


def test_solving_a_game_of_openspiels_own_imports_no_torch() -> None:
    code = """
import spiel_dl as dl
tree = dl.compile_game("leduc_poker")
uniform = dl.ArrayPolicy.uniform(tree)
assert round(dl.nash_conv("leduc_poker", uniform), 3) == 4.747
assert round(dl.exploitability(tree, dl.load_policy("cfr+:3", tree)), 3) < 4.747 / 2
dl.DLCFR(tree, value_function=dl.ZeroValue(), depth_limit=dl.DepthLimit(plies=2)).run(1)
dl.solve_lp("kuhn_poker")
"""
    assert not imported_by(code) & {"torch", "matplotlib", "tensorboard", "jinja2", "ray"}


def test_games_of_this_package_are_loaded_by_their_strings() -> None:
    code = """
import spiel_dl as dl
tree = dl.compile_game("python_goofspiel_ii(num_cards=3)")
assert tree.num_histories > 1
"""
    assert "torch" in imported_by(code)
