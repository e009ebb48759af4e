"""Visits to a stream: what is new, what is marked as read, and where one visit ends and the next begins."""

import threading

import pytest
from sqlalchemy import select

from study_app.protocol.steps import Step
from study_app.services.worker.streams import followed, open_view
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import open_database, transaction
from study_app.store.models import PageLoad, Worker
from study_app.store.study_cache import StudyCache
from study_app.store.task_models import Follow
from tests.study_app.small_streams import HOURLY, PROMPT, Told
from tests.study_app.stream_visits import (
    HOUR,
    come_back,
    follow,
    keys,
    log,
    marked,
    shown,
    stream_study,
    views,
)


@pytest.fixture
def hourly(campaign):
    """One system that reports every hour from the first to the tenth, three updates a page."""
    return stream_study(campaign, systems={"sysprompt": HOURLY}, task={"updates_per_page": 3})


def test_the_whole_way(campaign):
    """Enrol, come back, read, leave, answer, come back after the days, finish."""
    study = stream_study(campaign, systems={"sysprompt": PROMPT})
    ann = study.arrive().send()
    assert ann.step == "1/1/enrol"
    assert ann.html.select_one("[data-query]").get_text() == "Storm over the islands"
    assert "4 days" in ann.text
    assert ann.send().step == "1/1/stream"
    come_back(study, ann, after_hours=22)
    assert ann.step == "1/1/stream"
    assert shown(ann) == ["Two roads are flooded", "The ferry turned back"]
    assert ann.html.select_one(".stream")["data-new"] == "2"
    assert ann.send(read=["u2", "u1"], done="1").step == "1/1/useful"
    assert ann.send(**{"useful-1": "yes"}).step == "1/1/away"
    assert ann.home in ann.html.select_one("a[data-home]")["href"]
    come_back(study, ann, after_hours=74)
    assert ann.step == "finish"
    assert ann.send().step == "done"
    assert ann.open(ann.home + "1/1/stream").step == "done"


def test_an_enrolment_begins_the_stream_for_this_worker(hourly):
    """Whoever is recruited a week later starts at the beginning too."""
    follow(hourly, "ann")
    hourly.clock.forward(7 * 24 * HOUR)
    bob = follow(hourly, "bob")
    assert "nothing to read yet" in bob.text
    assert shown(come_back(hourly, bob, after_hours=2)) == ["Report 2", "Report 1"]


def test_nothing_comes_before_its_time(hourly):
    """Not a second early, and at its second."""
    ann = follow(hourly)
    assert shown(come_back(hourly, ann, after_hours=1 - 1 / HOUR)) == []
    assert shown(come_back(hourly, ann, after_hours=1 / HOUR)) == ["Report 1"]


def test_the_clock_may_run_faster(campaign):
    """With factor 24 an hour of the wall clock is a day of the event, and four days are over in four hours."""
    study = stream_study(campaign, systems={"sysprompt": PROMPT}, task={"clock_factor": 24.0})
    ann = study.arrive().send()
    assert "24 times as fast" in ann.text
    ann.send()
    assert shown(come_back(study, ann, after_hours=1)) == ["Two roads are flooded", "The ferry turned back"]
    assert come_back(study, ann, after_hours=2.9).step == "1/1/stream"
    assert come_back(study, ann, after_hours=0.1).step == "finish"


def test_a_follow_ends_with_the_event_if_that_is_earlier(campaign):
    """Nine days of an event of four."""
    study = stream_study(campaign, days=9)
    follow(study)
    [(row,)] = study.rows(select(Follow))
    assert (row.ends_at - row.started_at).days == 4


def test_what_was_read_does_not_come_again(hourly):
    """The next visit shows what is newer than the newest update that was read, as the browser logged it."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    log(ann, ["u2"])
    come_back(hourly, ann, after_hours=2)
    assert shown(ann) == ["Report 4", "Report 3"]
    assert ann.html.select_one(".stream")["data-new"] == "2"


def test_reading_one_update_closes_everything_older(hourly):
    """As in the paper: who read the newest of three has done with the other two."""
    ann = come_back(hourly, follow(hourly), after_hours=3)
    log(ann, ["u3"])
    assert shown(come_back(hourly, ann, after_hours=1)) == ["Report 4"]


def test_what_was_not_read_comes_again(hourly):
    """A visit in which nothing was read to its end changes nothing."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    log(ann, ["u2", "u1"], share=0.5)
    assert shown(come_back(hourly, ann, after_hours=1)) == ["Report 3", "Report 2", "Report 1"]


