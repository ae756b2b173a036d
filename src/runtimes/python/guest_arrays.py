"""Values of numpy and pandas as plain Python values: a scalar as its number, an array as lists, a missing value as None.

A table (`Series`, `DataFrame`) is not converted: it is displayed, and the program can send `to_dict()` of it.
"""

import sys

# Units that Python's dates and durations do not have; numpy would return a bare number.
FINE_UNITS = ("ns", "ps", "fs", "as")
# Each element takes at least a digit and a comma.
ELEMENT_BYTES_MIN = 2


class TooManyElements(Exception):
    """The lists would exceed the size of a value."""


def make_plain(value, kind, room):
    """The plain value, or the value itself if it has none."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is getattr(pandas, "NaT", None) or value is getattr(pandas, "NA", None)):
        return None
    numpy = sys.modules.get("numpy")
    if is_class(numpy, "generic") and issubclass(kind, numpy.generic):
        return make_scalar(numpy, value)
    if is_class(numpy, "ndarray") and issubclass(kind, numpy.ndarray):
        return make_lists(numpy, value, room)
    return value


def is_class(module, name):
    # Only plain classes, because a metaclass could answer anything.
    return type(getattr(module, name, None)) is type


def make_scalar(numpy, value):
    if isinstance(value, (numpy.datetime64, numpy.timedelta64)):
        return soften_moments(numpy, value).item()
    if isinstance(value, numpy.longdouble):
        return float(value)
    if isinstance(value, numpy.clongdouble):
        return complex(value)
    plain = numpy.generic.item(value)
    return value if isinstance(plain, numpy.generic) else plain


def make_lists(numpy, array, room):
    if array.size * ELEMENT_BYTES_MIN > room:
        raise TooManyElements
    if array.dtype.kind in "mM":
        array = soften_moments(numpy, array)
    elif array.dtype.char in "gG":
        array = array.astype("complex128" if array.dtype.char == "G" else "float64")
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    if type(masked) is type and isinstance(array, masked):
        return masked.tolist(array)
    return numpy.ndarray.tolist(array)


def soften_moments(numpy, value):
    if numpy.datetime_data(value.dtype)[0] in FINE_UNITS:
        return value.astype(("datetime64" if value.dtype.kind == "M" else "timedelta64") + "[us]")
    return value
