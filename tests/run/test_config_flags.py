"""Flags from configurations: types, defaults, and what is wrong."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from absl import flags

from spiel_dl.commands import config_flags
from spiel_dl.system.parameters import Bounds, parameters_of


@dataclasses.dataclass(frozen=True)
class Base:
    """What all have.

    Attributes:
      sizes: units of the layers. More of them learn more.
      seed: of `everything`.
    """

    sizes: tuple[int, ...] = (8, 4)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed={self.seed} must not be negative; give 0 or more")


@dataclasses.dataclass(frozen=True)
class Config(Base):
    """An example.

    Attributes:
      rate: how fast. Default: as it comes,
        in two lines.
      loss: what is minimised.
      is_fast: whether it is fast.
      limit: bound, if any.
      names: words.
    """

    rate: float | None = None
    loss: Literal["l1", "l2"] = "l1"
    is_fast: bool = True
    limit: int | None = None
    names: list[str] = dataclasses.field(default_factory=lambda: ["x"])


class Pair(NamedTuple):
    """Two numbers.

    Attributes:
      first: the first.
    """

    first: int = 3


def function(
    before: str, /, *, path: str, count: Annotated[int, Bounds(1, 5)] = 2
) -> tuple[str, str, int]:
    """An example.

    Args:
      before: no flag.
      path: where.
      count: how many.
    """
    return before, path, count


def parse(
    target: Any, *arguments: str, **options: Any
) -> tuple[config_flags.Flags[Any], flags.FlagValues]:
    values = flags.FlagValues()
    group = config_flags.define(target, flag_values=values, **options)
    values(["script", *arguments])
    return group, values


def test_defaults_are_those_of_the_configuration() -> None:
    group, _ = parse(Config)
    assert group.build() == Config()
    assert group.given == {}
    assert parse(Pair)[0].build() == Pair(3)


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (["--sizes=1,2", "--sizes=3"], {"sizes": (1, 2, 3)}),
        (["--sizes="], {"sizes": ()}),
        (["--seed= 7 "], {"seed": 7}),
        (["--rate=1e-3"], {"rate": 0.001}),
        (["--rate=inf"], {"rate": float("inf")}),
        (["--loss=l2"], {"loss": "l2"}),
        (["--nois_fast"], {"is_fast": False}),
        (["--limit", "12"], {"limit": 12}),
        (["--names= a , b"], {"names": ["a", "b"]}),
    ],
)
def test_values_are_of_the_fields_types(arguments: list[str], changes: dict[str, Any]) -> None:
    group, _ = parse(Config, *arguments)
    assert group.build() == dataclasses.replace(Config(), **changes)
    assert group.given == changes


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--seed=a", "--seed=a: 'a' is not an integer"),
        ("--seed=1.5", "'1.5' is not an integer"),
        ("--sizes=1,b", "'b' is not an integer"),
        ("--rate=fast", "'fast' is not a number"),
        ("--loss=l3", "should be one of <l1|l2>"),
    ],
)
def test_what_is_no_value_is_told_by_the_flags_name(argument: str, message: str) -> None:
    with pytest.raises(flags.IllegalFlagValueError, match=re.escape(message)):
        parse(Config, argument)


def test_yes_and_no_may_be_typed() -> None:
    [parameter] = parameters_of(Config, only=["is_fast"])
    assert parameter.read("False") is False
    assert parameter.read("true") is True
    with pytest.raises(ValueError, match="must be true or false"):
        parameter.read("no")


def test_bounds_hold() -> None:
    assert parse(function, "--path=p", "--count=5")[0].build("b") == ("b", "p", 5)
    for count in (0, 6):
        with pytest.raises(flags.IllegalFlagValueError, match="must be between 1 and 5"):
            parse(function, "--path=p", f"--count={count}")


def test_errors_of_the_configuration_name_the_flag() -> None:
    group, _ = parse(Config, "--first_seed=-1", prefix="first_")
    with pytest.raises(ValueError, match=r"^--first_seed=-1 must not be negative; give 0 or more$"):
        group.build()
    assert parse(Config, "--seed=-1")[0].build(seed=3).seed == 3


def test_names_defaults_and_choices_may_be_changed() -> None:
    group, values = parse(
        Config,
        "--size=1",
        names={"sizes": "size"},
        prefix="my_",
        defaults={"rate": 2.0},
        only=["sizes", "rate", "loss", "seed"],
        leave_out=["seed"],
        texts={"loss": "words."},
        choices={"loss": ["l2", "l1"]},
    )
    assert group.build() == Config(sizes=(1,), rate=2.0)
    assert {"size", "my_rate", "my_loss"} == set(values)
    assert values["my_loss"].help == "words."


def test_flags_of_no_use_are_refused() -> None:
    group, _ = parse(Config, "--my_seed=1", "--my_limit=3", prefix="my_")
    with pytest.raises(ValueError, match=r"^--my_seed, --my_limit: not now$"):
        group.refuse("not now")
    with pytest.raises(ValueError, match=r"^--my_limit: not now$"):
        group.refuse("not now", but=["seed"])
    group.refuse("not now", only=["rate"])


def test_a_parameter_that_no_flag_can_hold_is_named() -> None:
    def bad(*, settings: dict[str, int]) -> None:
        """Takes what no flag has."""

    def silent(*, words: Sequence[str] = ()) -> None:
        """Says nothing of its words."""

    with pytest.raises(TypeError, match="settings is of the type"):
        config_flags.define(bad, flag_values=flags.FlagValues())
    with pytest.raises(TypeError, match="does not describe words"):
        config_flags.define(silent, flag_values=flags.FlagValues())
