"""Adapters of games and policies to other libraries, which the extra `adapters` installs."""
