"""Policy transformations: maps from one policy to others, by which an opponent may deviate.

Kubíček et al. (2023), definition 4.1 and appendix C. A transformation maps the probabilities of
every decision to weights of actions. These are restricted to legal actions and normalised; where
all are 0, the policy is left unchanged. A transformed policy is followed to the end of the game.

    transformations = paper_transformations(action_values(game))
    policies = transformations.apply(policy, legal)  # [K, ..., A] of [..., A]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pyspiel
import torch

from spiel_dl.games.own import is_same_function
from spiel_dl.tree.counts import checked_count

Weights = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Maps policies (float [..., A], 0 for illegal actions) and legal actions (bool [..., A]) to
weights of actions, float [..., A], finite and not negative; ignored for illegal actions."""


class Transformation(NamedTuple):
    """One transformation.

    Attributes:
      name: its name, for people.
      weights: maps a batch of policies to weights of actions.
    """

    name: str
    weights: Weights


def _unchanged(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    return policy


def _uniform(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    return legal.to(policy.dtype)


def _rare(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    return (1 - policy).clamp(min=0)


IDENTITY = Transformation("identity", _unchanged)
UNIFORM = Transformation("uniform", _uniform)
RARE = Transformation("rare actions", _rare)


class PolicyTransformations:
    """K transformations, the first of which is the identity.

    Searches take the opponent's values under the unchanged blueprint from the identity.

    Attributes:
      names: the names of the transformations, K of them.
    """

    def __init__(self, transformations: Sequence[Transformation]):
        """Collects transformations.

        Args:
          transformations: `IDENTITY` and any others, also your own.

        Raises:
          ValueError: if the first one is not `IDENTITY`, or another one is no `Transformation`.
        """
        for each in transformations:
            if not isinstance(each, Transformation):
                raise ValueError(
                    f"{each!r} is no Transformation; pass Transformation(name, weights)"
                )
        if not transformations or transformations[0] is not IDENTITY:
            names = [transformation.name for transformation in transformations]
            raise ValueError(f"the first transformation must be IDENTITY; got {names}")
        self.names = tuple(transformation.name for transformation in transformations)
        self._weights = [transformation.weights for transformation in transformations]

    def __len__(self) -> int:
        """K."""
        return len(self._weights)

    def apply(
        self, policy: torch.Tensor, legal: torch.Tensor, *, check: bool = True
    ) -> torch.Tensor:
        """All transformed policies: float [K, ..., A], on the policies' device and of their dtype.

        Args:
          policy: float [..., A], 0 for illegal actions, summing to 1; all 0 where nothing is legal.
          legal: bool [..., A].
          check: whether to check the weights on the host. If not, invalid ones become NaN.

        Raises:
          ValueError: if a transformation returns no tensor, or one of another shape, or, with
            `check`, weights that are negative or not finite.
        """
        rows = []
        for name, weights in zip(self.names, self._weights, strict=True):
            row = weights(policy, legal)
            if not isinstance(row, torch.Tensor):
                kind = f"{type(row).__module__.partition('.')[0]}.{type(row).__qualname__}"
                raise ValueError(f"transformation {name!r} returns a {kind}; return a tensor")
            if row.shape != policy.shape:
                raise ValueError(
                    f"transformation {name!r} returns the shape {tuple(row.shape)} for policies of "
                    f"the shape {tuple(policy.shape)}; return one weight per action"
                )
            rows.append(row.to(policy.dtype))
        kept = torch.stack(rows).where(legal, 0.0)
        total = kept.sum(dim=-1, keepdim=True)
        is_wrong = (kept.amin(dim=-1, keepdim=True) < 0) | ~total.isfinite()
        if check and is_wrong.any():
            name = self.names[int(is_wrong.flatten(1).any(dim=1).int().argmax())]
            raise ValueError(
                f"transformation {name!r} returns weights that are negative or infinite"
            )
        is_empty = total == 0
        total = total.where(~is_empty, 1.0).where(~is_wrong, math.nan)
        transformed = torch.where(is_empty, policy, kept / total)
        transformed[0] = policy  # to the last digit
        return transformed


def check_transformations(transformations: object) -> None:
    """Raises a ValueError for anything but `PolicyTransformations`, such as a list."""
    if not isinstance(transformations, PolicyTransformations):
        raise ValueError(
            f"transformations={transformations!r:.60} must be PolicyTransformations; pass "
            "PolicyTransformations([IDENTITY, ...])"
        )


def action_values(game: pyspiel.Game) -> torch.Tensor:
    """I(a), the natural number of each action: float64 [A].

    In Goofspiel, the card that is bid. In Battleships, the tile, counted row by row from 1, that is
    shot at or where the ship that is placed begins. In any other game, the action's id plus 1.
    """
    values = torch.arange(1, game.num_distinct_actions() + 1, dtype=torch.float64)
    num_tiles = getattr(getattr(game, "rules", None), "num_tiles", None)
    return values if num_tiles is None else (values - 1) % num_tiles + 1


def paper_transformations(values: torch.Tensor) -> PolicyTransformations:
    """The 22 transformations of appendix C, in its order.

    With I(a) and its mirror image I^R(a) = max I - I(a) + 1, both over all actions, legal or not:
    identity; uniform; rare actions; then pi times I, I^2, e^I, the same of I^R, the smaller and
    the larger of each such pair; then pi on even actions only, on odd ones, on each residue modulo
    3 (0, 1, 2), on all actions but those of I = 1 and on all but those of I^R = 1.

    The formula of the third one repeats the policy in print. The text says that it makes rarely
    played actions likelier; here it is 1 - pi, normalised.

    Args:
      values: I, float [A], natural numbers; see `action_values`.

    Raises:
      ValueError: if these are no natural numbers. Applying the transformations raises one, too, if
        there are more or fewer actions.
    """
    if values.dim() != 1 or not len(values) or bool((values < 1).any() | (values % 1 != 0).any()):
        raise ValueError(
            f"action values {values} must be natural numbers from 1 on, one per action"
        )
    value = values.to(torch.float64)
    mirror = value.max() - value + 1
    transformations = [IDENTITY, UNIFORM, RARE]
    pairs = [("I", value), ("I^R", mirror)]
    pairs += [("min(I, I^R)", value.minimum(mirror)), ("max(I, I^R)", value.maximum(mirror))]
    # pi is a common factor, and powers and e^x rise with x: so the smaller of two products is pi
    # times the power of the smaller number.
    for name, number in pairs:
        transformations.append(_scaled(f"{name} * pi", number.log()))
        transformations.append(_scaled(f"{name}^2 * pi", 2 * number.log()))
        transformations.append(_scaled(f"e^{name} * pi", number))
    transformations += [
        _restricted(f"I mod {divisor} = {residue}", value % divisor == residue)
        for divisor in (2, 3)
        for residue in range(divisor)
    ]
    transformations.append(_restricted("I > 1", value > 1))
    transformations.append(_restricted("I^R > 1", mirror > 1))
    return PolicyTransformations(transformations)


def pure_transformations(num_actions: int) -> PolicyTransformations:
    """The identity, and for each action the policy that always takes it where it is legal.

    The paper uses them in Leduc. Where every player decides at most once more, there are no other
    deterministic continuations.

    Args:
      num_actions: the game's `num_distinct_actions()`. With fewer, the actions with the highest ids
        have no transformation. With more, applying them raises a ValueError.

    Raises:
      ValueError: if it is no positive integer.
    """
    num_actions = checked_count("num_actions", num_actions, 1)
    constants = [_constant(action, num_actions) for action in range(num_actions)]
    return PolicyTransformations([IDENTITY, *constants])


TRANSFORMATION_SETS: dict[str, Callable[[pyspiel.Game], PolicyTransformations]] = {
    "paper": lambda game: paper_transformations(action_values(game)),
    "pure": lambda game: pure_transformations(game.num_distinct_actions()),
}


def transformations_by_name(name: str, game: pyspiel.Game) -> PolicyTransformations:
    """The transformations for a game by their name in `TRANSFORMATION_SETS`.

    Raises:
      ValueError: if there are none of this name.
    """
    check_name(name)
    return TRANSFORMATION_SETS[name](game)


def check_name(name: str) -> None:
    """Raises a ValueError if there are no transformations of a name."""
    if name not in TRANSFORMATION_SETS:
        raise ValueError(
            f"transformations={name!r} must be one of {', '.join(TRANSFORMATION_SETS)}; those of "
            "your own are known once register_transformations was called, in scripts by "
            "--import=MODULE"
        )


def register_transformations(
    name: str, make: Callable[[pyspiel.Game], PolicyTransformations]
) -> None:
    """Registers your own transformations under a name, in this process.

    Args:
      name: the name.
      make: makes the transformations for a game.

    Raises:
      ValueError: if other transformations have this name. The same function may be registered anew.
    """
    registered = TRANSFORMATION_SETS.get(name)
    if registered is not None and not is_same_function(registered, make):
        raise ValueError(f"name={name!r} is that of other transformations; choose another one")
    TRANSFORMATION_SETS[name] = make


def _wrong_length(num_actions: int, policy: torch.Tensor) -> ValueError:
    """The error for policies, float [..., A], of another number of actions."""
    return ValueError(
        f"the transformations are of {num_actions} actions, and the game has "
        f"{policy.shape[-1]}; make them of as many, game.num_distinct_actions()"
    )


def _cached_copies(tensor: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Copies of a tensor [A] by device and dtype of policies, float [..., A].

    Each is made once: a CUDA graph may not copy from the host.
    """
    copies: dict[tuple[torch.device, torch.dtype], torch.Tensor] = {}

    def copy_like(like: torch.Tensor) -> torch.Tensor:
        if like.shape[-1] != len(tensor):
            raise _wrong_length(len(tensor), like)
        key = (like.device, like.dtype)
        if key not in copies:
            copies[key] = tensor.to(like)
        return copies[key]

    return copy_like


def _scaled(name: str, log_factor: torch.Tensor) -> Transformation:
    """Pi times factors, given by their logarithms (float64 [A]), which may be huge."""
    factor_for = _cached_copies(log_factor)

    def weights(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        log_factor = factor_for(policy)
        most = log_factor.where(policy > 0, -math.inf).amax(dim=-1, keepdim=True)
        # The largest factor of a decision becomes 1, so nothing overflows.
        return policy * (log_factor - most).clamp(max=0.0).exp()

    return Transformation(name, weights)


def _restricted(name: str, kept: torch.Tensor) -> Transformation:
    """Pi restricted to the actions `kept` (bool [A])."""
    kept_for = _cached_copies(kept)

    def weights(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        return policy * kept_for(policy)

    return Transformation(name, weights)


def _constant(action: int, num_actions: int) -> Transformation:
    def weights(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        if action >= policy.shape[-1]:
            raise _wrong_length(num_actions, policy)
        chosen = torch.zeros_like(policy)
        chosen[..., action] = 1.0
        return chosen

    return Transformation(f"action {action}", weights)
