"""Rating iUnits for an intent: what a page shows, what its form stores, and what happens to a form that is not whole."""

from collections import Counter

import pytest
from sqlalchemy import select

from study_app.store.models import Slot, Worker
from study_app.store.task_models import Rating, Sheet
from tests.study_app.small_study import IUNITS, secrets_in
from tests.study_app.small_tasks import rate_all, rating_task, shown


@pytest.fixture
def study(campaign):
    """A study of nothing but ratings."""
    return campaign(tasks=[rating_task()])


def ratings(study):
    """Return every revision in order: its number and what it says."""
    return [tuple(row) for row in study.rows(select(Rating.revision, Rating.ratings).order_by(Rating.id))]


def test_every_iunit_of_the_query_is_rated_once_for_each_intent(study):
    """On pages of about equal length, whatever fits on one at most; of one query while it has intents; then comes the code."""
    ann = study.arrive().send()
    seen = []
    while "/rate/" in ann.step:
        intent, fields = shown(ann)
        seen.append((ann.step, intent, list(fields.values())))
        ann.send(**dict.fromkeys(fields, "1"))
    assert [step for step, _, _ in seen] == ["1/1/rate/1", "1/1/rate/2", "1/2/rate/1", "1/2/rate/2"]
    assert [len(iunits) for _, _, iunits in seen] == [2, 2, 2, 2]
    for first, second in (seen[:2], seen[2:]):
        assert first[1] == second[1]
        assert sorted(first[2] + second[2]) in [sorted(iunits) for iunits in IUNITS.values()]
    assert seen[0][1] != seen[2][1]
    assert len({topic for (topic,) in study.rows(select(Slot.topic_id))}) == 1
    assert ann.step == "finish"
    study.clock.forward(3600)
    assert [(at is not None, late) for at, late in study.rows(select(Slot.done_at, Slot.late))] == [
        (True, False)
    ] * 2
    assert ann.send().step == "done"


def test_intents_are_shared_out_evenly(study):
    """Two assessors each; then the study is full, and it says so at the door."""
    for name in ("ann", "bob", "cid", "dan"):
        assert rate_all(study.arrive(name).send()).send().step == "done"
    held = Counter(unit for (unit,) in study.rows(select(Slot.unit)))
    assert set(held.values()) == {2}
    assert study.arrive("eve").status == 409


def test_the_page_says_whose_interest_counts_and_stores_what_each_line_got(study):
    """That of the intent, whatever the worker's own; the scale says what its numbers mean, and each line keeps its own."""
    ann = study.arrive().send()
    assert "whatever interests you yourself" in ann.text
    scale = ann.html.select_one("fieldset.scale")
    labels = [label.get_text(" ", strip=True) for label in scale.select("label")]
    assert labels == ["0 unimportant", "1", "2 somewhat important", "3", "4 highly important"]
    assert [box["value"] for box in scale.select("input")] == ["0", "1", "2", "3", "4"]
    assert not ann.html.select("input[type=radio][checked]")
    _, fields = shown(ann)
    given = dict(zip(fields, ("0", "4"), strict=True))
    ann.send(**given)
    assert ratings(study) == [(1, {fields[field]: int(value) for field, value in given.items()})]


def test_the_order_differs_between_workers(new_campaign):
    """What stands first gets another kind of attention."""
    study = new_campaign("order", tasks=[rating_task(iunits_per_page=4, assessors_per_iunit=None)])
    for number in range(8):
        study.arrive(f"worker{number}").send()
    orders = {tuple(iunits) for (iunits,) in study.rows(select(Sheet.iunits))}
    assert len(orders) > 4


def test_a_form_with_a_line_unrated_comes_back_filled_in(study):
    """Nothing is stored, what was rated stays rated, and the other line says that it is missing."""
    ann = study.arrive().send()
    for wrong in ({}, *({"rating-2": value} for value in ("", "5", "-1", "2.5", "x"))):
        ann.send(**{"rating-1": "0", **wrong})
        assert (ann.sent, ann.step) == (422, "1/1/rate/1")
        assert "Please rate every line" in ann.html.select_one("[role=alert]").get_text()
        assert ann.checked("rating-1") == ["0"]
        assert ann.checked("rating-2") == []
        lines = ann.html.select("fieldset.scale")
        assert [bool(line.select(".refusal")) for line in lines] == [False, True]
        assert lines[1]["aria-describedby"] == lines[1].select_one(".refusal")["id"]
    assert ratings(study) == []


def test_the_same_form_twice_is_stored_once(study):
    """A double click."""
    ann = study.arrive().send()
    form = {**ann.form(), "rating-1": "1", "rating-2": "2"}
    path = ann.path
    for _ in range(2):
        ann.send(form=form, to=path)
        assert ann.step == "1/1/rate/2"
    assert len(ratings(study)) == 1


def test_going_back_shows_what_was_rated_and_a_change_is_a_revision(study):
    """Until the end; afterwards nothing changes."""
    ann = rate_all(study.arrive().send())
    ann.open(f"{ann.home}1/1/rate/1")
    assert ann.checked("rating-1") == ["3"]
    form = ann.form()
    ann.send(**{"rating-1": "0", "rating-2": "3"})
    assert ann.step == "finish"
    assert [revision for revision, _ in ratings(study)].count(2) == 1
    ann.send()
    ann.send(form={**form, "rating-1": "4", "rating-2": "4"}, to=f"{ann.home}1/1/rate/1")
    assert (ann.step, len(ratings(study))) == ("done", 5)


def test_a_query_without_iunits_is_passed_over(new_campaign):
    """There is nothing to rate in it; the other query's intents are all there is to do."""
    study = new_campaign("bare", tasks=[rating_task(intents_per_worker=4)])
    iunits = study.folder / "iunits.tsv"
    kept = [line for line in iunits.read_text().splitlines(keepends=True) if line.startswith("SYQ-1")]
    iunits.write_text("".join(kept))
    study.load_file(study.folder / "study.yaml")
    ann = rate_all(study.arrive().send())
    assert (ann.step, len(study.rows(select(Slot.id)))) == ("finish", 2)


def test_no_id_reaches_the_browser(study):
    """Only numbers on the page; and a page that is not open yet leads to the one that is."""
    ann = study.arrive().send()
    assert ann.open(f"{ann.home}1/1/rate/2").step == "1/1/rate/1"
    assert ann.open(f"{ann.home}1/2/rate/1").step == "1/1/rate/1"
    rate_all(ann).send()
    for answer in ann.log:
        assert not secrets_in(answer.request.path + answer.text)


def test_what_was_begun_returns_to_the_pool_when_its_worker_stays_away(study):
    """A lease expires; whoever comes back later goes on, over quota."""
    ann = study.arrive().send()
    ann.send(**dict.fromkeys(shown(ann)[1], "2"))
    study.clock.forward(46 * 60)
    for name in ("bob", "cid", "dan", "eve"):
        assert rate_all(study.arrive(name).send()).send().step == "done"
    rate_all(ann.open(ann.home))
    late = [
        late
        for late, number in study.rows(select(Slot.late, Worker.number).join(Slot.assignment).join(Worker))
    ]
    assert late.count(True) == 1
    assert ann.step in {"finish", "full"}
