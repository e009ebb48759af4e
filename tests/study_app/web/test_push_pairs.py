"""Push streams of one profile, judged in pairs: what stands on the page, and what of it comes to the tables."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial

import pandas as pd
import pytest
from jinja2 import Environment, FileSystemLoader
from sqlalchemy import event, func, select
from sqlalchemy.orm import aliased

from calibration.tables.files import check_frame, read_tables
from calibration.tables.tables import TABLES
from study_app.config import resource_folder
from study_app.estimate.content import read_whole_study
from study_app.export import export_study
from study_app.export.folder import feature_tables
from study_app.protocol.sides import Side, text_block
from study_app.store.database import transaction
from study_app.store.models import Assignment, LoadedStudy, Pair, Showing, Slot, System, Topic, Worker
from study_app.tasks.stream_pairs import shown_pushes
from study_app.web.serving import Messages
from tests.study_app.conftest import Campaign
from tests.study_app.small_pushes import MIDNIGHT, MINUTE, PUSH_SECRETS, write_push_study
from tests.study_app.small_study import secrets_in

QUIET, SILENT = "No notifications on this day", "There was no news on this topic on this day."
DETAIL = {"description": None, "days": ["20200101", "20200102"], "silent": ["20200102"]}


@pytest.fixture
def served(tmp_path, new_url):
    """Load and serve the small study of push streams, its only task with some changes."""
    made = []

    def serve(**changes):
        made.append(Campaign(tmp_path, new_url(tmp_path)))
        made[-1].load_file(write_push_study(tmp_path, task=changes))
        return made[-1].serve()

    yield serve
    for one in made:
        one.database.engine.dispose()


@pytest.fixture(scope="module")
def plain(tmp_path_factory, database_in):
    """The study as it is, for all tests that only look at pages; each has a worker of its own."""
    folder = tmp_path_factory.mktemp("pushes")
    study = Campaign(folder, database_in(folder))
    study.load_file(write_push_study(folder, task={"judgments_per_pair": None}))
    yield study.serve()
    study.database.engine.dispose()


@pytest.fixture
def exported(tmp_path):
    """Export a served study and read the tables back."""

    def export(study):
        with transaction(study.database, write=False) as session:
            stored = session.scalars(select(LoadedStudy)).one()
            export_study(session, stored, tmp_path / "tables", now=study.clock() + timedelta(hours=1))
        return read_tables(tmp_path / "tables")

    return export


def days(visitor, side):
    """Return day -> the (key, time, text) of its notifications, and the words that stand there besides."""
    return {
        str(day["data-day"]): (
            [
                (item["data-item"], item.time["datetime"], item.p.get_text())
                for item in day.select("li[data-item]")
            ],
            [line.get_text() for line in day.find_all("p", recursive=False)],
        )
        for day in visitor.html.select(f'section.pushes[data-side="{side}"] section[data-day]')
    }


def go_to(study, visitor, topic, *systems):
    """Answer pairs as the last who came until this one is shown; return the side on which each system stands."""
    left, right = aliased(System), aliased(System)
    waiting = (
        select(Topic.name, left.name, right.name)
        .join(Pair, Pair.topic_id == Topic.id)
        .join(Showing, Showing.pair_id == Pair.id)
        .join(left, left.id == Showing.left_system_id)
        .join(right, right.id == Showing.right_system_id)
        .join(Showing.slot)
        .where(~Showing.judgments.any())
        .order_by(Slot.assignment_id.desc(), Slot.position)
    )
    while (now := study.rows(waiting)[0])[0] != topic or set(now[1:]) != set(systems):
        visitor.send(choice="left")
    return dict(zip(now[1:], ("left", "right"), strict=True))


def test_every_day_stands_in_order_with_what_was_pushed_and_quiet_days_say_so(plain):
    """On the day on which it arrived and under its place in the stream; what the pool knew is not told."""
    ann = plain.arrive("ann").send()
    sides = go_to(plain, ann, "SYP-1", "sysfast", "sysmute")

    assert days(ann, sides["sysfast"]) == {
        "20200101": (
            [
                ("p1", "2020-01-01T08:00Z", "The bridge is closed"),
                ("p2", "2020-01-01T10:01Z", "I like bridges"),
            ],
            [],
        ),
        "20200102": ([], [QUIET]),
        "20200103": ([("p3", "2020-01-03T02:30Z", "The bridge is open again")], []),
    }
    assert set(days(ann, sides["sysmute"])) == {"20200101", "20200102", "20200103"}
    assert all(told == ([], [QUIET]) for told in days(ann, sides["sysmute"]).values())
    assert SILENT not in ann.text


def test_the_profile_stands_above_both(plain):
    """Title, description and narrative; one that has only a title shows no more."""
    bob = plain.arrive("bob").send()
    go_to(plain, bob, "SYP-1", "sysfast", "sysslow")
    assert bob.html.select_one("[data-query]").get_text() == "The old bridge"
    assert bob.html.select_one(".description").get_text().split("\n") == [
        "Find out whether it is open",
        "The user crosses it every day.",
    ]
    bea = plain.arrive("bea").send()
    go_to(plain, bea, "SYP-2", "sysfast", "sysslow")
    assert bea.html.select_one(".description") is None


def test_silent_days_are_told_on_both_sides_alike_where_the_study_reveals_them(served):
    """Whatever the systems did on them."""
    study = served(reveal_silent_days=True)
    ann = study.arrive().send()
    sides = go_to(study, ann, "SYP-1", "sysfast", "sysslow")

    for side in sides.values():
        told = days(ann, side)
        assert [day for day, (_, lines) in told.items() if SILENT in lines] == ["20200102"]
    assert days(ann, sides["sysslow"])["20200102"] == (
        [("p2", "2020-01-02T02:00Z", "Look at this bridge")],
        [SILENT],
    )


def test_a_page_leads_from_a_day_to_the_same_day_of_the_other_side(plain):
    """Every link has a place on the page that it leads to, and no id stands there twice."""
    ann = plain.arrive("cleo").send()
    ids = Counter(element["id"] for element in ann.html.select("[id]"))
    links = [link["href"] for link in ann.html.select(".pushes a")]
    assert len(links) == 2 * 3
    assert set(ids.values()) == {1}
    assert {link[1:] for link in links} <= set(ids)
    assert links[0] == "#right-20200101"
    # else the browser would send the place along, and begin the next page there
    assert ann.html.select_one("form.answer")["action"] == "?"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_names_of_systems_runs_tweets_and_profiles_never_reach_the_browser(served, language):
    """Through all six pairs."""
    ann = served(language=language, reveal_silent_days="random").arrive().send()
    for _ in range(6):
        assert ann.html.select_one("section.pushes")
        assert not secrets_in(ann.text, PUSH_SECRETS)
        ann.send(choice="right")
    assert ann.step == "finish"


def test_what_was_judged_least_comes_first(served):
    """So all pairs have their first judgment before any has a second."""
    study = served(pairs_per_worker=1)
    for name in ("ann", "bob", "cleo", "dan"):
        study.judge_all(study.arrive(name).send())
    assert len(set(study.rows(select(Showing.pair_id)))) == 4


def test_an_answer_after_the_lease_is_late_only_when_that_pair_has_been_given_away(served):
    """The other pairs of the profile being full does not make it so."""
    study = served(judgments_per_pair=1, pairs_per_worker=5)
    ann = study.arrive("ann").send()
    study.judge_all(study.arrive("bob").send())
    study.clock.forward(46 * 60)
    ann.send(choice="left")
    assert study.rows(select(Slot.late)) == [(False,)] * 6  # five of Bob and one of Ann


def test_every_second_showing_of_a_pair_has_the_other_side_left(served):
    """Where pairs are taken one by one, sides are balanced as in a query; repeats do not count."""
    study = served(validation_pairs=2)
    for name in ("ann", "bob"):
        study.judge_all(study.arrive(name).send())
    shown = study.rows(select(Showing.pair_id, Showing.left_system_id).where(Showing.repeats_id.is_(None)))
    assert len(set(shown)) == len(shown) == 2 * 6


def test_pairs_are_counted_over_the_task_and_a_repeat_shows_its_own_profile(served, exported):
    """The repeats stand in the last slot, whose profile may be another; so does the topic of their rows."""
    study = served(validation_pairs=5)
    ann = study.arrive().send()
    shown = []
    while "/pair/" in ann.step:
        heading = ann.html.select_one("#progress").get_text()
        shown.append((heading, ann.html.select_one("[data-query]").get_text(), ann.html.select(".pushes")))
        ann.send(choice="left")
    assert [heading for heading, _, _ in shown] == [f"Pair {number} of 11" for number in range(1, 12)]

    tables = exported(study)
    rows = tables["preferences"]
    assert tables["workers"][["consistency", "reason"]].to_numpy().tolist() == [[0, "rule 2: consistency"]]

    titles = {"SYP-1": "The old bridge", "SYP-2": "Green tea"}
    assert rows["topic"].map(titles).tolist() == [title for _, title, _ in shown]
    assert (rows["pair"].str.partition(":")[0] == rows["topic"]).all()
    repeats = rows[rows["validation_of"].notna()]
    firsts = rows.set_index("judgment").loc[repeats["validation_of"]]
    assert repeats["topic"].nunique() == 2
    assert repeats["topic"].tolist() == firsts["topic"].tolist()
    sides = {row.judgment: shown[place][2] for place, row in enumerate(rows.itertuples())}
    for repeat, first in repeats[["judgment", "validation_of"]].itertuples(index=False):
        (left, right), (first_left, first_right) = (
            [re.findall(r"p\d+|T[\d:]+Z", str(side)) for side in sides[name]] for name in (repeat, first)
        )
        assert (left, right) == (first_right, first_left)


def test_who_gets_fewer_pairs_than_wanted_gets_repeats_all_the_same(served):
    """With the last pair that has room: without repeats nobody could say how carefully they judged."""
    study = served(validation_pairs=2, judgments_per_pair=1)
    bob = study.arrive("bob").send()
    for _ in range(3):
        bob.send(choice="left")
    ann = study.judge_all(study.arrive("ann").send())
    assert ann.step == "finish"
    of_ann = (
        select(Showing.repeats_id.is_not(None))
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Worker.number == 2)
        .order_by(Showing.id)
    )
    assert [repeats for (repeats,) in study.rows(of_ann)] == [False, False, True]


def test_the_tables_say_what_was_read_and_what_was_revealed(served, exported):
    """A push is an item of kind update under its tweet's id; there are no stops, and the cells are those of `features`."""
    study = served(reveal_silent_days="random")
    for name in ("ann", "bob", "cleo", "dan"):  # the seed lets some of them know
        visitor = study.arrive(name).send()
        if name == "ann":
            sides = go_to(study, visitor, "SYP-1", "sysfast", "sysmute")
            _log(visitor, sides["sysfast"])
            ann_reveals = SILENT in visitor.text
        study.judge_all(visitor)

    tables = exported(study)

    assert "stops" not in tables
    reads = tables["reads"][
        ["system", "item", "kind", "words", "dwell_seconds", "fully_seen", "end_offset_chars"]
    ]
    assert list(reads.itertuples(index=False, name=None)) == [
        ("sysfast", "SYT-a", "update", 4, 2.0, True, 17),
        ("sysfast", "SYT-x", "update", 3, 1.0, True, 29),
    ]
    columns = ["worker", "silent_days_revealed"]
    revealed = tables["preferences"][columns].drop_duplicates().set_index("worker")["silent_days_revealed"]
    assert len(revealed) == 4
    assert set(revealed) == {True, False}
    assert revealed.iloc[0] == ann_reveals
    features = feature_tables(read_whole_study(study.folder / "study.yaml"))
    cells = tables["push_cells"]
    assert set(features) == {"push_cells"}
    pd.testing.assert_frame_equal(cells, check_frame(features["push_cells"], TABLES["push_cells"]))
    assert set(cells["task"]) == {"pushes"}


