"""Lists of the ids that a study admits or keeps out, stored as digests.

A study file may name such lists; the database holds digests only. A rehearsal (simulate, preview) ignores
them.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from metrics.errors import input_fault, pluralise
from study_app.study.entries import StudyEntry
from study_app.study.file import StudyFile
from study_app.study.platforms import platform_of, worker_id

MAX_IDS = 100_000
"""Most ids in a list of a study."""
LOOKED_UP = "*"
"""In the place of a digest: the people of this study are looked up as somebody comes."""
_HEAD = re.compile(r"# digests of study ([a-z0-9][a-z0-9-]{0,39}), platform ([a-z]+)")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def digest_of(study: str, name: str) -> str:
    """Return the digest of an id, which differs from study to study."""
    return hashlib.sha256(f"{study}\n{name}".encode()).hexdigest()


def digest_lines(study: str, platform: str, names: Iterable[str]) -> list[str]:
    """Return the lines of a file of digests, which other studies can keep out; in no order of arrival."""
    return [
        f"# digests of study {study}, platform {platform}",
        *sorted(digest_of(study, name) for name in names),
    ]


def lets_in(entry: StudyEntry, name: str) -> bool:
    """Return whether a study admits an id.

    A study without a list admits everybody.
    """
    return not isinstance(entry.ids, tuple) or digest_of(entry.study, name) in entry.ids


def is_listed_out(entry: StudyEntry, name: str) -> bool:
    """Return whether an id is on a list of those whom a study keeps out."""
    return any(digest_of(study, name) in digests for study, digests in entry.kept_out.items())


def with_lists(file: StudyFile) -> StudyFile:
    """Return a study file with the digests of its lists of ids instead of their names.

    Raises
    ------
    InputError
        If a list cannot be read, has no id, or a line that is not an id of the platform.
    """
    entry, changes = file.entry, dict[str, tuple[str, ...]]()
    if isinstance(entry.ids, str):
        names = listed_names(file, entry.ids)
        changes["ids"] = tuple(dict.fromkeys(digest_of(entry.study, name) for name in names))
    if entry.keep_out is not None:
        kept = (item for named in entry.keep_out for item in _kept_out(file, named))
        changes["keep_out"] = tuple(dict.fromkeys(kept))
    return replace(file, entry=entry.model_copy(update=changes)) if changes else file


def _kept_out(file: StudyFile, named: str) -> list[str]:
    """Return the people of one item of ``keep_out``, as a loaded study has them."""
    earlier = re.fullmatch(r"study +(\S+)", named)
    if earlier:
        return [f"{earlier[1]} {LOOKED_UP}"]
    lines = _lines(file, named, "keep_out")
    head = _HEAD.fullmatch(lines[0][1]) if lines else None
    if head is None:
        own = file.entry.study
        return [f"{own} {digest_of(own, name)}" for name in _names(file, named, lines, "keep_out")]
    study, platform = head.groups()
    if platform != file.entry.platform:
        raise input_fault(
            f"these digests are of ids of platform {platform}, and the study is on {file.entry.platform}",
            path=_path(file, named),
            line=lines[0][0],
            cure="take this list out of keep_out: it could keep nobody out",
        )
    _check_lines(
        [(number, _DIGEST.fullmatch(line) is not None) for number, line in lines[1:]],
        _path(file, named),
        what="a digest",
        cure="write the file again with prefcal study took-part",
    )
    return [f"{study} {line}" for _, line in lines[1:]]


def listed_names(file: StudyFile, named: str, key: str = "ids") -> list[str]:
    """Return the ids of a file that a key of a study file names.

    Raises
    ------
    InputError
        If it cannot be read, has no id, or a line that is not an id of the platform.
    """
    return _names(file, named, _lines(file, named, key), key)


def names_kept_out(file: StudyFile) -> list[str]:
    """Return the ids that files of ``keep_out`` name, without those of digests and earlier studies."""
    files = [named for named in file.entry.keep_out or () if not named.startswith("study ")]
    lists = [(named, _lines(file, named, "keep_out")) for named in files]
    plain = [(named, lines) for named, lines in lists if not (lines and _HEAD.fullmatch(lines[0][1]))]
    return [name for named, lines in plain for name in _names(file, named, lines, "keep_out")]


def _path(file: StudyFile, named: str) -> Path:
    return file.path.parent / named


def _lines(file: StudyFile, named: str, key: str) -> list[tuple[int, str]]:
    """Return the lines of a list that have something in them, by number."""
    try:
        lines = _path(file, named).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        cure = "name a text file in UTF-8 with an id on each line; its path is relative to the study file"
        raise file.fault(key, f"{key}: {named} cannot be read", cure) from None
    return [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


def _names(file: StudyFile, named: str, lines: list[tuple[int, str]], key: str) -> list[str]:
    platform, path = platform_of(file.entry), _path(file, named)
    if lines and _HEAD.fullmatch(lines[0][1]):
        raise input_fault(
            "these are digests, by which people can be kept out but not let in",
            path=path,
            line=lines[0][0],
            cure=f"name a list of ids of platform {platform.name}",
        )
    valid = [
        (number, worker_id(platform, {platform.worker_parameter: name}) is not None) for number, name in lines
    ]
    columns = {len(re.split(r"[,;\t]", name)) for _, name in lines}
    if len(lines) > 1 and columns != {1} and (not valid[0][1] or len(columns) == 1):
        raise input_fault(
            "this is a table of several columns, not a list of ids",
            path=path,
            line=lines[0][0],
            cure="keep the column of the ids alone, without its heading, one id a line",
        )
    _check_lines(
        valid, path, what=f"an id of platform {platform.name}", cure="write one id a line and nothing else"
    )
    if not 0 < len(lines) <= MAX_IDS:
        raise input_fault(
            f"{len(lines)} ids",
            path=path,
            line=1,
            cure=f"list at least one and at most {MAX_IDS:,}, or leave {key}: out",
        )
    return [name for _, name in lines]


def _check_lines(valid: list[tuple[int, bool]], path: Path, *, what: str, cure: str) -> None:
    """Refuse a list with lines of another form, in one sentence however many they are."""
    wrong = [number for number, is_valid in valid if not is_valid]
    if wrong:
        of_how_many = "" if len(wrong) == 1 else f", and {pluralise(len(wrong) - 1, 'further line')} neither"
        raise input_fault(f"not {what}{of_how_many}", path=path, line=wrong[0], cure=cure)
