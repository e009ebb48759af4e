"""The list of ids that a study lets in, where its file names one: kept as digests, so that the list is no second store of ids.

A rehearsal (simulate, preview) knows no such list: its workers are nobody.
"""

import hashlib
from dataclasses import replace

from metrics.errors import FaultLog
from study_app.study.entries import StudyEntry
from study_app.study.file import StudyFile
from study_app.study.platforms import platform_of, worker_id

MOST_IDS = 100_000


def digest_of(study: str, name: str) -> str:
    """Return what is kept of an id; another study keeps something else of the same one."""
    return hashlib.sha256(f"{study}\n{name}".encode()).hexdigest()


def lets_in(entry: StudyEntry, name: str) -> bool:
    """Say whether a study lets an id in: everybody where no list was loaded with it."""
    return not isinstance(entry.ids, tuple) or digest_of(entry.study, name) in entry.ids


def with_ids(file: StudyFile) -> StudyFile:
    """Return a study file with the digests of the ids that it lets in, in place of the name of their file.

    Raises
    ------
    InputError
        If the file cannot be read, has no id, or a line that is none of the platform.
    """
    if not isinstance(file.entry.ids, str):
        return file
    names = _names(file, file.entry.ids)
    ids = tuple(dict.fromkeys(digest_of(file.entry.study, name) for name in names))
    return replace(file, entry=file.entry.model_copy(update={"ids": ids}))


def _names(file: StudyFile, named: str) -> list[str]:
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
                f"no id of platform {platform.name}", line=number, cure="write one id a line and nothing else"
            )
    if not 0 < len(names) <= MOST_IDS:
        log.add(
            f"{len(names)} ids", line=1, cure=f"list at least one and at most {MOST_IDS:,}, or leave ids: out"
        )
    log.raise_if_any()
    return [name for _, name in names]