def _log(visitor, side):
    """Send what a browser logs: 2 s of p1 alone, then 1 s of p2 alone."""
    events = [
        {"kind": "open", "ms": 0, "layout": "stacked", "width": 390, "height": 844, "restored": False},
        {"kind": "see", "ms": 0, "side": side, "item": "p1", "share": 1},
        {"kind": "see", "ms": 2000, "side": side, "item": "p1", "share": 0},
        {"kind": "see", "ms": 2000, "side": side, "item": "p2", "share": 1},
        {"kind": "submit", "ms": 3000, "choice": "left"},
    ]
    numbered = [{"n": n, "wall": event["ms"], **event} for n, event in enumerate(events, start=1)]
    answer = visitor.client.post(
        f"/e/{visitor.token}",
        json={"page": visitor.page_token, "sent_ms": 3000, "sent_wall_ms": 3000, "events": numbered},
    )
    assert answer.status_code == 200, answer.text


def pushed(*pushes):
    """Return a side of pushes: text, seconds since 1970."""
    return Side(
        tuple(
            text_block(text, key=f"p{place}", id="t", kind="update", at=at)
            for place, (text, at) in enumerate(pushes, start=1)
        )
    )


def test_a_day_ends_at_midnight_utc():
    """The last minute of one day and the first of the next; a tweet of the day before may arrive after midnight."""
    side = pushed(("late", MIDNIGHT + 1439 * MINUTE), ("early", MIDNIGHT + 1440 * MINUTE))

    first, second = shown_pushes(side, DETAIL, reveals_silence=False)

    assert [push.text for push, _ in first.pushes] == ["late"]
    assert [(push.key, at) for push, at in second.pushes] == [("p2", datetime(2020, 1, 2, tzinfo=UTC))]


