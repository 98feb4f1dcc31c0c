"""Draws what a policy or a search does in every public state of a game, as an HTML page.

Examples:
  python run/show.py --game=leduc_poker --policy=cfr+:1000 --plies=4 --output=runs/leduc.html
  python run/show.py --game=leduc_poker --policy=cdbr:uniform --plies=4 --output=runs/cdbr.html

A search is made in every public state of the game, shown or not. With resolving:exact, that takes
minutes already in Leduc: fewer --iterations are quicker.
"""

from pathlib import Path
from typing import Annotated, Any

from spiel_dl.commands import config_flags, script
from spiel_dl.commands.parameters import Bounds, Positive
from spiel_dl.play import kinds, public_tree_page, registry
from spiel_dl.play.public_tree_view import view_public_tree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import compile_game
from spiel_dl.tree.pieces import Pieces

_LIMIT = script.depth_limit("Depth of what is shown")


def _how_to_search(
    tree: GameTree,
    limit: DepthLimit,
    *,
    look_ahead: Positive = 1,
    iterations: Positive = 1000,
    player: Annotated[int, Bounds(0, 1)] = 0,
) -> tuple[DepthLimit, dict[str, Any]]:
    """How deep each search looks, and the search options.

    Args:
      tree: the game.
      limit: that of what is shown.
      look_ahead: how deep each search looks, in the unit of what is shown.
      iterations: iterations of CFR in each search.
      player: who responds in cdbr; the other player is the model.
    """
    ahead = Pieces(tree, limit, "sliding").limit(look_ahead)
    return ahead, {"depth_limit": ahead, "effort": iterations, "player": player}


_SEARCH = config_flags.define(_how_to_search, "Search", leave_out=["tree", "limit"])
_OPTIONS = {"look_ahead": "depth_limit", "iterations": "effort", "player": "player"}


def main(
    *,
    policy: str,
    output: str,
    game: str = "leduc_poker",
    device: str = "cpu",
) -> None:
    """Writes the page, and says what is on it.

    Args:
      policy: what to show.
      output: file of the page, such as page.html.
      game: OpenSpiel game string, with parameters.
      device: torch device of a search's networks.
    """
    if Path(output).is_dir():
        raise ValueError(f"--output={output} is a directory; give a file, such as page.html")
    limit = _LIMIT.build()
    with script.waiting(f"listing the histories of {game}"):
        tree = compile_game(game)
    used = registry.options_of(policy)
    _SEARCH.refuse(
        f"not used by {policy}; leave them out",
        but=[flag for flag, option in _OPTIONS.items() if option in used],
    )
    name: str = policy
    how: dict[str, Any] = {}
    if used:
        ahead, options = _SEARCH.build(tree, limit)
        how = {option: value for option, value in options.items() if option in used}
        name = f"{policy}, {ahead} ahead" if "depth_limit" in used else policy
    shown = registry.load_array_policy(policy, tree, device=device, **how)
    view = view_public_tree(tree, shown, limit, name)
    public_tree_page.write(output, view.to_json())
    print(f"game            {view.game}")
    print(f"policy          {view.policy}")
    print(f"depth limit     {view.depth_limit}, {len(view.public_states):,} public states")
    print(f"NashConv        {view.nash_conv:.3e}")
    print(f"page            {output}")


if __name__ == "__main__":
    script.run(main, texts={"policy": f"what to show: {kinds.policy_names()}."})
