"""The one kind of error that a person is expected to read."""


class ToolchainError(Exception):
    """What went wrong and what to do about it, in sentences; the command line prints it and exits with 1."""
