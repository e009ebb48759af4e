"""Writing a file so that nobody ever sees half of it."""

import os
from pathlib import Path

from metrics.errors import input_fault


def write_whole(path: str | Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file into a temporary one beside it, then rename that; text is UTF-8.

    What is no regular file (a pipe, a terminal) is written to directly. A private file may be read by its owner alone.

    Raises
    ------
    InputError
        If the file cannot be written; an older one is then as it was.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            part.touch(mode=0o600 if private else 0o666)
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise input_fault(problem, path=path, cure="choose another place") from None
