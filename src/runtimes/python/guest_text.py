"""The text of a value for people: what the REPL would print, but with bounded size, depth and time."""

import sys

# The protocol's bound for texts.
TEXT_BYTES_MAX = 64 * 1024
# Deeper than anybody reads, and well within the interpreter's recursion limit.
DEPTH_MAX = 100
ELLIPSIS = "…"

type_name_of = type.__dict__["__name__"].__get__
class_order_of = type.__dict__["__mro__"].__get__
SCALARS = frozenset((int, float, bool, str, bytes, type(None)))
FORMATS = ("mimebundle", "html", "markdown", "svg", "png", "pdf", "jpeg", "latex", "json", "javascript")
RICH_METHODS = frozenset(("_ipython_display_", *(f"_repr_{name}_" for name in FORMATS)))


class Full(Exception):
    """The text has reached its maximum length."""


def describe(value):
    """The REPL's text of a value, at most 64 KiB. Never raises."""
    writer = TextWriter()
    try:
        writer.write(value, DEPTH_MAX)
        cut = False
    except Full:
        cut = True
    except BaseException:
        return f"<{type_name(value)} that cannot be shown>"
    return bound("".join(writer.pieces), cut)


def bound(text, cut=False):
    """`text` in at most 64 KiB of UTF-8, with an ellipsis if it was cut."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= TEXT_BYTES_MAX and not cut:
        return text
    return str(data[: TEXT_BYTES_MAX - len(ELLIPSIS.encode())], "utf-8", "ignore") + ELLIPSIS


def type_name(value):
    return str.__str__(type_name_of(type(value)))


def is_rich(value):
    """Whether the value or its class offers more formats than text."""
    kind = type(value)
    if kind in SCALARS or issubclass(kind, type):
        return False
    if any(not RICH_METHODS.isdisjoint(vars_of(each)) for each in class_order_of(kind)) or is_figure(value):
        return True
    try:
        return not RICH_METHODS.isdisjoint(object.__getattribute__(value, "__dict__"))
    except Exception:
        return False


def is_figure(value):
    """Whether it is a figure of matplotlib. It has no such methods; notebooks recognize its class."""
    figure_class = getattr(sys.modules.get("matplotlib.figure"), "Figure", None)
    return type(figure_class) is type and issubclass(type(value), figure_class)


vars_of = type.__dict__["__dict__"].__get__


class TextWriter:
    """Writes like `repr`, but stops at its limit: `repr` of a large list would first build the whole text."""

    def __init__(self):
        self.pieces = []
        self.room = TEXT_BYTES_MAX
        self.active = set()

    def put(self, text):
        self.pieces.append(text)
        self.room -= len(text)
        if self.room < 0:
            raise Full

    def write(self, value, depth):
        brackets = BRACKETS.get(type(value))
        if brackets is None:
            self.put(describe_leaf(value, self.room))
        elif not value:
            self.put(repr(value))
        elif id(value) in self.active or depth == 0:
            self.put(CYCLES[type(value)])
        else:
            self.active.add(id(value))
            self.put(brackets[0])
            self.write_items(value, depth - 1)
            self.put(",)" if type(value) is tuple and len(value) == 1 else brackets[1])
            self.active.discard(id(value))

    def write_items(self, value, depth):
        separator = ""
        # A list may grow meanwhile, but the text is bounded. A dict or set that changes ends the loop with an error.
        for item in value if type(value) is list else list(value.items() if type(value) is dict else value):
            self.put(separator)
            separator = ", "
            if type(value) is dict:
                self.write(item[0], depth)
                self.put(": ")
                self.write(item[1], depth)
            else:
                self.write(item, depth)


BRACKETS = {list: "[]", tuple: "()", dict: "{}", set: "{}", frozenset: ("frozenset({", "})")}
CYCLES = {list: "[...]", tuple: "(...)", dict: "{...}", set: "{...}", frozenset: "frozenset(...)"}


def describe_leaf(value, room):
    """`repr` of one object that is not a built-in container, whatever its class does."""
    kind = type(value)
    if kind in (str, bytes, bytearray) and len(value) > room:
        return repr(value[: room + 1])
    try:
        # An exact str, even if `__repr__` returned a subclass.
        return str.__str__(repr(value))
    except BaseException as error:
        if kind is int:
            # It has more digits than the interpreter converts. The first hexadecimal digits are cheap.
            digits = hex(abs(value) >> max(0, value.bit_length() - 4 * (room + 1)))
            return "-" + digits if value < 0 else digits
        return f"<{type_name(value)} whose repr raised {type_name(error)}>"
