"""Policies: tables, networks, functions and small scripts, as OpenSpiel policies."""
