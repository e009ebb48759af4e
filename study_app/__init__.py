"""Study server, simulated crowd, report and command line.

This package may import both other packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from study_app.web.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> object:
    """Import Flask only for who serves: the command line is in this package too."""
    if name == "create_app":
        return import_module("study_app.web.app").create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
