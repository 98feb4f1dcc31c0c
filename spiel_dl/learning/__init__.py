"""What learners by self-play are made of: environments, trajectories, networks, targets."""
