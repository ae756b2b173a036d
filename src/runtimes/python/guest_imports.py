"""Adapts modules that depend on the run when the guest imports them, so that other runs pay nothing for it."""

import sys

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
        if name == "matplotlib":
            prepare_matplotlib()
        self.loader.exec_module(module)
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


def tell_spawn(module):
    load("spawned").prepare_parent(module)


def tell_display_functions(module):
    # IPython's own function only prints if there is no notebook.
    running = watch_part.running
    module.display, module.update_display = running.display, running.update_display
    module.clear_output = running.clear_output


TELL = {
    "linecache": tell_linecache,
    "threading": tell_threading,
    "matplotlib": lambda _module: None,
    "matplotlib.pyplot": tell_pyplot,
    "multiprocessing.spawn": tell_spawn,
    "IPython.core.display_functions": tell_display_functions,
}
