"""Widgets of the terminal UI; each shows values that it is given and asks nobody."""
