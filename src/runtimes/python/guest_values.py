"""Encodes values as JSON with tags, as described in docs/guide/values.md.

Reads every object through the methods of its built-in base class, never through its own methods. So an override, a false
`__class__` or a property that raises has no effect. Works without recursion, within a budget.
"""

import sys

# The `depthMax` of the format: deeper values are left out.
DEPTH_MAX = 1000

quote = load("channel").quote
describe = load("text").describe
leaves, kinds, memory = load("leaves"), load("kinds"), load("origins")
SCALARS, find_writer, unserializable = leaves.SCALARS, leaves.find_writer, leaves.unserializable
origins, restore_items, restore_fields = memory.origins, memory.restore_items, memory.restore_fields
BaseGroup = __builtins__.get("BaseExceptionGroup")
dict_of_error = BaseException.__dict__["__dict__"].__get__
cause_of_error = BaseException.__dict__["__cause__"].__get__
# Fields of an error of the input that have their own place.
ERROR_FIELDS = ("name", "stack", "cause", "errors")


class TooLong(Exception):
    """The encoded value exceeds its limit."""


def encode(value, text, bytes_max):
    """Encode `value` as (JSON, truncated). `text` replaces a value that is longer than `bytes_max`. Never raises."""
    encoder = Encoder(bytes_max)
    try:
        return encoder.encode(value), encoder.is_cut
    except BaseException:
        # Usually the value is too long. Otherwise memory ran out, or a signal handler raised.
        replacement = unserializable(text)
        if len(replacement.encode("utf-8", "backslashreplace")) > bytes_max:
            # A character takes at most 6 bytes of JSON, and the tag around the text 40.
            replacement = unserializable(text[: max(0, bytes_max - 40) // 6])
        return replacement, True


class Encoder:
    """One document. Containers are generators that yield their members; `encode` runs them on a stack."""

    def __init__(self, bytes_max):
        self.pieces = []
        self.room = bytes_max
        # id → (object, link). The object is kept alive, so that its id stays unique.
        self.seen = {}
        self.writers = {}
        # Whether a part was left out because it is too deep.
        self.is_cut = False

    def encode(self, value):
        running = [iter(((value, None),))]
        while running:
            for item, link in running[-1]:
                inside = self.begin(item, link, len(running) - 1)
                if inside is not None:
                    running.append(inside)
                    break
            else:
                running.pop()
        return "".join(self.pieces)

    def put(self, text):
        self.pieces.append(text)
        self.room -= len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))
        if self.room < 0:
            raise TooLong

    def begin(self, value, link, depth):
        """Write a complete value, or return the generator of a container. `link` is (link of the parent, key)."""
        kind = type(value)
        scalar = SCALARS.get(kind)
        if scalar is not None:
            self.put_scalar(scalar, value, "")
            return None
        if id(value) in self.seen:
            self.put(f'{{"$type":"Ref","path":{write_path(self.seen[id(value)][1])}}}')
            return None
        for base, container in CONTAINERS:
            if issubclass(kind, base):
                if depth > DEPTH_MAX:
                    self.is_cut = True
                    self.put(unserializable("[nested too deeply]"))
                    return None
                # Empty and immutable: the interpreter itself shares such objects, so identity says nothing.
                if kind not in (tuple, frozenset) or value:
                    self.seen[id(value)] = value, link
                return container(self, value, link)
        plain = self.make_plain(value, kind)
        if plain is value:
            # Immutable values need no identity, unless they stand for a mutable value of the input.
            if id(value) in origins or leaves.is_mutable(kind):
                self.seen[id(value)] = value, link
            self.put(self.write_leaf(value, kind))
            return None
        if type(plain) in (list, dict):
            self.seen[id(value)] = value, link
        return self.begin(plain, link, depth)

    def make_plain(self, value, kind):
        """Converts a value of the standard library, numpy or pandas to a built-in type; other values stay."""
        try:
            plain = kinds.make_plain(value, kind)
        except Exception:
            plain = value
        if plain is not value or "numpy" not in sys.modules:
            return plain
        arrays = load("arrays")
        try:
            return arrays.make_plain(value, kind, self.room)
        except arrays.TooManyElements:
            raise TooLong from None
        except Exception:
            return value

    def put_scalar(self, scalar, value, before):
        # Checked before a copy is made. A hexadecimal digit holds four bits.
        kind = type(value)
        if kind is str and len(value) > self.room or kind is int and value.bit_length() > 4 * self.room + 64:
            raise TooLong
        self.put(before + scalar(value))

    def write_leaf(self, value, kind):
        origin = origins.get(id(value))
        if origin is not None and origin.json is not None:
            return origin.json
        # Checked before a copy is made.
        if leaves.count_bytes(value, kind) > self.room:
            raise TooLong
        try:
            if kind is memory.Integer:
                return leaves.tag("BigInt", f'"{int.__add__(value, 0)}"')
            if origin is not None:
                return leaves.write_remembered(origin.name, value)
            if kind not in self.writers:
                self.writers[kind] = find_writer(kind)
            write = self.writers[kind]
            return write(value) if write else unserializable(describe(value))
        except BaseException:
            # For example, a guest's own time zone class can raise.
            return unserializable(describe(value))

    def write_items(self, items, link):
        """An array. Scalars are written here directly, without the stack."""
        before = "["
        for index, item in enumerate(items):
            scalar = SCALARS.get(type(item))
            if scalar is not None:
                self.put_scalar(scalar, item, before)
            else:
                self.put(before)
                yield item, (link, index)
            before = ","
        self.put("[]" if before == "[" else "]")

    def write_fields(self, fields, link):
        """An object."""
        before = "{"
        for key, item in fields:
            self.put_scalar(quote, str.__str__(key), before)
            before = ","
            scalar = SCALARS.get(type(item))
            if scalar is not None:
                self.put_scalar(scalar, item, ":")
            else:
                self.put(":")
                yield item, (link, str.__str__(key))
        self.put("{}" if before == "{" else "}")

    def write_tagged(self, name, inside):
        self.put(f'{{"$type":"{name}","value":')
        yield from inside
        self.put("}")

    def write_list(self, value, link):
        name = origins[id(value)].name if id(value) in origins else None
        items = list.__iter__(value)
        if name is None:
            return self.write_items(restore_items(items, value), link)
        # A Map or a Set with members that Python cannot hash or cannot distinguish.
        items = list(items)
        if name != "Map":
            return self.write_tagged(name, self.write_items(restore_items(items, value), (link, "value")))
        if all(issubclass(type(pair), list) and list.__len__(pair) == 2 for pair in items):
            pairs = [restore_items(list.__iter__(pair), pair) for pair in items]
            return self.write_tagged("Map", self.write_pairs(pairs, (link, "value")))
        return self.write_items(items, link)

    def write_tuple(self, value, link):
        return self.write_tagged("tuple", self.write_items(tuple.__iter__(value), (link, "value")))

    def write_set(self, value, link):
        name = origins[id(value)].name if id(value) in origins else "set"
        # Copied in one step, because a set cannot be iterated while another thread changes it.
        members = memory.restore_order(list(set.__iter__(value)), value)
        return self.write_tagged(name, self.write_items(members, (link, "value")))

    def write_frozenset(self, value, link):
        return self.write_tagged("frozenset", self.write_items(frozenset.__iter__(value), (link, "value")))

    def write_dict(self, value, link):
        fields = list(dict.items(value))
        is_map = id(value) in origins and origins[id(value)].name == "Map"
        if is_map or not all(issubclass(type(key), str) for key, _item in fields):
            return self.write_tagged("Map", self.write_pairs(restore_fields(fields, value), (link, "value")))
        if any(str.__eq__(key, "$type") for key, _item in fields):
            return self.write_tagged("Object", self.write_fields(restore_fields(fields, value), (link, "value")))
        return self.write_fields(restore_fields(fields, value), link)

    def write_pairs(self, pairs, link):
        before = "["
        for index, pair in enumerate(pairs):
            self.put(before)
            before = ","
            yield from self.write_items(pair, (link, index))
        self.put("[]" if before == "[" else "]")

    def write_error(self, error, link):
        fields = [(key, item) for key, item in list(dict.items(dict_of_error(error))) if type(key) is str]
        if id(error) in origins:
            yield from self.write_remembered_error(error, dict(restore_fields(fields, error)), link)
            return
        name, message, stack = load("errors").describe_error(error)
        self.put(f'{{"$type":"Error","name":{quote(name)},"message":{quote(message)}')
        if stack is not None:
            self.put(f',"stack":{quote(stack)}')
        cause = cause_of_error(error)
        if cause is not None:
            self.put(',"cause":')
            yield cause, (link, "cause")
        if BaseGroup is not None and issubclass(type(error), BaseGroup):
            self.put(',"errors":')
            yield from self.write_items(BaseGroup.exceptions.__get__(error), (link, "errors"))
        yield from self.write_properties(fields, link)

    def write_remembered_error(self, error, fields, link):
        self.put(origins[id(error)].json)
        for name in ("cause", "errors"):
            if name in fields and (name == "cause" or type(fields[name]) is list):
                self.put(f',"{name}":')
                yield fields[name], (link, name)
        yield from self.write_properties([each for each in fields.items() if each[0] not in ERROR_FIELDS], link)

    def write_properties(self, fields, link):
        if fields:
            self.put(',"properties":')
            yield from self.write_fields(fields, (link, "properties"))
        self.put("}")


CONTAINERS = (
    (list, Encoder.write_list),
    (dict, Encoder.write_dict),
    (tuple, Encoder.write_tuple),
    (set, Encoder.write_set),
    (frozenset, Encoder.write_frozenset),
    (BaseException, Encoder.write_error),
)


def write_path(link):
    steps = []
    while link is not None:
        link, step = link
        steps.append(quote(step) if type(step) is str else str(step))
    return "[" + ",".join(reversed(steps)) + "]"
