"""
Searches for a token wherever another process might find it. The token comes in halves, one per line, on standard
input, so that this search itself leaves no trace of it.
"""

import os
import sys
from pathlib import Path

needle = "".join(sys.stdin.read().split("\n")).encode()
places = []
looked_at = 0


def look(path):
    global looked_at
    try:
        content = path.read_bytes()
    except OSError:
        return
    looked_at += 1
    if needle in content:
        places.append(str(path))


for process in Path("/proc").iterdir():
    if process.name.isdigit():
        for name in ("environ", "cmdline"):
            look(process / name)
for folder in ("/workspace", "/tmp", "/dev/shm", "/run", os.environ["HOME"]):
    for path in Path(folder).rglob("*"):
        if path.is_file():
            look(path)
print(f"found in {len(places)} of {looked_at} places", *places)
