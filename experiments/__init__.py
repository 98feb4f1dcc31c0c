"""The papers' experiments, comparisons and matches, in resumable parts.

A package for each paper, and one for the comparison with OpenSpiel's algorithms. What they share,
and what belongs to no paper, lies beside them: reports, matches of two policies, learners'
curves, and the names of the games.
"""
