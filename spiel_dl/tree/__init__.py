"""What a game is once it is compiled to arrays."""

from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.public_states import PublicStates
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

__all__ = ["GameTree", "PublicStates", "SequenceForm", "Treeplex"]
