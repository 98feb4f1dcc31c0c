"""All papers whose experiments are made here, by name, and how their settings are chosen."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.settings import changed
from experiments.study import Experiments, Study
from spiel_dl.runs.workspace import Workspace

_OF_DOMAINS = ("game", "depth_limit", "data.game", "data.depth_limit")


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, or the comparison with OpenSpiel.

    Attributes:
      name: short; also of the package in `experiments`.
      title: who wrote about what.
      needs_domain: whether all of its experiments are about one game.
      not_covered: what the paper has and the manifest has not, and why.
    """

    name: str
    title: str
    needs_domain: bool = False
    not_covered: tuple[str, ...] = ()

    @property
    def experiments(self) -> Experiments:
        """Its experiments, by name."""
        found: Experiments = self._module("experiments").EXPERIMENTS
        return found

    @property
    def domains(self) -> Mapping[str, Any]:
        """Settings by the names of the paper's domains; empty if games are a setting."""
        found: Mapping[str, Any] = getattr(self._module("study"), "DOMAINS", {})
        return found

    def study(self, settings: Any, workspace: Workspace) -> Study[Any]:
        """A study of its experiments."""
        made: Study[Any] = self._module("study").Study(settings, workspace)
        return made

    def settings(self, domain: str | None, changes: Sequence[str]) -> Any:
        """The settings of a domain, changed.

        Args:
          domain: one of `domains`; None: the defaults, which a paper that needs a domain has only
            for what is not the game: they are those of its first domain.
          changes: as `settings.changed` takes them, one after the other.

        Raises:
          ValueError: if there is no such domain, or as `settings.changed` does.
        """
        if domain is not None and domain not in self.domains:
            known = ", ".join(self.domains) or "none; set games="
            raise ValueError(f"domain {domain!r} of {self.name} must be one of: {known}")
        if domain is not None:
            settings = self.domains[domain]
        else:
            first = next(iter(self.domains.values()), None)
            settings = first if self.needs_domain else self._module("study").Settings()
        names = [change.partition("=")[0] for change in changes]
        own = [name for name in names if name in _OF_DOMAINS]
        if domain is not None and own:
            raise ValueError(f"{', '.join(own)}: a domain has its own game and depth limit")
        for change in changes:
            settings = changed(settings, change)
        return settings

    def _module(self, name: str) -> Any:
        # A paper is imported when it is asked for: all of them take seconds.
        return importlib.import_module(f"experiments.{self.name}.{name}")


PAPERS = {
    paper.name: paper
    for paper in (
        Paper(
            "dl_cfr",
            "Kovařík et al. (2021), value functions for depth-limited solving",
            True,
            (
                "trunk exploitability with public states left out of training, and losses, "
                "amounts of data and sizes of networks in Oshi-Zumo and Leduc, to save time",
            ),
        ),
        Paper(
            "particle",
            "Šustr et al. (2021), particle value functions",
            not_covered=(
                "after how many epochs the particle network's trunk is as good as the positional "
                "one's (11 and 134, Figure 3) is shown in the pictures; judged is which is better "
                "in the first tenth of the training",
            ),
        ),
        Paper(
            "responses",
            "Milec et al. (2024), continual depth-limited responses",
            not_covered=(
                "Table 2, SlumBot: it plays no-limit hold'em, which is out of reach",
                "CDRNR with networks as value functions, which the paper does not have either, and "
                "sliding CDRNR outside Leduc (Figures 11 to 14), to save time",
                "Figures 9 and 10, CDRNR with the values of 500 iterations of CFR (Figure 5) and "
                "the exploiting strategy of Figure 15, to save time",
                "that CDRNR is better than the mix of CDBR with an equilibrium, and gains over "
                "half of what there is at almost no exploitability: all points are in the "
                "frontiers, and neither is judged",
            ),
        ),
        Paper(
            "sepot",
            "Kubíček et al. (2023), look-ahead search on top of policy networks",
            not_covered=(
                "Table 1 with 25,000 histories, to save time",
                "that training with search is more stable (Figure 3a): the pictures show spreads "
                "over seeds, and nothing is judged",
            ),
        ),
        Paper("learners", "R-NaD, MMD and PPO with their defaults"),
        Paper("particle_search", "search where public states are too large to list"),
        Paper("policy_gradients", "Rudolph et al. (2025), policy gradients in large games"),
    )
}
