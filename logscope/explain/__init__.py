"""RunDiff, knowledge and history in, ranked causes with remedies out."""
