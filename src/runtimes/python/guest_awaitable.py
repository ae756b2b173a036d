"""The object that a call of a host function returns while an event loop runs: like a coroutine, but already started."""


class HostCall:
    """Awaiting it gives the value. Using it as the value raises an error that says that `await` is missing."""

    __slots__ = ("__steps", "__future", "__name")

    def __init__(self, name, future):
        self.__name = name
        self.__future = future
        self.__steps = None

    def __await__(self):
        return self.__future.__await__()

    # With these methods `asyncio.create_task` accepts it as a coroutine.
    def send(self, value):
        if self.__steps is None:
            self.__steps = iter(self.__future.__await__())
        return self.__steps.send(value)

    def throw(self, *error):
        if self.__steps is None:
            self.__steps = iter(self.__future.__await__())
        return self.__steps.throw(*error)

    def close(self):
        self.__future.cancel()

    def __repr__(self):
        return f"<{describe_misuse(self.__name)}>"

    def __getattr__(self, attribute):
        raise AttributeError(f"{describe_misuse(self.__name)}; it has no attribute {attribute!r} until then")

    def __eq__(self, other):
        if type(other) is HostCall:
            return self is other
        raise TypeError(describe_misuse(self.__name))

    __hash__ = object.__hash__


def describe_misuse(name):
    return f"the call of {name!r} was not awaited: write `await {name}(...)`"


def refuse(self, *_others):
    raise TypeError(describe_misuse(object.__getattribute__(self, "_HostCall__name")))


# There is no `__next__`: if there were one, `asyncio` would call it instead of `send`.
# All operators and built-in functions that take a value.
ARITHMETIC = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or"
OTHERS = (
    "str format bytes bool int float complex index round trunc floor ceil neg pos abs invert len iter reversed "
    "contains getitem setitem delitem call enter exit aenter aexit aiter anext lt le gt ge ne fspath"
)
for each in (*ARITHMETIC.split(), *OTHERS.split()):
    setattr(HostCall, f"__{each}__", refuse)
for each in ARITHMETIC.split():
    setattr(HostCall, f"__r{each}__", refuse)
