"""The laboratory: the papers' experiments, in resumable parts, and the benchmarks.

A folder for each paper, and in it a file for each experiment: settings, what is computed, shown and
judged, and the rows in which it is run. `manifest` lists all rows, `run/reproduce.py` runs them.
Public names of the library are all that is used here.
"""
