"""Where a command may write: refused while its options are read, before any work."""

from pathlib import Path
from typing import Any

import click


class OutFile(click.Path):
    """A file to write; its folder is made with it. `-` is the terminal where the command has a use for that."""

    def __init__(self, *, path_type: type[str | Path] = Path, terminal: bool = False) -> None:
        super().__init__(path_type=path_type, allow_dash=terminal)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises
        ------
        InputError
            If no such file can be written.
        """
        from metrics.files import check_file_place

        path = super().convert(value, param, ctx)
        if not (self.allow_dash and str(path) == "-"):
            check_file_place(str(path))
        return path


class OutFolder(click.Path):
    """A folder to write into; it is made."""

    def __init__(self, *, path_type: type[str | Path] = Path) -> None:
        super().__init__(path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises
        ------
        InputError
            If nothing can be written there.
        """
        from metrics.files import check_folder_place

        path = super().convert(value, param, ctx)
        check_folder_place(str(path))
        return path
