"""Parses a program with Python's own parser, without running any of it, and reports everything that the tables list.

Runs in a cell, because a hostile program may crash the parser. The last expression is the result: rows with a rule, the
finding, its line and its column, both counted from 1.
"""

import _ast as ast
import gc
import warnings

# Python's warnings about the program are discarded: thousands of lines would exceed the output limit.
warnings.simplefilter("ignore")
# All objects of a syntax tree stay alive, so searching them for garbage would take longer than everything else.
gc.disable()
code, most = input_data["code"], input_data["most"]
modules, members, names = tables["modules"], tables["members"], tables["names"]
attributes, openers, allowed = tables["attributes"], set(tables["openers"]), input_data["allowed"]
member_names = {path.rpartition(".")[2] for path in members}
opener_names = {path.rpartition(".")[2] for path in openers} | {"getattr"}
found, seen, aliases, harmless = [], set(), {}, set()
lines = None
# How a field of a format string accesses an object's internals.
hooks = (".__", "[__", ".gi_", ".cr_", ".tb_", ".f_", ".func_")


def report(rule, what, node):
    global lines
    if len(found) >= most and rule in seen:
        return
    seen.add(rule)
    lines = lines or code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    before = line.encode("utf-8", "replace")[: node.col_offset]
    found.append([rule, what[:80], node.lineno, len(before.decode("utf-8", "replace")) + 1])


def path_of(node):
    """A dotted name, with an alias replaced by its module. Empty if the name is too long, or if the node is not a name."""
    parts = []
    for _ in range(6):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Name):
            parts.append(aliases.get(node.id, node.id))
            return ".".join(reversed(parts))
        else:
            break
    return ""


def text_of(node):
    """The text of a string or of a concatenation of strings; None for anything else."""
    parts, rest = [], [node]
    for _ in range(32):
        if not rest:
            return "".join(parts)
        node = rest.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts.append(node.value[:1000])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            rest += [node.right, node.left]
        elif isinstance(node, ast.JoinedStr):
            rest += reversed(node.values)
        else:
            return None
    return None


def is_outside(path):
    if path in ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"):
        return False
    parts = []
    for part in path.split("/"):
        if part == ".." and not parts:
            return True
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if path.startswith("/"):
        return not parts or parts[0] not in ("workspace", "tmp")
    return path.startswith("~")


def look_up(path, table):
    while path:
        if path in table:
            return table[path]
        path = path.rpartition(".")[0]
    return None


def is_allowed(path):
    while path:
        if path in allowed:
            return True
        path = path.rpartition(".")[0]
    return False


def note_import(path, node):
    if allowed is not None:
        if not is_allowed(path):
            report("import-not-allowed", path, node)
        return
    rule = look_up(path, modules)
    if rule:
        report(rule, "import " + path, node)


def see_import(node):
    for alias in node.names:
        aliases[alias.asname or alias.name.partition(".")[0]] = (
            alias.name if alias.asname else alias.name.partition(".")[0]
        )
        note_import(alias.name, node)


def see_import_from(node):
    module = node.module or ""
    if node.level:
        return
    before = len(found)
    note_import(module, node)
    for alias in node.names:
        path = module + "." + alias.name
        if alias.name == "*":
            for name in members:
                if name.startswith(module + "."):
                    aliases[name.rpartition(".")[2]] = name
            continue
        aliases[alias.asname or alias.name] = path
        if path in members:
            report(members[path], path, node)
        elif allowed is None and path in modules and len(found) == before:
            report(modules[path], "import " + path, node)


def see_attribute(node):
    if node.attr in ("__name__", "__qualname__") and isinstance(node.value, ast.Attribute):
        # The name of a class gives access to nothing.
        harmless.add(id(node.value))
    if node.attr in attributes and not (node.attr == "__class__" and id(node) in harmless):
        report(attributes[node.attr], node.attr, node)
    path = path_of(node) if node.attr in member_names else ""
    if path in members and path.partition(".")[0] in imported:
        report(members[path], path, node)


def see_name(node):
    path = aliases.get(node.id)
    if path in members:
        report(members[path], path, node)
    elif path is None and node.id in names:
        report(names[node.id], node.id, node)


def see_constant(node):
    text = node.value
    if not isinstance(text, str):
        return
    if text in attributes and text != "mro":
        report(attributes[text], repr(text), node)
    elif "{" in text and any(hook in text for hook in hooks) and walks(text):
        report("format-walk", text, node)


def walks(text):
    fields = (part.partition("}")[0] for part in text.split("{")[1:])
    return any(hook in field for field in fields for hook in hooks)


