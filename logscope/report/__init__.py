"""One renderer a format. Computes nothing."""
