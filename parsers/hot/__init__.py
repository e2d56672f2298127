"""The hot lane: regular lines (batch lines, access lines) of a block of bytes, taken into numpy columns.

It repeats, byte for byte, only what the careful parser accepted in this file; every other line is handed
back with its line number. Nothing here is imported before a log is large enough to pay for numpy.
"""
