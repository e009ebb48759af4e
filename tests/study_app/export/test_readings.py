"""From the events of pair pages to the tables reads and stops."""

from dataclasses import replace
from datetime import timedelta

import pytest

from study_app.export import export_study
from study_app.tasks.kinds import KINDS
from tests.study_app.stored_study import LATER, NOON, StoredStudy, opened, sees, turns

READ_AND_OPENED = (
    (0, "open", opened()),
    (0, "see", sees("left", "f0", 1)),
    (2000, "see", sees("left", "f0", 0)),
    (2000, "see", sees("left", "f1", 1)),
    (3000, "layer", turns("left", "f1", is_open=True)),
    (3000, "see", sees("left", "s1.0", 0.5)),
    (6000, "submit", {"choice": "left"}),
    (6000, "close"),
)
"""2 s for f0 (5 words), 1 s for the link (1 word), then 3 s for the link and half of the 3 words inside."""


@pytest.fixture
def pair(stored):
    """Somebody who is shown good on the left and flat on the right."""
    worker = stored.worker("ann")
    return worker, stored.showing(stored.slot(worker), "good", "flat")


def test_every_item_that_was_seen_has_a_row(stored, pair, exported):
    """Seconds, offsets in reading order, and names of the collection instead of those of the page."""
    stored.page(*pair, "p1", *READ_AND_OPENED)

    reads = exported()["reads"]

    columns = ["side", "system", "item", "kind", "words", "chars", "end_offset_chars", "dwell_seconds"]
    assert list(reads[columns].itertuples(index=False, name=None)) == [
        ("left", "good", "U1", "iunit", 5, 13, 13, 2.0),
        ("left", "good", "I2", "link", 1, 8, 21, 2.2),
        ("left", "good", "U3", "iunit", 3, 12, 33, 1.8),
    ]
    assert reads["first_seen"].tolist() == [NOON + timedelta(seconds=s) for s in (0, 2, 3)]
    assert reads["fully_seen"].tolist() == [True, True, False]
    assert reads["interrupted"].tolist() == [False, False, True]
    assert set(reads["judgment"]) == {"ann.1.1"}
    assert set(reads["page"]) == {"p1"}


def test_every_text_has_a_row_that_says_how_far_it_was_read(stored, pair, exported):
    """13 + 8 + half of 12 of the 52 characters with the opened layer, the screen beginning after 13; of the right side nothing."""
    stored.page(*pair, "p1", *READ_AND_OPENED)

    stops = exported()["stops"]
    assert stops[["rank_read", "ranks"]].isna().all(axis=None)
    stops = stops.drop(columns=["worker", "topic", "page", "judgment", "language", "rank_read", "ranks"])

    assert list(stops.itertuples(index=False, name=None)) == [
        ("good", "left", "stacked", 27, 13, 52, False, 1),
        ("flat", "right", "stacked", 0, 0, 19, False, 0),
    ]


def test_a_ranked_list_has_the_rank_of_the_furthest_entry_seen(stored, pair, exported, monkeypatch):
    """Three of four entries were seen on the left, none of one on the right."""
    kind = KINDS["summary_pairs"]
    monkeypatch.setitem(KINDS, "summary_pairs", replace(kind, side=replace(kind.side, ranked=True)))
    stored.page(*pair, "p1", *READ_AND_OPENED)

    stops = exported()["stops"]

    assert stops[["rank_read", "ranks"]].to_numpy().tolist() == [[3, 4], [0, 1]]


def test_only_summaries_and_ranked_lists_have_stops(stored, pair, exported, monkeypatch):
    """Patience and persistence are fitted to them; how far a push stream was read is another matter."""
    with_stops = [name for name, kind in KINDS.items() if kind.page == "pair" and "stops" in kind.tables]
    assert {name: KINDS[name].side.ranked for name in with_stops} == {
        "summary_pairs": False,
        "ranked_pairs": True,
    }
    stored.page(*pair, "p1", *READ_AND_OPENED)
    without = replace(KINDS["summary_pairs"], tables=frozenset({"preferences", "reads"}))
    monkeypatch.setitem(KINDS, "summary_pairs", without)

    tables = exported()

    assert len(tables["reads"]) == 3
    assert "stops" not in tables


