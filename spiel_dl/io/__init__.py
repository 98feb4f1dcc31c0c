"""Run directories, metrics, plots, and files of policies."""
