"""A parked worker: loads and warms up what most runs need before the request arrives. No guest code runs meanwhile."""

import gc
import sys

# The parts of the harness that most requests need, or that the first error needs.
PARTS = ("compile", "watch", "text", "values", "errors", "display", "inputs")
# A program with what most have, and its request.
SAMPLE = """
import sys
def sample(numbers):
    return [str(number) for number in numbers]
sample(range(3))
"""
REQUEST = '{"code":"1","args":[],"input":{"a":[1]},"resultBytes":100}'


def perform_sample_run():
    """Do what every run does, without an effect.

    In a fork this copies the pages to which runs write, so that the run itself does not have to wait for the copies.
    """
    compiler, channel = load("compile"), load("channel")
    channel.parse_json(REQUEST)
    statements, expression = compiler.compile_program(compiler.normalize(SAMPLE))
    exec(statements, space := {})
    value = eval(expression, space)
    load("values").encode({"a": value}, "", 1000)
    load("text").describe([value, 1.5])
    f'{{"type":"value","value":{value!r},"text":{channel.quote(repr(value))}}}'.encode("utf-8", "backslashreplace")


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
        perform_sample_run()
        # If a module has printed something, this worker is unusable: that would become output of the run.
        sys.stdout.flush()
    except BaseException as error:
        text = load("channel").quote(f"{type(error).__name__}: {error}"[:1000])
        channel.send(f'{{"type":"unparked","text":{text}}}')
        raise SystemExit(1) from None
    # All existing objects stay, so the garbage collector need not scan them again.
    gc.collect()
    gc.freeze()
    channel.send('{"type":"parked"}')
    return channel.receive()
