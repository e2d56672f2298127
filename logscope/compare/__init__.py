"""Two runs in, one typed RunDiff out. Knows nothing of how it is shown."""
