"""The policies that a server offers, and their descriptions on its page."""

from __future__ import annotations

import dataclasses

import pytest

from spiel_dl.play import kinds, zoo
from spiel_dl.serve import inputs, menu

OFFERED = (
    "uniform",
    "cfr+:20",
    "late:hunter",
    "resolving:exact",
    "cdbr:cfr:5",
    "cdrnr:0.5:rnad:leduc",
    "abd:0.5:rnad:leduc",
    "rnad:leduc",
    "sepot:leduc",
    "klss:rnad:leduc",
)
REFUSED = (
    "nobody",
    "onnx:file.onnx",
    "cdbr:onnx:file.onnx",
    "abd:0.5:/etc/passwd",
    "resolving:/etc/passwd",
    "sepot:/etc",
)


@pytest.mark.parametrize("name", OFFERED)
def test_what_is_installed_is_offered(name: str) -> None:
    inputs.check_name(name, ())


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_read_files_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"no policy .* is offered here"):
        inputs.check_name(name, ())
    inputs.check_name(name, (name,))


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("sepot:nowhere", "no policy 'sepot:nowhere': 'nowhere' is neither a file nor"),
        ("sepot:exact", "no policy 'sepot:exact': 'exact' is neither a file nor"),
        ("cdrnr:0.5:rnad:nowhere", "no policy 'rnad:nowhere': 'nowhere' is neither a file nor"),
        ("resolving:nowhere", "no policy 'resolving:nowhere': 'nowhere' is neither a file nor"),
    ],
)
def test_a_server_does_not_begin_with_policies_whose_files_are_missing(
    name: str, named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        inputs.policies_of((*OFFERED, name))
    assert inputs.policies_of((*OFFERED, "uniform")) == OFFERED


def test_the_page_says_no_kind_of_which_nothing_is_offered() -> None:
    patterns = {each["pattern"] for each in menu.menu((), 30.0)["kinds"]}
    files = {kind.pattern for kind in kinds.KINDS.values() if kind.takes == "FILE"}
    assert files == {"onnx:FILE"}
    assert patterns == {kind.pattern for kind in kinds.KINDS.values()} - files


def test_networks_of_a_game_are_offered_whatever_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No other game's, nor what is no policy network."""
    known = zoo.models()["mmd:dark_hex_3x3"]
    small = dataclasses.replace(known, game="python_dark_hex(num_cols=2,num_rows=2)")
    models = {
        "mmd:dark_hex_2x2": small,
        "particle:dark_hex_3x3": known,
        "ppo:dark_hex_3x3": dataclasses.replace(known, measured={}),
    }
    monkeypatch.setattr(zoo, "models", lambda: models)
    [game] = [each for each in menu.menu((), 30.0)["games"] if each["name"] == "dark_hex_3x3"]
    found = [(each["name"], each["strength"]) for each in game["opponents"]]
    assert found[:2] == [("ppo:dark_hex_3x3", ""), ("sepot:ppo:dark_hex_3x3", "a search, slower")]
