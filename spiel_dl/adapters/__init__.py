"""Games and policies in the forms of other libraries, each of which is an extra of its own."""
