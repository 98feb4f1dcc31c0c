"""Experiments and benchmarks use public names of the library, those that the site documents."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.pages import ROOT


def private_names(source: str) -> Iterator[str]:
    """The private names of spiel_dl that a module uses."""
    tree = ast.parse(source)
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "spiel_dl":
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
            own |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names if alias.name.startswith("spiel_dl")]
            own |= {alias.asname or "spiel_dl" for alias in node.names if paths}
        else:
            continue
        for path in paths:
            if any(part.startswith("_") or part.endswith("_kernels") for part in path.split(".")):
                yield path
    for node in ast.walk(tree):
        is_name = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_name and node.value.id in own and node.attr.startswith("_"):
            yield f"{node.value.id}.{node.attr}"


def test_only_public_names_are_used() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "experiments").rglob("*.py")
        for name in private_names(path.read_text(encoding="utf-8"))
    }
    assert found == set()
