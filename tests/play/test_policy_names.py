"""Names of policies: the list, errors of wrong names, and the files and options of a name."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree, load_policy
from spiel_dl.play import registry, zoo
from spiel_dl.play.kinds import KINDS, Kind, policy_names, register_kind
from spiel_dl.play.options import options_of
from spiel_dl.play.requests import Request
from spiel_dl.tree import cut
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from tests.small_learners import CRITIC, small_learner

TREE = GameTree.from_game("kuhn_poker")


@pytest.mark.parametrize("name", ["nobody", "cfr", "cfr:", "uniform:3", "alpha:zero", ""])
def test_unknown_names(name: str) -> None:
    with pytest.raises(ValueError, match=f"no policy '{name}'; .*[gG]ive one of uniform, highest"):
        load_policy(name, TREE)


def test_devices_that_there_are_not_are_refused_whatever_plays() -> None:
    for name in ("uniform", "cfr:1", "onnx:nowhere.onnx"):
        with pytest.raises(ValueError, match="device='nonsense' cannot be used here; take 'cpu'"):
            load_policy(name, TREE, device="nonsense")
    assert load_policy("uniform", TREE, device="cpu:0")


def _mine(request: Request) -> ArrayPolicy:
    return ArrayPolicy.uniform(request.compiled())


def test_kinds_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "mine", KINDS["uniform"])  # so that it is taken away afterwards
    del KINDS["mine"]
    kind = Kind("mine:FILE", "one's own", _mine)
    register_kind(kind)
    register_kind(kind)  # as modules that are imported twice do
    policy = load_policy("mine:3", TREE)
    assert isinstance(policy, ArrayPolicy)
    assert "mine:FILE" in policy_names()
    with pytest.raises(ValueError, match=r"no policy 'nobody'; .*mine:FILE, or the path"):
        load_policy("nobody", TREE)
    with pytest.raises(ValueError, match="uniform is the name of another kind"):
        register_kind(Kind("uniform:SEED", "taken", _mine))
    with pytest.raises(ValueError, match=r"mine is the name of another kind .*choose another"):
        register_kind(Kind("mine", "taken", lambda request: _mine(request)))
    with pytest.raises(ValueError, match="kind='mine' must be a Kind"):
        register_kind("mine")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cfr+:many", r"no policy 'cfr\+:many': 'many' is not a whole number"),
        ("random:-1", "no policy 'random:-1': '-1' is not a whole number"),
        ("cfr+:0", "iterations=0 must be at least 1"),
        ("cdrnr:0.5", r"no policy 'cdrnr:0.5'; did you mean cdrnr:P:MODEL\?"),
        ("cdrnr:0.5:", r"no policy 'cdrnr:0.5:'; did you mean cdrnr:P:MODEL\?"),
        ("cdrnr:half:uniform", "P='half' is not a number"),
        ("cdrnr:0.5:nobody", "no policy 'nobody'"),
        (300 * "x", "no policy 'xxx"),  # Longer than the name of a file may be.
        (f"onnx:{300 * 'x'}", "no policy 'onnx:xxx"),
        ("sepot:nowhere", "nowhere is neither a learner's checkpoint"),
        ("resolving:nowhere", "cannot read the file nowhere"),
    ],
)
def test_what_is_wrong_with_a_name(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_policy(name, TREE)


def test_the_table_of_names() -> None:
    scripts = (Path(__file__).parents[2] / "docs/how_to/scripts.md").read_text()
    for kind in KINDS.values():
        assert f"`{kind.name}" in scripts
        assert kind.pattern in policy_names()
        name = kind.name + ":3" * kind.pattern.count(":")
        assert bool(registry.options_of(name)) == (kind.name in SEARCHES)
    assert not registry.options_of("some/file")


SEARCHES = {
    "late": "late:random:1",
    "resolving": "resolving:zero",
    "cdbr": "cdbr:random:1",
    "cdrnr": "cdrnr:0.5:random:1",
    "abd": "abd:0.5:random:1",
    "rnr": "rnr:0.5:random:1",
    "sepot": "sepot:{run}",
    "particle": "particle:{particles}",
    "particle_sepot": "particle_sepot:{run}",
    "klss": "klss:{run}",
    "mmds": "mmds:{run}",
}
CHANGES: dict[str, dict[str, Any]] = {
    "depth_limit": {"depth_limit": DepthLimit(moves=1)},
    "max_histories": {"max_histories": 9},
    "budget": {"budget": 9},
    "gadget": {"gadget": "max_margin"},
    "order": {"order": 2},
    "stepsize": {"stepsize": 0.5},
    "temperature": {"temperature": 0.5},
    "depth": {"depth": 2},
    "num_rollouts": {"num_rollouts": 9},
    "effort": {"effort": Effort(9)},
    "given_cfvs": {"given_cfvs": "transformations"},
    "refinement": {"refinement": "none"},
    "leaf_choice": {"leaf_choice": "best_response"},
    "player": {"player": 1},
}


class Plain(pickle.Pickler):
    """The same bytes for policies that are alike: tensors by their numbers, games by no caches."""

    def reducer_override(self, found: Any) -> Any:
        if isinstance(found, torch.Tensor):
            return bytes, (found.detach().numpy().tobytes(),)
        if isinstance(found, np.random.RandomState):
            return str, ("OpenSpiel's policies have one without a seed",)
        if isinstance(found, GameTree):
            return str, (str(found.game),)
        return NotImplemented


def plain_bytes(policy: Any) -> bytes:
    written = io.BytesIO()
    Plain(written).dump(policy)
    return written.getvalue()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A game, and the files of a learner with a critic and of a particle network."""
    folder = tmp_path_factory.mktemp("trained")
    tree = GameTree.from_game("python_goofspiel_ii(num_cards=3,points_order=descending)")
    small_learner("rnad", tree.game, critic=CRITIC).save(folder / "run")
    network = ParticleNetwork(ParticleSizes(4, 1, 1.0, 2, 1.0))
    network.initialize(cut(tree, DepthLimit(rounds=1)).leaves)
    network.save(folder / "particles")
    return {"tree": tree, "run": folder / "run", "particles": folder / "particles"}


