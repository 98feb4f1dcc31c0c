"""The pictures of the page on concepts, drawn from compiled games and solved ranges.

`python docs/hooks/pictures.py` writes them to docs/pictures/. A test holds these files to what is
drawn, so they show what the library does. `python docs/hooks/pictures.py results/A/B.json` draws
the pictures of these reports anew instead, from what the files hold: where the style has changed.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.runs.reports import redraw
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue

_COLOURS = ("tab:blue", "tab:orange")  # of the players
_STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "spiel_dl", "font.size": 8.0}
_ITERATIONS = 10_000
_STEP_DOWN = 2.7


def public_tree() -> str:
    """Kuhn poker's histories, infosets and public states, as an SVG."""
    tree = GameTree.from_game("kuhn_poker")
    states = tree.public_states
    centre, width = _layout(states.parent)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 7.2))
        axes = _empty_axes(figure)
        for state in range(states.num_public_states):
            place = (centre[state], -_STEP_DOWN * states.depth[state])
            above = states.parent[state]
            if above >= 0:
                top = (centre[above], -_STEP_DOWN * states.depth[above])
                axes.plot([top[0], place[0]], [top[1] - 0.8, place[1] + 1.3], color="0.6", zorder=0)
                middle = ((top[0] + place[0]) / 2, (top[1] + place[1]) / 2 + 0.15)
                axes.annotate(
                    _action_into(tree, state), middle, ha="center", backgroundcolor="white"
                )
            _draw_public_state(axes, tree, state, place)
        axes.set_xlim(-1.6, width + 1.6)
        axes.set_ylim(-_STEP_DOWN * states.depth.max() - 1.0, 1.3)
        return _svg(figure)


def _layout(parent: np.ndarray) -> tuple[np.ndarray, float]:
    """Horizontal places of public states, float64 [P], in a tree; and the width of it."""
    centre = np.zeros(len(parent))
    children = [np.flatnonzero(parent == state) for state in range(len(parent))]
    is_last = [not len(below) for below in children]
    order = list(_depth_first(0, children))
    centre[[state for state in order if is_last[state]]] = 2.8 * np.arange(sum(is_last))
    for state in reversed(order):
        if not is_last[state]:
            centre[state] = centre[children[state]].mean()
    return centre, float(centre.max())


def _depth_first(state: int, children: list[np.ndarray]) -> Iterator[int]:
    yield state
    for child in children[state].tolist():
        yield from _depth_first(child, children)


def _action_into(tree: GameTree, state: int) -> str:
    """The action that leads to a public state, or "deal", which nobody sees."""
    history = int(tree.public_states.histories(state)[0])
    above = int(tree.parent[history])
    if tree.player[above] not in (0, 1):
        return "deal"
    return tree.state(above).action_to_string(int(tree.action[history]))


def _grid(tree: GameTree, state: int) -> tuple[np.ndarray, list[list[str]], list[np.ndarray]]:
    """Where a public state's histories lie in its grid of infosets, which are sorted by name.

    Returns:
      int64 [2, n], the row and the column of each history; the infosets' names, by player; and for
      each player the infosets, counted by first history, in the order of rows or columns.
    """
    states = tree.public_states
    histories = states.histories(state)
    places, names, orders = [], [], []
    for player in (0, 1):
        _, first, place = np.unique(
            states.augmented_infoset[player, histories], return_index=True, return_inverse=True
        )
        shown = [tree.state(int(histories[row])) for row in first]
        unsorted = [each.information_state_string(player) for each in shown]
        order = np.argsort(unsorted)
        places.append(np.argsort(order)[place])
        names.append([unsorted[infoset] for infoset in order])
        orders.append(order)
    return np.stack(places), names, orders


def _draw_public_state(axes: Axes, tree: GameTree, state: int, place: tuple[float, float]) -> None:
    """A box with a dot per history, a line per infoset, and who acts."""
    cells, names, _ = _grid(tree, state)
    size, step = 0.8, 0.5
    box = FancyBboxPatch(
        (place[0] - size, place[1] - size), 2 * size, 2 * size, boxstyle="round,pad=0.05"
    )
    box.set(facecolor="white", edgecolor="0.3", gid=f"public-state-{state}")
    axes.add_patch(box)
    x = place[0] + step * (cells[1] - (len(names[1]) - 1) / 2)
    y = place[1] - step * (cells[0] - (len(names[0]) - 1) / 2)
    for player in (0, 1):
        for infoset in range(len(names[player])):
            inside = cells[player] == infoset
            axes.plot(x[inside], y[inside], color=_COLOURS[player], linewidth=2, zorder=2)
    axes.scatter(x, y, s=14, color="black", zorder=3)
    mover = int(tree.player[tree.public_states.histories(state)[0]])
    label = f"player {mover} acts" if mover in (0, 1) else "chance acts"
    colour = _COLOURS[mover] if mover in (0, 1) else "0.3"
    axes.annotate(label, (place[0], place[1] + size + 0.1), ha="center", color=colour)


