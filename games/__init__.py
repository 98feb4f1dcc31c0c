"""The games: rules written once as batched arrays (`rules`), and OpenSpiel's view of them.

Importing this package registers the games with OpenSpiel.
"""

from spiel_dl.games import battleships, goofspiel_ii, leduc, oshi_zumo_ii

__all__ = ["battleships", "goofspiel_ii", "leduc", "oshi_zumo_ii"]
