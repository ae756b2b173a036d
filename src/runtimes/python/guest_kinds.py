"""Objects of Python's library with a plainer equivalent: members of enumerations, dataclasses, deques."""

import sys

class_order_of = type.__dict__["__mro__"].__get__


def make_plain(value, kind):
    """The plainer value, or the value itself if there is none. May raise what the guest's code raises."""
    if has_base(kind, "enum", "Enum"):
        return object.__getattribute__(value, "_value_")
    if has_base(kind, "_collections", "deque"):
        # Copied in one step: a deque that another thread changes cannot be iterated.
        return list(sys.modules["_collections"].deque.__iter__(value))
    if "dataclasses" in sys.modules and any("__dataclass_fields__" in vars_of(each) for each in class_order_of(kind)):
        return {field.name: getattr(value, field.name) for field in sys.modules["dataclasses"].fields(kind)}
    return value


vars_of = type.__dict__["__dict__"].__get__


def has_base(kind, module, name):
    """Whether a class derives from one of the library. Calls no method of either, because a metaclass could answer anything."""
    # A module that was never imported has no instances.
    base = getattr(sys.modules.get(module), name, None)
    return base is not None and any(each is base for each in class_order_of(kind))
