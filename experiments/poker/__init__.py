"""Depth-limited solving in no-limit hold'em."""
