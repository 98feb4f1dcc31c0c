"""Policies: what the rooms above are given and give back."""
