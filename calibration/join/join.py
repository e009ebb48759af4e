"""Joining of folders of tables, from reading to the folder that is written."""

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from calibration.join.folders import WaveFolder, read_folders, read_records
from calibration.join.people import (
    People,
    SameNames,
    count_rows,
    find_people,
    join_workers,
    withdrawn_workers,
)
from calibration.join.records import (
    OF_STREAMS,
    assumptions,
    content_faults,
    joined_record,
    joined_studies,
    missing_tables,
    record_faults,
)
from calibration.join.rows import (
    doubled_answers,
    joined_rows,
    leave_once,
    refuse_copies,
    rename_workers,
    separate_ids,
    unite_pairs,
)
from calibration.tables.files import check_rows, table_paths, tables_sha256, write_table
from calibration.tables.fresh_folder import fresh_folder
from calibration.tables.people import of_judges
from calibration.tables.preferences import FOLLOWING
from calibration.tables.study_json import (
    RAW_FOLDER,
    STUDY_FILE,
    JoinedStudy,
    StudyRecord,
    read_study,
    table_records,
    write_study,
)
from calibration.tables.tables import TABLES
from metrics.errors import InputError, input_fault, join_names

_CONSENT = "consent"
_CONSENT_FILE = re.compile(rf"{_CONSENT}/[0-9a-f]{{64}}\.txt")
_FILES = frozenset([STUDY_FILE, *(f"{name}.{suffix}" for name in TABLES for suffix in ("csv", "parquet"))])


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSummary:
    """What was joined.

    Attributes
    ----------
    record : StudyRecord
        study.json of the joined tables.
    rows : dict of str to int
        Number of rows by table.
    notes : tuple of str
        What was decided, and what is not known, a sentence each.
    warnings : tuple of str
        What every command says of the folders that were joined.
    """

    record: StudyRecord
    rows: dict[str, int]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def join_tables(
    folders: Sequence[str | Path],
    output: str | Path,
    *,
    workers: SameNames | None = None,
    same_content: bool = False,
    keep_first: bool = False,
    parquet: bool = False,
) -> JoinSummary:
    """Join folders of tables into one folder, which appears complete or not at all.

    A person is the same one where the studies shared pseudonyms by a key; else nobody can be recognised, which study.json and every
    command on the joined tables say.

    Parameters
    ----------
    folders : sequence of str or Path
        Two or more, each as `prefcal export` writes it or with tables from elsewhere; joined ones too.
    output : str or Path
        Folder to write; only one that an earlier join wrote is replaced.
    workers : {'same', 'different'}, optional
        Whether the same name of a worker in tables from elsewhere is the same person; needed where there is such a name.
    same_content : bool
        Topics and systems of the same name are the same, although their files differ.
    keep_first : bool
        Of follows, votes and ratings of one person about one topic in two folders, keep those of the first.
    parquet : bool
        Write every table as Parquet too, not only large ones.

    Returns
    -------
    JoinSummary
        What was joined.

    Raises
    ------
    InputError
        If anything in the folders contradicts each other; nothing is written then.

    Examples
    --------
    Two surveys of the same people about other topics:

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> import prefcal
    >>> folder = Path(mkdtemp())
    >>> for topic in ("t1", "t2"):
    ...     votes = pd.DataFrame({"worker": ["a", "b"], "topic": topic, "intent": ["i1", "i2"]})
    ...     prefcal.write_tables({"intent_votes": votes}, folder / topic)
    >>> joined = prefcal.join_tables([folder / "t1", folder / "t2"], folder / "both", workers="same")
    >>> joined.rows["intent_votes"]
    4
    """
    paths, output = [Path(folder) for folder in folders], Path(output)
    records = read_records(paths)
    _check_output(paths, output)
    followed = [path for path in paths if OF_STREAMS & table_paths(path).keys()]
    faults = record_faults(paths, records, streams=len(followed) > 1)
    if faults:
        raise InputError(faults)
    waves = read_folders(paths, records)
    if not same_content and (faults := list(content_faults(waves))):
        raise InputError(faults)
    refuse_copies(waves)
    people = find_people(waves, workers)
    return _written(waves, people, output, keep_first=keep_first, parquet=parquet)


