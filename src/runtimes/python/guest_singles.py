"""Decodes tags without nested tags: numbers, bytes, dates and times, patterns. Part of the decoder in `guest_inputs.py`."""

from binascii import a2b_base64

FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"), "-0": -0.0}
BYTES = ("ArrayBuffer", "DataView", "Uint8Array", "Uint8ClampedArray")
# The type codes of the `array` module, by the name of the typed array. It has none for half precision.
ELEMENTS = {
    "Int8Array": "b",
    "Int16Array": "h",
    "Uint16Array": "H",
    "Int32Array": "i",
    "Uint32Array": "I",
    "Float16Array": "f",
    "Float32Array": "f",
    "Float64Array": "d",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
}
SAFE_INTEGER_MAX = 2**53 - 1
DATE_LENGTH = len("2026-01-31T00:00:00.000Z")

quote = load("channel").quote
tag = load("leaves").tag
origins = load("origins")
remember = origins.remember


class Malformed(Exception):
    """The content does not match the format, so the tag is decoded as a plain object."""


def expect(value, kind):
    if type(value) is not kind:
        raise Malformed
    return value


def keep_foreign(node):
    """For values that Python cannot represent. All their fields are texts."""
    fields = ",".join(f"{quote(key)}:{'null' if item is None else quote(item)}" for key, item in node.items())
    return remember(origins.Foreign(node), node["$type"], f"{{{fields}}}")


def decode_bytes(node):
    return a2b_base64(expect(node.get("value"), str))


def decode_buffer(node):
    return remember(origins.Bytes(decode_bytes(node)), node["$type"])


def decode_elements(node):
    from array import array

    data, name = decode_bytes(node), node["$type"]
    if name == "Float16Array":
        from struct import unpack

        return remember(array("f", unpack(f"<{len(data) // 2}e", data)), name)
    # Little-endian, like every supported machine.
    return array(ELEMENTS[name], data)


def decode_integer(node):
    text = expect(node.get("value"), str)
    value = int(text, 16) if "x" in text else int(text)
    return origins.Integer(value) if -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX else value


def decode_date(node):
    from datetime import datetime

    text = node.get("value")
    # An invalid date has no text. Years with more than four digits have a longer text.
    if text is None or len(expect(text, str)) != DATE_LENGTH or text.startswith("0000"):
        return keep_foreign(node)
    # Before Python 3.11, `Z` is not accepted.
    return remember(datetime.fromisoformat(text[:-1] + "+00:00"), "Date", tag("Date", quote(text)))


def decode_moment(node):
    import datetime

    return getattr(datetime, node["$type"]).fromisoformat(node["value"])


def decode_decimal(node):
    from decimal import Decimal

    return Decimal(expect(node.get("value"), str))


def decode_pattern(node):
    import re
    import warnings

    source, letters = expect(node.get("source"), str), expect(node.get("flags"), str)
    flags = 0
    for letter in letters:
        flags |= {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}.get(letter, 0)
    # Python has another syntax for named groups and for references to them.
    spelled = re.sub(r"(\\[^k])|\(\?<(?![=!])", lambda found: found[1] or "(?P<", source)
    spelled = re.sub(r"(\\[^k])|\\k<(\w+)>", lambda found: found[1] or f"(?P={found[2]})", spelled)
    # Otherwise `re` would return the same object for every equal pattern.
    re.purge()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(spelled, flags)
    except (re.error, OverflowError, RecursionError):
        return keep_foreign(node)
    return remember(pattern, "RegExp", f'{{"$type":"RegExp","source":{quote(source)},"flags":{quote(letters)}}}')


def decode_unserializable(node):
    expect(node.get("text"), str)
    return keep_foreign({"$type": "Unserializable", "text": node["text"]})


SINGLES = {
    **{name: lambda node: FLOATS[node["$type"]] for name in FLOATS},
    **dict.fromkeys(BYTES, decode_buffer),
    **dict.fromkeys(ELEMENTS, decode_elements),
    **dict.fromkeys(("datetime", "date", "time"), decode_moment),
    "undefined": lambda _node: None,
    "hole": lambda _node: None,
    "bytes": decode_bytes,
    "bytearray": lambda node: bytearray(decode_bytes(node)),
    "BigInt": decode_integer,
    "Date": decode_date,
    "Decimal": decode_decimal,
    "RegExp": decode_pattern,
    "Unserializable": decode_unserializable,
}
# A dict may have these as keys, because two of them are equal if their encodings are equal.
KEYS = (*FLOATS, "BigInt", "bytes", "datetime", "date", "time", "timedelta", "Decimal", "complex")
