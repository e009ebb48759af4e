"""Record `study.json`: origin, clock, collections and runs of a folder of tables.

Fits need none of it; agreement finds the collections and runs by it. Fields that are not named here are ignored,
so that other tools may add their own.

It says what each table was when it was exported, too. A table that was cut, by a full disk or a copy that broke off, is often
a sound table with fewer rows, or with a last number of fewer digits: nothing in the file itself shows it.
"""

import csv
import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pa_parquet
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

from calibration.user_model.json_files import read_model, write_json
from metrics.errors import Fault, InputError, pluralise
from metrics.files import file_sha256, relative_path

STUDY_FILE = "study.json"
RAW_FOLDER = "raw"
"""Folder beside the tables with everything as it was stored (prefcal export --raw)."""


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Time = Annotated[AwareDatetime, PlainSerializer(_written)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class _StudyPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class FileRecord(_StudyPart):
    """File that the study was made from.

    Attributes
    ----------
    path : str
        Absolute, or relative to the folder of study.json.
    sha256 : str or None
        What the file held.
    """

    path: str = Field(min_length=1)
    sha256: Digest | None = None


class TaskRecord(_StudyPart):
    """Origin of one task.

    Attributes
    ----------
    kind : str
        What the worker did: summary_pairs, intent_votes, iunit_importance, stream_pairs, stream_visits, ranked_pairs, answer_pairs, questions, or a
        kind that somebody added.
    language : {'en', 'ja'} or None
        Language of the texts.
    collection : dict of str to FileRecord
        Kind of file (queries, iunits, ...) -> file.
    systems : dict of str to FileRecord
        Name of a system, as in the tables -> its run.
    protocol : dict
        The protocol numbers of the study file.
    topics : dict of str to str
        Topic -> first 16 digits of the SHA-256 of its text; in the file only where that is known.
    """

    kind: str = Field(min_length=1)
    language: Literal["en", "ja"] | None = None
    collection: dict[str, FileRecord] = {}
    systems: dict[str, FileRecord] = {}
    protocol: dict[str, JsonValue] = {}
    topics: dict[str, Fingerprint] = {}


class TableRecord(_StudyPart):
    """Size and digest of a table as it was exported.

    Attributes
    ----------
    rows : int
        How many it had.
    sha256 : str
        Of the bytes of its CSV.
    """

    rows: int = Field(ge=0)
    sha256: Digest


class ResultsOpened(_StudyPart):
    """View of the preferences before these tables were written.

    Somebody saw which systems are preferred.

    Attributes
    ----------
    at : datetime
        When.
    judgments : int
        How many there were by then, repeats not counted.
    """

    at: Time
    judgments: int = Field(ge=0)


class MendedText(_StudyPart):
    """Text that was changed while the study ran.

    Attributes
    ----------
    task, topic : str
        Where it stands.
    system : str or None
        The system that shows it; None for the words of the topic itself.
    at : datetime
        From when on the new one was shown.
    text_version : int
        Version of the topic's texts in column text_version of table preferences from then on.
    before, after : str
        Both texts, a line for each of their parts.
    sha256_before, sha256_after : str
        Digests of what was seen.
    judgments_before, judgments_after : int or None
        How many judgments saw either; None where nothing is judged.
    """

    task: str
    topic: str
    system: str | None = None
    at: Time
    text_version: int = Field(ge=2)
    before: str
    after: str
    sha256_before: Digest
    sha256_after: Digest
    judgments_before: int | None = None
    judgments_after: int | None = None


class LoadedChange(_StudyPart):
    """Change of a running study: allowed, extends or text, and what differs."""

    what: Literal["allowed", "extends", "text"]
    line: str


class StudyLoaded(_StudyPart):
    """Load of a changed study file while the study ran: when, its hash, and what changed."""

    at: Time
    study_sha256: Digest
    changes: tuple[LoadedChange, ...] = ()


class Clock(_StudyPart):
    """Clock of the stream: origin + factor x (wall time - origin).

    Attributes
    ----------
    origin : datetime or None
        The wall time at which both agree.
    factor : float
        Stream seconds in a wall second.
    """

    origin: Time | None = None
    factor: float = Field(default=1.0, gt=0)


class JoinedStudy(_StudyPart):
    """Study whose tables were joined with others.

    Attributes
    ----------
    study : str
        Name of the study, or of the folder.
    started_at, ended_at, times, pseudonyms, prefcal_version, study_sha256
        As in `StudyRecord`.
    tables_sha256 : str
        Of its tables as they were joined.
    workers, judgments : int
        How many people and judgments of people they had.
    """

    study: str = Field(min_length=1)
    started_at: Time | None = None
    ended_at: Time | None = None
    times: Literal["moved", "exact"] | None = None
    pseudonyms: Fingerprint | None = None
    prefcal_version: str | None = None
    study_sha256: Digest | None = None
    tables_sha256: Digest
    workers: int = Field(ge=0)
    judgments: int = Field(ge=0)


class StudyRecord(_StudyPart):
    """Content of study.json.

    Attributes
    ----------
    study, title : str
        Short name and title.
    started_at, ended_at : datetime or None
        When it ran.
    times : {'moved', 'exact'} or None
        What the tables' times are: those of each worker moved by an amount below an hour, or as they were; in the file only where it
        is known.
    simulated : bool
        The people were a simulated crowd; in the file only where it is true.
    pseudonyms : str or None
        Fingerprint of the key that the workers' pseudonyms come from: in all studies with the same one a person has the same pseudonym. In
        the file only where there is such a key; else pseudonyms were drawn at random.
    prefcal_version, study_sha256 : str or None
        What wrote the tables, and from which study file.
    idle_seconds : float or None
        Without a sign of life for longer, a visit has ended.
    visit_gap_seconds : float
        Page views closer than that are one visit.
    heartbeat_seconds : float or None
        How often an open page gave a sign of life.
    tasks : dict of str to TaskRecord
        By name.
    tables : dict of str to TableRecord
        By name, as they were exported; in the file only where there are any.
    results_opened : tuple of ResultsOpened
        Every look at results before these tables were written, in the researcher's console or by an export, the earliest first; in the file only
        where there was one.
    mended_texts : tuple of MendedText
        Every text that was changed while the study ran, the earliest first; in the file only where there was one.
    loads : tuple of StudyLoaded
        Every load of a changed study file while the study ran; in the file only where there was one.
    joined : tuple of JoinedStudy
        Studies whose tables these are, in the order in which they were joined; in the file only where tables were joined.
    in_several : int
        People who stand in the tables of more than one of them, under one name; 0 also where that is not known.
    may_stand_twice : int
        Groups of studies between which nobody can be recognised, so that a person may stand as often under another name; 0 where everybody
        stands once.
    """

    study: str = Field(min_length=1)
    title: str = ""
    started_at: Time | None = None
    ended_at: Time | None = None
    times: Literal["moved", "exact"] | None = None
    simulated: bool = False
    pseudonyms: Fingerprint | None = None
    prefcal_version: str | None = None
    study_sha256: Digest | None = None
    clock: Clock = Clock()
    idle_seconds: float | None = Field(default=None, gt=0)
    visit_gap_seconds: float = Field(default=0.0, ge=0)
    heartbeat_seconds: float | None = Field(default=None, gt=0)
    tasks: dict[str, TaskRecord] = {}
    tables: dict[str, TableRecord] = {}
    results_opened: tuple[ResultsOpened, ...] = ()
    mended_texts: tuple[MendedText, ...] = ()
    loads: tuple[StudyLoaded, ...] = ()
    joined: tuple[JoinedStudy, ...] = ()
    in_several: int = Field(default=0, ge=0)
    may_stand_twice: int = Field(default=0, ge=0)

    def drew_sides(self, task: str) -> bool:
        """Return whether a task's sides were assigned at random.

        A study that was served has the hash of its study file (``study_sha256``) and a record of the task; tables that were imported
        or written by hand have neither.
        """
        return self.study_sha256 is not None and task in self.tasks

    def pairs_file(self, task: str) -> str | None:
        """Return the file that named the pairs of a task; None where all pairs, or pairs chosen by prefcal, were judged."""
        record = self.tasks.get(task)
        pairs = None if record is None else record.protocol.get("pairs")
        return pairs if isinstance(pairs, str) and pairs != "all" else None

    @property
    def how_joined(self) -> str | None:
        """Sentence on the studies that were joined, or None."""
        if not self.joined:
            return None
        each = ", ".join(
            f"{part.study} ({pluralise(part.workers, 'person', 'people')}, {pluralise(part.judgments, 'judgment')})"
            for part in self.joined
        )
        several = (
            f" {pluralise(self.in_several, 'person', 'people')} took part in more than one."
            if self.in_several
            else ""
        )
        return f"Tables of {pluralise(len(self.joined), 'study', 'studies')} were joined: {each}.{several}"

    @property
    def people_twice(self) -> str | None:
        """Sentence on people who may stand in joined tables more than once, or None."""
        if not self.may_stand_twice:
            return None
        return (
            "These tables were joined without shared pseudonyms: who took part in more than one of these studies counts as another person"
            f" in each, and intervals over people can be {self.may_stand_twice**0.5:.2g} times too narrow, more with few people (people_may_stand_twice)"
        )

    @property
    def looks(self) -> str | None:
        """Sentence on looks at the results, or None."""
        if not self.results_opened:
            return None
        often = pluralise(len(self.results_opened), "time")
        moments = [
            f"{look.at:%Y-%m-%d %H:%M} UTC at {pluralise(look.judgments, 'judgment')}"
            for look in self.results_opened
        ]
        last = f", last on {moments[-1]}" if len(moments) > 1 else ""
        return f"Who is preferred was looked at {often} before these tables were written: first on {moments[0]}{last}."

    @property
    def mends(self) -> str | None:
        """Sentence on the texts that were changed while the study ran, or None."""
        if not self.mended_texts:
            return None
        named = [
            f"{text.topic}{f' of {text.system}' if text.system else ''} on {text.at:%Y-%m-%d %H:%M} UTC{_saw(text)}"
            for text in self.mended_texts[:MAX_MENDS]
        ]
        rest = len(self.mended_texts) - MAX_MENDS
        more = [f"{pluralise(rest, 'more', 'more')} in {STUDY_FILE}"] if rest > 0 else []
        texts = pluralise(len(self.mended_texts), "text was", "texts were")
        return f"{texts} mended while the study ran, and judgments of both versions count: {'; '.join([*named, *more])}."

    @property
    def growth(self) -> str | None:
        """Sentence on what was added to the study while it ran, or None."""
        added = [
            f"on {load.at:%Y-%m-%d %H:%M} UTC ({'; '.join(change.line for change in load.changes if change.what == 'extends')})"
            for load in self.loads
            if any(change.what == "extends" for change in load.changes)
        ]
        return f"The study was extended while it ran: {'; '.join(added)}." if added else None

    @property
    def history(self) -> tuple[str, ...]:
        """Sentences on what was done to the study while it ran and to its tables, for the methods of a report."""
        return tuple(filter(None, (self.how_joined, self.looks, self.growth, self.mends)))


MAX_MENDS = 3
"""Most mended texts that a sentence names."""


def _saw(text: MendedText) -> str:
    """Return how many judgments saw either version of a text."""
    if text.judgments_before is None or text.judgments_after is None:
        return ""
    return f" ({pluralise(text.judgments_before, 'judgment')} saw the text before, {text.judgments_after:,} the one after)"


def read_study(folder: str | Path) -> StudyRecord | None:
    """Read study.json of a folder of tables.

    Returns
    -------
    StudyRecord or None
        None where there is no such file.

    Raises
    ------
    InputError
        If it is not JSON or breaks the shape; every fault with its line.
    """
    path = Path(folder) / STUDY_FILE
    if not path.is_file():
        return None
    return read_model(path, StudyRecord, cure="export the study again, or see docs/tables.md")


def write_study(study: StudyRecord, folder: str | Path) -> None:
    """Write study.json into a folder of tables.

    The same record gives the same bytes.
    """
    unsaid = {name for name in WHERE_KNOWN if not getattr(study, name)}
    content: dict[str, Any] = study.model_dump(mode="json", exclude=unsaid)
    for task in content["tasks"].values():
        if not task["topics"]:
            del task["topics"]
    write_json(Path(folder) / STUDY_FILE, content)


WHERE_KNOWN = (
    "times",
    "simulated",
    "pseudonyms",
    "tables",
    "results_opened",
    "mended_texts",
    "loads",
    "joined",
    "in_several",
    "may_stand_twice",
)
"""Fields that study.json has only where they say something."""


class TableChange(NamedTuple):
    """Change of a table since its export.

    Attributes
    ----------
    is_cut : bool
        Rows are missing, or the end of the last one. Otherwise it was changed in another way.
    fault : Fault
        What, where, and how to go on.
    """

    is_cut: bool
    fault: Fault


def table_records(folder: str | Path, rows: Mapping[str, int]) -> dict[str, TableRecord]:
    """Return the records of tables just written, from their numbers of rows."""
    return {
        name: TableRecord(rows=count, sha256=file_sha256(Path(folder) / f"{name}.csv"))
        for name, count in sorted(rows.items())
    }


def renew_records(folder: str | Path, rows: Mapping[str, int]) -> None:
    """Correct the records in study.json of tables rewritten on purpose.

    A study.json without records is left unchanged.
    """
    if not recorded_tables(folder):
        return
    path = Path(folder) / STUDY_FILE
    content = json.loads(path.read_text(encoding="utf-8"))
    content["tables"] |= {name: new.model_dump() for name, new in table_records(folder, rows).items()}
    write_json(path, content)


def moved_study(tables: str | Path, folder: str | Path, final: str | Path) -> None:
    """Let the relative paths in a copied study.json lead from where the copy will be to the files that they led to.

    Parameters
    ----------
    tables : str or Path
        Folder that was copied.
    folder : str or Path
        The copy, where it is now.
    final : str or Path
        Where the copy will be.
    """
    path = Path(folder) / STUDY_FILE
    if not path.is_file():
        return
    content = json.loads(path.read_text(encoding="utf-8"))
    for task in content.get("tasks", {}).values():
        for file in (*task.get("collection", {}).values(), *task.get("systems", {}).values()):
            if not Path(file["path"]).is_absolute():
                file["path"] = relative_path((Path(tables) / file["path"]).resolve(), Path(final).resolve())
    write_json(path, content)


def recorded_tables(folder: str | Path) -> dict[str, TableRecord]:
    """Return the records of tables in study.json, none if it is missing or damaged.

    Callers that need the file report its damage.
    """
    try:
        record = read_study(folder)
    except InputError:
        return {}
    return record.tables if record else {}


def changes(files: Mapping[str, Path], records: Mapping[str, TableRecord]) -> list[TableChange]:
    """Compare table files with their records.

    Parameters
    ----------
    files : mapping of str to Path
        Name of a table -> its file. Of Parquet only the number of rows is compared: a cut one cannot be read.
    records : mapping of str to TableRecord
        As `recorded_tables` returns them.

    Returns
    -------
    list of Change
        Of the tables that differ, in the order of ``files``.
    """
    table_changes = [_change(name, path, records[name]) for name, path in files.items() if name in records]
    return [change for change in table_changes if change]


def is_unended(path: Path) -> bool:
    """Return whether a CSV does not end with a line break.

    A stopped writer or an editor may leave it out.
    """
    with path.open("rb") as stream:
        if stream.seek(0, os.SEEK_END) == 0:
            return False
        stream.seek(-1, os.SEEK_END)
        return stream.read() not in {b"\n", b"\r"}


def last_line(path: Path) -> int:
    """Return the number of the last line of a CSV that holds text."""
    with path.open("rb") as stream:
        return max(1, sum(1 for _ in stream))


def _change(name: str, path: Path, record: TableRecord) -> TableChange | None:
    is_csv = path.suffix == ".csv"
    if is_csv and _holds(path, record.sha256):
        return None
    rows = _csv_rows(path) if is_csv else _parquet_rows(path)
    if rows is not None and rows < record.rows:
        return TableChange(is_cut=True, fault=_shorter(name, path, rows, record.rows))
    if rows is None or not is_csv:
        return None
    if rows == record.rows and is_unended(path):
        return TableChange(is_cut=True, fault=_torn(name, path))
    was = "" if rows == record.rows else f": it had {pluralise(record.rows, 'row')} and has {rows:,}"
    problem = f"this table was changed after its export{was}, and results are those of the changed table"
    cure = f"if that was intended, {_forget(name)} to stop this warning; if not, export the study again"
    return TableChange(is_cut=False, fault=Fault(problem=problem, cure=cure, path=str(path)))


def _shorter(name: str, path: Path, rows: int, exported: int) -> Fault:
    return Fault(
        problem=f"the table is cut: it has {pluralise(rows, 'row')}, and {exported:,} were exported",
        cure=f"export the study again, or, if you took rows out on purpose, {_forget(name)}",
        path=str(path),
        line=last_line(path) if path.suffix == ".csv" else None,
    )


def _torn(name: str, path: Path) -> Fault:
    return Fault(
        problem="the table ends inside a line: its last line differs from the export and has no line break",
        cure=f"export the study again, or, if you changed the table on purpose, {_forget(name)}",
        path=str(path),
        line=last_line(path),
    )


def _forget(name: str) -> str:
    return f'take "{name}" out of "tables" in {STUDY_FILE}'


def _holds(path: Path, sha256: str) -> bool:
    """Return whether a file matches its export, but for its last line break."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    if digest.hexdigest() != sha256:
        digest.update(b"\n")
    return digest.hexdigest() == sha256


def _csv_rows(path: Path) -> int:
    """Count the rows below the header, incomplete ones too, whatever their faults."""
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        try:
            return max(0, sum(1 for row in csv.reader(stream) if row) - 1)
        except csv.Error:
            return last_line(path) - 1


def _parquet_rows(path: Path) -> int | None:
    """Count the rows of a Parquet file; None for a damaged one.

    Reading the file reports the damage.
    """
    try:
        return int(pa_parquet.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return None
