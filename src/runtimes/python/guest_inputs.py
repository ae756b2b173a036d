"""Decodes `input_data` from JSON with tags. docs/guide/values.md defines the format; `guest_values.py` is the encoder."""

singles, origins = load("singles"), load("origins")
SINGLES, Malformed, expect = singles.SINGLES, singles.Malformed, singles.expect
remember, remember_blank = origins.remember, origins.remember_blank
quote = load("channel").quote
# Errors that invalid content of a tag can raise. Such a tag is decoded as a plain object.
UNFIT = (Malformed, ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError)
# Fields of an error that are not its properties.
ERROR_FIELDS = ("name", "message", "stack", "cause", "errors")


def decode(document):
    return Decoder(document).decode(document)


class Decoder:
    def __init__(self, document):
        self.document = document
        # id of an array or object of the document → its value. The document outlives this map, so ids stay unique.
        self.decoded = {}

    def decode(self, node):
        if type(node) is list:
            return self.fill_list(node, self.keep(node, []))
        if type(node) is not dict:
            return node
        if type(node.get("$type")) is str:
            try:
                return self.keep(node, self.decode_tag(node, node["$type"]))
            except UNFIT:
                pass
        return self.fill_dict(node.items(), self.keep(node, {}))

    def keep(self, node, value):
        self.decoded[id(node)] = value
        return value

    def fill_list(self, items, target):
        for item in items:
            value = self.decode(item)
            if value is None and item is not None:
                remember_blank(target, len(target), item["$type"])
            target.append(value)
        return target

    def fill_dict(self, fields, target):
        for key, item in fields:
            target[key] = value = self.decode(item)
            if value is None and item is not None:
                remember_blank(target, key, item["$type"])
        return target

    def decode_tag(self, node, name):
        single = SINGLES.get(name)
        if single is not None:
            return single(node)
        container = CONTAINERS.get(name)
        if container is not None:
            return container(self, node, expect(node.get("value"), dict if name == "Object" else list))
        other = OTHERS.get(name)
        if other is None:
            raise Malformed
        return other(self, node)

    def decode_object(self, node, inside):
        return self.fill_dict(inside.items(), self.keep(node, {}))

    def decode_map(self, node, pairs):
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise Malformed
        keys = self.decode_keys([key for key, _item in pairs])
        if keys is None:
            return self.fill_list(pairs, self.keep(node, remember([], "Map")))
        target = self.keep(node, remember({}, "Map"))
        return self.fill_dict(zip(keys, [item for _key, item in pairs]), target)

    def decode_set(self, node, items):
        keys = self.decode_keys(items)
        if keys is None:
            return self.fill_list(items, self.keep(node, remember([], node["$type"])))
        target = remember(set(keys), node["$type"])
        origins.origins[id(target)].order = keys
        return target

    def decode_keys(self, nodes):
        """Keys for a dict or a set. None if Python cannot hash one of them, or cannot distinguish two (1 and true)."""
        if not all(map(is_key, nodes)):
            return None
        keys = [self.decode(node) for node in nodes]
        try:
            return keys if len(set(keys)) == len(keys) else None
        except TypeError:
            return None

    def decode_tuple(self, _node, items):
        return tuple(self.fill_list(items, []))

    def decode_frozenset(self, _node, items):
        return frozenset(self.fill_list(items, []))

    def decode_reference(self, node):
        place = self.document
        for step in expect(node.get("path"), list):
            if type(step) is not (str if type(place) is dict else int):
                raise Malformed
            place = place[step]
        return self.decoded[id(place)]

    def decode_error(self, node):
        name, message = expect(node.get("name"), str), expect(node.get("message"), str)
        head = f'{{"$type":"Error","name":{quote(name)},"message":{quote(message)}'
        if type(node.get("stack")) is str:
            head += f',"stack":{quote(node["stack"])}'
        error = self.keep(node, remember(create_error(name, message), "Error", head))
        fields = [(key, item) for key, item in expect(node.get("properties", {}), dict).items() if key not in ERROR_FIELDS]
        fields += [(key, node[key]) for key in ("cause", "errors", "stack") if key in node]
        own = self.fill_dict(fields, {})
        if id(own) in origins.origins:
            origins.origins[id(error)].blanks = origins.origins[id(own)].blanks
        vars(error).update(own, name=name)
        error.__cause__ = own["cause"] if isinstance(own.get("cause"), BaseException) else None
        return error

    def decode_duration(self, node):
        from datetime import timedelta

        return timedelta(seconds=self.decode(node["value"]))

    def decode_complex(self, node):
        return complex(self.decode(node["real"]), self.decode(node["imag"]))


CONTAINERS = {
    "Object": Decoder.decode_object,
    "Map": Decoder.decode_map,
    "Set": Decoder.decode_set,
    "set": Decoder.decode_set,
    "tuple": Decoder.decode_tuple,
    "frozenset": Decoder.decode_frozenset,
}
OTHERS = {
    "Ref": Decoder.decode_reference,
    "Error": Decoder.decode_error,
    "timedelta": Decoder.decode_duration,
    "complex": Decoder.decode_complex,
}


def is_key(node):
    if type(node) is list:
        return False
    if type(node) is not dict:
        return True
    if node.get("$type") in ("tuple", "frozenset"):
        return type(node.get("value")) is list and all(map(is_key, node["value"]))
    return node.get("$type") in singles.KEYS


def create_error(name, message):
    """An exception of the class of that name, if Python has one that takes a message."""
    kind = __builtins__.get(name)
    try:
        if type(kind) is type and issubclass(kind, Exception):
            return kind(message)
    except TypeError:
        pass
    return Exception(message)
