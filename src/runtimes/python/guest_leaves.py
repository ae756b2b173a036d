"""Encodes values that contain no others: numbers, text, bytes, dates and times. Part of the encoder in `guest_values.py`."""

import sys
from binascii import b2a_base64

SAFE_INTEGER_MAX = 2**53 - 1
# From 4,000 decimal digits on, integers are written in hexadecimal: decimal takes time that grows with the square.
DECIMAL_BITS_MAX = 13284

quote = load("channel").quote
real_of = complex.__dict__["real"].__get__
imaginary_of = complex.__dict__["imag"].__get__


def tag(name, value):
    """A tag whose value is given as JSON."""
    return f'{{"$type":"{name}","value":{value}}}'


def unserializable(text):
    return f'{{"$type":"Unserializable","text":{quote(text)}}}'


def write_integer(value):
    if -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX:
        return str(value)
    try:
        return tag("BigInt", f'"{value}"' if value.bit_length() <= DECIMAL_BITS_MAX else f'"{value:#x}"')
    except ValueError:
        # The guest has lowered the number of digits that the interpreter converts.
        return tag("BigInt", f'"{value:#x}"')


def write_float(value):
    if value != value:
        return '{"$type":"NaN"}'
    text = repr(value)
    if text in ("inf", "-inf", "-0.0"):
        return '{"$type":"' + text.replace("inf", "Infinity").replace(".0", "") + '"}'
    return text


# By exact type: the fast path for most values.
SCALARS = {
    type(None): lambda _value: "null",
    bool: lambda value: "true" if value else "false",
    int: write_integer,
    float: write_float,
    str: quote,
}


def write_bytes(name, value):
    return tag(name, '"' + str(b2a_base64(value, newline=False), "ascii") + '"')


def write_complex(value):
    real, imaginary = write_float(real_of(value)), write_float(imaginary_of(value))
    return f'{{"$type":"complex","real":{real},"imag":{imaginary}}}'


# Each converts an instance of a subclass to a plain object with methods of the base class: slices copy, and `+ 0` and
# `+value` return the plain number. Overridden methods of the subclass are not called.
BUILT_IN = (
    (str, lambda value: quote(str.__str__(value))),
    (int, lambda value: write_integer(int.__add__(value, 0))),
    (float, lambda value: write_float(float.__pos__(value))),
    (bytes, lambda value: write_bytes("bytes", bytes.__getitem__(value, slice(None)))),
    (bytearray, lambda value: write_bytes("bytearray", bytearray.__getitem__(value, slice(None)))),
    (memoryview, lambda value: write_bytes("bytes", memoryview.tobytes(value))),
    (complex, write_complex),
)
IMPORTED = (
    ("datetime", "datetime", lambda base, value: tag("datetime", quote(base.isoformat(value)))),
    ("datetime", "date", lambda base, value: tag("date", quote(base.isoformat(value)))),
    ("datetime", "time", lambda base, value: tag("time", quote(base.isoformat(value)))),
    ("datetime", "timedelta", lambda base, value: tag("timedelta", write_float(base.total_seconds(value)))),
    ("decimal", "Decimal", lambda base, value: tag("Decimal", quote(base.__str__(value)))),
    # Types that other languages represent as text.
    ("fractions", "Fraction", lambda base, value: quote(base.__str__(value))),
    ("uuid", "UUID", lambda base, value: quote(base.__str__(value))),
    ("pathlib", "PurePath", lambda base, value: quote(base.__str__(value))),
    ("array", "array", lambda base, value: write_array(base, value)),
)


def find_writer(kind):
    """The function that writes instances of a class as JSON, or None."""
    for base, write in BUILT_IN:
        if issubclass(kind, base):
            return write
    has_base = load("kinds").has_base
    for module, name, write in IMPORTED:
        if has_base(kind, module, name):
            base = getattr(sys.modules[module], name)
            return lambda value, base=base, write=write: write(base, value)
    return None


def write_array(base, value):
    letter, size = base.typecode.__get__(value), base.itemsize.__get__(value)
    if letter in "uw":
        return quote(base.tounicode(value))
    kind = "Float" if letter in "fd" else "Int" if letter.islower() else "Uint"
    name = ("Big" if size == 8 and kind != "Float" else "") + f"{kind}{8 * size}Array"
    return write_bytes(name, base.tobytes(value))


def write_remembered(name, value):
    """Encode a value of the input with the type name that it had there. The value may have changed since."""
    if name != "Float16Array":
        return write_bytes(name, value)
    from struct import pack

    try:
        return write_bytes(name, pack(f"<{len(value)}e", *value))
    except OverflowError:
        # Half precision no longer suffices, because the guest has stored a larger number.
        return write_array(type(value), value)


def is_mutable(kind):
    return issubclass(kind, bytearray) or load("kinds").has_base(kind, "array", "array")


def count_bytes(value, kind):
    """How many bytes a copy of the value would have."""
    if issubclass(kind, bytes):
        return bytes.__len__(value)
    if issubclass(kind, bytearray):
        return bytearray.__len__(value)
    return 0
