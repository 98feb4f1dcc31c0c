"""DL-CFR with value functions: the experiments of Kovařík et al. (2021)."""
