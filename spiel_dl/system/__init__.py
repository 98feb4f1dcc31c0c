"""Files, run directories, worker processes, and descriptions of the machine."""
