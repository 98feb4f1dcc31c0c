"""Particle value functions: the experiments of Šustr et al. (2021), and play in large games."""
