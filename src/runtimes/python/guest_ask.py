"""`input()` of a code context: the caller that runs the code answers it. Without an answering caller it fails at once."""

import sys


def create_input(context):
    def input(prompt="", /):
        """Ask the caller that runs this code, and return the line without its line end."""
        if sys.stdout is not None:
            sys.stdout.flush()
        if not context.asks:
            raise EOFError("nobody answers input() here")
        answer = context.inbox.ask(str(prompt))
        if not isinstance(answer, str):
            raise EOFError("nobody has answered")
        return answer

    return input
