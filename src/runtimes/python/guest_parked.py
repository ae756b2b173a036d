"""Waiting for a run: what most runs need is loaded and warmed before the request arrives; no guest code runs meanwhile."""

import gc
import sys

# The parts of the harness that are loaded for most requests, or for the first thing that goes wrong.
PARTS = ("compile", "watch", "text", "values", "errors", "display", "inputs")
SAMPLE = """
def sample(numbers):
    return [str(number) for number in numbers]
sample(range(3))
"""


def wait_for_request(channel, parking):
    run = load("run")
    sys.dont_write_bytecode = True
    try:
        # The workspace is not on the path yet: nothing there can stand in for what was named.
        run.prepare_path(())
        for name in parking["preload"]:
            __import__(name)
        for part in (*PARTS, *parking.get("parts", ())):
            load(part)
        load("compile").compile_program(SAMPLE)
        # What a module printed makes this worker unfit: it would be the run's output.
        sys.stdout.flush()
    except BaseException as error:
        text = load("channel").quote(f"{type(error).__name__}: {error}"[:1000])
        channel.send(f'{{"type":"unparked","text":{text}}}')
        raise SystemExit(1) from None
    # What is there now stays: the collector need not look at it again.
    gc.collect()
    gc.freeze()
    channel.send('{"type":"parked"}')
    return channel.receive()