def test_without_script_ticks_say_what_was_read(hourly):
    """Nothing is logged; the boxes of the form are enough."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    assert list(ann.options("read")) == ["u2", "u1"]
    ann.send(read=["u1"], done="1")
    assert shown(come_back(hourly, ann, after_hours=1)) == ["Report 3", "Report 2"]


def test_nothing_new_says_since_when(hourly):
    """A page of its own, with the time of the last update that was read."""
    ann = come_back(hourly, follow(hourly), after_hours=2.5)
    log(ann, ["u2"])
    come_back(hourly, ann, after_hours=0.25)
    assert ann.status == 200
    assert ann.html.select_one(".stream")["data-new"] == "0"
    assert "nothing new since the update of 1 Jan, 02:00" in ann.text
    assert ann.send(done="1").step == "1/1/away"


def test_a_reload_marks_what_was_read_in_this_visit(hourly):
    """Within a minute of the last sign of life it is the same visit: the same updates, some of them read."""
    ann = come_back(hourly, follow(hourly), after_hours=3)
    log(ann, ["u3"])
    come_back(hourly, ann, after_hours=50 / HOUR)
    assert keys(ann) == ["u3", "u2", "u1"]
    assert marked(ann) == ["u3"]
    assert [view.visit for view in views(hourly)] == [1, 2, 2]


def test_a_minute_without_a_sign_of_life_begins_a_new_visit(hourly):
    """Sixty seconds are the same visit, sixty-one are not; what happens on a page is a sign, and so is its form."""
    ann = come_back(hourly, follow(hourly), after_hours=3)
    hourly.clock.forward(55)
    log(ann, ["u3"], after_seconds=55)
    hourly.clock.forward(55)
    ann.send(done="1")
    come_back(hourly, ann, after_hours=60 / HOUR)
    assert views(hourly)[-1].visit == 2
    come_back(hourly, ann, after_hours=61 / HOUR)
    assert views(hourly)[-1].visit == 3
    assert keys(ann) == []


def test_a_visit_that_goes_on_shows_what_has_come_meanwhile(hourly):
    """Its baseline stays: nothing that was new is lost by loading the page again."""
    ann = come_back(hourly, follow(hourly), after_hours=2 - 10 / HOUR)
    assert keys(ann) == ["u1"]
    come_back(hourly, ann, after_hours=20 / HOUR)
    assert keys(ann) == ["u2", "u1"]
    assert [(view.visit, view.after, view.upto) for view in views(hourly)[1:]] == [(2, 0, 1), (2, 0, 2)]


def test_many_new_updates_come_in_portions(hourly):
    """Newest first, three a page, the link to the next on each but the last."""
    ann = come_back(hourly, follow(hourly), after_hours=7)
    pages = [keys(ann)]
    while following := ann.html.select_one("a[rel=next]"):
        ann.open(f"{ann.home}1/1/{following['href']}")
        pages.append(keys(ann))
    assert pages == [["u7", "u6", "u5"], ["u4", "u3", "u2"], ["u1"]]
    assert {view.visit for view in views(hourly)[1:]} == {2}


def test_a_portion_of_a_visit_that_is_over_is_the_top_of_a_new_one(hourly):
    """An old link is not an error."""
    ann = come_back(hourly, follow(hourly), after_hours=7)
    log(ann, ["u7"])
    hourly.clock.forward(HOUR)
    ann.open(f"{ann.home}1/1/stream?below=5")
    assert keys(ann) == ["u8"]


@pytest.mark.parametrize("below", ["0", "1", "-3", "99", "x", ""])
def test_a_portion_that_cannot_be_is_the_top(hourly, below):
    """Whatever stands in the address."""
    ann = come_back(hourly, follow(hourly), after_hours=4)
    assert keys(ann.open(f"{ann.home}1/1/stream?below={below}")) == ["u4", "u3", "u2"]


def test_without_script_the_way_to_older_updates_keeps_the_ticks(hourly):
    """It is a button of the form."""
    ann = come_back(hourly, follow(hourly), after_hours=4)
    button = ann.html.select_one("button[name=below]")
    ann.send(read=["u4"], below=button["value"])
    assert keys(ann) == ["u1"]
    assert [view.read for view in views(hourly)[1:]] == [[4], []]
    ann.send(done="1")
    assert shown(come_back(hourly, ann, after_hours=1)) == ["Report 5"]


def test_equal_times_stand_by_confidence_then_by_line(campaign):
    """Higher confidence first; then the line that stands later in the run."""
    ties = [Told("sure", 1, confidence=9), Told("line 2", 1), Told("line 3", 1), Told("older", 0.5)]
    study = stream_study(campaign, systems={"sysprompt": ties})
    assert shown(come_back(study, follow(study), after_hours=1)) == ["sure", "line 3", "line 2", "older"]


def test_an_update_from_before_the_event_is_there_at_once(campaign):
    """The measure lets the first visit read it; one from after the end is never shown."""
    study = stream_study(campaign, systems={"sysprompt": [Told("early", -5), Told("after all", 97)]}, days=9)
    ann = follow(study)
    assert shown(ann) == ["early"]
    assert shown(come_back(study, ann, after_hours=95.9)) == ["early"]


def test_events_that_come_late_count_from_the_next_visit_on(hourly):
    """A phone that was offline tells afterwards what was read; the visit that goes on keeps its baseline."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    offline = ann.page_token
    come_back(hourly, ann, after_hours=1)
    assert keys(ann) == ["u3", "u2", "u1"]
    log(ann, ["u2"], page=offline)
    come_back(hourly, ann, after_hours=30 / HOUR)
    assert (keys(ann), marked(ann)) == (["u3", "u2", "u1"], ["u2"])
    assert keys(come_back(hourly, ann, after_hours=1)) == ["u4", "u3"]


