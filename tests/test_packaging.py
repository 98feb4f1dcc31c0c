"""All tools install the same set of versions."""

from __future__ import annotations

import re
import tomllib

from tests.pages import ROOT

# Its newest version for Python 3.11.0 to 3.11.4 is another one.
APART = {"soupsieve"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_uv_and_pip_install_the_same_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    pinned = {normal(name): version for name, version in pinned.items()}
    locked = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    found = {each["name"]: each["version"] for each in locked if "version" in each}
    both = (found.keys() & pinned.keys()) - APART
    assert {name: found[name] for name in both} == {name: pinned[name] for name in both}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = {normal(re.split(r"[\[<>=]", each)[0]) for each in project["dependencies"]}
    assert direct <= both


def test_workflows_call_what_is_there() -> None:
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    flows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert [flow.stem for flow in flows] == ["ci", "docs", "release"]
    for flow in flows:
        assert set(re.findall(r"run: make ([\w-]+)", flow.read_text())) <= set(targets)
