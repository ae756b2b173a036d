"""`display()` and rich representations: converts objects to MIME bundles, with IPython's methods in IPython's order."""

from binascii import b2a_base64

METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("application/pdf", "_repr_pdf_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("text/latex", "_repr_latex_"),
    ("application/json", "_repr_json_"),
    ("application/javascript", "_repr_javascript_"),
)
# The types that IPython accepts from these methods; from `_repr_mimebundle_` it accepts any.
BINARY_TYPES = frozenset(("image/png", "application/pdf", "image/jpeg"))

# Only an object that has every attribute name has this one.
CANARY = "_ipython_canary_method_should_not_exist_"

# The same as `idCharactersMax` of the host.
ID_CHARACTERS_MAX = 200

quote = load("channel").quote
text_part = load("text")


class Displays:
    """The displays of one run. All of them together have the size limit of its value."""

    def __init__(self, channel, bytes_max):
        self.channel = channel
        self.bytes_max = bytes_max
        self.clear_when_shown = False
        # Display id → bytes, which an update frees.
        self.sizes = {}
        self.start_over()

    def start_over(self):
        self.room = self.bytes_max
        self.is_full = False
        self.sizes.clear()
        self.clear_when_shown = False

    def clear(self, wait):
        self.channel.send(f'{{"type":"clear","wait":{"true" if wait else "false"}}}')
        if wait:
            self.clear_when_shown = True
        else:
            self.start_over()

    def show_value(self, value):
        """Display the program's value if it offers more than text; its text is sent anyway."""
        bundle = None if self.is_full else create_bundle(value, Wanted(None, None))
        if bundle is not None and list(bundle) != ["text/plain"]:
            self.send(bundle)

    def show(self, value, include=None, exclude=None, raw=False, place=None):
        if self.is_full and not self.clear_when_shown and (place is None or place.id not in self.sizes):
            return
        wanted = Wanted(include, exclude)
        bundle = create_raw_bundle(value, wanted) if raw else create_bundle(value, wanted)
        if bundle is not None:
            self.send(bundle, place)

    def send(self, bundle, place=None):
        fields = []
        if self.clear_when_shown:
            self.start_over()
        if place is not None and place.is_update and place.id in self.sizes:
            self.room += self.sizes.pop(place.id)
            self.is_full = False
        room = self.room
        for mime, content in bundle.items():
            field = f"{quote(mime)}:{quote(content)}"
            length = len(field.encode("utf-8", "backslashreplace"))
            if length > self.room:
                self.is_full = True
                continue
            self.room -= length
            fields.append(field)
        # A format that does not fit is omitted, and so are all later displays.
        mark = ',"truncated":true' if self.is_full else ""
        if place is not None:
            self.sizes[place.id] = self.sizes.get(place.id, 0) + room - self.room
            mark += f',"id":{quote(place.id)}' + (',"update":true' if place.is_update else "")
        self.channel.send(f'{{"type":"display","bundle":{{{",".join(fields)}}}{mark}}}')


class Place:
    """The id of a display, and whether it replaces the earlier display with that id."""

    def __init__(self, display_id, is_update):
        self.id = str(display_id)[:ID_CHARACTERS_MAX]
        self.is_update = is_update


class DisplayHandle:
    """What `display(..., display_id=...)` returns, as in a notebook."""

    def __init__(self, display_id, display):
        self.display_id = display_id
        self._display = display

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"

    def display(self, value, **options):
        self._display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        self._display(value, display_id=self.display_id, update=True, **options)


class Wanted:
    """The formats that a call of `display` asks for."""

    def __init__(self, include, exclude):
        self.include, self.exclude = include, exclude

    def __contains__(self, mime):
        return (not self.include or mime in self.include) and not (self.exclude and mime in self.exclude)


def create_bundle(value, wanted):
    """MIME type → text (base64 for binary types); None for an object that displays itself. Plain text comes first."""
    plain = {"text/plain": text_part.describe(value)} if "text/plain" in wanted else {}
    if not text_part.is_rich(value):
        return plain
    if has_shown_itself(value):
        return None
    bundle = dict(plain)
    given = call_method(value, "_repr_mimebundle_", include=wanted.include, exclude=wanted.exclude)
    given = without_metadata(given)
    if isinstance(given, dict):
        for mime, content in list(given.items()):
            if mime in wanted:
                add_format(bundle, mime, content)
    for mime, method in METHODS:
        if mime in wanted and mime not in bundle:
            content = without_metadata(call_method(value, method))
            if is_expected(mime, content):
                add_format(bundle, mime, content)
    if text_part.is_figure(value) and "image/png" in wanted:
        bundle["image/png"] = write_content("image/png", load("figures").draw(value))
    return bundle


def create_raw_bundle(value, wanted):
    bundle = {}
    for mime, content in list(value.items()):
        if mime in wanted:
            add_format(bundle, mime, content)
    return bundle


def has_shown_itself(value):
    method = find_method(value, "_ipython_display_")
    if method is None:
        return False
    try:
        method()
        return True
    except Exception:
        # An object raises NotImplementedError if it cannot offer this format now.
        return False


def call_method(value, name, **options):
    method = find_method(value, name)
    if method is None:
        return None
    try:
        return method(**options)
    except Exception:
        # The same as if the object did not offer this format, as in a notebook.
        return None


def find_method(value, name):
    """A method of the object or of its class. None for a class, and for an object that has every attribute name."""
    try:
        if isinstance(value, type) or getattr(value, CANARY, None) is not None:
            return None
        method = getattr(value, name, None)
        return method if callable(method) else None
    except Exception:
        return None


def without_metadata(content):
    return content[0] if isinstance(content, tuple) and content else content


def is_expected(mime, content):
    kind = type(content)
    if mime == "application/json":
        return issubclass(kind, (list, dict, str))
    return issubclass(kind, (str, bytes) if mime in BINARY_TYPES or mime == "image/svg+xml" else str)


def add_format(bundle, mime, content):
    if not isinstance(mime, str):
        return
    text = write_content(mime, content)
    if text is not None:
        bundle[str.__str__(mime)] = text


def write_content(mime, content):
    """A format's content as text; None if it is not usable."""
    if content is None:
        return None
    if issubclass(type(content), str):
        return str.__str__(content)
    if issubclass(type(content), (bytes, bytearray)):
        if mime.startswith("text/") or mime == "image/svg+xml":
            return str(bytes(content), "utf-8", "replace")
        return str(b2a_base64(content, newline=False), "ascii")
    try:
        from json import dumps

        return dumps(content, default=text_part.describe)
    except Exception:
        return None
