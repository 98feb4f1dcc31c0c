"""Ranges in, counterfactual values out."""

from spiel_dl.value_functions.base import ValueFunction, ZeroValue
from spiel_dl.value_functions.exact import ExactValue

__all__ = ["ExactValue", "ValueFunction", "ZeroValue"]
