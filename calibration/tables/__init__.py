"""Tidy tables of a study: definitions, files, exclusions, and their sources."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "read_tables",
    "write_tables",
]

if TYPE_CHECKING:
    from calibration.tables.files import read_tables, write_tables
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".files")
