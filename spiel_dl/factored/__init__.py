"""Games too large to list, whose payoffs factor: no histories, but treeplexes and gradients."""