def test_two_streams_of_ten_a_day_for_ten_days_make_a_page_of_less_than_60_kb():
    """It is read on a train; the page around them has 4 KB more."""
    names = [f"202001{day:02}" for day in range(1, 11)]
    side = pushed(*(("x" * 140, MIDNIGHT + place * 144 * MINUTE) for place in range(100)))
    detail = {"description": None, "days": names, "silent": []}
    pages = Environment(loader=FileSystemLoader(resource_folder("templates")), autoescape=True)
    both = '{% import "sides/pushes.html" as form with context %}{{ form.side("left", day) ~ form.side("right", day) }}'

    html = pages.from_string(both).render(
        day=shown_pushes(side, detail, reveals_silence=False),
        t=partial(Messages(resource_folder("templates") / "locale").text, "en"),
    )

    assert html.count("<li") == 200
    assert len(html.encode()) < 56_000


def test_only_a_revealed_silent_day_is_called_silent():
    """Nobody can know it otherwise."""
    told, untold = (
        [day.silent for day in shown_pushes(Side(()), DETAIL, reveals_silence=reveals)]
        for reveals in (True, False)
    )
    assert (told, untold) == ([False, True], [False, False])


def test_after_the_first_pair_several_are_given_at_once_but_never_the_last_place_of_one_ahead(served):
    """Who stops gives back at once what was not judged."""
    study = served(judgments_per_pair=2, validation_pairs=0, pairs_per_worker=6)
    held = select(func.count(), Slot.assignment_id).group_by(Slot.assignment_id).order_by(Slot.assignment_id)
    ann, bob = (study.arrive(name).send() for name in ("ann", "bob"))
    assert [number for number, _ in study.rows(held)] == [1, 1]
    assert ann.send(choice="left").step == "1/2/pair/1"
    assert bob.send(choice="left").step == "1/2/pair/1"
    assert [number for number, _ in study.rows(held)] == [5, 2]
    assert ann.send(choice="left").step == "1/3/pair/1"
    ann.open(f"{ann.home}stop").send(stop="yes")
    assert len(study.rows(select(Slot).where(Slot.done_at.is_(None), Slot.expires_at > study.clock()))) == 1
    assert study.judge_all(bob).step == "finish"


def test_the_next_pair_is_given_without_reading_anything_twice(served):
    """Who judges pairs one by one waits for one count every few forms, none on a page without a limit; what is held is read once by each."""
    study = served(judgments_per_pair=None, validation_pairs=0)
    visitor = study.arrive().send()
    statements = []
    event.listen(study.database.engine, "before_cursor_execute", lambda *said: statements.append(said[2]))
    for step, counts in (("1/2/pair/1", 1), ("1/3/pair/1", 0)):
        statements.clear()
        assert visitor.send(choice="left").step == step
        counted = [one for one in statements if one.startswith("SELECT pair.id") and "shown_a_left" in one]
        found = [one for one in statements if one.startswith("SELECT study.version")]
        held = [one for one in statements if one.startswith("SELECT slot.id AS held")]
        assert (len(counted), len(found), len(held)) == (counts, 2, 2)
