"""The continual engine: where a search starts, what it is given, what it keeps."""
