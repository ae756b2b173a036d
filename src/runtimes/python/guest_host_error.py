"""The error of a failed call. If Python has an exception class with the name of the host's error, it is an instance of it.
"""

# The interpreter treats these specially, or suggests other spellings of a name that the program never used.
RESERVED = (StopIteration, StopAsyncIteration, NameError)
own_builtins = __builtins__
classes = {}


class HostFunctionError(RuntimeError):
    """A host function failed. `name` is the error's name on the host, `message` its text.

    If Python has an exception of that name, the error is an instance of it, too.
    """

    __module__ = "builtins"
    name = "Error"
    message = ""

    def __new__(cls, *values, **_options):
        kind = find_class(values[1]) if cls is HostFunctionError and len(values) > 1 else cls
        # OSError has its own `__new__`, and that of BaseException refuses subclasses of OSError.
        return (OSError if issubclass(kind, OSError) else BaseException).__new__(kind)

    def __init__(self, message="", name="Error"):
        super().__init__(*(message, name)[: 1 if name == "Error" else 2])
        self.message, self.name = message, name
        if isinstance(self, SyntaxError):
            # A traceback shows this instead of the text.
            self.msg = str(self)

    def __str__(self):
        if self.name == "Error":
            return str(self.message)
        return f"{self.name}: {self.message}" if self.message else str(self.name)

    def __reduce__(self):
        kind = HostFunctionError if type(self) in classes.values() else type(self)
        return kind, self.args, self.__dict__


def find_class(name):
    base = own_builtins.get(name) if type(name) is str else None
    if not is_known(base):
        return HostFunctionError
    if base not in classes:
        classes[base] = type("HostFunctionError", (HostFunctionError, base), {"__module__": "builtins"})
    return classes[base]


def is_known(base):
    """Whether `base` is an exception class that takes a text and is not reserved."""
    if not isinstance(base, type) or not issubclass(base, Exception):
        return False
    if issubclass(base, RESERVED) or issubclass(HostFunctionError, base):
        return False
    try:
        base("")
    except TypeError:
        return False
    return True
