"""Errors that a user can act on. Every message says what is wrong, where, and what to do."""


class SeamlineError(Exception):
    """The input or the data is at fault. The command line prints the message and exits 1."""


class HomeError(SeamlineError):
    """The campaign home can't be used: not writable, held by another process, or half made."""


class DeclaredError(SeamlineError):
    """A declared CSV has an unknown column, a missing one, or a cell of the wrong type."""


class SourceError(SeamlineError):
    """An upstream file can't be read as the kind it was given as."""


class LandingError(SeamlineError):
    """A reader handed over rows that do not fit their landing table: a fault of Seamline, not of the data."""


class ExportError(SeamlineError):
    """Nothing to export, or the folder can't take an export."""


class QueryError(SeamlineError):
    """A query that can't be run: not one, not a query, or at odds with the tables."""


class UsageError(SeamlineError):
    """The command was given in a way it does not know. The command line exits 2."""
