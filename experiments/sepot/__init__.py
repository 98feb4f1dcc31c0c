"""SePoT: the experiments of Kubíček et al. (2023)."""
