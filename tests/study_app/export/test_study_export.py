"""A whole export: what every later stage relies on."""

import hashlib
from pathlib import Path

import pytest

from calibration.tables.files import read_table
from calibration.tables.study_json import read_study
from calibration.tables.tables import TABLES
from metrics.errors import InputError
from study_app.export import export_study
from tests.study_app.stored_study import LATER, LOADED, NOON, STUDY, StoredStudy, opened, sees


@pytest.fixture
def lived_in(stored):
    """A study in which every table has a row."""
    worker = stored.worker("ann", completed_at=LATER)
    showing = stored.showing(stored.slot(worker), "good", "flat")
    stored.judge(showing, "left", page_key="p1")
    stored.vote(stored.slot(worker, task="votes"), ["I1"])
    stored.page(worker, showing, "p1", (0, "open", opened()), (0, "see", sees("left", "f0", 1)), (9, "close"))
    return stored


def test_csv_and_parquet_say_the_same(lived_in, tmp_path):
    """Whoever prefers one or the other gets the same values in the same types."""
    summary = export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER, parquet=True)

    assert summary.rows == {
        "workers": 1,
        "intents": 3,
        "intent_votes": 1,
        "preferences": 1,
        "searches": 1,
        "positions": 10,
        "reads": 1,
        "stops": 2,
    }
    for name in summary.rows:
        csv, parquet = (
            read_table(tmp_path / "tables" / f"{name}.{suffix}", TABLES[name])
            for suffix in ("csv", "parquet")
        )
        assert csv.equals(parquet), name


def test_only_large_tables_are_parquet_unless_all_are_asked_for(lived_in, tmp_path, monkeypatch):
    """Of the raw ones too."""
    monkeypatch.setattr("study_app.export.study_export.PARQUET_ROWS", 10)
    summary = export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER, raw=True)

    written = {path.stem for path in (tmp_path / "tables").rglob("*.parquet")}
    assert written == {name for name, rows in summary.rows.items() if rows >= 10} == {"positions"}
    assert (tmp_path / "tables" / "raw" / "events.csv").is_file()


def test_nothing_that_identifies_leaves_the_database(lived_in, tmp_path):
    """No platform id, session id, code or token, in no file, raw included."""
    export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER, raw=True)

    for path in (tmp_path / "tables").rglob("*.*"):
        content = path.read_bytes()
        for secret in (b"PLATFORM-", b"SESSION-", b"CODE-", b"DONE-"):
            assert secret not in content, path.name


def test_study_json_finds_the_collection_and_the_runs(lived_in, tmp_path):
    """Later stages read the files by it, and see whether they are still what they were."""
    export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER)

    record = read_study(tmp_path / "tables")
    pairs = record.tasks["pairs"]

    assert (record.study, record.started_at, record.ended_at) == ("fuji", NOON, LATER)
    assert pairs.protocol["min_consistency"] == 0.4
    assert not {"systems", "collection", "name", "kind", "language"} & pairs.protocol.keys()
    assert list(pairs.systems) == ["good", "flat", "none"]
    assert set(pairs.collection) == {"queries", "iunits", "intents", "importance", "probability"}
    for file in (*pairs.systems.values(), *pairs.collection.values()):
        assert not Path(file.path).is_absolute()
        assert hashlib.sha256((tmp_path / "tables" / file.path).read_bytes()).hexdigest() == file.sha256


def test_study_json_knows_rows_and_hash_of_every_table(lived_in, tmp_path):
    """So that a table that was cut on its way is told from the exported one; the raw folder is no table."""
    folder = tmp_path / "tables"
    summary = export_study(lived_in.session, lived_in.study, folder, now=LATER)
    known = read_study(folder).tables

    assert {name: record.rows for name, record in known.items()} == summary.rows
    assert list(known) == sorted(known)
    for name, record in known.items():
        assert hashlib.sha256((folder / f"{name}.csv").read_bytes()).hexdigest() == record.sha256

    export_study(lived_in.session, lived_in.study, folder, now=LATER, raw=True)
    assert read_study(folder).tables == known


def test_a_study_nobody_came_to_exports_empty_tables(stored, tmp_path):
    """The analysis can be written before the first worker; the study began when it was loaded."""
    summary = export_study(stored.session, stored.study, tmp_path / "tables", now=LATER, raw=True)

    assert {name: rows for name, rows in summary.rows.items() if rows} == {"intents": 3, "positions": 10}
    assert read_study(tmp_path / "tables").started_at == LOADED


def test_a_study_has_the_tables_of_its_tasks_only(tmp_path, stored_in):
    """A study of votes has neither preferences nor reads."""
    votes = STUDY.partition("  - kind: summary_pairs")[0]
    stored = StoredStudy(tmp_path / "study", votes, url=stored_in(tmp_path))

    summary = export_study(stored.session, stored.study, tmp_path / "tables", now=LATER)
    stored.close()

    assert set(summary.rows) == {"workers", "intents", "intent_votes"}


def test_the_same_database_gives_the_same_bytes(lived_in, tmp_path):
    """tables_sha256 in a user model must mean something."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        export_study(lived_in.session, lived_in.study, folder, now=LATER, raw=True)

    one, two = ({p.name: p.read_bytes() for p in folder.rglob("*.*")} for folder in folders)
    assert one == two


def test_an_export_never_replaces_what_it_did_not_write(lived_in, tmp_path):
    """A fitted model among the tables is somebody's result."""
    export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER, raw=True)
    export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER)
    assert not (tmp_path / "tables" / "raw").exists()

    (tmp_path / "tables" / "user-model.json").write_text("{}")
    with pytest.raises(InputError, match="user-model"):
        export_study(lived_in.session, lived_in.study, tmp_path / "tables", now=LATER)
