"""The message of the error for an argument that cannot be sent to the host."""

import sys

TEXT_LENGTH_MAX = 100
# Class of pandas → what to send instead.
HINTS = {
    "DataFrame": ' (send `.to_dict("records")` of a table)',
    "Series": " (send `.to_list()` of a Series)",
}
# More than enough lines for the words that are shown.
READ_LENGTH_MAX = 4096


def describe(name, text, args):
    words = " ".join(text[:READ_LENGTH_MAX].split())
    if len(words) > TEXT_LENGTH_MAX:
        words = words[:TEXT_LENGTH_MAX] + "…"
    return f"an argument of {name!r} cannot be sent to the host: {words}{find_hint(args)}"


def find_hint(args):
    """A hint for the first table among the arguments. No table can be sent."""
    if "pandas" not in sys.modules:
        return ""
    has_base = load("kinds").has_base
    pending, seen = [args], set()
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each) in (list, tuple):
            pending.extend(each)
        elif type(each) is dict:
            pending.extend(each.values())
        else:
            for name, hint in HINTS.items():
                if has_base(type(each), "pandas", name):
                    return hint
    return ""
