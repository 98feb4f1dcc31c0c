"""Draws what a policy or a search does in every public state of a game, as an HTML page.

Examples:
  python run/show.py --game=leduc_poker --policy=cfr+:1000 --plies=4 --output=runs/leduc.html
  python run/show.py --game=leduc_poker --search=cdbr:uniform --plies=4 --output=runs/cdbr.html

A search is made in every public state of the game, shown or not. With resolving:exact, that takes
minutes already in Leduc: fewer --iterations are quicker.
"""

import sys
from collections.abc import Sequence

import depth_limit_flags
from absl import app, flags

from spiel_dl.play import public_tree_page, registry
from spiel_dl.play.public_tree_view import view_public_tree
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.load import compile_game
from spiel_dl.tree.pieces import Pieces

_GAME = flags.DEFINE_string("game", "leduc_poker", "OpenSpiel game string, with parameters.")
_POLICY = flags.DEFINE_string("policy", None, f"What to show: {registry.POLICY_NAMES}.")
_SEARCH = flags.DEFINE_string("search", None, f"Show a search: {registry.SEARCH_NAMES}.")
_limit = depth_limit_flags.define("Depth of what is shown,")
_LOOK_AHEAD = flags.DEFINE_integer(
    "look_ahead", 1, "Depth limit of each search, in the unit of what is shown.", lower_bound=1
)
_ITERATIONS = flags.DEFINE_integer(
    "iterations", 1000, "Iterations of CFR in each search.", lower_bound=1
)
_PLAYER = flags.DEFINE_integer(
    "player",
    0,
    "Who responds in cdbr; the other player is the model.",
    lower_bound=0,
    upper_bound=1,
)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device of a search's networks.")
_OUTPUT = flags.DEFINE_string("output", None, "File of the page, such as page.html.", required=True)
flags.mark_flags_as_mutual_exclusive(["policy", "search"], required=True)


def main(argv: Sequence[str]) -> None:
    """Writes the page, and says what is on it."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        limit = _limit()
        tree = compile_game(_GAME.value)
        if _SEARCH.value is None:
            name, policy = _POLICY.value, registry.load_array_policy(_POLICY.value, tree)
        else:
            look_ahead = Pieces(tree, limit, "sliding").limit(_LOOK_AHEAD.value)
            name = f"{_SEARCH.value}, {look_ahead} ahead"
            policy = registry.load_array_policy(
                _SEARCH.value,
                tree,
                depth_limit=look_ahead,
                effort=Effort(_ITERATIONS.value),
                player=_PLAYER.value,
                device=_DEVICE.value,
            )
        view = view_public_tree(tree, policy, limit, name)
        public_tree_page.write(_OUTPUT.value, view.to_json())
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"game            {view.game}")
    print(f"policy          {view.policy}")
    print(f"depth limit     {view.depth_limit}, {len(view.public_states):,} public states")
    print(f"NashConv        {view.nash_conv:.3e}")
    print(f"page            {_OUTPUT.value}")


if __name__ == "__main__":
    app.run(main)
