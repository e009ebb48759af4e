"""How long each system was read and what was opened on it, from tables that were written by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

from calibration.agree.agree_tables import agree
from calibration.agree.folder import write_agreement
from calibration.agree.reading import READING, READING_COLUMNS, reading_rows
from calibration.agree.score_sources import ScoreSources
from calibration.tables.files import checked_tables
from metrics.agreement.crossed_errors import crossing
from study_app.report.page import NO_INTERVAL
from study_app.report.parts.reading import reading_sections

TOPICS, WORKERS = ("t1", "t2", "t3", "t4", "t5"), ("w1", "w2", "w3", "w4")
LONG, SHORT = "long", "short"


def judgment(worker, topic, number=1, **more):
    """Return a row of preferences: long on the left."""
    return {
        "judgment": f"{worker}.{topic}.{number}",
        "worker": worker,
        "task": "answers",
        "topic": topic,
        "pair": f"{topic}.1",
        "system_left": LONG,
        "system_right": SHORT,
        "choice": "left",
        "validation_of": None,
        **more,
    }


def seen(judged, side, item, seconds, kind="iunit", page="p1"):
    """Return a row of reads."""
    return {
        **{name: judged[name] for name in ("worker", "topic", "judgment")},
        "system": judged[f"system_{side}"],
        "page": f"{judged['judgment']}.{page}",
        "side": side,
        "item": item,
        "kind": kind,
        "words": 5,
        "dwell_seconds": seconds,
    }


def reads_of(judged, seconds, opened=()):
    """Return what one judgment read: a block with two sources on the left, a block alone on the right."""
    rows = [seen(judged, "left", "b1", seconds), seen(judged, "right", "b1", 2.0)]
    for label in ("1", "2"):
        rows.append(seen(judged, "left", f"b1:{label}", 0.5, kind="link"))
        rows += [seen(judged, "left", f"b1:{label}:text", 1.0)] if label in opened else []
    return rows


def tables_of(preferences, reads, **more):
    """Return checked tables."""
    return checked_tables({"preferences": pd.DataFrame(preferences), "reads": pd.DataFrame(reads), **more})


@pytest.fixture(scope="module")
def study():
    """Five topics judged by four people; one opens a source of each left answer, another both."""
    judged = [judgment(worker, topic) for topic, worker in itertools.product(TOPICS, WORKERS)]
    opened = {"w1": ("1",), "w2": ("1", "2")}
    reads = [
        row
        for number, row_of in enumerate(judged)
        for row in reads_of(row_of, 10.0 + number % 7, opened.get(row_of["worker"], ()))
    ]
    return judged, reads


def values(rows, column="value"):
    """Return a column by system and quantity."""
    return {(row["system"], row["quantity"]): row[column] for row in rows.to_dict("records")}


def test_means_are_those_by_hand_and_intervals_those_of_topics_and_people(study):
    """What has no sources has no share of opened ones, which is not a share of 0."""
    judged, reads = study
    rows = reading_rows(tables_of(judged, reads))
    seconds = np.array([10.0 + number % 7 + 1 for number in range(20)])
    seconds += np.tile([1.0, 2.0, 0.0, 0.0], 5)

    assert tuple(rows.columns) == READING_COLUMNS
    assert values(rows) == pytest.approx(
        {
            (LONG, "seconds"): seconds.mean(),
            (LONG, "opened_share"): 0.5,
            (LONG, "opened_number"): 0.75,
            (SHORT, "seconds"): 2.0,
        }
    )
    error = crossing(np.repeat(np.arange(5), 4), np.tile(np.arange(4), 5)).error(
        (seconds - seconds.mean()) / 20, np.full(20, 1 / 20)
    )
    mean = seconds.mean()
    reach = stdtrit(error.df, 0.975) * error.standard_error
    assert values(rows, "low")[LONG, "seconds"] == pytest.approx(mean * np.exp(-reach / mean))
    assert values(rows, "high")[LONG, "seconds"] == pytest.approx(mean * np.exp(reach / mean))
    assert set(rows["sides"]) == {20}
    assert (set(rows["topics"]), set(rows["workers"])) == ({5}, {4})


def test_what_does_not_count_for_preferences_does_not_count_here(study):
    """Repeats, gold pairs, excluded people; a page that logged nothing; loads of one page are added up."""
    judged, reads = study
    repeat = judgment("w1", "t1", 2, validation_of="w1.t1.1")
    gold = judgment("w1", "t1", 3, gold="left")
    silent = judgment("w4", "t1", 4)
    out = judgment("w9", "t1")
    more = [row for one in (repeat, gold, out) for row in reads_of(one, 500.0, ("1",))]
    again = [
        seen(judged[0], "left", "b1", 4.0, page="p2"),
        seen(judged[0], "left", "b1:1:text", 1.0, page="p2"),
    ]
    workers = pd.DataFrame({"worker": [*WORKERS, "w9"], "excluded": [False] * 4 + [True]})
    before = values(reading_rows(tables_of(judged, reads)))
    after = values(
        reading_rows(
            tables_of([*judged, repeat, gold, silent, out], [*reads, *more, *again], workers=workers)
        )
    )

    assert after == pytest.approx(before | {(LONG, "seconds"): before[LONG, "seconds"] + 5 / 20})


def test_layers_of_summaries_are_those_that_stops_count_and_lists_have_none(study):
    """An id with a colon is no source there; a text without links has nothing to open, which is not opening nothing."""
    judged, _ = study
    reads = [seen(one, side, "b1:x", 1.0, kind="link") for one in judged for side in ("left", "right")]
    one_layer = [{**row, "kind": "iunit"} if row["side"] == "right" else row for row in reads]

    def stops(rank):
        return pd.DataFrame(
            {
                "worker": one["worker"],
                "topic": one["topic"],
                "system": one[f"system_{side}"],
                "judgment": one["judgment"],
                "side": side,
                "chars_read": 10.0,
                "text_chars": 10.0,
                "reached_end": True,
                "opened": 2 if side == "left" else 0,
                "rank_read": rank,
                "ranks": rank,
            }
            for one in judged
            for side in ("left", "right")
        )

    summaries = values(reading_rows(tables_of(judged, reads, stops=stops(None))))
    lists = values(reading_rows(tables_of(judged, reads, stops=stops(3))))
    assert (summaries[LONG, "opened_number"], summaries[SHORT, "opened_number"]) == (2.0, 0.0)
    assert {quantity for _, quantity in lists} == {"seconds"}
    layers = values(reading_rows(tables_of(judged, one_layer, stops=stops(None))))
    assert set(layers) - set(summaries) | set(summaries) - set(layers) == {
        (SHORT, "opened_share"),
        (SHORT, "opened_number"),
    }


@pytest.mark.parametrize("missing", ["reads", "judgment"])
def test_without_logs_or_ids_of_judgments_there_is_nothing(study, missing):
    """Votes from elsewhere have neither."""
    judged, reads = study
    tables = tables_of(judged, reads)
    if missing == "reads":
        del tables["reads"]
    else:
        tables["preferences"] = tables["preferences"].drop(columns="judgment")
    assert reading_rows(tables).empty


def test_where_nobody_knows_who_judged_it_is_over_topics(study):
    """No number of people is made up."""
    judged, reads = study
    tables = tables_of([{**row, "worker": None} for row in judged], reads)
    rows = reading_rows(tables)
    assert rows["workers"].isna().all()
    assert rows.query("system == 'long' and quantity == 'seconds'")["low"].notna().all()


def test_agree_writes_it_and_the_report_shows_it(study, tmp_path):
    """Where nothing varies there is no interval, and the page says so; an older file goes."""
    judged, reads = study
    scores = pd.DataFrame(
        [(run, topic, "m", value) for topic in TOPICS for run, value in ((LONG, 1.0), (SHORT, 0.0))],
        columns=["run", "topic", "metric", "value"],
    )
    found = agree(ScoreSources(tables=tables_of(judged, reads), scores=scores))
    write_agreement(found, tmp_path)
    written = pd.read_csv(tmp_path / READING)
    assert values(written) == pytest.approx(values(found.reading))

    [section] = reading_sections(found.reading)
    assert section.title == (
        "People read a side for 2 (short) to 14.6 seconds (long), and opened a link on 50.0\u202f% of sides (long)"
    )
    [table] = section.tables
    assert [row[0] for row in table.rows] == ["long", "short"]
    assert table.rows[1][1:] == ("2", NO_INTERVAL, "20", "–", "–", "–", "–", "–")

    votes = tables_of(judged, reads)["preferences"]
    write_agreement(agree(ScoreSources(tables={"preferences": votes}, scores=scores)), tmp_path)
    assert not (tmp_path / READING).exists()
    assert list(reading_sections(None)) == []
