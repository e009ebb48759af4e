"""Ranked lists of a historical query, judged in pairs."""

import json
import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from calibration.tables.files import read_tables
from study_app.export import export_study
from study_app.store.database import transaction
from study_app.store.models import Judgment, LoadedStudy, Pair, Showing, System
from tests.study_app.conftest import Campaign
from tests.study_app.small_ranked import ranked_task, write_ranked_study

MOON = "moon landings"
PAIRS = ("sysalpha~sysbeta", "sysalpha~sysgamma", "sysbeta~sysgamma")


@pytest.fixture
def served(tmp_path, new_url):
    """Load and serve the small study with some changes."""
    made = []

    def serve(**changes):
        made.append(Campaign(tmp_path, new_url(tmp_path)))
        made[-1].load_file(write_ranked_study(tmp_path, **changes))
        return made[-1].serve()

    yield serve
    for one in made:
        one.database.engine.dispose()


def listed(page, side):
    """Return (key, window, title and text) of the entries on one side."""
    return [
        (entry["data-item"], *(part.get_text(" ", strip=True) for part in entry.find_all("p")))
        for entry in page.select(f'section.ranking[data-side="{side}"] li')
    ]


def go_to_pair(study, ann, *systems):
    """Answer pairs until one of these systems is shown; return the side on which each stands."""
    names = dict(study.rows(select(System.id, System.name)))
    shown = select(Showing.left_system_id, Showing.right_system_id).order_by(
        Showing.slot_id, Showing.position
    )
    for left, right in study.rows(shown):
        if {names[left], names[right]} == set(systems):
            break
        ann.send(choice="left")
    return {names[left]: "left", names[right]: "right"}


def test_a_pair_shows_both_lists_with_the_time_of_each_entry(served):
    """The best first, numbered; an entry without title or window is shown as it is."""
    study = served()
    ann = study.at_pairs(topic=MOON)
    sides = go_to_pair(study, ann, "sysalpha", "sysbeta")

    assert listed(ann.html, sides["sysalpha"]) == [
        ("r1", "Time: 1969", "Two people on the moon", "They stayed for a day."),
        ("r2", "Time: 1971", "A car on the moon", "It drove 28 km."),
        ("r3", "Time: 1969", "Moon cake"),
    ]
    assert listed(ann.html, sides["sysbeta"]) == [
        ("r1", "A page without a title."),
        ("r2", "Time: 1969", "Moon cake"),
    ]


def test_the_querys_own_times_and_the_day_of_asking_stand_above_them(served):
    """In the order of their names; a query of which no day is known has none."""
    study = served()
    ann = study.at_pairs(topic=MOON)
    assert ann.html.select_one("[data-query]").get_text() == MOON
    assert [window.get_text() for window in ann.html.select(".windows li")] == ["1969", "1971"]
    assert ann.html.time["datetime"] == "2015-06-01"
    bob = study.at_pairs("bob", topic="suez canal")
    assert [window.get_text() for window in bob.html.select(".windows li")] == ["1869"]
    assert bob.html.time is None


def test_many_times_are_folded_away(served):
    """Some hundred days would push the lists off a phone's screen; a tap shows them."""
    documents = {"SYH-1": range(1900, 1924), "SYH-2": range(1900, 1925)}
    years = [(topic, year) for topic, of in documents.items() for year in of]
    files = {
        "qrels.txt": "".join(f"{topic} first SYD-{year} 1\n" for topic, year in years),
        "windows.txt": "".join(f"SYD-{year} {year}\n" for _, year in years),
    }
    study = served(files=files)
    few, many = (
        study.at_pairs(name, topic=topic).html for name, topic in (("ann", MOON), ("bob", "suez canal"))
    )
    assert "open" in few.select_one("details.windows").attrs
    assert "open" not in many.select_one("details.windows").attrs
    assert (len(few.select(".windows li")), len(many.select(".windows li"))) == (24, 25)


def test_an_empty_list_says_that_it_is_empty(served):
    """It can be judged like any other: a system that found nothing is worse than one that did."""
    study = served()
    ann = study.at_pairs(topic="suez canal")
    sides = go_to_pair(study, ann, "sysalpha", "sysgamma")
    empty = ann.html.select_one(f'section[data-side="{sides["sysgamma"]}"]')
    assert listed(ann.html, sides["sysgamma"]) == []
    assert "nothing on this topic" in empty.get_text()


