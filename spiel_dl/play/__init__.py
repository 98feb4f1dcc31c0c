"""Names of policies, bots, matches, the terminal, and pages of public trees."""
