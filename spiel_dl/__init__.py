"""Depth-limited solving and search for two-player zero-sum imperfect-information games."""