def see_sum(node):
    text = text_of(node)
    if text in attributes:
        report(attributes[text], repr(text), node)


def see_call(node):
    function = node.func
    name = getattr(function, "attr", None) or getattr(function, "id", None)
    if name not in opener_names and name not in aliases:
        return
    path = path_of(function)
    arguments = node.args or [word.value for word in node.keywords if word.arg in ("file", "path", "src")]
    if path in openers and arguments:
        where = text_of(arguments[0])
        if where is not None and is_outside(where):
            report("outside-file", where, arguments[0])
    if path == "getattr" and len(node.args) > 1 and text_of(node.args[1]) is None:
        report("dynamic-attribute", "getattr", node)


looks = {
    ast.Attribute: see_attribute,
    ast.Name: see_name,
    ast.Constant: see_constant,
    ast.BinOp: see_sum,
    ast.Call: see_call,
}
imports = {ast.Import: see_import, ast.ImportFrom: see_import_from}
# Fields that contain no node of interest.
plain = {"ctx", "op", "ops", "id", "attr", "arg", "name", "asname", "module", "level", "kind"}
plain |= {"type_comment", "type_ignores", "conversion", "is_async", "simple"}
# The fields to search, by the class of a node. A node may lack some; a value that is not a node has none.
fields_of = {ast.Constant: (), ast.Import: (), ast.ImportFrom: ()}


def nodes_of(tree):
    """The nodes of interest, each parent before its children. No recursion, because the program decides how deep the tree is."""
    nodes, queue = [], [tree]
    list_type = list
    for node in queue:
        kind = node.__class__
        if kind in looks or kind in imports:
            nodes.append(node)
        fields = fields_of.get(kind)
        if fields is None:
            fields = fields_of[kind] = tuple(each for each in getattr(kind, "_fields", ()) if each not in plain)
        for field in fields:
            value = getattr(node, field, None)
            if value.__class__ is list_type:
                queue += value
            else:
                queue.append(value)
    return nodes


def is_plain():
    """Whether the program certainly uses none of the names in the tables. If not, the syntax tree must be searched.

    A tree takes twice as long to build as a code object. The code object has every name and every string that the program
    uses, except strings that the compiler has joined or split. So escapes and parts of listed names need the tree, too.
    """
    if allowed is not None or not named.isdisjoint(code.translate(no_words).split()):
        return False
    if any(escape in code for escape in escapes):
        return False
    try:
        pending = [compile(code, "code", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)]
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return False
    code_type = type(pending[0])
    while pending:
        each = pending.pop()
        if each.__class__ is code_type:
            words = (*each.co_names, *each.co_varnames, *each.co_freevars, *each.co_cellvars)
            if not named.isdisjoint(words) or not named.isdisjoint(".".join(words).split(".")):
                return False
            pending += each.co_consts
        elif each.__class__ is str:
            if each == "__main__":
                continue
            if any(piece in each for piece in pieces) or "{" in each and any(hook in each for hook in hooks):
                return False
        elif each.__class__ in (tuple, frozenset):
            pending += each
    return True


# Escapes that write a character as its number or name.
escapes = ("\\x", "\\u", "\\U", "\\N", *(f"\\{digit}" for digit in range(8)))
# Parts of the attributes' names, from which a program could assemble such a name.
pieces = {"__", *(name for name in attributes if "__" not in name), *(name.partition("_")[0] + "_" for name in attributes)}
pieces.discard("_")
named = {path.rpartition(".")[2] for path in (*modules, *members, *openers)} | {*names, *attributes, "getattr"}
no_words = {at: " " for at in range(128) if not chr(at).isidentifier() and not chr(at).isdigit()}


def read_tree():
    try:
        return nodes_of(compile(code, "code", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
    except SyntaxError as error:
        nested = "nested" in error.msg or "too complex" in error.msg
        rule = "unreadable" if nested else "syntax-error"
        found.append([rule, error.msg[:80], error.lineno or 1, max(error.offset or 1, 1)])
    except (RecursionError, MemoryError, ValueError) as error:
        found.append(["unreadable", type(error).__name__, 1, 1])
    return []


nodes = [] if is_plain() else read_tree()
for node in nodes:
    if node.__class__ in imports:
        imports[node.__class__](node)
imported = {path.partition(".")[0] for path in aliases.values()}
for node in nodes:
    if node.__class__ in looks:
        looks[node.__class__](node)
found.sort(key=lambda row: (row[2], row[3]))
found
