"""What ends a command with one line and status 2, instead of a trace."""


class CommandError(Exception):
    """The command cannot do what was asked; the text says why and what to do."""
