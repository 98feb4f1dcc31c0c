"""Files, run directories, processes, and what is known of the machine."""
