"""List of the ids that a study admits, stored as digests.

A study file may name such a list; the database holds digests only. A rehearsal (simulate, preview) ignores
it.
"""

import hashlib
from dataclasses import replace

from metrics.errors import FaultLog
from study_app.study.entries import StudyEntry
from study_app.study.file import StudyFile
from study_app.study.platforms import platform_of, worker_id

MAX_IDS = 100_000
"""Most ids in the list of a study."""


def digest_of(study: str, name: str) -> str:
    """Return the digest of an id, which differs from study to study."""
    return hashlib.sha256(f"{study}\n{name}".encode()).hexdigest()


def lets_in(entry: StudyEntry, name: str) -> bool:
    """Return whether a study admits an id.

    A study without a list admits everybody.
    """
    return not isinstance(entry.ids, tuple) or digest_of(entry.study, name) in entry.ids


def with_ids(file: StudyFile) -> StudyFile:
    """Return a study file with the digests of its list of ids instead of its name.

    Raises
    ------
    InputError
        If the file cannot be read, has no id, or a line that is not an id of the platform.
    """
    if not isinstance(file.entry.ids, str):
        return file
    names = listed_names(file, file.entry.ids)
    ids = tuple(dict.fromkeys(digest_of(file.entry.study, name) for name in names))
    return replace(file, entry=file.entry.model_copy(update={"ids": ids}))


def listed_names(file: StudyFile, named: str) -> list[str]:
    """Return the ids of a file that a study file names.

    Raises
    ------
    InputError
        If it cannot be read, has no id, or a line that is not an id of the platform.
    """
    path = file.path.parent / named
    log, platform = FaultLog(file.path), platform_of(file.entry)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        cure = "name a text file in UTF-8 with an id on each line; its path is relative to the study file"
        log.add(f"ids: {named} cannot be read", line=file.line("ids"), cure=cure)
        log.raise_if_any()
        raise
    log = FaultLog(path)
    names = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    for number, name in names:
        if worker_id(platform, {platform.worker_parameter: name}) is None:
            log.add(
                f"not an id of platform {platform.name}",
                line=number,
                cure="write one id a line and nothing else",
            )
    if not 0 < len(names) <= MAX_IDS:
        log.add(
            f"{len(names)} ids", line=1, cure=f"list at least one and at most {MAX_IDS:,}, or leave ids: out"
        )
    log.raise_if_any()
    return [name for _, name in names]
