"""JSON with tags → values: how `input_data` comes in. The format is `core/values.ts`, the writer `guest_values.py`."""

from binascii import a2b_base64

FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"), "-0": -0.0}
BYTES = ("bytes", "ArrayBuffer", "DataView", "Uint8Array", "Uint8ClampedArray")
# The letters of `struct`, by the name of the typed array.
ELEMENTS = {
    "Int8Array": "b",
    "Int16Array": "h",
    "Uint16Array": "H",
    "Int32Array": "i",
    "Uint32Array": "I",
    "Float16Array": "e",
    "Float32Array": "f",
    "Float64Array": "d",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
}


class Malformed(Exception):
    """Not what the format says: the tag is a plain object then."""


def decode(document):
    return Decoder(document).decode(document)


class Decoder:
    def __init__(self, document):
        self.document = document
        # id of an array or object of the document → what it became. The document outlives us, so ids stay apart.
        self.decoded = {}

    def decode(self, node):
        if type(node) is list:
            return self.fill_list(node, self.keep(node, []))
        if type(node) is not dict:
            return node
        if type(node.get("$type")) is str:
            try:
                return self.keep(node, self.decode_tag(node, node["$type"]))
            except (Malformed, ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError):
                pass
        return self.fill_dict(node, self.keep(node, {}))

    def keep(self, node, value):
        self.decoded[id(node)] = value
        return value

    def fill_list(self, node, target):
        for item in node:
            target.append(self.decode(item))
        return target

    def fill_dict(self, node, target):
        for key, item in node.items():
            target[key] = self.decode(item)
        return target

    def decode_tag(self, node, name):
        if name in ("undefined", "hole"):
            return None
        if name in FLOATS:
            return FLOATS[name]
        if name in BYTES:
            return a2b_base64(node["value"])
        if name == "bytearray":
            return bytearray(a2b_base64(node["value"]))
        if name in ELEMENTS:
            return decode_elements(ELEMENTS[name], a2b_base64(node["value"]))
        if name in CONTAINERS:
            return CONTAINERS[name](self, node, expect(node.get("value"), dict if name == "Object" else list))
        decoder = OTHERS.get(name)
        if decoder is None:
            raise Malformed
        return decoder(self, node)

    def decode_object(self, node, inside):
        return self.fill_dict(inside, self.keep(inside, self.keep(node, {})))

    def decode_map(self, node, pairs):
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise Malformed
        target = self.keep(node, {})
        for key, item in pairs:
            target[freeze(self.decode(key))] = self.decode(item)
        return target

    def decode_set(self, node, items):
        target = self.keep(node, set())
        for item in items:
            target.add(freeze(self.decode(item)))
        return target

    def decode_tuple(self, _node, items):
        return tuple(self.fill_list(items, []))

    def decode_frozenset(self, _node, items):
        return frozenset(freeze(item) for item in self.fill_list(items, []))

    def decode_reference(self, node):
        place = self.document
        for step in expect(node.get("path"), list):
            if type(step) is not (str if type(place) is dict else int):
                raise Malformed
            place = place[step]
        return self.decoded[id(place)]

    def decode_error(self, node):
        name, message = expect(node.get("name"), str), expect(node.get("message"), str)
        kind = __builtins__.get(name)
        if type(kind) is not type or not issubclass(kind, Exception) or issubclass(kind, UnicodeError):
            kind = Exception
        error = self.keep(node, kind(message))
        fields = self.fill_dict(expect(node.get("properties", {}), dict), {})
        for key in ("stack", "errors"):
            if key in node:
                fields[key] = self.decode(node[key])
        vars(error).update(fields, name=name)
        cause = self.decode(node.get("cause"))
        error.__cause__ = cause if isinstance(cause, BaseException) else None
        return error


CONTAINERS = {
    "Object": Decoder.decode_object,
    "Map": Decoder.decode_map,
    "Set": Decoder.decode_set,
    "set": Decoder.decode_set,
    "tuple": Decoder.decode_tuple,
    "frozenset": Decoder.decode_frozenset,
}


def expect(value, kind):
    if type(value) is not kind:
        raise Malformed
    return value


def freeze(key):
    """A key or member: what Python cannot hash becomes its nearest hashable kin."""
    if type(key) is list:
        return tuple(freeze(item) for item in key)
    if type(key) is set:
        return frozenset(key)
    if type(key) is dict:
        return tuple((name, freeze(item)) for name, item in key.items())
    return bytes(key) if type(key) is bytearray else key


def decode_elements(letter, data):
    from struct import calcsize, unpack

    return list(unpack(f"<{len(data) // calcsize(letter)}{letter}", data))


def decode_integer(_decoder, node):
    text = expect(node.get("value"), str)
    return int(text, 16) if "x" in text else int(text)


def decode_datetime(_decoder, node):
    from datetime import datetime

    text = node["value"]
    # Before Python 3.11 the letter is unknown. An invalid date of JavaScript has no text at all.
    return None if text is None else datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def decode_moment(name):
    def decode_named(_decoder, node):
        import datetime

        return getattr(datetime, name).fromisoformat(node["value"])

    return decode_named


def decode_duration(decoder, node):
    from datetime import timedelta

    return timedelta(seconds=decoder.decode(node["value"]))


def decode_decimal(_decoder, node):
    from decimal import Decimal

    return Decimal(expect(node.get("value"), str))


def decode_complex(decoder, node):
    return complex(decoder.decode(node["real"]), decoder.decode(node["imag"]))


def decode_pattern(_decoder, node):
    import re

    flags = 0
    for letter in expect(node.get("flags"), str):
        flags |= {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}.get(letter, 0)
    # A syntax that Python does not share is a ValueError's kin and leaves the plain object.
    try:
        return re.compile(expect(node.get("source"), str), flags)
    except re.error:
        raise Malformed from None


OTHERS = {
    "Ref": Decoder.decode_reference,
    "Error": Decoder.decode_error,
    "BigInt": decode_integer,
    "Date": decode_datetime,
    "datetime": decode_datetime,
    "date": decode_moment("date"),
    "time": decode_moment("time"),
    "timedelta": decode_duration,
    "Decimal": decode_decimal,
    "complex": decode_complex,
    "RegExp": decode_pattern,
}
