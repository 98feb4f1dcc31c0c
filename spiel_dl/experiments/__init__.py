"""The papers' experiments, comparisons and matches, in resumable parts."""
