"""A search of one's own by a `Spec`: what is solved is data, the rest is the library's.

    python examples/own_search.py

A `Source` says where searches start, a `Spec` what each solves: here the game is solved piece by
piece, each piece one move deep and valued exactly at its leaves, once with a gadget and once
without. Without one, the opponent is taken to have come as expected, which can be exploited.
"""

import spiel_dl as dl
from spiel_dl.search.compiled import CompiledPolicy, CompiledSource
from spiel_dl.search.leaf_values import ByValueFunction
from spiel_dl.search.spec import Spec
from spiel_dl.tree.pieces import Pieces

GAME, LIMIT = "kuhn_poker", dl.DepthLimit(moves=1)

tree = dl.compile_game(GAME)
for gadget in ("unsafe", "resolving", "max_margin"):
    source = CompiledSource(Pieces(tree, LIMIT, "block"), dl.ArrayPolicy.uniform(tree))
    spec = Spec(ByValueFunction(source.pieces, dl.ExactValue()), gadget)
    searcher = CompiledPolicy(source, spec, dl.Effort(iterations=1000))
    found = dl.nash_conv(tree, searcher.to_array_policy())
    print(f"{gadget:12} NashConv {found:.4f}")
