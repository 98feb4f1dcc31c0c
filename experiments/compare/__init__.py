"""Our solvers and learners beside OpenSpiel's, in one game and by the same clock."""
