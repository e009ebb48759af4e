"""Tables for a command that computes: read, with what is suspicious about them on stderr first."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pandas as pd


def read_with_warnings(folder: str | Path) -> "dict[str, pd.DataFrame]":
    """Read a folder of tables, and warn of misspelt names, of changed tables and of ends that may be cut off.

    Raises
    ------
    InputError
        As `calibration.tables.files.read_tables` does.
    """
    from calibration.tables.files import read_tables
    from calibration.tables.suspicions import suspicions_in_short

    tables = read_tables(folder)
    for line in suspicions_in_short(folder, tables):
        click.echo(f"warning: {line}", err=True)
    return tables
