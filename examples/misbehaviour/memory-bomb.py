"""Allocates memory and touches every page, so that it is really used, until something stops it."""

hoard = []
while True:
    hoard.append(bytearray(b"x" * 4 * 1024 * 1024))
