"""Completes the name that is being typed. It calls no guest code, not even properties and `__getattr__`."""

import builtins

MATCHES_MAX = 100
NAME_CHARACTERS_MAX = 200
KEYWORDS = ("False None True and as assert async await break class continue def del elif else except finally for from global if "
            "import in is lambda nonlocal not or pass raise return try while with yield").split()
read_mro = type.__dict__["__mro__"].__get__
read_class_names = type.__dict__["__dict__"].__get__
own_names = object.__getattribute__
module_type = type(builtins)
missing = object()


def answer(context, names, text):
    try:
        context.is_running = True
        matches = complete(names, text)
        context.is_running = False
    except BaseException:
        # An interrupt, or the guest has replaced something that this code uses.
        context.is_running = False
        matches = []
    quoted = ",".join(map(load("channel").quote, matches))
    context.channel.send(f'{{"type":"value","value":[{quoted}],"text":"","truncated":false}}')


def complete(names, text):
    """The matches for the name at the end of `text`, which may follow other names and dots."""
    *path, prefix = trailing_path(text)
    if path:
        value = resolve(names, path)
        found = [] if value is missing else members(value)
    else:
        found = (*names, *vars(builtins), *KEYWORDS)
    matches = {each for each in found if type(each) is str and is_meant(each, prefix)}
    return sorted(matches, key=lambda each: (each.startswith("_"), each))[:MATCHES_MAX]


def trailing_path(text):
    start = len(text)
    while start > 0 and (text[start - 1] in "._" or text[start - 1].isalnum()):
        start -= 1
    return text[start:].split(".")


def is_meant(name, prefix):
    """Names that begin with an underscore are offered only if the prefix does too."""
    if not name.startswith(prefix) or not name.isidentifier() or len(name) > NAME_CHARACTERS_MAX:
        return False
    return prefix.startswith("_") or not name.startswith("_")


def resolve(names, path):
    first = path[0]
    value = names.get(first, vars(builtins).get(first, missing))
    for name in path[1:]:
        if value is missing:
            return missing
        value = next((space[name] for space in spaces(value) if name in space), missing)
        # The value of a property is unknown without calling guest code.
        if hasattr(type(value), "__get__") and not isinstance(value, type):
            return missing
    return value


def members(value):
    return [name for space in spaces(value) for name in space]


def spaces(value):
    """The dictionaries of its attributes, its own first."""
    found = []
    if isinstance(value, type):
        found += [read_class_names(each) for each in read_mro(value)]
        return found
    try:
        own = own_names(value, "__dict__")
        if type(own) is dict:
            found.append(own)
    except AttributeError:
        pass
    return found + [read_class_names(each) for each in read_mro(type(value))]
