"""How a study goes at a glance, and what is wrong with it in words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import lxml.html
import pytest

from study_app.services.researcher.completion import complete_workers
from study_app.services.researcher.progress import CheckRate, study_progress
from study_app.services.researcher.studies import note_backup
from study_app.services.worker.entry import find_study
from study_app.store.database import transaction
from study_app.store.study_cache import StudyCache
from study_app.web.console.alerts import MIN_CONCERNED, RECENT, find_alerts
from study_app.web.console.overview import MAX_LIFETIME, MIN_LIFETIME, SnapshotCache
from study_app.web.console.summary import MIN_CONSENTED, completion_forecast, summarise, working_minutes
from tests.study_app.small_study import QUERIES, pairs_task, votes_task
from tests.study_app.web.console.console_client import text_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FUJI, TEA = QUERIES.values()


def minutes_before(*minutes):
    return sorted(NOON - timedelta(minutes=one) for one in minutes)


@pytest.mark.parametrize(
    ("left", "before", "words"),
    [
        (0, (5, 6, 7), "The study is full."),
        (
            9,
            (5, 6),
            "There is room for 9 more workers. Too few came within the last day to say when it will be full.",
        ),
        (None, (5, 6), "The number of workers has no limit."),
        (9, (0.1, 0.2, 0.3), "There is room for 9 more workers. 3 consented in the last minute."),
        (1, (0, 1, 1.5, 2, 2.2, 2.9), "There is room for 1 more worker. 6 consented in the last 3 minutes."),
        (
            None,
            (5, 20, 70, 80, 100),
            "The number of workers has no limit. 5 consented in the last 1.7 hours, which is 3 an hour.",
        ),
        (
            1,
            (10, 70, 120),
            (
                "There is room for 1 more worker. 3 consented in the last 2 hours, which is 1.5 an hour; if it goes on so, the "
                "study is full on 2026-03-01 12:40 UTC."
            ),
        ),
        (
            6,
            (5, 20, 30, 80),
            (
                "There is room for 6 more workers. 3 consented in the last hour; if it goes on so, the study is full on "
                "2026-03-01 14:00 UTC."
            ),
        ),
    ],
)
def test_who_came_is_counted_and_a_rate_is_said_from_an_hour_on(left, before, words):
    """Six in three minutes are no 120 an hour: many come at first."""
    assert completion_forecast(left, minutes_before(*before), now=NOON) == words


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        ([], ""),
        ([12.34], "The one worker who finished took 12.3 minutes from consent to the end."),
        ([0.2], "The one worker who finished took 12 seconds from consent to the end."),
        ([12, 12], "Each of the 2 workers who finished took about 12 minutes from consent to the end."),
        ([9, 12, 14], "Each of the 3 workers who finished took 9 to 14 minutes from consent to the end."),
        (
            [7220, 7231, 7241, 7254, 7300],
            "Half of the 5 workers who finished took less than 5.03 days from consent to the end; the middle half took 5.02 to 5.04.",
        ),
        (
            [130] * 8,
            "At least half of the 8 workers who finished took about 2.17 hours from consent to the end.",
        ),
        (
            [0, 1, 3, 150, 200],
            "Half of the 5 workers who finished took less than 3 minutes from consent to the end; the middle half took 1 to 150.",
        ),
    ],
)
def test_times_are_said_in_a_unit_that_suits_them_and_one_time_is_one(minutes, words):
    """Minutes of five days tell nobody anything, and of one worker there is no half."""
    assert working_minutes(minutes) == words


@pytest.fixture
def study(campaign):
    """Ann is done after half an hour, Bob has begun, Cleo has only come; the votes are full after Ann."""
    made = campaign(
        tasks=[votes_task(votes_per_query=1, queries_per_worker=2), pairs_task(workers_per_query=2)],
        reward=3,
        currency="GBP",
    )
    ann = made.arrive("ann").send()
    for _ in QUERIES:
        ann.send(topic="1") if ann.step.endswith("choose") else None
        ann.send(intent="1")
    made.clock.forward(1790)
    made.judge_all(ann.send(topic="1"))
    ann.send()
    assert ann.step == "done"
    made.arrive("bob").send().send(topic="1")
    made.arrive("cleo")
    return made


def seen(study, *, free_bytes=None, **changes):
    """The summary of the study now, and its alerts; ``changes`` are to its progress."""
    with transaction(study.database, write=False) as session:
        plan, now = find_study(session, StudyCache(), "small"), study.clock()
        complete = complete_workers(session, StudyCache(), plan, now=now)
        progress = replace(study_progress(session, plan, now=now, complete=complete), **changes)
        alerts = find_alerts(session, plan, progress, free_bytes=free_bytes, now=now)
        return summarise(session, plan, progress, now=now, complete=complete), [
            alert.what for alert in alerts
        ]


def test_tasks_minutes_and_pay_are_counted(study):
    """Of Ann, Bob and Cleo; three of the four places of the pairs are left when Bob has one."""
    found, _ = seen(study)
    assert found.workers == ((1, 1), (2, 1))
    assert found.minutes.startswith("The one worker who finished took 30")
    assert "1 who finished, with the platform’s fee: 3.00 GBP of 12.00 for a full study of 4" in found.pay
    assert found.forecast.startswith("There is room for 2 more workers. Too few came")
    assert (found.curve.arrived[-1], found.curve.finished[-1]) == (3, 1)


def test_what_is_wrong_is_said_until_it_is_mended(study):
    """Tasks that are full beside others, and a missing backup; then a full disk, and a check that many fail."""
    _, said = seen(study)
    assert said == [
        "Full: task 1 (votes). People who come now do only task 2 (pairs), for the same pay.",
        "There is no backup.",
    ]
    with transaction(study.database, write=True) as session:
        note_backup(session, now=study.clock())
    failed = CheckRate(name="search", failed=6, judged=20, excludes=True)
    _, said = seen(study, checks=(failed,), free_bytes=50_000_000)
    assert said[:2] == [
        "The disk has 50 MB left, so nobody new is let in.",
        "6 of 20 workers fail the check search time.",
    ]
    assert "backup" not in said[-1]
    study.clock.forward(90_000)
    assert seen(study)[1][-1] == "The last backup is of 2026-03-01 12:30 UTC."


def test_logs_that_stop_are_noticed_while_people_are_here(campaign):
    """Three answer, and no page sends anything; as soon as one does it is not the server."""
    study = campaign(tasks=[pairs_task(workers_per_query=5)])
    visitors = [study.at_pairs(name, topic=FUJI) for name in ("ann", "bob", "cleo")]
    study.clock.forward(400)
    for visitor in visitors:
        study.judge_all(visitor)
    assert seen(study)[1][:2] == [
        "No page has sent a log for 15 minutes, though 3 workers were here.",
        "3 of 3 workers who have done a part never sent a log.",
    ]
    dan = study.at_pairs("dan", topic=TEA)
    batch = {
        "page": dan.page_token,
        "sent_ms": 5,
        "sent_wall_ms": 5,
        "events": [{"n": 1, "kind": "focus", "ms": 1, "wall": 1}],
    }
    assert dan.client.post(f"/e/{dan.token}", json=batch).status_code == 200
    study.clock.forward(400)
    dan.send(choice="left")
    assert not seen(study)[1][0].startswith("No page")


def test_a_rate_takes_as_many_people_as_the_threshold_says():
    """One fewer within a window, and the next longer window is asked."""
    enough = completion_forecast(8, minutes_before(*range(50, 50 - MIN_CONSENTED, -1), 90), now=NOON)
    fewer = completion_forecast(8, minutes_before(*range(50, 51 - MIN_CONSENTED, -1)), now=NOON)
    assert f"{MIN_CONSENTED} consented in the last hour" in enough
    assert "Too few came" in fewer


def test_nothing_is_said_of_fewer_people_than_the_threshold(campaign):
    """One page without a log may be a browser that blocks it."""
    study = campaign(tasks=[pairs_task(workers_per_query=MIN_CONCERNED)])
    visitors = [study.at_pairs(f"w{number}", topic=FUJI) for number in range(MIN_CONCERNED - 1)]
    study.clock.forward(400)
    for visitor in visitors:
        study.judge_all(visitor)
    assert not [what for what in seen(study)[1] if "log" in what]
    last = study.at_pairs("last", topic=FUJI)
    study.clock.forward(400)
    study.judge_all(last)
    for visitor in visitors:
        visitor.open(visitor.home)
    assert any(what.startswith("No page has sent a log") for what in seen(study)[1])


def test_a_log_counts_as_recent_for_as_long_as_the_threshold_says(campaign):
    """Up to then nothing is said of pages that are silent since."""
    study = campaign(tasks=[pairs_task(workers_per_query=MIN_CONCERNED)])
    visitors = [study.at_pairs(f"w{number}", topic=FUJI) for number in range(MIN_CONCERNED)]
    study.clock.forward(RECENT.total_seconds() / 2)
    batch = {"page": visitors[0].page_token, "sent_ms": 5, "sent_wall_ms": 5}
    event = {"n": 1, "kind": "focus", "ms": 1, "wall": 1}
    sent = visitors[0].client.post(f"/e/{visitors[0].token}", json=batch | {"events": [event]})
    assert sent.status_code == 200
    study.clock.forward(RECENT.total_seconds() - 1)
    for visitor in visitors:
        visitor.send(choice="left")
    assert not [what for what in seen(study)[1] if what.startswith("No page has sent a log")]
    study.clock.forward(2)
    assert [what for what in seen(study)[1] if what.startswith("No page has sent a log")]


def test_a_chart_ends_at_the_last_numbers_and_stays_within_its_drawing(study):
    """One step a moment; zero lies at the bottom."""
    html = lxml.html.document_fromstring(study.console().get("/r/small/").text)
    [drawing] = html.xpath("//figure//svg")
    _, _, width, height = map(int, drawing.get("viewbox").split())
    lines = {
        line.get("class"): [tuple(map(int, point.split(","))) for point in line.get("points").split()]
        for line in drawing.xpath(".//polyline")
    }
    assert height == 3
    assert (lines["arrived"][-1], lines["finished"][0], lines["finished"][-1]) == (
        (width, 0),
        (0, height),
        (width, height - 1),
    )
    assert all(0 <= y <= height for points in lines.values() for _, y in points)


def test_the_first_line_says_how_the_study_stands(study):
    """Who came, agreed and finished, and when it will be full; then what needs attention."""
    page = text_of(study.console().get("/r/small/"))
    first = "3 came, 2 consented, 1 finished. There is room for 2 more workers."
    assert first in page
    assert page.index(first) < page.index("Needs attention") < page.index("Tasks")


def test_the_page_says_it_and_its_newer_part_stands_by_itself(study):
    """A script replaces that part only, and gets none while there is none; without one the page is whole."""
    client = study.console()
    answer = client.get("/r/small/")
    page, known = answer.text, {"If-None-Match": answer.headers["ETag"]}
    again = client.get("/r/small/", headers=known)
    assert (again.status_code, again.get_data()) == (304, b"")
    study.clock.forward(60)
    assert client.get("/r/small/", headers=known).status_code == 200
    for words in (
        "There is no backup.",
        "There is room for 2 more workers.",
        "3.00 GBP of 12.00 for a full study of 4 workers",
        'aria-label="Over time: 3 arrived, 1 finished"',
    ):
        assert words in page
    assert page.count("data-live=") == 1


def test_who_asks_while_newer_figures_are_made_gets_the_latest_at_once(study):
    """Consoles do not queue up behind each other; after a change of the study nobody gets what was before it."""
    latest, kept = SnapshotCache(StudyCache()), []
    with transaction(study.database, write=False) as session:
        plan = find_study(session, StudyCache(), "small")

        def asked():
            study.clock.forward(5)
            kept.append(latest.get(session, plan, free_bytes=None, now=study.clock()))
            latest.snapshots[plan.id] = replace(kept[-1], lifetime=MIN_LIFETIME)

        asked()
        asked()
        with latest.lock:
            asked()
    assert [snapshot.at for snapshot in kept] == [kept[0].at, kept[1].at, kept[1].at]
    assert kept[0].at < kept[1].at
    assert not kept[1].is_current(
        replace(plan, version=plan.version + 1), within=MAX_LIFETIME, now=study.clock()
    )
