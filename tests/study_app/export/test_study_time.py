"""When a study ran: the same finished study says the same whenever it is exported; and simulated people are marked."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from calibration.tables.study_json import STUDY_FILE, StudyRecord, read_study, write_study
from study_app.export import export_study
from study_app.export.study_export import ended_at
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy, PlatformIdentity
from study_app.store.simulated_workers import is_simulated
from tests.study_app.small_study import votes_task
from tests.study_app.stored_streams import StoredStreams
from tests.study_app.stored_study import LATER, LOADED, NOON

YEAR = timedelta(days=365)


def test_a_finished_study_gives_the_same_bytes_a_year_later(stored, tmp_path):
    """Its end is the last thing that happened, not the moment of an export."""
    slot = stored.slot(stored.worker("ann", completed_at=NOON + timedelta(hours=2)))
    stored.judge(stored.showing(slot, "good", "flat"), "left")
    folders = {tmp_path / "one": LATER, tmp_path / "two": LATER + YEAR}
    for folder, now in folders.items():
        export_study(stored.session, stored.study, folder, now=now)

    one, two = ({p.name: p.read_bytes() for p in folder.rglob("*.*")} for folder in folders)
    assert one == two
    assert read_study(tmp_path / "one").ended_at == NOON + timedelta(hours=2)


def test_a_study_goes_on_while_a_place_is_held(stored):
    """Somebody at work may still answer; once the place has expired, nothing new is awaited."""
    slot = stored.slot(stored.worker("ann"))
    slot.done_at, slot.expires_at = None, LATER
    stored.session.flush()

    before = LATER - timedelta(minutes=1)
    assert ended_at(stored.session, stored.study, now=before) == before
    assert ended_at(stored.session, stored.study, now=LATER) == NOON


def test_nobody_there_means_that_nothing_happened_since_it_was_loaded(stored):
    """An export before the first worker has no length."""
    assert ended_at(stored.session, stored.study, now=LATER) == LOADED


def test_followers_are_watched_to_the_export_or_to_the_end_of_their_days(tmp_path, stored_in):
    """Times away are cut where nobody could look any further, so this end may not come too early."""
    stored = StoredStreams(tmp_path, url=stored_in(tmp_path))
    stored.follow(stored.worker("ann"), days=4)

    for days in (1, 3):
        assert ended_at(stored.session, stored.study, now=NOON + timedelta(days=days)) == NOON + timedelta(
            days=days
        )
    for days in (4, 400):
        assert ended_at(stored.session, stored.study, now=NOON + timedelta(days=days)) == NOON + timedelta(
            days=4
        )
    stored.close()


def test_a_study_without_intents_has_no_table_of_them(tmp_path, stored_in):
    """An empty file would ask what is missing."""
    stored = StoredStreams(tmp_path / "study", url=stored_in(tmp_path))
    assert "intents" not in export_study(stored.session, stored.study, tmp_path / "tables", now=LATER).rows
    assert not list((tmp_path / "tables").glob("intents.*"))
    stored.close()


def test_a_clock_that_runs_ahead_ends_at_its_own_latest_moment(stored):
    """Simulated studies have a time of their own."""
    stored.worker("ann", completed_at=LATER)

    assert ended_at(stored.session, stored.study, now=NOON - YEAR) == LATER


@pytest.mark.both_databases
def test_both_databases_know_when_a_study_ended_and_who_came(campaign):
    """Answers over HTTP, then nothing for a year."""
    one = campaign(tasks=[votes_task()])
    one.visitor().open("/s/small?id=simulated-00001").send().send(topic="1").send(intent=["1"]).send()
    finished = one.clock()
    one.clock.forward(YEAR.total_seconds())

    with transaction(one.database, write=False) as session:
        study = session.scalars(select(LoadedStudy)).one()
        assert ended_at(session, study, now=one.clock()) == finished
        assert is_simulated(session, study.id)


def test_real_people_and_nobody_are_not_simulated(stored):
    """Somebody who calls themselves simulated later does not turn a real study into a rehearsal."""
    assert not is_simulated(stored.session, stored.study.id)
    stored.worker("ann")
    stored.worker("bob")
    stored.session.scalars(select(PlatformIdentity)).all()[-1].platform_worker = "simulated-00001"
    stored.session.flush()
    assert not is_simulated(stored.session, stored.study.id)


def test_study_json_says_simulated_only_where_it_is_true(tmp_path):
    """Files of real studies stay as they were."""
    for is_so in (True, False):
        write_study(StudyRecord(study="s", simulated=is_so), tmp_path)
        assert ("simulated" in (tmp_path / STUDY_FILE).read_text()) is is_so
        assert read_study(tmp_path).simulated is is_so
