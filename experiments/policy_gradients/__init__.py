"""Rudolph et al. (2025), "Reevaluating Policy Gradient Methods for Imperfect-Information Games"."""