def test_what_a_page_tells_the_next_day_is_no_sign_of_that_day(hourly):
    """A phone tells of its last page when it is online again, which may be a moment before its owner comes back."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    hourly.clock.forward(HOUR)
    log(ann, ["u2", "u1"])
    come_back(hourly, ann, after_hours=10 / HOUR)
    assert keys(ann) == ["u3"]
    assert [view.visit for view in views(hourly)] == [1, 2, 3]


def test_who_only_opens_the_page_has_not_visited(hourly):
    """A link preview loads it too; it is kept as a page, and changes nothing of what is new."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    come_back(hourly, ann, after_hours=1)
    assert keys(ann) == ["u3", "u2", "u1"]
    assert hourly.rows(select(PageLoad)) == []


def test_a_form_cannot_say_that_something_was_read_which_was_not_shown(hourly):
    """Nor anything that is no update at all."""
    ann = come_back(hourly, follow(hourly), after_hours=5)
    ann.send(read=["u5", "u1", "u9", "u0", "u", "x3", "u²", "f1"], done="1")
    assert views(hourly)[-1].read == [5]


def test_the_same_form_twice_is_stored_once(hourly):
    """A double click, or Back and again; what was said stays said."""
    ann = come_back(hourly, follow(hourly), after_hours=3)
    form = ann.form()
    ann.send(form=form, read=["u3"], done="1")
    ann.send(form=form, to=f"{ann.home}1/1/stream", read=["u2"], done="1")
    assert ann.step == "1/1/away"
    assert views(hourly)[-1].read == [2, 3]


def test_two_tabs_are_one_visit(hourly):
    """What was read in either is read, and leaving one tab leaves the other its form."""
    ann = come_back(hourly, follow(hourly), after_hours=3)
    other = hourly.visitor().open(ann.home)
    log(ann, ["u3"])
    log(other, ["u2"])
    ann.send(done="1")
    other.send(read=["u1"], done="1")
    assert other.step == "1/1/away"
    assert {view.visit for view in views(hourly)[1:]} == {2}
    assert keys(come_back(hourly, ann, after_hours=1)) == ["u4"]


def test_a_tab_that_is_left_the_next_day_still_counts(hourly):
    """Its form belongs to its own visit, also when others lie in between."""
    old = come_back(hourly, follow(hourly), after_hours=2)
    log(old, ["u2"])
    new = hourly.visitor()
    hourly.clock.forward(4 * HOUR)
    new.open(old.home)
    log(new, ["u5"])
    hourly.clock.forward(HOUR)
    old.send(read=["u1"], done="1")
    assert old.step == "1/1/away"
    assert [(view.visit, view.read) for view in views(hourly)] == [(1, []), (2, [1]), (3, [])]


