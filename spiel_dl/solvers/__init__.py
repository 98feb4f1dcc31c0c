"""Numerics on arrays; they know no game and no network."""
