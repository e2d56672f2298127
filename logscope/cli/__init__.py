"""One module per command: arguments and wiring, nothing else."""
