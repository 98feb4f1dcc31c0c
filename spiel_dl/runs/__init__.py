"""Resumable runs of solvers, learners and matches in run directories; reports and pictures."""
