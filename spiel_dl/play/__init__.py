"""Policies by name, bots, matches, play in a terminal, and views of public states and trees."""
