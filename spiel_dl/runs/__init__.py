"""What the scripts do, each in a run directory that can be resumed; reports and pictures."""
