"""Writes an HTML page of a policy's or a search's strategy in every public state of a game.

Examples:
  python run/show.py --game=leduc_poker --policy=cfr+:1000 --plies=4 --output=runs/leduc.html
  python run/show.py --game=leduc_poker --policy=cdbr:uniform --plies=4 --output=runs/cdbr.html

A search runs in every public state of the game, shown or not. With resolving:exact, that takes
minutes even in Leduc; fewer --iterations are faster.
"""

from pathlib import Path

from spiel_dl.commands import players, script
from spiel_dl.play import kinds, public_tree_page, registry
from spiel_dl.play.public_tree_view import view_public_tree
from spiel_dl.system.parameters import Positive
from spiel_dl.tree.load import compile_game
from spiel_dl.tree.pieces import Pieces

_LIMIT = script.depth_limit("what is shown")
_OPTIONS = players.OptionFlags(has_depth_limit=False)
_DEFAULTS = {"effort": 1000, "player": 0}


def main(
    *,
    policy: str,
    output: str,
    game: str = "leduc_poker",
    look_ahead: Positive | None = None,
    device: str = "cpu",
) -> None:
    """Writes the page, and prints a summary.

    Args:
      policy: what to show.
      output: file of the page, such as page.html.
      game: OpenSpiel game string, with parameters.
      look_ahead: depth limit of each search, in the unit of what is shown. Default: 1.
      device: torch device of a search's networks.
    """
    if Path(output).is_dir():
        raise ValueError(f"--output={output} is a directory; give a file, such as page.html")
    if look_ahead is not None and "depth_limit" not in registry.options_of(policy):
        raise ValueError(f"--look_ahead={look_ahead}: not used by {policy}; leave it out")
    limit, given = _LIMIT.build(), _OPTIONS.build(policy)
    with script.waiting(f"listing the histories of {game}"):
        tree = compile_game(game)
    search_limit = Pieces(tree, limit, "sliding").limit(look_ahead or 1)
    options = registry.select_options({"depth_limit": search_limit, **_DEFAULTS, **given}, policy)
    array_policy = registry.load_array_policy(policy, tree, device=device, **options)
    name = f"{policy}, {search_limit} ahead" if "depth_limit" in options else policy
    view = view_public_tree(tree, array_policy, limit, name)
    public_tree_page.write(output, view.to_json())
    print(f"game            {view.game}")
    print(f"policy          {view.policy}")
    print(f"depth limit     {view.depth_limit}, {len(view.public_states):,} public states")
    print(f"NashConv        {view.nash_conv:.3e}")
    print(f"page            {output}")


if __name__ == "__main__":
    script.run(main, texts={"policy": f"what to show: {kinds.policy_names()}."})
