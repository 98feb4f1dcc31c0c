"""Algorithms for users, one module each, in the style of OpenSpiel's."""
