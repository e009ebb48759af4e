"""What `--raw` adds: everything as stored, and what is missing."""

from datetime import timedelta

import pytest

from calibration.tables.files import read_table
from study_app.export import export_study
from study_app.export.raw_tables import RAW_TABLES
from tests.study_app.stored_study import LATER, NOON, opened


@pytest.fixture
def raw(stored, tmp_path):
    """Export with `--raw`; return the tables of the folder raw and the summary."""

    def export():
        summary = export_study(
            stored.session, stored.study, tmp_path / "tables", now=LATER, raw=True, exact_times=True
        )
        folder = tmp_path / "tables" / "raw"
        return {
            name: read_table(folder / f"{name}.csv", table) for name, table in RAW_TABLES.items()
        }, summary

    return export


@pytest.fixture
def ann(stored):
    return stored.worker("ann")


def test_every_event_is_there_as_it_was_stored(stored, ann, raw):
    """Also those of pages that no table is made from."""
    stored.page(ann, None, "p1", (0, "open", opened()), (70, "hidden"), order=[1, 0])

    events = raw()[0]["events"]

    assert events["number"].tolist() == [1, 2]
    assert events["detail"].tolist()[1] == "{}"
    assert events.loc[1].drop("detail").to_dict() == {
        "worker": "ann",
        "page": "p1",
        "step": "2/1/search",
        "judgment": pytest.approx(float("nan"), nan_ok=True),
        "number": 2,
        "kind": "hidden",
        "page_ms": 70,
        "wall_ms": 1_772_366_400_070,
        "received_at": NOON + timedelta(seconds=5),
    }


def test_every_revision_is_there(stored, ann, raw):
    """Of judgments and of ballots."""
    showing = stored.showing(stored.slot(ann), "good", "flat")
    stored.judge(showing, "left")
    stored.judge(showing, "right", revision=2)
    votes = stored.slot(ann, task="votes")
    votes.late = True
    stored.vote(votes, ["I1", "I2"])
    stored.vote(votes, [], revision=2)

    tables, _ = raw()

    assert tables["judgments"]["choice"].tolist() == ["left", "right"]
    assert tables["ballots"]["intents"].tolist() == ['["I1", "I2"]', "[]"]
    assert tables["ballots"]["late"].tolist() == [True, True]


def test_holes_in_the_numbers_are_named(stored, ann, raw):
    """Numbers begin at 1, so what is missing in front is missing too."""
    beats = [(1000 * number, "beat") for number in range(10)]
    stored.page(ann, None, "p1", *beats, (10_000, "close"), lost={1, 4, 5, 9})
    stored.page(ann, None, "p2", *beats, served_at=NOON + timedelta(minutes=1))

    tables, summary = raw()

    gaps = tables["page_gaps"].set_index("page")
    columns = ["events", "highest", "missing", "missing_numbers", "has_end"]
    assert gaps.loc["p1", columns].tolist() == [7, 11, 4, "1 4-5 9", True]
    assert gaps.loc["p2", columns].fillna("").tolist() == [10, 10, 0, "", False]
    assert (summary.gaps.pages, summary.gaps.pages_with_gaps, summary.gaps.missing_events) == (2, 1, 4)
    assert summary.gaps.pages_without_end == 1


def test_an_answer_whose_page_logged_nothing_is_counted(stored, ann, raw):
    """By worker; without script that is every answer, and no fault."""
    slot = stored.slot(ann)
    first, second = stored.showing(slot, "good", "flat"), stored.showing(slot, "good", "none")
    stored.judge(first, "left", page_key="p1")
    stored.judge(second, "left", page_key="p2")
    stored.judge(second, "right", revision=2, page_key="p3")
    stored.page(ann, first, "p1", (0, "open", opened()), (9, "close"))
    stored.page(ann, second, "p2", (0, "open", opened()), (9, "close"))
    stored.worker("bob")

    tables, summary = raw()

    assert tables["worker_gaps"].to_dict("records") == [
        {
            "worker": "ann",
            "pages": 2,
            "pages_with_gaps": 0,
            "pages_without_end": 0,
            "events": 4,
            "missing": 0,
            "unlogged_answers": 1,
            "stream_pages": 0,
            "stream_pages_by_form_only": 0,
            "silent_stream_pages": 0,
        },
        {
            "worker": "bob",
            "pages": 0,
            "pages_with_gaps": 0,
            "pages_without_end": 0,
            "events": 0,
            "missing": 0,
            "unlogged_answers": 0,
            "stream_pages": 0,
            "stream_pages_by_form_only": 0,
            "silent_stream_pages": 0,
        },
    ]
    assert summary.gaps.unlogged_answers == 1


def test_those_who_withdrew_are_not_in_it(stored, raw):
    """Raw is no back door."""
    worker = stored.worker("ann", withdrawn_at=LATER)
    showing = stored.showing(stored.slot(worker), "good", "flat")
    stored.judge(showing, "left")
    stored.vote(stored.slot(worker, task="votes"), ["I1"])
    stored.page(worker, showing, "p1", (0, "open", opened()), (1, "close"))

    tables, summary = raw()

    assert all(table.empty for table in tables.values())
    assert summary.gaps.pages == 0
