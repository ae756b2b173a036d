"""What a value of the input was where it came from, so that it goes back as the same thing.

Python has no `undefined` and no Map beside its dict. A program gets values of Python's own all the same; what they were
is kept here, by identity, and the encoder asks. Where identity tells nothing (an empty `bytes` is one object in the whole
interpreter) a subclass that behaves like its base stands in, and where Python has no word at all, a `Foreign`.
"""

quote = load("channel").quote
SCALARS = load("leaves").SCALARS

# id → Origin. Each keeps its value, so that the id stays its own.
origins = {}


class Origin:
    """`json` is the whole encoding of a value that cannot change; others have a name and are created again."""

    __slots__ = ("value", "name", "json", "blanks", "order")

    def __init__(self, value, name, json):
        self.value, self.name, self.json = value, name, json
        # Key or index → what the None there was.
        self.blanks = {}
        # The members of a Set, which has an order.
        self.order = ()


class Blank:
    """What a None of the input was."""

    __slots__ = ("json",)

    def __init__(self, name):
        self.json = f'{{"$type":"{name}"}}'


class Integer(int):
    """A BigInt of a size that would be a Number again."""

    def __reduce__(self):
        return int, (int(self),)


class Bytes(bytes):
    """An ArrayBuffer or one of its views."""

    def __reduce__(self):
        return bytes, (bytes(self),)


class Foreign:
    """What Python has no word for: a date before the year 1, a pattern that it does not understand."""

    def __init__(self, fields):
        self.type = fields["$type"]
        self.fields = {key: item for key, item in fields.items() if key != "$type"}

    def __repr__(self):
        return f"<{self.type} {' '.join('invalid' if item is None else repr(item) for item in self.fields.values())}>"

    def __reduce__(self):
        return dict, ([("$type", self.type), *self.fields.items()],)


KEYS = (str, int, float, bool, type(None), Integer)
BLANKS = {"undefined": Blank("undefined"), "hole": Blank("hole")}
# To the encoder a blank is a value like any.
SCALARS[Blank] = lambda blank: blank.json


def remember(value, name, json=None):
    origins[id(value)] = Origin(value, name, json)
    return value


def remember_blank(container, step, name):
    if id(container) not in origins:
        remember(container, None)
    origins[id(container)].blanks[step] = BLANKS.get(name, BLANKS["undefined"])


def restore_items(items, owner):
    """The items of a list, with what their Nones were."""
    origin = origins.get(id(owner))
    if origin is None or not origin.blanks:
        return items
    return [origin.blanks.get(index, item) if item is None else item for index, item in enumerate(items)]


def restore_fields(fields, owner):
    """The same for (key, item) pairs. A key of a class of the guest's own is not asked for its hash."""
    origin = origins.get(id(owner))
    if origin is None or not origin.blanks:
        return fields
    blanks = origin.blanks
    return [(key, blanks.get(key, item) if item is None and type(key) in KEYS else item) for key, item in fields]


def restore_order(members, owner):
    """The members of a set, as the input had them; new ones behind."""
    origin = origins.get(id(owner))
    if origin is None:
        return members
    present = {id(member) for member in members}
    known = {id(member) for member in origin.order}
    return [*(each for each in origin.order if id(each) in present), *(each for each in members if id(each) not in known)]