def test_a_worker_judges_every_pair_of_a_query(served):
    """The rows are those of any pair; with repeats where the study asks for them."""
    study = served(task={"validation_pairs": 1, "queries_per_worker": 2})
    ann = study.at_pairs(topic=MOON)
    while ann.step != "finish":
        study.judge_all(ann)
    assert ann.send().step == "done"
    judged = study.rows(select(Pair.name, Showing.repeats_id).join(Showing).join(Judgment))
    once = {name for name, repeats in judged if repeats is None}
    assert once == {f"{topic}:{pair}" for topic in ("SYH-1", "SYH-2") for pair in PAIRS}
    assert len(judged) == 2 * (3 + 1)


@pytest.mark.parametrize(("least", "reason"), [(0.4, "rule 2: consistency"), (0, None)])
def test_who_always_says_left_to_swapped_repeats_is_excluded(served, tmp_path, least, reason):
    """The rule is that of every task with pairs, with the task's own least share."""
    study = served(task={"validation_pairs": 3, "min_consistency": least})
    study.judge_all(study.at_pairs(topic=MOON))
    with transaction(study.database, write=False) as session:
        stored = session.scalars(select(LoadedStudy)).one()
        export_study(session, stored, tmp_path / "tables", now=study.clock())
    [worker] = read_tables(tmp_path / "tables")["workers"].itertuples()
    assert (worker.consistency, worker.excluded) == (0, reason is not None)
    assert reason is None or worker.reason == reason


def test_a_query_is_full_when_each_of_its_pairs_has_its_judgments(served):
    """With one of three pairs a worker, three workers make one judgment of each pair."""
    study = served(task={"judgments_per_pair": 1, "pairs": 1})
    for name in ("ann", "bob", "cleo"):
        study.judge_all(study.at_pairs(name, topic=MOON))
    assert list(study.arrive("dan").send().options("topic").values()) == ["suez canal"]
    assert len(set(study.rows(select(Showing.pair_id)))) == 3


@pytest.mark.parametrize("language", ["en", "ja"])
def test_names_of_systems_and_documents_never_reach_the_browser(served, language):
    """Nor those of topics and subtopics."""
    study = served(tasks=[ranked_task(language=language)])
    ann = study.at_pairs(topic=MOON)
    for _ in PAIRS:
        assert not re.findall("SYD-|SYH-|sysalpha|sysbeta|sysgamma|opening", ann.text)
        ann.send(choice="right")
    assert ann.step == "finish"


def test_the_tables_name_the_documents_that_were_seen_and_how_deep_people_came(served, tmp_path):
    """An entry is a link; of three entries on one side the third was the furthest seen, of two on the other none."""
    study = served()
    ann = study.at_pairs(topic=MOON)
    sides = go_to_pair(study, ann, "sysalpha", "sysgamma")
    log(ann, sides["sysalpha"], "r1", "r3")
    study.clock.forward(60)
    study.judge_all(ann)
    with transaction(study.database, write=False) as session:
        stored = session.scalars(select(LoadedStudy)).one()
        export_study(session, stored, tmp_path / "tables", now=study.clock() + timedelta(hours=1))
    tables = read_tables(tmp_path / "tables")

    columns = ["topic", "system", "item", "kind", "words", "dwell_seconds", "end_offset_chars"]
    assert list(tables["reads"][columns].itertuples(index=False, name=None)) == [
        ("SYH-1", "sysalpha", "SYD-1", "link", 10, 2.0, 35),
        ("SYH-1", "sysalpha", "SYD-n", "link", 2, 2.0, 67),
    ]
    stops = tables["stops"].set_index("system")[["rank_read", "ranks", "reached_end"]]
    assert stops.loc["sysalpha"].tolist() == [3, 3, True]
    assert stops.loc["sysgamma"].tolist() == [0, 2, False]
    assert sorted(tables["preferences"]["pair"]) == [f"SYH-1:{pair}" for pair in PAIRS]


def log(visitor, side, *keys):
    """Send what a browser logs: 2 s of each entry alone."""
    happened = [(0, {"kind": "open", "layout": "stacked", "width": 390, "height": 844, "restored": False})]
    happened += [(0, {"kind": "visible"}), (0, {"kind": "focus"})]
    for number, key in enumerate(keys):
        for seconds, share in ((0, 1), (2, 0)):
            seen = {"kind": "see", "side": side, "item": key, "share": share}
            happened.append((2000 * number + 1000 * seconds, seen))
    events = [
        {"n": number, "ms": ms, "wall": 1_800_000_000_000 + ms, **event}
        for number, (ms, event) in enumerate(happened, start=1)
    ]
    batch = {"page": visitor.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": events}
    answer = visitor.client.post(
        f"/e/{visitor.token}", data=json.dumps(batch), content_type="application/json"
    )
    assert answer.json == {"upto": len(events)}
