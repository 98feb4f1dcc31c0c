"""What a search takes from those before it: each reading of Kubíček et al. (2023), by NashConv.

Their sections 4.2 and 5.3 leave open what `SearchConfig` has as options:

  own range    the player's where it searches: "played", or the "blueprint"'s as if it had not
               searched before
  given cfvs   what the opponent may have instead: of the critic's identity ("critic"), of the
               transformation that is best in each infoset ("transformations"), or what it could get
               against the search before ("previous")
  scheme       "sliding" searches again at every level, "block" where the last search ends
  gadget       "resolving" as they have it, "refined" (the same, refined by weights of 1), or
               "max_margin"

Blueprints are those of `sepot.blueprints`. Critics are exact, or trained for the blueprint
by themselves.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.sepot.blueprints import blueprint_of, digest_of
from experiments.sepot.evaluation import compiled, judge
from experiments.sepot.study import TO_THE_END, GameStudy, Study, within
from experiments.study import Experiment, Judgement, Tables, verdict
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs import learner_run
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

GAMES = ("goofspiel_5_descending", "leduc", "battleships_2x2", "goofspiel_5_random")
EXACT, TRAINED = "exact", "trained"
DEFAULTS = ("played", "transformations", "block", "resolving")
_AS_PRINTED = ("played", "critic", "block", "resolving")
_READING = ("own_range", "given", "scheme", "gadget")
_WORSE = 0.001
_COUNTS = "How often search is worse than its blueprint"
_WORSE_IN_WORDS = f"worse by more than {_WORSE}"
_SETTINGS = (
    "games", "seeds", "critic", "critic_steps", "exploration", "transformations", "limits",
    "iterations", "device", "blueprints", "critics", "own_ranges", "given_cfvs", "schemes",
    "gadgets",
)  # fmt: skip
Reading = tuple[str, str, str, str]


class Case(NamedTuple):
    """One policy to judge.

    Attributes:
      study: of the game.
      blueprint: its name, see `blueprint_of`.
      critic: "exact", or the seed of a trained one.
      reading: own range, given cfvs, scheme and gadget; None: the blueprint alone.
      depth_limit: of searches.
    """

    study: GameStudy
    blueprint: str
    critic: str | int
    reading: Reading | None
    depth_limit: DepthLimit | None

    @property
    def name(self) -> str:
        """That of a part."""
        return file_name("ablation", *self._labels.values())

    @property
    def settings(self) -> dict[str, Any]:
        """Those of a part."""
        told = self._labels | {"file": digest_of(self.blueprint)}
        if self.reading is not None and self.critic != EXACT:
            told["training"] = self.study.identity(int(self.critic))
        return told

    @property
    def _labels(self) -> dict[str, Any]:
        told: dict[str, Any] = {"blueprint": self.blueprint}
        if self.reading is not None:
            *reading, gadget = self.reading
            told |= {"critic": self.critic, "reading": "-".join(reading)}
            told |= {} if gadget == DEFAULTS[-1] else {"gadget": gadget}
            told |= {"limit": str(self.depth_limit), "iterations": self.study.settings.iterations}
            told["transformations"] = self.study.transformations
            if self.critic != EXACT:
                told["steps"] = self.study.settings.critic_steps
        return told

    def config(self) -> SearchConfig:
        """How to search."""
        assert self.reading is not None
        own_range, given, scheme, gadget = self.reading
        return SearchConfig(
            scheme,
            # Where there was no search, in the first place, as the paper has it.
            "critic" if given == "previous" else given,
            continual=given == "previous",
            own_range=own_range,
            gadget="max_margin" if gadget == "max_margin" else "resolving",
            refinement="ones" if gadget == "refined" else None,
            effort=Effort(self.study.settings.iterations, variant=PREDICTIVE_CFR_PLUS),
        )


@functools.lru_cache(maxsize=2)
def _blueprint(game: str, name: str) -> ArrayPolicy:
    return blueprint_of(game, name)


@functools.lru_cache(maxsize=2)
def _exact_critic(game: str, name: str, transformations: str) -> ExactCritic:
    tree = compiled(game)
    named = transformations_by_name(transformations, tree.game)
    return ExactCritic(tree, _blueprint(game, name).strategies, named)


def _critic(case: Case, tree: GameTree) -> Critic:
    study = case.study
    if case.critic == EXACT:
        return _exact_critic(study.game, case.blueprint, study.transformations)
    # How one searches does not matter for a critic.
    return _trained_critic(case._replace(reading=None, depth_limit=None), tree)


@functools.lru_cache(maxsize=1)
def _trained_critic(case: Case, tree: GameTree) -> Critic:
    study = case.study
    learner, name = _learner(case, tree), _critic_name(case)
    identity = {"blueprint": case.blueprint, **study.identity(int(case.critic))}
    directory = study.workspace.run_directory(name, identity)
    steps = study.settings.critic_steps
    learner_run.run_learner(
        learner, directory, steps, steps_per_evaluation=steps, show_progress=False
    )
    return learner.critic()


def _critic_name(case: Case) -> str:
    return file_name("critic", case.blueprint, case.critic)


def _learner(case: Case, tree: GameTree) -> CriticLearner:
    settings, seed = case.study.settings, int(case.critic)
    return CriticLearner(
        tree,
        _blueprint(case.study.game, case.blueprint),
        transformations_by_name(case.study.transformations, tree.game),
        settings.critic_of(seed),
        device=settings.device,
        batch_size=settings.learner.batch_size,
        max_tree_histories=settings.learner.max_tree_histories,
        exploration=settings.exploration,
    )


def measure(case: Case) -> dict[str, Any]:
    """NashConv of a policy, how many searches it took, and their seconds; for `distributed.map`."""
    tree = compiled(case.study.game)
    blueprint = _blueprint(case.study.game, case.blueprint)
    if case.reading is None:
        return {**judge(tree, blueprint), "searches": 0, "seconds": 0.0}
    assert case.depth_limit is not None
    critic, start = _critic(case, tree), time.perf_counter()
    policy = SePoTPolicy(tree, blueprint, critic, case.depth_limit, config=case.config())
    found = policy.to_array_policy()
    seconds = time.perf_counter() - start
    told = {"searches": policy.num_searches, "share_searched": policy.share_searched}
    return {**judge(tree, found), **told, "seconds": seconds}


BLUEPRINTS = {
    "goofspiel_5_descending": (
        "uniform", "fixed:1", "fixed:2", "fixed:4", "fixed:6", "quantal:0.05", "fixed:4~0.3~0",
        "fixed:2~0.6~0", "fixed:6~0.6~1", "fixed:2~1.0~2", "mmd:goofspiel_5_descending",
    ),
    "leduc": (
        "uniform", "fixed:1", "fixed:2", "fixed:4", "fixed:6", "quantal:0.2", "fixed:4~0.3~0",
        "fixed:2~0.6~0", "fixed:6~0.6~1", "fixed:2~1.0~2",
    ),
    # The first fixed point is almost an equilibrium already.
    "battleships_2x2": ("uniform", "fixed:1", "fixed:1~0.6~0", "fixed:1~1.0~1"),
    "goofspiel_5_random": ("uniform", "fixed:1", "fixed:1~0.6~0"),
}  # fmt: skip


def cases_of(study: GameStudy) -> Iterator[Case]:
    """Everything to judge in a game."""
    settings = study.settings
    for blueprint in settings.blueprints or BLUEPRINTS.get(study.name, ("uniform",)):
        yield Case(study, blueprint, EXACT, None, None)
        for kind in settings.critics:
            seeds: Sequence[str | int] = (EXACT,) if kind == EXACT else settings.seeds
            for critic, limit in itertools.product(seeds, study.limits):
                for reading in itertools.product(
                    settings.own_ranges, settings.given_cfvs, settings.schemes, settings.gadgets
                ):
                    # One level ahead, both schemes are the same.
                    if limit.value > 1 or reading[2] == settings.schemes[0]:
                        yield Case(study, blueprint, critic, reading, limit)


def _compute(study: Study) -> list[dict[str, Any]]:
    return [row for each in study.games(*GAMES) for row in _rows(each)]


def _rows(study: GameStudy) -> list[dict[str, Any]]:
    cases = list(cases_of(study))
    named = [(case.name, case.settings) for case in cases]
    found = study.workspace.parts(named, measure, cases, f"{study.name}: ablation")
    for name in {_critic_name(case) for case in cases if case.critic != EXACT}:
        study.workspace.note_run(name)
    before = {
        case.blueprint: result["nash_conv"]
        for case, result in zip(cases, found, strict=True)
        if case.reading is None
    }
    rows = []
    ends = {limit: study.looks_to_the_end(limit) for limit in study.limits}
    for case, result in zip(cases, found, strict=True):
        if case.reading is None or case.depth_limit is None:
            continue
        row = {
            "game": study.name,
            "blueprint": case.blueprint,
            "critic": case.critic if case.critic == EXACT else f"{TRAINED}, seed {case.critic}",
            **dict(zip(_READING, case.reading, strict=True)),
            "limit": str(case.depth_limit),
            "before": before[case.blueprint],
            "after": result["nash_conv"],
            "seconds": result["seconds"],
            "share_searched": result["share_searched"],
        }
        schemes = study.settings.schemes if case.depth_limit.value == 1 else (row["scheme"],)
        rows += [
            # Searches at every level search again below the first one.
            {**row, "scheme": each, "to_the_end": each == "block" and ends[case.depth_limit]}
            for each in schemes
        ]
    return rows


def _grouped(rows: Iterable[dict[str, Any]], *names: str) -> dict[tuple, list[dict[str, Any]]]:
    groups: dict[tuple, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """How often each reading made a blueprint worse, and by how much; by kind of critic."""
    kinds = [{**row, "kind": row["critic"].partition(",")[0]} for row in rows]
    found = []
    for key, group in _grouped(kinds, "kind", *_READING).items():
        changes = [row["after"] - row["before"] for row in group]
        ratios = [np.log(row["after"] / row["before"]) for row in group]
        found.append(
            {
                **dict(zip(("kind", *_READING), key, strict=True)),
                "worse": f"{sum(change > _WORSE for change in changes)} of {len(changes)}",
                "largest": max(changes),
                "ratio": float(np.exp(np.mean(ratios))),
            }
        )
    return found


def _by_limit(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each blueprint and reading, with NashConv by depth limit."""
    names = ("game", "blueprint", "critic", *_READING)
    return [
        {
            **dict(zip(names, key, strict=True)),
            "reading": ", ".join(key[-len(_READING) :]),
            "before": group[0]["before"],
            "after": ", ".join(f"{row['after']:.3g}" for row in group),
        }
        for key, group in _grouped(rows, *names).items()
    ]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings = study.settings
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    shown = within(rows)
    titles = {
        "own_range": "own range",
        "given": "given cfvs",
        "scheme": "scheme",
        "gadget": "gadget",
    }
    return Report(
        "",
        [
            "NashConv is in utility units, exact. The readings of the paper: whose range the "
            "player has where it searches, what the opponent is given, where searches begin, and "
            f"the gadget there. The defaults are {', '.join(DEFAULTS)}; the paper's, as read here, "
            f"{', '.join(_AS_PRINTED)}.",
            f"{settings.iterations:,} iterations of predictive CFR+ in each search. "
            + " ".join(
                f"{each.describe()}; limits {', '.join(map(str, each.limits))}; transformations "
                f"'{each.transformations}'."
                for each in games
            ),
            "fixed:K is R-NaD's exact fixed point after K regularisation policies, quantal:T a "
            "quantal response equilibrium; ~SIGMA~SEED is normal noise on its logits.",
            "All moves were searched to which a player itself comes.",
            *([TO_THE_END] if len(shown) < len(rows) else []),
            f"Trained critics, if any: {settings.critic_steps:,} steps of "
            f"{settings.learner.batch_size} games, {settings.exploration:.0%} of decisions at "
            "random.",
        ],
        {
            _COUNTS: Table.of(
                summary(shown),
                kind="critic",
                **titles,
                worse=_WORSE_IN_WORDS,
                largest="largest increase (utility)",
                ratio="NashConv, of the blueprint's, geometric mean",
            ),
            "NashConv after search": Table(
                _by_limit(rows),
                {
                    "game": "game",
                    "blueprint": "blueprint",
                    "critic": "critic",
                    "reading": f"reading: {', '.join(titles.values())}",
                    "before": "NashConv before",
                    "after": "after, by depth limit",
                },
            ),
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Both the defaults and the paper's own reading, where it was tried."""
    parts, told = {}, []
    for name, reading in (("defaults", DEFAULTS), ("as printed", _AS_PRINTED)):
        for row in tables[_COUNTS]:
            if tuple(row[part] for part in _READING) == reading:
                worse = int(row["worse"].split(" of ")[0])
                parts[f"{row['kind']} critics, {name}"] = worse == 0
                told.append(
                    f"{row['kind']} critics, {name}: worse in {row['worse']}, {row['ratio']:.2f} "
                    "of the blueprint's NashConv"
                )
    return Judgement(verdict(parts), "; ".join(told))


ABLATION = Experiment(
    "ablation",
    "Which reading of SePoT's search helps",
    "NashConv (utility)",
    "search may begin in any public state, without earlier searches, and plays better than the "
    "network (sections 4.2, 5.2, 5.3); held against the defaults and, where it was tried, the "
    f"paper's reading of given cfvs, no search of which may be {_WORSE_IN_WORDS}.",
    _compute,
    _report,
    _SETTINGS,
    _judge,
)
