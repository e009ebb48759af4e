"""Files that a study was made of, as the database remembers them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that a study was made of: its path as the study file writes it, and the hash of its bytes."""

    path: str
    sha256: str


def source_files(folder: Path, paths: Mapping[str, str]) -> dict[str, SourceFile]:
    """Return name -> file, for paths relative to ``folder``."""
    return {
        name: SourceFile(path=path, sha256=hashlib.sha256((folder / path).read_bytes()).hexdigest())
        for name, path in paths.items()
    }