@pytest.mark.parametrize("kind", SEARCHES)
def test_searches_use_the_options_that_they_are_said_to_use(kind: str, trained: Any) -> None:
    """Each of these makes another policy; the others are refused."""
    name = SEARCHES[kind].format(**trained)
    game = trained["tree"] if KINDS[kind].compiles and kind != "abd" else trained["tree"].game

    known = options_of(KINDS[kind].options)
    few = {"effort": Effort(20)} if "effort" in known else {}

    def made(**changes: Any) -> bytes:
        return plain_bytes(load_policy(name, game, **{**few, **changes}))

    expected, found = made(), set()
    for option, change in CHANGES.items():
        if option in known:
            if made(**change) != expected:
                found.add(option)
        else:
            with pytest.raises(ValueError, match=f"{kind}:.* does not use {option}="):
                made(**change)
    assert found == set(known)
    assert made() == expected


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("uniform", {"budget": 3}, r"^uniform does not use budget=3; it has no options$"),
        (
            "cdbr:uniform",
            {"order": -3, "colour": "red"},
            r"does not use order=-3, colour='red'; its options are effort, player, depth_limit$",
        ),
        ("rnr:0.5:cfr:3", {"depth_limit": DepthLimit(moves=1)}, "does not use depth_limit="),
        ("{run}", {"stepsize": 0.5}, r"does not use stepsize=0\.5; it has no options"),
    ],
)
def test_options_of_no_use_are_refused(
    name: str, options: dict[str, Any], message: str, trained: Any
) -> None:
    with pytest.raises(ValueError, match=message):
        load_policy(name.format(**trained), trained["tree"], **options)


def test_policies_within_others_take_what_they_use(trained: Any) -> None:
    """The response has no use for the bound, and the model none for who responds."""
    name, options = f"rnr:0.5:sepot:{trained['run']}", {"effort": 20, "player": 0}
    expected = plain_bytes(load_policy(name, trained["tree"], **options))
    assert plain_bytes(load_policy(name, trained["tree"], max_histories=1, **options)) != expected


