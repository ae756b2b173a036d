"""A parked worker: loads and warms up what most runs need before the request arrives. No guest code runs meanwhile."""

import gc
import sys

# The parts of the harness that most requests need, or that the first error needs.
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
        # The workspace is not on the path yet, so nothing there can replace a named module.
        run.prepare_path(())
        for name in parking["preload"]:
            __import__(name)
        for part in (*PARTS, *parking.get("parts", ())):
            load(part)
        load("compile").compile_program(SAMPLE)
        # If a module has printed something, this worker is unusable: that would become output of the run.
        sys.stdout.flush()
    except BaseException as error:
        text = load("channel").quote(f"{type(error).__name__}: {error}"[:1000])
        channel.send(f'{{"type":"unparked","text":{text}}}')
        raise SystemExit(1) from None
    # All present objects stay, so the collector need not scan them again.
    gc.collect()
    gc.freeze()
    channel.send('{"type":"parked"}')
    return channel.receive()