def test_the_page_of_a_follow_whose_days_are_over_says_so(hourly):
    """And leads on; its form is taken all the same."""
    ann = come_back(hourly, follow(hourly), after_hours=95)
    late = hourly.visitor().open(ann.home)
    hourly.clock.forward(HOUR)
    ann.open(f"{ann.home}1/1/stream")
    assert ann.step == "1/1/away"
    assert "days of this story are over" in ann.text
    late.send(read=["u10"], done="1")
    assert late.step == "1/1/away"
    assert views(hourly)[-1].read == [10]
    assert ann.open(ann.home).step == "finish"


def test_who_withdraws_in_the_middle_is_asked_nothing_more(hourly):
    """Neither page nor form; nothing of the form is stored."""
    ann = come_back(hourly, follow(hourly), after_hours=2)
    with transaction(hourly.database, write=True) as session:
        session.scalars(select(Worker)).one().withdrawn_at = hourly.clock()
    assert ann.send(read=["u2"], done="1").step == "withdrawn"
    assert ann.open(f"{ann.home}1/1/stream").step == "withdrawn"
    assert views(hourly)[-1].read == []


def test_back_to_the_enrolment_page_changes_nothing(hourly):
    """It says that the story is being followed, and its form sent again does not begin anew."""
    ann = hourly.arrive().send()
    form = ann.form()
    ann.send()
    hourly.clock.forward(HOUR)
    assert "following this story already" in ann.open(f"{ann.home}1/1/enrol").text
    ann.send(form=form, to=f"{ann.home}1/1/enrol")
    assert ann.step == "1/1/stream"
    assert len(hourly.rows(select(Follow))) == 1


def test_a_stream_cannot_be_reached_before_enrolling(hourly):
    """Every page of it leads to the enrolment."""
    ann = hourly.arrive().send()
    for page in ("stream", "useful", "away"):
        assert ann.open(f"{ann.home}1/1/{page}").step == "1/1/enrol"
    assert ann.open(f"{ann.home}1/streams").step == "1/1/enrol"


def test_two_pages_at_once_begin_one_visit(hourly):
    """Ten loads on two connections, each in its own transaction: the first begins the visit, the others join it."""
    ann = follow(hourly)
    hourly.clock.forward(3 * HOUR)
    servers = [open_database(hourly.url), open_database(hourly.url)]
    [(worker,)] = hourly.rows(select(Worker.id))
    start = threading.Barrier(10)

    def load(number):
        plans = StudyCache()
        start.wait()
        with transaction(servers[number % 2], write=True) as session:
            here = load_progress(session, plans, worker, now=hourly.clock(), lock=True)
            one = followed(session, plans, here, Step("stream", 1, 1))
            open_view(session, one, key=f"key{number}", entry="own", below=None, now=hourly.clock())

    threads = [threading.Thread(target=load, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [view.visit for view in views(hourly)] == [1] + [2] * 10
    assert ann.step == "1/1/stream"
    for server in servers:
        server.engine.dispose()


def test_several_events_are_followed_side_by_side(campaign):
    """The standing link leads to the list of them, with what is new in each; when one is over to the other."""
    events = {"TS14.91": "Storm over the islands", "TS14.92": "Strike of the ferries"}
    study = stream_study(
        campaign, events=events, systems={"sysprompt": HOURLY}, task={"topics_per_worker": 2}
    )
    ann = study.arrive().send()
    assert ann.send(topic="1").step == "1/1/enrol"
    assert ann.send().step == "1/2/enrol"
    study.clock.forward(HOUR)
    assert ann.send().step == "1/streams"
    come_back(study, ann, after_hours=1)
    assert [item.get_text() for item in ann.html.select(".row .quiet")] == ["2 new", "1 new"]
    ann.open(f"{ann.home}1/2/stream")
    assert shown(ann) == ["Report 1"]
    assert ann.html.select_one("a[href='../streams']")
    assert come_back(study, ann, after_hours=94).step == "1/2/stream"
    assert "finished" in ann.open(f"{ann.home}1/streams").text
    assert come_back(study, ann, after_hours=1).step == "finish"


def test_the_next_task_comes_after_the_days(campaign):
    """Not before; a follow is not done because its follower has read everything."""
    from tests.study_app.small_streams import streams_task
    from tests.study_app.small_study import pairs_task

    study = stream_study(campaign, tasks=[streams_task(), pairs_task()])
    ann = come_back(study, follow(study), after_hours=95)
    assert ann.step == "1/1/stream"
    assert come_back(study, ann, after_hours=1).step == "2/choose"
