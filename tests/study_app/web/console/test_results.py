"""What was judged how often, and who is preferred so far: counted by hand, and by the console."""

import json
from datetime import timedelta

import pytest

from calibration.tables.study_json import read_study
from study_app.export.study_export import export_study
from study_app.store.results_views import add_results_view, count_judgments
from study_app.store.study_cache import read_plan
from study_app.web.console.material import pair_matrix, votes_so_far
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


def test_a_matrix_has_the_judgments_of_each_pair(study, monkeypatch):
    """Couples stand in the order of the study file; repeats, open pairs and those who withdrew are not counted. A huge one is cut."""
    task = read_plan(study.session, study.study.id).tasks[1]
    found = pair_matrix(study.session, task)
    assert found.system_pairs == (("good", "flat"), ("good", "none"), ("flat", "none"))
    assert [cells for _, cells in found.rows] == [(2, 1, 1), (0, 0, 0)]
    assert (found.judgments, found.repeats, found.highest) == (4, 1, 2)
    assert found.silent_days is None
    monkeypatch.setattr("study_app.web.console.material.MAX_CELLS", 5)
    assert pair_matrix(study.session, task).rows == found.rows[:1]


def test_votes_are_those_of_the_newest_answers_on_whichever_side(study):
    """Equal options are half a vote for either."""
    plan = read_plan(study.session, study.study.id)
    [task] = votes_so_far(study.session, plan)
    counted = [(pair.first, pair.for_first, pair.equal, pair.for_second, pair.second) for pair in task.pairs]
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
    assert count_judgments(study.session, study.study.id) == 4
    add_results_view(study.session, study.study.id, now=NOON + timedelta(hours=1))
    export_study(study.session, study.study, tmp_path / "after", now=NOON)
    written = json.loads((tmp_path / "after" / "study.json").read_text())
    assert written["results_opened"] == [{"at": "2026-03-01T13:00:00.000Z", "judgments": 4}]
    assert (
        "looked at 1 time before these tables were written: first on 2026-03-01 13:00 UTC at 4 judgments."
        in (read_study(tmp_path / "after").looks)
    )
