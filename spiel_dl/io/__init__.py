"""Run directories, finished parts, files of arrays, reports, plots and pages."""
