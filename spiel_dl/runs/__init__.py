"""Run directories, resumable parts, files of arrays, reports, pictures, and workers."""