def test_a_reload_goes_on_reading_the_same_text(stored, pair, exported):
    """Reads are by page; a text has one stop, at the furthest point of all loads."""
    stored.page(*pair, "p1", *READ_AND_OPENED)
    stored.page(
        *pair,
        "p2",
        (0, "open", opened("side_by_side")),
        (0, "see", sees("left", "f2", 1)),
        (9000, "close"),
        served_at=NOON + timedelta(minutes=1),
    )

    tables = exported()

    assert tables["reads"]["page"].tolist() == ["p1", "p1", "p1", "p2"]
    left = tables["stops"].iloc[0]
    assert (left["page"], left["layout"]) == ("p2", "side_by_side")
    assert (left["chars_read"], left["text_chars"], left["reached_end"], left["opened"]) == (52, 52, True, 1)


def test_a_second_look_at_less_takes_nothing_away(stored, pair, exported):
    """Of each item the largest share of all loads counts."""
    stored.page(*pair, "p1", *READ_AND_OPENED)
    stored.page(
        *pair,
        "p2",
        (0, "open", opened()),
        (0, "see", sees("left", "f0", 0.25)),
        served_at=NOON + timedelta(minutes=1),
    )
    stored.page(
        *pair,
        "p3",
        (0, "open", opened()),
        (0, "layer", turns("left", "f1", is_open=True)),
        (0, "see", sees("left", "s1.0", 0.25)),
        served_at=NOON + timedelta(minutes=2),
    )

    assert exported()["stops"]["chars_read"].tolist() == [27, 0]


def test_rounding_never_adds_time(stored, pair, exported):
    """2 s among 5, 1 and 5 words are 909.09, 181.82 and 909.09 ms."""
    stored.page(
        *pair,
        "p1",
        (0, "open", opened()),
        (0, "see", sees("left", "f0", 1)),
        (0, "see", sees("left", "f1", 1)),
        (0, "see", sees("right", "f0", 1)),
        (2000, "close"),
    )

    assert exported()["reads"]["dwell_seconds"].tolist() == [0.909, 0.181, 0.909]


def test_a_page_that_never_told_what_it_showed_has_no_rows(stored, pair, exported):
    """Without script there are no events, and without an observer there is nothing to go by."""
    stored.page(*pair, "p1", (0, "open", opened()), (9000, "beat"), (9000, "close"))

    tables = exported()

    assert tables["reads"].empty
    assert tables["stops"].empty


def test_an_empty_text_is_a_text_that_was_read_to_its_end(stored, exported):
    """A system that shows nothing takes part all the same."""
    worker = stored.worker("ann")
    slot = stored.slot(worker)
    stored.summary(slot, "none").content = {"blocks": []}
    showing = stored.showing(slot, "good", "none")
    stored.page(worker, showing, "p1", (0, "open", opened()), (0, "see", sees("left", "f0", 1)), (1, "close"))

    right = exported()["stops"].iloc[1]

    assert (right["text_chars"], right["reached_end"]) == (0, True)


def test_pages_of_those_who_withdrew_are_gone(stored, exported):
    """Their reading is theirs too."""
    worker = stored.worker("ann", withdrawn_at=LATER)
    stored.page(worker, stored.showing(stored.slot(worker), "good", "flat"), "p1", *READ_AND_OPENED)

    assert exported()["reads"].empty


def test_pages_other_than_pairs_are_no_reading(stored, exported):
    """A search page logs presence only."""
    stored.page(stored.worker("ann"), None, "p1", (0, "open", opened()), (9000, "close"))

    assert exported()["reads"].empty


def test_a_browser_may_claim_any_time_and_the_export_goes_on(stored, pair, exported):
    """Clocks are the browser's word: nothing is seen later than its log arrived."""
    stored.page(
        *pair,
        "p1",
        (0, "open", opened()),
        (2**53, "see", sees("left", "f0", 1)),
        (2**53, "close"),
    )

    assert exported()["reads"]["first_seen"].tolist() == [NOON + timedelta(seconds=5)]


def test_tables_do_not_depend_on_the_order_of_arrival(tmp_path, stored_in):
    """Retried, late and reordered batches: the same files to the byte."""
    files = []
    for name, order, pages in (("a", None, [0, 1]), ("b", [5, 2, 7, 0, 1, 4, 3, 6], [1, 0])):
        stored = StoredStudy(tmp_path / name, url=stored_in(tmp_path / name))
        worker = stored.worker("ann")
        showing = stored.showing(stored.slot(worker), "good", "flat")
        for page in pages:
            served_at = NOON + timedelta(minutes=page)
            stored.page(worker, showing, f"p{page}", *READ_AND_OPENED, served_at=served_at, order=order)
        export_study(stored.session, stored.study, tmp_path / name / "tables", now=LATER, exact_times=True)
        stored.close()
        folder = tmp_path / name / "tables"
        files.append({path.name: path.read_bytes() for path in folder.glob("*.csv")})

    assert files[0] == files[1]
    assert "reads.csv" in files[0]
