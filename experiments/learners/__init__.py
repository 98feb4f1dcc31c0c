"""Strength of the learners with their defaults, in small games exactly, in large ones by play."""
