"""`study.json`: what a folder of tables came from, its clock, its collections and runs.

Fits need none of it; agreement finds the collections and runs by it. Fields that are not named here are ignored,
so that other tools may add their own.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

from calibration.user_model.json_files import read_model, write_json

STUDY_FILE = "study.json"


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Time = Annotated[AwareDatetime, PlainSerializer(_written)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class FileRecord(_Part):
    """A file that the study was made from.

    Attributes
    ----------
    path : str
        Absolute, or relative to the folder of study.json.
    sha256 : str or None
        What the file held.
    """

    path: str = Field(min_length=1)
    sha256: Digest | None = None


class TaskRecord(_Part):
    """What one task was made from.

    Attributes
    ----------
    kind : str
        What the worker did: summary_pairs, intent_votes, iunit_importance, stream_pairs, stream_visits, ranked_pairs, questions, or a
        kind that somebody added.
    language : {'en', 'ja'} or None
        Language of the texts.
    collection : dict of str to FileRecord
        Kind of file (queries, iunits, ...) -> file.
    systems : dict of str to FileRecord
        Name of a system, as in the tables -> its run.
    protocol : dict
        The protocol numbers of the study file.
    """

    kind: str = Field(min_length=1)
    language: Literal["en", "ja"] | None = None
    collection: dict[str, FileRecord] = {}
    systems: dict[str, FileRecord] = {}
    protocol: dict[str, JsonValue] = {}


class TableRecord(_Part):
    """A table as it was exported.

    Attributes
    ----------
    rows : int
        How many it had.
    sha256 : str
        Of the bytes of its CSV.
    """

    rows: int = Field(ge=0)
    sha256: Digest


class Clock(_Part):
    """How stream time follows from wall time: origin + factor x (wall time - origin).

    Attributes
    ----------
    origin : datetime or None
        The wall time at which both agree.
    factor : float
        Stream seconds in a wall second.
    """

    origin: Time | None = None
    factor: float = Field(default=1.0, gt=0)


class StudyRecord(_Part):
    """The content of study.json.

    Attributes
    ----------
    study, title : str
        Short name and title.
    started_at, ended_at : datetime or None
        When it ran.
    simulated : bool
        The people were a simulated crowd; in the file only where it is true.
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
    """

    study: str = Field(min_length=1)
    title: str = ""
    started_at: Time | None = None
    ended_at: Time | None = None
    simulated: bool = False
    prefcal_version: str | None = None
    study_sha256: Digest | None = None
    clock: Clock = Clock()
    idle_seconds: float | None = Field(default=None, gt=0)
    visit_gap_seconds: float = Field(default=0.0, ge=0)
    heartbeat_seconds: float | None = Field(default=None, gt=0)
    tasks: dict[str, TaskRecord] = {}
    tables: dict[str, TableRecord] = {}


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
    """Write study.json into a folder of tables; the same record gives the same bytes."""
    unsaid = {name for name in ("simulated", "tables") if not getattr(study, name)}
    content: dict[str, Any] = study.model_dump(mode="json", exclude=unsaid)
    write_json(Path(folder) / STUDY_FILE, content)
