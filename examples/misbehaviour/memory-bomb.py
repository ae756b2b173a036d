"""Allocates memory and writes to every page, so that it is really used, until the program is stopped."""

hoard = []
while True:
    hoard.append(bytearray(b"x" * 4 * 1024 * 1024))
