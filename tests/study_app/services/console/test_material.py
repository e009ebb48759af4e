"""What was judged how often, who followed when, and who is preferred so far: counted by hand, and by the console."""

import json
from datetime import timedelta

import pytest

from calibration.tables.study import read_study
from study_app.export.study_export import export_study
from study_app.services.console.material import (
    couple_matrix,
    judgments_so_far,
    open_results,
    visit_raster,
    votes_so_far,
)
from study_app.store.plan import read_plan
from tests.study_app.stored_streams import StoredStreams
from tests.study_app.stored_streams import opening as opens
from tests.study_app.stored_study import NOON, StoredStudy


@pytest.fixture
def study(tmp_path):
    """Ann judged three pairs and one again, Bob one of them the other way round and changed his mind; Cleo withdrew."""
    one = StoredStudy(tmp_path / "study")
    ann, bob = one.slot(one.worker("ann")), one.slot(one.worker("bob"))
    first = one.showing(ann, "good", "flat")
    one.judge(first, "left")
    one.judge(one.showing(ann, "none", "good"), "right")
    one.judge(one.showing(ann, "flat", "none"), "equally_bad")
    one.judge(one.showing(ann, "flat", "good", repeats=first), "left")
    changed = one.showing(bob, "flat", "good")
    one.judge(changed, "right")
    one.judge(changed, "left", revision=2)
    one.showing(bob, "flat", "none")
    gone = one.slot(one.worker("cleo", withdrawn_at=NOON))
    one.judge(one.showing(gone, "good", "flat"), "left")
    return one


def test_a_matrix_has_the_judgments_of_each_pair(study):
    """Couples stand in the order of the study file; repeats, open pairs and those who withdrew are not counted."""
    task = read_plan(study.session, study.study.id).tasks[1]
    found = couple_matrix(study.session, task, page=1, couple_page=1)
    assert found.couples == (("good", "flat"), ("good", "none"), ("flat", "none"))
    fuji, tea = found.rows
    assert (fuji.cells, tea.cells) == ((2, 1, 1), (0, 0, 0))
    assert (found.judgments, found.repeats, found.most) == (4, 1, 2)
    assert found.silent_days is None
    assert couple_matrix(study.session, task, page=2, couple_page=2).rows == ()


def test_votes_are_those_of_the_newest_answers_on_whichever_side(study):
    """Equal options are half a vote for either."""
    plan = read_plan(study.session, study.study.id)
    [task] = votes_so_far(study.session, plan)
    counted = [(one.first, one.for_first, one.equal, one.for_second, one.second) for one in task.couples]
    assert counted == [("good", 1, 0, 1, "flat"), ("good", 1, 0, 0, "none"), ("flat", 0, 1, 0, "none")]
    assert [(name, round(share, 3), number) for name, share, number in task.systems] == [
        ("good", 0.667, 3),
        ("flat", 0.5, 3),
        ("none", 0.25, 2),
    ]


def test_a_look_at_results_is_told_by_every_export_after_it(study, tmp_path):
    """Without one study.json says nothing of it."""
    export_study(study.session, study.study, tmp_path / "before", now=NOON)
    assert "results_opened" not in (tmp_path / "before" / "study.json").read_text()
    assert judgments_so_far(study.session, study.study.id) == 4
    open_results(study.session, study.study.id, now=NOON + timedelta(hours=1))
    export_study(study.session, study.study, tmp_path / "after", now=NOON)
    written = json.loads((tmp_path / "after" / "study.json").read_text())
    assert written["results_opened"] == [{"at": "2026-03-01T13:00:00.000Z", "judgments": 4}]
    assert (
        "looked at 1 time before these tables were written: first on 2026-03-01 13:00 UTC at 4 judgments."
        in (read_study(tmp_path / "after").looks)
    )


def test_a_raster_has_the_visits_of_each_day_of_a_followers_own_stream(tmp_path):
    """Two pages of one visit are one; a page that nobody read is none; a day that has not come is open."""
    streams = StoredStreams(tmp_path / "streams")
    worker = streams.worker("ann")
    follow = streams.follow(worker, started_at=NOON)
    streams.view(follow, "a", *opens(), at=60, visit=1)
    streams.view(follow, "b", *opens(), at=90, visit=1)
    streams.view(follow, "c", *opens(), at=5 * 3600, visit=2)
    streams.view(follow, "d", at=6 * 3600, visit=3)
    streams.view(follow, "e", *opens(), at=50 * 3600, visit=4)
    task = read_plan(streams.session, streams.study.id).tasks[0]
    found = visit_raster(streams.session, task, page=1, now=NOON + timedelta(hours=51))
    [row] = found.rows
    assert (row.worker, row.topic) == ("ann", "TS14.91")
    assert row.days == (2, 0, 1, None)
    assert (found.days, found.followers, found.most) == (4, 1, 2)
