"""Folders of tables that are to be joined, and what stands in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from calibration.tables.files import read_tables, table_paths, tables_sha256
from calibration.tables.people import judge_names
from calibration.tables.study_json import StudyRecord, read_study
from calibration.tables.suspicions import suspicions_in_short
from calibration.tables.tables import TABLES
from metrics.errors import Fault, InputError, input_fault

TOPICS_OF_KIND = {
    "stream_visits": "follows",
    "intent_votes": "intent_votes",
    "iunit_importance": "importance",
}
"""Table with the topics of a task whose tables have no column task, by kind."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaveFolder:
    """Folder of tables that is to be joined with others.

    Attributes
    ----------
    path : Path
        As it was given.
    label : str
        Name of its study, or of the folder; no other folder has the same.
    record : StudyRecord or None
        Its study.json.
    names : frozenset of str
        Tables that it has.
    tables : dict of str to DataFrame
        As `read_tables` returns them, texts as categories; each is taken out when it is joined.
    warnings : tuple of str
        What every command says of the folder.
    """

    path: Path
    label: str
    record: StudyRecord | None
    names: frozenset[str]
    tables: dict[str, pd.DataFrame]
    warnings: tuple[str, ...] = ()

    @property
    def judges(self) -> frozenset[str]:
        """Workers that are no people."""
        return judge_names(self.tables)

    @property
    def has_random_pseudonyms(self) -> bool:
        """True if prefcal drew the pseudonyms of its workers, so that no other folder has the same."""
        record = self.record
        return (
            record is not None
            and record.study_sha256 is not None
            and not (record.pseudonyms or record.joined)
        )

    def people(self) -> frozenset[str]:
        """Return every worker in any table who is a person."""
        names: set[str] = set()
        for frame in self.tables.values():
            if "worker" in frame:
                names.update(frame["worker"].dropna().unique())
        return frozenset(names) - self.judges

    def topics(self, task: str) -> frozenset[str]:
        """Return the topics of a task that somebody answered about."""
        names: set[str] = set()
        preferences = self.tables.get("preferences")
        if preferences is not None:
            names.update(preferences.loc[(preferences["task"] == task).to_numpy(bool), "topic"].unique())
        kind = self.record.tasks[task].kind if self.record and task in self.record.tasks else ""
        other = self.tables.get(TOPICS_OF_KIND.get(kind, ""))
        if other is not None:
            names.update(other["topic"].unique())
        return frozenset(names)


def read_records(folders: Sequence[Path]) -> list[StudyRecord | None]:
    """Return study.json of each folder; raises `InputError` where a folder is named twice, has no table, or study.json is damaged."""
    if len(folders) < 2:
        raise input_fault("one folder cannot be joined", cure="name two folders of tables or more")
    seen: dict[Path, Path] = {}
    for folder in folders:
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            raise input_fault("this folder is named twice", path=folder, cure="name each folder once")
        table_paths(folder)
    return [read_study(folder) for folder in folders]


def read_folders(folders: Sequence[Path], records: Sequence[StudyRecord | None]) -> list[WaveFolder]:
    """Read every folder, all faults of all files at once.

    Raises
    ------
    InputError
        As `read_tables` does, or if two folders have the same tables.
    """
    labels = _labels(folders, records)
    read, faults = [], list[Fault]()
    for folder, label, record in zip(folders, labels, records, strict=True):
        try:
            tables = read_tables(folder, compact=TABLES)
        except InputError as error:
            faults.extend(error.faults)
            continue
        wave = WaveFolder(
            path=folder,
            label=label,
            record=record,
            names=frozenset(tables),
            tables=tables,
            warnings=tuple(suspicions_in_short(folder, tables)),
        )
        read.append(wave)
    if faults:
        raise InputError(faults)
    digests: dict[str, Path] = {}
    for folder in folders:
        first = digests.setdefault(tables_sha256(folder), folder)
        if first is not folder:
            raise input_fault(
                f"this folder has the same tables as {first}", path=folder, cure="name each export once"
            )
    return read


def _labels(folders: Iterable[Path], records: Iterable[StudyRecord | None]) -> list[str]:
    """Return a name of each folder that no other has."""
    plain = [
        record.study if record else folder.resolve().name
        for folder, record in zip(folders, records, strict=True)
    ]
    return [
        name if plain.count(name) == 1 else f"{name}-{number}" for number, name in enumerate(plain, start=1)
    ]
