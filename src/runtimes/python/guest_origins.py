"""Records the host's type of each value of the input, so that the value returns to the host with the same type.

Python has no `undefined`, and no Map besides its dict. A program gets Python's own types, and this module records their
host types by identity, for the encoder. If identity is not enough (all empty `bytes` are one object), a subclass that
behaves like its base is used instead. If Python has no equivalent, the value is a `Foreign`.
"""

quote = load("channel").quote
SCALARS = load("leaves").SCALARS

# id → Origin. An Origin keeps its value alive, so that the id stays unique.
origins = {}


class Origin:
    """`json` is the complete encoding of an immutable value; others have a type name and are encoded again."""

    __slots__ = ("value", "name", "json", "blanks", "order")

    def __init__(self, value, name, json):
        self.value, self.name, self.json = value, name, json
        # Key or index → the host's type of the None at that place.
        self.blanks = {}
        # The members of a Set, which has an order.
        self.order = ()


class Blank:
    """The host's type of a None in the input."""

    __slots__ = ("json",)

    def __init__(self, name):
        self.json = f'{{"$type":"{name}"}}'


class Integer(int):
    """A BigInt so small that it would otherwise return as a Number."""

    def __reduce__(self):
        return int, (int(self),)


class Bytes(bytes):
    """An ArrayBuffer or one of its views."""

    def __reduce__(self):
        return bytes, (bytes(self),)


class Foreign:
    """A value without an equivalent in Python: a date before the year 1, a pattern that it does not support."""

    def __init__(self, fields):
        self.type = fields["$type"]
        self.fields = {key: item for key, item in fields.items() if key != "$type"}

    def __repr__(self):
        return f"<{self.type} {' '.join('invalid' if item is None else repr(item) for item in self.fields.values())}>"

    def __reduce__(self):
        return dict, ([("$type", self.type), *self.fields.items()],)


KEYS = (str, int, float, bool, type(None), Integer)
BLANKS = {"undefined": Blank("undefined"), "hole": Blank("hole")}
# For the encoder, a blank is a value like any other.
SCALARS[Blank] = lambda blank: blank.json


def remember(value, name, json=None):
    origins[id(value)] = Origin(value, name, json)
    return value


def remember_blank(container, step, name):
    if id(container) not in origins:
        remember(container, None)
    origins[id(container)].blanks[step] = BLANKS.get(name, BLANKS["undefined"])


def restore_items(items, owner):
    """The items of a list, with each None replaced by its Blank."""
    origin = origins.get(id(owner))
    if origin is None or not origin.blanks:
        return items
    return [origin.blanks.get(index, item) if item is None else item for index, item in enumerate(items)]


def restore_fields(fields, owner):
    """The same for (key, item) pairs. Does not hash a key of a guest's class, because that would call guest code."""
    origin = origins.get(id(owner))
    if origin is None or not origin.blanks:
        return fields
    blanks = origin.blanks
    return [(key, blanks.get(key, item) if item is None and type(key) in KEYS else item) for key, item in fields]


def restore_order(members, owner):
    """The members of a set in the order of the input, followed by new ones."""
    origin = origins.get(id(owner))
    if origin is None:
        return members
    present = {id(member) for member in members}
    known = {id(member) for member in origin.order}
    return [*(each for each in origin.order if id(each) in present), *(each for each in members if id(each) not in known)]
