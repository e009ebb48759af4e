"""study.json: read and written by one shape, refused with line and cure."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from calibration.tables.study_json import (
    STUDY_FILE,
    Clock,
    FileRecord,
    StudyRecord,
    TableRecord,
    TaskRecord,
    read_study,
    write_study,
)
from metrics.errors import InputError

STUDY = StudyRecord(
    study="demo",
    title="A demonstration",
    started_at=datetime(2026, 3, 1, 9, 30, 0, 250_000, tzinfo=UTC),
    clock=Clock(factor=24.0),
    visit_gap_seconds=30.0,
    tasks={
        "summaries": TaskRecord(
            kind="summary_pairs",
            language="ja",
            collection={"queries": FileRecord(path="queries.tsv", sha256="0" * 64)},
            systems={"良い順": FileRecord(path="runs/good.xml")},
            protocol={"search_seconds": 180},
        )
    },
)


def refused(folder: Path, text: str) -> list[str]:
    """Return the faults of a study.json with this text."""
    (folder / STUDY_FILE).write_text(text)
    with pytest.raises(InputError) as error:
        read_study(folder)
    return [str(fault).replace(f"{folder}/", "") for fault in error.value.faults]


def test_what_is_written_is_read_back(tmp_path):
    """Times, names in any script and numbers survive."""
    write_study(STUDY, tmp_path)

    assert read_study(tmp_path) == STUDY


def test_the_same_study_gives_the_same_bytes_in_the_documented_order(tmp_path):
    """A second export of the same data is the same file."""
    write_study(STUDY, tmp_path)
    once = (tmp_path / STUDY_FILE).read_bytes()
    write_study(STUDY, tmp_path)

    assert (tmp_path / STUDY_FILE).read_bytes() == once
    assert list(json.loads(once)) == [
        "study",
        "title",
        "started_at",
        "ended_at",
        "prefcal_version",
        "study_sha256",
        "clock",
        "idle_seconds",
        "visit_gap_seconds",
        "heartbeat_seconds",
        "tasks",
    ]
    assert json.loads(once)["started_at"] == "2026-03-01T09:30:00.250Z"


def test_the_records_of_tables_come_last_and_only_where_there_are_any(tmp_path):
    """Exports of older versions, and tables from elsewhere, have none."""
    digest = "0" * 64
    write_study(STUDY.model_copy(update={"tables": {"reads": TableRecord(rows=2, sha256=digest)}}), tmp_path)
    content = json.loads((tmp_path / STUDY_FILE).read_text())

    assert list(content)[-2:] == ["tasks", "tables"]
    assert content["tables"] == {"reads": {"rows": 2, "sha256": digest}}
    assert read_study(tmp_path).tables["reads"].rows == 2


def test_tables_from_elsewhere_need_no_study(tmp_path):
    """A folder without study.json is as good."""
    assert read_study(tmp_path) is None


def test_a_short_study_has_the_documented_defaults(tmp_path):
    """Only the name is required; an absent gap between visits is 0."""
    (tmp_path / STUDY_FILE).write_text('{"study": "mine", "colour": "blue"}')
    study = read_study(tmp_path)

    assert study == StudyRecord(study="mine")
    assert (study.visit_gap_seconds, study.clock.factor) == (0.0, 1.0)


def test_every_fault_has_its_line_and_its_cure(tmp_path):
    """The line is that of the value, or of what should hold it."""
    text = """{
 "title": "no name",
 "started_at": "2026-03-01T09:30:00",
 "tasks": {
  "a": {"kind": 7},
  "b": {
   "kind": "summary_pairs",
   "collection": {"queries": "queries.tsv"}
  }
 }
}"""

    assert refused(tmp_path, text) == [
        "study.json:1: 'study' is missing; export the study again, or see docs/tables.md",
        'study.json:3: started_at is "2026-03-01T09:30:00"; it should have timezone info',
        "study.json:5: tasks.a.kind is 7; it should be a valid string",
        'study.json:8: tasks.b.collection.queries is "queries.tsv"; it should be a valid object',
    ]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"study": NaN}', '{"study": "a", "study": "b"}', "\x00"])
def test_what_is_no_study_is_an_input_error(text, tmp_path):
    """Never a traceback, whatever stands in the file."""
    assert refused(tmp_path, text)[0].startswith("study.json:1: ")
