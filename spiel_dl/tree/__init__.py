"""What a game is once it is compiled to arrays."""

from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.public_states import PublicStates
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex
from spiel_dl.tree.trunk import Trunk, cut

__all__ = [
    "CompiledTree",
    "DepthLimit",
    "GameTree",
    "LeafSet",
    "PublicStates",
    "SequenceForm",
    "TooManyHistoriesError",
    "Treeplex",
    "Trunk",
    "cut",
]
