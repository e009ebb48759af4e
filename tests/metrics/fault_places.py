"""Where a fault of a file has to say that it is."""

from metrics.errors import Fault

OF_WHOLE_FILES = frozenset(
    {
        "this is a zip archive",
        "this is a spreadsheet",
        "the gzip data are damaged",
    }
)
"""Problems of a file as a whole: no line of it is wrong."""


def is_placed(fault: Fault) -> bool:
    """Return whether a fault names its file, a line of it unless the whole file is wrong, and a cure."""
    return bool(fault.path and fault.cure) and (fault.problem in OF_WHOLE_FILES) == (fault.line is None)