RESPONSES = ["cdbr:uniform", "cdrnr:0.5:uniform", "abd:0.5:uniform", "rnr:0.5:uniform"]


@pytest.mark.parametrize("name", [*RESPONSES, "resolving:zero"])
def test_the_whole_effort_is_made(name: str) -> None:
    def made(**options: Any) -> Effort:
        policy: Any = load_policy(name, TREE, **options)
        effort: Effort = (policy.seats[0] if name in RESPONSES else policy).effort
        return effort

    effort = Effort(50, tolerance=1e-3, seconds=1, variant="cfr")
    if name in RESPONSES:
        assert made(effort=effort) == effort
    else:
        with pytest.raises(ValueError, match="tolerance"):
            made(effort=effort)
    assert made(effort=Effort(50)) == Effort(50)
    default = Effort(1500, tolerance=1e-6 if name in RESPONSES else None)
    assert made() == default
    assert made(effort=50) == dataclasses.replace(default, iterations=50)
    assert made(effort=np.int64(50)) == made(effort=50)
    with pytest.raises(ValueError, match="effort=True must be"):
        made(effort=True)


def reported(name: str, *others: str, **given: Any) -> dict[str, Any]:
    return registry.reported_options("kuhn_poker", given, name, *others)


def test_options_are_those_of_policies_within_policies_too() -> None:
    given = {"depth_limit": DepthLimit(moves=3), "effort": Effort(20)}
    expected = {"depth_limit": "3 moves", "iterations": 20}
    assert reported("rnr:0.9:late:random:1", "uniform", **given) == expected
    within = reported("cdbr:sepot:rnad:leduc", **given)
    sepot = {
        "given_cfvs": "best_response",
        "refinement": "prior",
        "leaf_choice": "regret_matching",
    }
    assert within == expected | {"max_histories": 25_000, **sepot}
    # The responder is told where it was given, and those who respond to nobody have none.
    found = reported("uniform", "rnr:0.9:random:1", player=0, **given)
    assert found == {"iterations": 20, "player": 0}
    assert json.dumps(reported("resolving:exact", effort=np.int64(20)))
    assert reported("late:random:1") == {"depth_limit": "2 moves"}
    # Policies have defaults of their own.
    found = reported("resolving:exact", "particle:uniform")
    assert (found["gadget"], found["gadget_of_second"]) == ("resolving", "unsafe")


def test_paths_in_names(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.touch()
    other.touch()
    for name in (
        f"{path}", f"sepot:{path}", f"cdrnr:0.5:{path}", f"onnx:{path}",
        f"resolving:{path}", f"cdbr:abd:0.5:late:{path}", f"late:sepot:{path}",
    ):  # fmt: skip
        assert registry.paths_in(name) == [path]
        assert registry.path_in(name) == path
    for name in (f"onnx:{path},{other}", f"cdbr:onnx:{path},{other}"):
        assert registry.paths_in(name) == [path, other]
    for name in ("uniform", "cfr:3", "cdbr:", "onnx:,", "resolving:exact", "rnad:no"):
        assert registry.paths_in(name) == []
        assert registry.path_in(name) is None


@pytest.mark.parametrize(
    "name", ["sepot:leduc", "abd:0.9:cdbr:rnad:leduc", "rnr:0.5:cdbr:sepot:leduc"]
)
def test_models_in_names(name: str) -> None:
    assert registry.paths_in(name) == [zoo.find("rnad:leduc")]
    inner: str | None = name
    while inner and inner != "rnad:leduc":
        inner = registry.blueprint_of(inner)
    assert inner == "rnad:leduc"


@pytest.mark.parametrize(
    "name", ["{0}", "abd:0.9:cdbr:{0}", "late:sepot:{0}", "onnx:{0},{1}", "onnx:{1},{0}"]
)
def test_digests_are_of_the_files_behind_all_names(name: str, tmp_path: Path) -> None:
    files = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    found = []
    for content in ("new", "old"):
        files[0].write_text(content)
        files[1].write_text("same")
        found.append(registry.digest(name.format(*files)))
    assert all(found)
    assert found[0] != found[1]
    if "," not in name:
        assert found[1] == hashlib.sha256(b"old").hexdigest()
