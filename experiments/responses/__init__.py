"""Responses to a model of the opponent: the experiments of Milec et al. (2024)."""
