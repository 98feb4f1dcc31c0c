"""One search: a `Source` yields roots, a `Spec` says what is solved below them."""
