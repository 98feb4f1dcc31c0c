"""The papers' experiments: what the `reproduce_*` scripts of `run/` do."""
