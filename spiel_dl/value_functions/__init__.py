"""Ranges in, counterfactual values out."""

from spiel_dl.value_functions.base import LeafValues, ValueFunction, ZeroValue
from spiel_dl.value_functions.exact import ExactValue

__all__ = ["ExactValue", "LeafValues", "ValueFunction", "ZeroValue"]
