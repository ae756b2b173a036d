"""`display()` and rich representations: objects → MIME bundles, in the order and by the methods that IPython uses."""

from binascii import b2a_base64

METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("text/latex", "_repr_latex_"),
    ("application/json", "_repr_json_"),
)

quote = load("channel").quote
text_part = load("text")


class Displays:
    """What one run shows. All of it together may be as long as its value may be."""

    def __init__(self, channel, bytes_max):
        self.channel = channel
        self.room = bytes_max
        self.is_full = False

    def show(self, value):
        if self.is_full:
            return
        fields = []
        for mime, content in create_bundle(value).items():
            field = f"{quote(mime)}:{quote(content)}"
            length = len(field.encode("utf-8", "backslashreplace"))
            if length > self.room:
                self.is_full = True
                continue
            self.room -= length
            fields.append(field)
        # The format that does not fit is missing, and so is everything shown after it.
        mark = ',"truncated":true' if self.is_full else ""
        self.channel.send(f'{{"type":"display","bundle":{{{",".join(fields)}}}{mark}}}')


def create_bundle(value):
    """MIME type → text (base64 for binary types). The plain text is always there, and first."""
    bundle = {"text/plain": text_part.describe(value)}
    if not text_part.is_rich(value):
        return bundle
    given = without_metadata(call_method(value, "_repr_mimebundle_", include=None, exclude=None))
    if isinstance(given, dict):
        for mime, content in list(given.items()):
            add_format(bundle, mime, content)
    for mime, method in METHODS:
        if mime not in bundle:
            add_format(bundle, mime, without_metadata(call_method(value, method)))
    return bundle


def call_method(value, name, **options):
    method = getattr(type(value), name, None)
    if not callable(method):
        return None
    try:
        return method(value, **options)
    except Exception:
        # The same as if the object did not offer this format, as in a notebook.
        return None


def without_metadata(content):
    return content[0] if isinstance(content, tuple) and content else content


def add_format(bundle, mime, content):
    if not isinstance(mime, str):
        return
    text = write_content(mime, content)
    if text is not None:
        bundle[str.__str__(mime)] = text


def write_content(mime, content):
    """A format's content as text; None if it is of no use."""
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
