"""Adapts modules that depend on the run when the guest imports them, so that other runs pay nothing for it."""

import os
import sys

PLOTLY_RENDERER = "plotly_mimetype"

watch_part, run_part = load("watch"), load("run")


def find_spec(name, path, target):
    """Finds modules through the other finders, with a loader that adapts each module after its import."""
    for finder in sys.meta_path:
        if finder is watch_part.ImportWatch or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec(name, path, target)
        if spec is not None:
            if hasattr(spec.loader, "exec_module"):
                spec.loader = TellingLoader(spec.loader)
            return spec
    return None


class TellingLoader:
    """Stands in for a module's own loader until the module has run."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        name = module.__name__
        if name in PREPARE:
            PREPARE[name]()
        self.loader.exec_module(module)
        # A zygote has no run; each of its forks tells the modules of its own.
        if watch_part.running is not None:
            tell(name, module)


def tell(name, module):
    try:
        TELL[name](module)
    except Exception:
        # Another version, or a module of the guest with that name: it is imported unchanged.
        pass


def prepare_matplotlib():
    try:
        load("figures").prepare_settings()
    except OSError:
        # There is no room for its settings; the module itself reports that.
        pass


def prepare_plotly():
    # Otherwise plotly searches for a browser, and displays nothing.
    os.environ.setdefault("PLOTLY_RENDERER", PLOTLY_RENDERER)


def tell_linecache(module):
    """Make the lines of the guest's code available to `traceback`, `inspect` and similar modules."""
    running = watch_part.running
    # `inspect` finds the source of classes through `__file__`.
    for name, source in (*running.sources.items(), (running.code_name, running.source), (run_part.code_file, running.source)):
        lines = [line + "\n" for line in source.split("\n")]
        # Without a modification time an entry is never checked against a file.
        module.cache[name] = len(source), None, lines, name


def tell_threading(module):
    module.excepthook = module.__excepthook__ = watch_part.show_thread_exception


def tell_pyplot(module):
    load("figures").capture(module)


def tell_plotly(module):
    """Its renderer shows figures with IPython and nbformat, although it needs neither of them."""
    if "PLOTLY_RENDERER" not in os.environ:
        # A zygote has imported it.
        module.renderers.default = os.environ["PLOTLY_RENDERER"] = PLOTLY_RENDERER
    if not module.ipython_display:
        module.ipython_display = create_module("IPython.display", display=watch_part.running.display)
    if not module.nbformat:
        module.nbformat = create_module("nbformat", __version__="5.0.0")


def create_module(name, **names):
    module = type(sys)(name)
    module.__dict__.update(names)
    return module


def tell_image_show(module):
    class Display(module.Viewer):
        """Shows an image among the run's displays, before any program that opens a window."""

        def show(self, image, **_options):
            watch_part.running.display(image)
            return True

    module.register(Display, -1)


def tell_spawn(module):
    load("spawned").prepare_parent(module)


def tell_display_functions(module):
    # IPython's own function only prints if there is no notebook.
    running = watch_part.running
    module.display, module.update_display = running.display, running.update_display
    module.clear_output = running.clear_output


PREPARE = {"matplotlib": prepare_matplotlib, "plotly.io._renderers": prepare_plotly}
TELL = {
    "linecache": tell_linecache,
    "threading": tell_threading,
    # Only for the forks of a zygote that has imported it is this not too late.
    "matplotlib": lambda _module: prepare_matplotlib(),
    "matplotlib.pyplot": tell_pyplot,
    "plotly.io._renderers": tell_plotly,
    "PIL.ImageShow": tell_image_show,
    "multiprocessing.spawn": tell_spawn,
    "IPython.core.display_functions": tell_display_functions,
}