def _written(
    waves: Sequence[WaveFolder], people: People, output: Path, *, keep_first: bool, parquet: bool
) -> JoinSummary:
    notes = [*missing_tables(waves), *assumptions(waves)]
    if stored := [str(wave.path / RAW_FOLDER) for wave in waves if (wave.path / RAW_FOLDER).is_dir()]:
        notes.append(
            f"not joined, since nothing is computed from what was stored: {join_names(stored)}; keep it beside the export"
        )
    studies = _studies(waves)
    for wave, names in zip(waves, people.renamed, strict=True):
        rename_workers(wave, names)
    separate_ids(waves)
    unite_pairs(waves)
    notes += leave_once(waves, keep_first=keep_first)
    notes += doubled_answers(waves, people.in_several)
    may_stand_twice = (
        people.groups
        if people.groups > 1
        else max((wave.record.may_stand_twice for wave in waves if wave.record), default=0)
    )
    in_several = len(people.in_several)
    if any(wave.record and wave.record.in_several for wave in waves):
        in_several = 0
        notes.append(
            "how many people took part in more than one study is left out: a folder was joined before, and does not say who; name all folders"
            " in one command to have it"
        )
    record, about_files = joined_record(
        waves, output, studies, may_stand_twice=may_stand_twice, in_several=in_several
    )
    notes += about_files
    rows: dict[str, int] = {}
    with fresh_folder(
        output, is_ours=lambda name: name in _FILES or bool(_CONSENT_FILE.fullmatch(name))
    ) as new:
        for name, frame, about in _tables(waves):
            check_rows(frame, TABLES[name])
            write_table(frame, TABLES[name], new, parquet=parquet)
            rows[name] = len(frame)
            notes += about
        record = record.model_copy(update={"tables": table_records(new, rows)})
        write_study(record, new)
        _copy_consents(waves, new)
    return JoinSummary(
        record=record,
        rows=rows,
        notes=tuple(notes),
        warnings=tuple(warning for wave in waves for warning in wave.warnings),
    )


def _tables(waves: Sequence[WaveFolder]) -> Iterator[tuple[str, pd.DataFrame, list[str]]]:
    """Yield name, rows and notes of each joined table, one table in memory at a time."""
    gone, notes = frozenset[str](), list[str]()
    has_workers = any("workers" in wave.names for wave in waves)
    if has_workers:
        workers, notes = join_workers(waves, [count_rows(wave.tables) for wave in waves])
        gone = withdrawn_workers(workers)
        for wave in waves:
            wave.tables.pop("workers", None)
        yield "workers", workers, notes
    judgments: pd.Series[str] | None = None
    for name in TABLES:
        frame = joined_rows(waves, name, gone=gone if name not in FOLLOWING else frozenset())
        if frame is None:
            continue
        if name == "preferences":
            judgments = frame["judgment"]
        elif name == "criteria" and judgments is not None:
            frame = frame[frame["judgment"].isin(judgments)]
        yield name, frame, []


def _studies(waves: Sequence[WaveFolder]) -> list[JoinedStudy]:
    studies: list[JoinedStudy] = []
    for wave in waves:
        preferences = wave.tables.get("preferences")
        judgments = 0 if preferences is None else int((~of_judges(preferences, wave.judges)).sum())
        studies += joined_studies(wave, tables_sha256(wave.path), len(wave.people()), judgments)
    return studies


def _check_output(folders: Sequence[Path], output: Path) -> None:
    """Raise `InputError` unless the output is a new folder, or one that a join wrote."""
    for folder in folders:
        if output.resolve() == folder.resolve() or folder.resolve() in output.resolve().parents:
            raise input_fault(
                "the output is one of the folders to join, or in it", path=output, cure="name a new folder"
            )
    if not output.is_dir() or not any(output.iterdir()):
        return
    try:
        earlier = read_study(output)
    except InputError:
        earlier = None
    if earlier is None or not earlier.joined:
        named = f"the tables of study {earlier.study}" if earlier else "files"
        raise input_fault(
            f"this folder holds {named}, which no join wrote", path=output, cure="name a new folder"
        )


def _copy_consents(waves: Sequence[WaveFolder], new: Path) -> None:
    """Copy the consent texts of all folders; their names are their hashes."""
    for wave in waves:
        for text in sorted(wave.path.glob(f"{_CONSENT}/*.txt")):
            if _CONSENT_FILE.fullmatch(f"{_CONSENT}/{text.name}"):
                (new / _CONSENT).mkdir(exist_ok=True)
                shutil.copyfile(text, new / _CONSENT / text.name)
