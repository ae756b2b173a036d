"""Displays matplotlib's figures, as in a notebook: at `plt.show()`, and, if they are still open, at the program's end.

Displayed figures are closed. A figure that the program has displayed itself is not displayed again at the end.
"""

import os

FONTS = """<?xml version="1.0"?>
<fontconfig>
<cachedir>{cache}</cachedir>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir>
</fontconfig>
"""
# The figures drawn so far; None before the first.
drawn = None


def prepare_settings():
    """Prepare matplotlib's settings before its import; programs that this one starts inherit them."""
    os.environ.setdefault("MPLBACKEND", "agg")
    # Otherwise settings and lists of fonts would appear in the workspace, among the program's files.
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", "matplotlib")
    if "MPLCONFIGDIR" not in os.environ:
        os.environ["MPLCONFIGDIR"] = folder
        # Debian's matplotlib insists on such a file. An empty one leaves every setting at its default.
        write_file(folder, "matplotlibrc", "")
    # The same for fontconfig: a folder for its cache, then the machine's own settings.
    if "FONTCONFIG_FILE" not in os.environ:
        os.environ["FONTCONFIG_FILE"] = write_file(folder, "fonts.conf", FONTS.format(cache=folder))


def write_file(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def capture(pyplot):
    import atexit

    def show(*_args, **_options):
        """Show the figures that are open among the run's displays, and close them."""
        show_open_figures(pyplot, lambda _figure: True)

    pyplot.show = show
    atexit.register(show_new_figures, pyplot)


def show_new_figures(pyplot):
    """The open figures that the program has not displayed itself."""
    show_open_figures(pyplot, lambda figure: drawn is None or figure not in drawn)


def show_open_figures(pyplot, is_wanted):
    try:
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            # Notebooks leave out empty figures.
            if is_wanted(figure) and (figure.axes or figure.lines or figure.texts or figure.images):
                load("watch").running.show((figure,))
    finally:
        pyplot.close("all")


def draw(figure):
    """The figure as PNG, cropped to its contents."""
    global drawn
    from io import BytesIO
    from warnings import catch_warnings, simplefilter
    from weakref import WeakSet

    if drawn is None:
        drawn = WeakSet()
    drawn.add(figure)
    picture = BytesIO()
    with catch_warnings():
        # Warnings would name a line of the harness, and the program already got the same ones when it drew.
        simplefilter("ignore")
        figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()
