"""How far a critic is from itself one round later, in games whose values nobody knows.

The critic's value of a history is held against what the network earns until the end of the round,
with the critic's values of the histories that follow: the residual of Bellman's equation, exact but
for the choice of histories. A right critic has none. Errors that the critic makes alike in all
histories cancel, so a residual is no bound on the error; `critic_errors` says what errors do.

Histories of a round are drawn from all that follow those of the round before, each alike: a search
values them all, whether the network comes there or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import torch

from experiments.sepot.networks import Networks
from experiments.sepot.study import GameStudy, Study
from experiments.study import Experiment
from spiel_dl.learning import checkpoints, history_tensors
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import PolicyTransformations, transformations_by_name
from spiel_dl.play import registry
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = ("goofspiel_8_descending", "goofspiel_13_descending")
_TITLES = {
    "game": "game",
    "network": "network",
    "round": "round",
    "histories": "histories",
    "identity": "identity (share of the utility range)",
    "all": "all transformations (share of the utility range)",
}


class _Branch(NamedTuple):
    """A history on the way from one that is asked about.

    Attributes:
      start: the position of that one.
      weights: float64 [2, K], how likely it is for each player's values, when that player plays the
        network's policy and its opponent a transformation of it.
      state: the history.
    """

    start: int
    weights: np.ndarray
    state: pyspiel.State


class Valued(NamedTuple):
    """What a critic says of a policy, in one game.

    Attributes:
      act: the policy.
      critic: the critic.
      transformations: the critic's.
    """

    act: ActingPolicy
    critic: NetworkCritic
    transformations: PolicyTransformations

    def values(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """The critic's values of histories in which a player acts: float64 [N, 2, K]."""
        rows = np.zeros((len(states), self.critic.network.num_inputs), np.float32)
        for state, row in zip(states, rows, strict=True):
            history_tensors.write_state(state, row)
        with torch.inference_mode():
            found = self.critic.network.values(self.critic.parameters, torch.from_numpy(rows))
        return found.double().numpy()

    def transformed(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """All transformations of what the policy does there: float64 [K, N, A]."""
        tensors = [state.information_state_tensor(state.current_player()) for state in states]
        masks = torch.tensor([state.legal_actions_mask() for state in states], dtype=torch.bool)
        with torch.inference_mode():
            policy = self.act(torch.tensor(tensors, dtype=torch.float32), masks)
        return self.transformations.apply(policy.double(), masks).numpy()

    def backed_up(
        self, states: Sequence[pyspiel.State]
    ) -> tuple[np.ndarray, Sequence[pyspiel.State]]:
        """Values by the play of a round and the critic's values after it.

        Args:
          states: histories in which a player acts, all in one round.

        Returns:
          float64 [N, 2, K], and the histories after the round that do not end the game.
        """
        number = len(self.transformations)
        ones = np.ones((2, number))
        branches = [_Branch(start, ones, state) for start, state in enumerate(states)]
        ended: list[_Branch] = []
        this_round = _round_of(states[0])
        while branches:
            ended += [each for each in branches if _is_after(each.state, this_round)]
            branches = self._successors([b for b in branches if not _is_after(b.state, this_round)])
        after = [branch.state for branch in ended if not branch.state.is_terminal()]
        values = iter(self.values(after) if after else ())
        found = np.zeros((len(states), 2, number))
        for branch in ended:
            if branch.state.is_terminal():
                value = np.array(branch.state.returns())[:, None]
            else:
                value = next(values)
            found[branch.start] += branch.weights * value
        return found, after

    def _successors(self, branches: Sequence[_Branch]) -> list[_Branch]:
        """One move on."""
        acting = [branch for branch in branches if not branch.state.is_chance_node()]
        policies = self.transformed([b.state for b in acting]) if acting else np.zeros((1, 0, 0))
        found = []
        for position, branch in enumerate(acting):
            mover = branch.state.current_player()
            for action in branch.state.legal_actions():
                likely = policies[:, position, action]
                factors = np.stack([likely, likely])
                factors[mover] = likely[0]
                child = branch.state.child(action)
                found.append(_Branch(branch.start, branch.weights * factors, child))
        for branch in branches:
            if branch.state.is_chance_node():
                found += [
                    _Branch(branch.start, branch.weights * likely, branch.state.child(action))
                    for action, likely in branch.state.chance_outcomes()
                    if likely
                ]
        return found


def residuals(game: pyspiel.Game, valued: Valued, most: int, seed: int) -> list[dict[str, Any]]:
    """Root mean squares of the residuals of every round but the last that a player decides.

    Args:
      game: a turn-based game with `Rules`, in which rounds begin at public states.
      valued: policy and critic.
      most: histories of each round.
      seed: of their choice.

    Returns:
      For each round, `round` from 1 on, `histories`, and, as shares of the utility range,
      `identity` and `all`, over the identity and over all transformations.
    """
    generator = np.random.default_rng(seed)
    scale = game.max_utility() - game.min_utility()
    states: Sequence[pyspiel.State] = _after_chance(game.new_initial_state())
    rows: list[dict[str, Any]] = []
    while states:
        chosen = generator.choice(len(states), min(most, len(states)), replace=False)
        here = [states[position] for position in np.sort(chosen)]
        backed_up, states = valued.backed_up(here)
        errors = (valued.values(here) - backed_up) / scale
        rows.append(
            {
                "round": len(rows) + 1,
                "histories": len(here),
                "identity": float(np.sqrt(np.mean(errors[:, :, 0] ** 2))),
                "all": float(np.sqrt(np.mean(errors**2))),
            }
        )
    return rows


def _compute(study: Study) -> list[dict[str, Any]]:
    """The residuals of all networks' critics.

    Raises:
      ValueError: if a network is not there.
    """
    rows = []
    for each in study.games(*GAMES):
        networks = Networks(each)
        networks.check()
        for seed in networks.seeds:
            labels = {"game": each.name, "network": networks.name(seed)}
            found = _measured(each, networks.with_critic(seed), seed)
            rows += [{**labels, **row} for row in found]
    return rows


def _measured(study: GameStudy, checkpoint: str, seed: int) -> list[dict[str, Any]]:
    told = {
        "game": study.game,
        "file": registry.digest(checkpoint),
        "transformations": study.transformations,
        "num_histories": study.settings.num_histories,
        "seed": seed,
    }

    def measure() -> list[dict[str, Any]]:
        game = load_turn_based(study.game)
        loaded = checkpoints.load(checkpoint, game)
        critic = loaded.critic
        if not isinstance(critic, NetworkCritic):
            raise ValueError(f"{checkpoint} has a critic by tables; residuals are of networks")
        named = transformations_by_name(study.transformations, game)
        act = loaded.blueprint.act
        return residuals(game, Valued(act, critic, named), study.settings.num_histories, seed)

    name = file_name("residuals", study.name, seed)
    found: list[dict[str, Any]] = study.workspace.part(name, told, measure)
    return found


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    panel = Panel("round", "all", "round", _TITLES["all"], "linear")
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        curves.setdefault(row["network"], []).append(row)
    return Report(
        "",
        [
            "The critic's value of a history, less what the network earns in the round and the "
            "critic's values after it: root mean squares over histories, both players and "
            "transformations. Values after the last round are what the game pays.",
            f"At most {study.settings.num_histories} histories of each round, drawn from all that "
            "follow those of the round before.",
        ],
        {"By round": Table(rows, _TITLES)},
        [Picture("", "critics of networks", [panel], curves)],
        headline="; ".join(
            f"{name}: {max(row['all'] for row in curve):.1%} in round "
            f"{max(curve, key=lambda row: row['all'])['round']}"
            for name, curve in curves.items()
        ),
    )


RESIDUALS = Experiment(
    "residuals",
    "How far critics are from themselves a round later",
    "root mean square residual (share of the utility range)",
    "",
    _compute,
    _report,
    ("games", "seeds", "network", "transformations", "num_histories"),
)


def _round_of(state: pyspiel.State) -> int:
    return int(state.get_game().rules.round_index(state.batch)[0])


def _is_after(state: pyspiel.State, this_round: int) -> bool:
    """Whether a history ends the game, or is one of a later round in which a player acts."""
    return state.is_terminal() or not (state.is_chance_node() or _round_of(state) == this_round)


def _after_chance(state: pyspiel.State) -> list[pyspiel.State]:
    """The histories in which a player acts first."""
    if not state.is_chance_node():
        return [state]
    outcomes = [action for action, likely in state.chance_outcomes() if likely]
    return [each for action in outcomes for each in _after_chance(state.child(action))]
