"""Safety of search: is a player that searches more exploitable than its blueprint?

Kubíček et al. (2023), sections 2, 4.2 and 4.3, and Burch, Johanson, Bowling (2014). Three sources
of the opponent's given cfvs at the root of a search:

  best response      what it could get at most against the blueprint; then those of the search
                     before. With searches to the end of the game, this is safe.
  identity           what it gets by the blueprint itself: the paper's, from the critic's identity
                     transformation. Nothing keeps a better opponent at that.
  previous searches  those of the search before; identity where there was none.

Critics are exact, so that no error of learning is to blame; the trained network is judged with its
own critic as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from papers.report import Report
from papers.sepot.evaluation import compiled, judge, tabulated
from papers.sepot.study import Study
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.reports import Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit, default_depth_limit
from spiel_dl.tree.game_tree import GameTree

BEST_RESPONSE, IDENTITY, PREVIOUS = "best response", "identity", "previous searches"
TRAINED = "trained"
_EXACT, _LEARNED = "exact", "learned"
_SUFFIX = ".safetensors"
_TO_THE_END = "to the end"
_CONFIGS: dict[str, dict[str, Any]] = {
    BEST_RESPONSE: {"given_cfvs": "best_response"},
    IDENTITY: {"given_cfvs": "critic", "continual": False, "own_range": "blueprint"},
    PREVIOUS: {"given_cfvs": "critic"},
}
# Less is the error of the solution.
_TOLERANCE = 0.01
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "critic": "critic",
    "cfvs": "given cfvs",
    "limit": "depth limit",
    "first_level": "searches from level",
    "player": "player",
    "before": "exploitability of the blueprint (utility)",
    "after": "of search (utility)",
    "change": "change",
}
_COUNTS = {
    "cfvs": "given cfvs",
    "looks": "depth limit",
    "worse": f"more exploitable by more than {_TOLERANCE}",
    "cases": "of",
    "largest": "largest increase (utility)",
}


class Case(NamedTuple):
    """One search, of both players.

    Attributes:
      game: game string.
      blueprint: a policy's name, see `play.registry`.
      critic: "exact", or "learned" with a checkpoint.
      transformations: those of the exact critic, by name.
      cfvs: the source of given cfvs, see above.
      depth_limit: of each search; None: to the end of the game.
      first_level: above it the blueprint is played.
      iterations: of CFR+.
    """

    game: str
    blueprint: str
    critic: str
    transformations: str
    cfvs: str
    depth_limit: DepthLimit | None
    first_level: int
    iterations: int


def safety(studies: Sequence[Study]) -> Report:
    """Exploitability before and after search, by blueprint and source of given cfvs."""
    rows = []
    for study in studies:
        rows += _rows(study)
    iterations = sorted({study.config.iterations for study in studies})
    return Report(
        "safety",
        "Is a player that searches more exploitable than its blueprint?",
        [
            "Exploitability of a player, in utility units, is what a best response to it earns "
            "above the game's value. An equilibrium is not more exploitable than any blueprint; an "
            "increase is what an unsafe search costs.",
            f"{', '.join(f'{n:,}' for n in iterations)} iterations of CFR+ in each search. "
            f"`{TRAINED}` is the study's network of its first seed at its last step. From level 0, "
            "the first search starts at the root, without gadget; from level 1, the blueprint is "
            "played down to there.",
            *(f"{study.config.game} is `{study.game}`." for study in studies),
        ],
        {"How often": Table(counts(rows), _COUNTS), "All searches": Table(rows, _TITLES)},
    )


def search_case(case: Case) -> list[dict[str, float]]:
    """Both players' exploitability `before` and `after` a search; for `distributed.map`."""
    tree = compiled(case.game)
    blueprint, critic = _load(case, tree)
    effort = Effort(case.iterations)
    config = SearchConfig(**_CONFIGS[case.cfvs], first_level=case.first_level, effort=effort)
    limit = case.depth_limit or _beyond(tree)
    found = SePoTPolicy(tree, blueprint, critic, limit, config=config).to_array_policy()
    before, after = judge(tree, blueprint), judge(tree, found)
    keys = ("exploitability_0", "exploitability_1")
    return [{"before": before[key], "after": after[key]} for key in keys]


