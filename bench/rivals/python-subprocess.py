"""Usage: python-subprocess.py <expected output> <program> [arguments]. For each line {inFlight, ms} on stdin it keeps that
many threads running `subprocess.run` for that time, and then prints one line {times, elapsedMs, wrong}.
"""
import json
import subprocess
import sys
import threading
from time import perf_counter

expected, command = sys.argv[1], sys.argv[2:]
WRONG_MAX = 5


def sustain(in_flight: int, ms: float) -> dict:
    times: list[float] = []
    wrong: list[str] = []
    begin = perf_counter()

    def keep_busy() -> None:
        while True:
            start = perf_counter()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.strip() == expected:
                times.append((perf_counter() - start) * 1000)
            elif len(wrong) < WRONG_MAX:
                wrong.append(f'exit code {done.returncode}, printed {done.stdout[:100]}')
            if (perf_counter() - begin) * 1000 >= ms:
                return

    threads = [threading.Thread(target=keep_busy) for _ in range(in_flight - 1)]
    for thread in threads:
        thread.start()
    # A single run is started from the main thread, as a simple program would.
    keep_busy()
    for thread in threads:
        thread.join()
    return {'times': times, 'elapsedMs': (perf_counter() - begin) * 1000, 'wrong': wrong}


for line in sys.stdin:
    slice_ = json.loads(line)
    print(json.dumps(sustain(slice_['inFlight'], slice_['ms'])), flush=True)