def ranges() -> str:
    """Ranges and counterfactual values in Kuhn poker after one move, as an SVG."""
    solver = CFRPlusSolver("kuhn_poker")
    solver.run(_ITERATIONS)
    tree, policy = solver.tree, solver.average_policy()
    trunk = cut(tree, DepthLimit(moves=1))
    leaves = trunk.leaves
    plans = [realization_plan(tree.treeplexes[p], policy.strategies[p]) for p in (0, 1)]
    sequences = [trunk.sequences[p][leaves.sequences[p]] for p in (0, 1)]
    own = [plans[p][sequences[p]] for p in (0, 1)]
    cfvs = ExactValue(tolerance=1e-9).bind(leaves).evaluate(own[0], own[1])
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.0, 3.6))
        for position, state in enumerate(leaves.public_states.tolist()):
            axes = _empty_axes(figure, (1, leaves.num_public_states, position + 1))
            axes.set_title(f"after “{_action_into(tree, state)}”")
            inside = [slice(*leaves.infoset_offsets[p][position : position + 2]) for p in (0, 1)]
            cells, names, order = _grid(tree, state)
            here = [own[p][inside[p]][order[p]] for p in (0, 1)]
            values = [cfvs[p][inside[p]][order[p]] for p in (0, 1)]
            _draw_ranges(axes, cells, names, here, values)
        return _svg(figure)


def _draw_ranges(
    axes: Axes,
    cells: np.ndarray,
    names: list[list[str]],
    own: list[np.ndarray],
    cfvs: list[np.ndarray],
) -> None:
    """A grid of histories; beside each infoset its name, reach (a bar) and value."""
    axes.scatter(cells[1], -cells[0], s=30, color="black")
    rows, columns = len(names[0]), len(names[1])
    for row in range(rows):
        axes.barh(-row, -own[0][row], left=-0.6, height=0.3, color=_COLOURS[0])
        axes.annotate(f"{names[0][row]}: {own[0][row]:.2f}", (-1.7, 0.22 - row), ha="left")
        axes.annotate(f"{cfvs[0][row]:+.3f}", (columns - 0.5, -row), va="center", color=_COLOURS[0])
    for column in range(columns):
        axes.bar(column, own[1][column], bottom=0.6, width=0.3, color=_COLOURS[1])
        axes.annotate(f"{names[1][column]}: {own[1][column]:.2f}", (column, 1.65), ha="center")
        axes.annotate(
            f"{cfvs[1][column]:+.3f}", (column, 0.3 - rows), ha="center", color=_COLOURS[1]
        )
    axes.annotate("range of 0", (-1.7, 0.75), color=_COLOURS[0])
    axes.annotate("range of 1", (columns - 0.45, 1.0), color=_COLOURS[1])
    axes.annotate("cfv of 0", (columns - 0.5, 0.45), color=_COLOURS[0])
    axes.annotate("cfv of 1", (-1.7, 0.3 - rows), color=_COLOURS[1])
    axes.set_xlim(-1.8, columns + 0.5)
    axes.set_ylim(-rows, 2.0)


def _empty_axes(figure: Figure, place: tuple[int, int, int] = (1, 1, 1)) -> Axes:
    axes = figure.add_subplot(*place)
    axes.set_axis_off()
    return axes


def _svg(figure: Figure) -> str:
    """The same text for the same picture, whenever it is drawn."""
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
    return text.getvalue()


PICTURES: dict[str, Callable[[], str]] = {"public_tree": public_tree, "ranges": ranges}


if __name__ == "__main__":
    for report in sys.argv[1:]:
        redraw(report)
    if not sys.argv[1:]:
        for name, draw in PICTURES.items():
            (Path(__file__).parents[1] / "pictures" / f"{name}.svg").write_text(draw(), "utf-8")