def counts(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """How often search made a player more exploitable, by source of cfvs and kind of limit."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        looks = _TO_THE_END if row["limit"] == _TO_THE_END else "limited"
        groups.setdefault((row["cfvs"], looks), []).append(row["change"])
    return [
        {
            "cfvs": cfvs,
            "looks": looks,
            "worse": sum(change > _TOLERANCE for change in changes),
            "cases": len(changes),
            "largest": max(changes),
        }
        for (cfvs, looks), changes in groups.items()
    ]


def _rows(study: Study) -> list[dict[str, Any]]:
    cases = _cases(study)
    named = [(_name(case), _settings(case)) for case in cases]
    rows = []
    for case, found in zip(cases, study.results(named, search_case, cases, "safety"), strict=True):
        for player, values in enumerate(found):
            rows.append(
                {
                    "game": study.config.game,
                    "blueprint": _blueprint_name(case),
                    "critic": case.critic,
                    "cfvs": case.cfvs,
                    "limit": _limit(case),
                    "first_level": case.first_level,
                    "player": player,
                    **values,
                    "change": values["after"] - values["before"],
                }
            )
    return rows


def _cases(study: Study) -> list[Case]:
    config = study.config
    study.train()
    checkpoint = str(study.checkpoint(config.seeds[0], config.num_steps))
    blueprints = [("uniform", _EXACT), ("random:0", _EXACT)]
    blueprints += [(checkpoint, _EXACT), (checkpoint, _LEARNED)]
    return [
        Case(
            study.game, blueprint, critic, study.transformations, cfvs, limit, level,
            config.iterations,
        )
        for blueprint, critic in blueprints
        for cfvs in _CONFIGS
        for limit in (None, *study.limits)
        for level in (0, 1)
    ]  # fmt: skip


def _load(case: Case, tree: GameTree) -> tuple[ArrayPolicy, Critic]:
    learned: Critic | None = None
    if case.blueprint.endswith(_SUFFIX):
        trained = checkpoints.load(case.blueprint, tree)
        blueprint, learned = tabulated(tree, trained.blueprint), trained.critic
    else:
        blueprint = load_array_policy(case.blueprint, tree)
    if case.critic == _LEARNED:
        if learned is None:
            raise ValueError(f"{case.blueprint} has no learned critic; take critic={_EXACT!r}")
        return blueprint, learned
    transformations = transformations_by_name(case.transformations, tree.game)
    return blueprint, ExactCritic(tree, blueprint.strategies, transformations)


def _beyond(tree: GameTree) -> DepthLimit:
    """A limit that no search reaches, in a unit in which it can start at every level."""
    return default_depth_limit(tree.game).with_value(int(tree.move_number.max()) + 1)


def _limit(case: Case) -> str:
    return _TO_THE_END if case.depth_limit is None else str(case.depth_limit)


def _blueprint_name(case: Case) -> str:
    return TRAINED if case.blueprint.endswith(_SUFFIX) else case.blueprint


def _settings(case: Case) -> dict[str, Any]:
    told = {"blueprint": _source(case), "depth_limit": _limit(case)}
    return {**case._asdict(), **told}


def _source(case: Case) -> str:
    """The blueprint, without the place of its file."""
    path = Path(case.blueprint)
    return f"{path.parent.name}-{path.stem}" if path.suffix == _SUFFIX else case.blueprint


def _name(case: Case) -> str:
    words = [_source(case), case.critic, case.cfvs, _limit(case), case.first_level]
    return file_name("safety", *words, case.iterations)
