"""`prefcal remind`: who is on the list, what stands there, and what is recorded."""

import csv
import stat
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from study_app.store.database import transaction
from study_app.store.models import Worker
from study_app.store.task_models import Prompt
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_streams import EVENTS
from tests.study_app.stream_visits import HOUR, come_back, follow, log, stream_study, views

BASE = "https://study.example.org"


@pytest.fixture
def remind(monkeypatch, capsys):
    """Return a function that writes the list of a study by its own clock, and reads it; with the command's end."""

    def run(study, *options, base=BASE):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        path = study.folder / "reminders.csv"
        path.unlink(missing_ok=True)
        ended = run_here(
            monkeypatch, capsys, "remind", "-o", path, "--base", base, "--database", study.url, *options
        )
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []
        return ended, rows

    return run


def prompts(study):
    return study.rows(select(Prompt.follow_id, Prompt.sent_at).order_by(Prompt.id))


def test_who_has_stopped_is_not_reminded(campaign, remind):
    """They could not come back."""
    study = stream_study(campaign)
    ann = follow(study)
    ann.open(ann.home + "stop").send()
    assert remind(study, "small")[1] == []
    assert prompts(study) == []


def test_every_follower_whose_days_are_not_over_is_on_the_list(campaign, remind):
    """In the order of arrival, with the event's title and the address that marks the visit as reminded."""
    study = stream_study(campaign)
    for name in ("ann", "bob"):
        follow(study, name)
    study.arrive("cleo").send()
    study.arrive("dora")
    ended, rows = remind(study, "small")
    assert ended == (0, f"small: 2 to remind, in {study.folder / 'reminders.csv'}\n", ended.err)
    assert [(row["platform_id"], row["topic"]) for row in rows] == [
        ("ann", "Storm over the islands"),
        ("bob", "Storm over the islands"),
    ]
    assert list(rows[0]) == ["platform_id", "topic", "address"]
    address = urlsplit(rows[1]["address"])
    assert f"{address.scheme}://{address.netloc}" == BASE
    study.clock.forward(HOUR)
    bob = study.visitor().open(f"{address.path}?{address.query}")
    assert bob.step == "1/1/stream"
    assert views(study)[-1].entry == "reminder"


def test_the_list_is_for_its_owner_alone(campaign, remind):
    """It ties platform ids to addresses that let anybody in."""
    study = stream_study(campaign)
    remind(study)
    assert stat.S_IMODE((study.folder / "reminders.csv").stat().st_mode) == 0o600


def test_each_line_is_recorded_at_its_moment(campaign, remind):
    """A prompt a line, for the table of prompts."""
    study = stream_study(campaign, events=EVENTS, task={"topics_per_worker": 2})
    study.arrive("ann").send().send(topic="1").send().send()
    _, rows = remind(study)
    assert [row["topic"] for row in rows] == list(dict.fromkeys(row["topic"] for row in rows))
    assert len(rows) == 2
    assert prompts(study) == [(1, study.clock()), (2, study.clock())]


def test_who_is_done_withdrew_or_finished_is_not_reminded(campaign, remind):
    """The days of Ann are over, Bob has withdrawn; Cleo enrolled later."""
    study = stream_study(campaign)
    follow(study, "ann")
    study.clock.forward(48 * HOUR)
    follow(study, "bob")
    follow(study, "cleo")
    with transaction(study.database, write=True) as session:
        session.scalars(select(Worker).where(Worker.number == 2)).one().withdrawn_at = study.clock()
    study.clock.forward(48 * HOUR)
    _, rows = remind(study)
    assert [row["platform_id"] for row in rows] == ["cleo"]


def test_who_was_there_lately_can_be_left_out(campaign, remind):
    """By the stream's own clock, and by signs of life: events, forms, the enrolment; not by a page that was only loaded."""
    study = stream_study(campaign, task={"clock_factor": 4.0})
    visitors = {name: follow(study, name) for name in ("reader", "leaver", "preview", "away")}
    study.clock.forward(10 * HOUR)
    log(come_back(study, visitors["reader"], after_hours=0))
    come_back(study, visitors["leaver"], after_hours=0).send(done="1")
    come_back(study, visitors["preview"], after_hours=0)
    follow(study, "newcomer")
    study.clock.forward(2 * HOUR)

    def reminded(*options):
        return {row["platform_id"] for row in remind(study, *options)[1]}

    assert reminded("--quiet-hours", "9") == {"preview", "away"}
    assert reminded("--quiet-hours", "8") == {"reader", "leaver", "preview", "away", "newcomer"}
    assert reminded("--quiet-hours", "49") == set()
    assert len(reminded()) == 5


def test_a_spreadsheet_computes_nothing(campaign, remind):
    """Ids come from addresses that anybody can write, titles from files."""
    study = stream_study(campaign, events={"TS14.91": "=1+1"})
    follow(study, "=cmd")
    _, [row] = remind(study)
    assert (row["platform_id"], row["topic"]) == ("'=cmd", "'=1+1")


def test_nothing_is_recorded_when_the_list_cannot_be_written(campaign, remind, monkeypatch, capsys):
    """One transaction: a list, and the prompts it stands for."""
    study = stream_study(campaign)
    follow(study)
    monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
    (study.folder / "file").touch()
    nowhere = study.folder / "file" / "list.csv"
    ended = run_here(monkeypatch, capsys, "remind", "-o", nowhere, "--base", BASE, "--database", study.url)
    assert ended.code == 1
    assert "the folder cannot be made" in ended.err
    assert prompts(study) == []


def test_faults_are_plain(campaign, remind):
    """An address without a scheme, a study that is not there."""
    study = stream_study(campaign)
    ended, rows = remind(study, base="study.example.org")
    assert (ended.code, rows) == (1, [])
    assert ended.err.endswith("not an address: study.example.org; write --base https://HOST\n")
    assert "unknown study 'smal'; did you mean 'small'" in remind(study, "smal")[0].err


def test_a_study_without_streams_has_nobody_to_remind(campaign, remind):
    """An empty list, not a failure."""
    study = campaign()
    study.at_pairs()
    ended, rows = remind(study)
    assert (ended.code, rows) == (0, [])
