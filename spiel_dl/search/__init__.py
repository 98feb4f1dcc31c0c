"""Search: a `Source` makes roots, and a `Spec` defines the game to solve below them."""
