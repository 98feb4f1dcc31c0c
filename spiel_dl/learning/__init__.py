"""Parts of learners by self-play and of critics: environments, trajectories, networks, targets."""
