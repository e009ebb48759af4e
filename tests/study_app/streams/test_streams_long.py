"""Long streams and long follows: a page stays small, and asks the database no more than the first one did."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from sqlalchemy import event, select

from study_app.services.worker import streams
from study_app.store.database import transaction
from study_app.store.task_models import Follow
from tests.study_app.small_streams import Told
from tests.study_app.stream_visits import HOUR, come_back, follow, keys, log, stream_study

UPDATES = 5_000


@pytest.fixture
def long(campaign):
    """Five thousand updates in four days, one in fifty with a nugget."""
    stream = [
        Told(f"Report {number}", number * 96 / UPDATES, ["SYN-1"] if number % 50 == 0 else [])
        for number in range(UPDATES)
    ]
    return stream_study(campaign, systems={"sysprompt": stream})


@contextmanager
def counted(study):
    """Count the statements that the server sends to its database."""
    sent = []

    def note(connection, cursor, statement, *rest):
        sent.append(statement)

    event.listen(study.database.engine, "before_cursor_execute", note)
    yield sent
    event.remove(study.database.engine, "before_cursor_execute", note)


def test_a_page_is_small_however_much_is_new(long):
    """Thousands wait; twenty are shown, and the page is a few kilobytes."""
    ann = come_back(long, follow(long), after_hours=95)
    assert ann.html.select_one(".stream")["data-new"] == "4948"
    assert len(keys(ann)) == 20
    assert len(ann.response.data) < 16_000


def test_a_page_asks_the_database_no_more_after_many_visits(long):
    """The second page and the thirtieth send as many statements, and none of them reads the stream again; its log takes few too."""
    ann = come_back(long, follow(long), after_hours=1)
    with counted(long) as logged:
        log(ann, keys(ann)[:3])
    long.clock.forward(HOUR)
    with counted(long) as first:
        ann.open(f"{ann.home}1/1/stream")
    for _ in range(30):
        log(ann, keys(ann)[:3])
        ann.send(read=keys(ann)[:1], done="1")
        come_back(long, ann, after_hours=2)
    log(ann, keys(ann)[:3])
    long.clock.forward(HOUR)
    with counted(long) as last:
        ann.open(f"{ann.home}1/1/stream")
    assert len(last) <= len(first) <= 8
    assert len(logged) <= 9
    assert not [statement for statement in last if "stream.content" in statement]


def test_a_page_that_was_loaded_often_reads_no_more_than_so_many_loads(campaign, monkeypatch):
    """Who keeps loading it makes it no slower: of loads that told nothing nothing is read, of others the newest."""
    monkeypatch.setattr("study_app.services.worker.streams.MAX_LOADS", 5)
    study = stream_study(campaign)
    ann = come_back(study, follow(study), after_hours=1)
    for number in range(14):
        study.clock.forward(5)
        ann.open(f"{ann.home}1/1/stream")
        if number % 2:
            log(ann, keys(ann)[:1])
    with transaction(study.database, write=False) as session:
        [follows] = session.scalars(select(Follow)).all()
        one = SimpleNamespace(follow=follows)
        latest, used = streams._latest_and_above(session, one)
    assert len(used) == 5
    assert latest.visit == used[-1].visit
    assert used[-1].id == max(view.id for view in used)
