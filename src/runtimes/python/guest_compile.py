"""Compiles a program into its statements and its final expression, whose value is the program's value."""

from _ast import Assign, Expr, Expression, Name, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST, Store

CODE_NAME, VALUE_NAME, COROUTINE_FLAG = load("run").CODE_NAME, load("run").VALUE_NAME, load("run").COROUTINE_FLAG
# All compiler flags of `__future__` that can occur in a code object's flags.
FUTURE_FLAGS = 0x1FE0000
DEBUGGERS = ("breakpoint", "pdb", "settrace")
# Starts of lines that are not an expression, or only the end of one, so that compiling them would waste time.
NO_EXPRESSIONS = (
    *("if ", "for ", "while ", "with ", "try:", "def ", "class ", "async ", "@", "else", "elif ", "except", "finally"),
    *("import ", "from ", ")", "]", "}", '"""', "'''"),
)


def normalize(code):
    """Do what Python does before it compiles a file, but not before it compiles a string."""
    source = code[1:] if code.startswith("\ufeff") else code
    return source.replace("\r\n", "\n").replace("\r", "\n")


def compile_program(source, name=CODE_NAME, flags=0):
    """Compile the code as (statements, final expression or None).

    The code is one if it awaits, because a loop runs one coroutine, and if it mentions a debugger, which would see the end of
    the statements. Then the value is in a variable.
    """
    program = compile_divided(source, name, flags) or compile_whole(source, name, flags)
    if program[1] is None:
        return program
    is_awaiting = (program[0].co_flags | program[1].co_flags) & COROUTINE_FLAG
    if is_awaiting or any(word in source for word in DEBUGGERS):
        return compile_as_one(source, name, flags), None
    return program


def compile_divided(source, name, flags):
    """The same without building a tree of the whole program, which takes long. Returns None if that is impossible.

    The program is split before its last line that is not indented, and both parts are compiled separately. If each is valid
    by itself, together they are the original program: a split inside brackets or a string leaves neither part valid.
    """
    at = find_last_line(source)
    if at == 0 or source.startswith(NO_EXPRESSIONS, at):
        return None
    # Lines keep their numbers.
    tail = "\n" * source.count("\n", 0, at) + source[at:]
    try:
        tree = compile_part(tail, "exec", flags | PyCF_ONLY_AST, name)
        [last] = tree.body
        if not isinstance(last, Expr):
            return None
        statements = compile_part(source[:at], "exec", flags, name)
    except (SyntaxError, ValueError):
        return None
    if is_silenced(source, last):
        return None
    return statements, compile_part(Expression(last.value), "eval", statements.co_flags & FUTURE_FLAGS, name)


def find_last_line(source):
    """The start of the last line that is neither indented nor empty nor only a comment."""
    at = len(source)
    while at > 0:
        at = source.rfind("\n", 0, at - 1) + 1
        if source[at : at + 1] not in ("", "\n", " ", "\t", "\f", "#"):
            break
    return at


def compile_whole(source, name, flags):
    tree = compile_part(source, "exec", flags | PyCF_ONLY_AST, name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, Expr) or is_silenced(source, last):
        return compile_part(tree, "exec", flags, name), None
    del tree.body[-1]
    statements = compile_part(tree, "exec", flags, name)
    # `from __future__ import …` among the statements applies to the expression, too.
    future_flags = statements.co_flags & FUTURE_FLAGS
    return statements, compile_part(Expression(last.value), "eval", future_flags, name)


def compile_as_one(source, name, flags):
    tree = compile_part(source, "exec", flags | PyCF_ONLY_AST, name)
    last = tree.body[-1]
    place = {key: getattr(last, key) for key in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    tree.body[-1] = Assign([Name(VALUE_NAME, Store(), **place)], last.value, **place)
    return compile_part(tree, "exec", flags, name)


def compile_part(tree, mode, flags, name=CODE_NAME):
    return compile(tree, name, mode, flags | PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def is_silenced(source, last):
    """Whether a semicolon follows the final expression. Only brackets, comments and space can stand there too."""
    lines = source.split("\n")[last.end_lineno - 1 :]
    # The compiler counts columns in UTF-8 bytes.
    lines[0] = str(lines[0].encode("utf-8", "backslashreplace")[last.end_col_offset :], "utf-8")
    return any(line.partition("#")[0].rstrip(" \t\f\\").endswith(";") for line in lines)
