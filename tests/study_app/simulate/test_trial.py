"""A crowd goes through a small study over HTTP; what it did is what the database holds."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import func, select

from metrics.errors import InputError
from study_app import create_app
from study_app.config import Config
from study_app.estimate.content import read_study_content, read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate.browser import Element, PageError, SideOnPage, VirtualClock
from study_app.simulate.crowd import effects
from study_app.simulate.crowd_parameters import Behaviour, CrowdParameters
from study_app.simulate.task_truth import build_worlds
from study_app.simulate.trial import START, load, run_on_server, run_trial
from study_app.store.database import open_database, transaction
from study_app.store.models import Ballot, Judgment, LoadedStudy, PageLoad, Showing, Slot, StoredEvent, Worker
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS
from tests.served_app import serving

EVERYTHING = Behaviour(quit=0.7, reload=0.2, offline=0.3, double_click=0.3, careless=0.2, left_bias=0.2)


def trial(file, url, *, workers=6, behaviour=None, seed=3):
    content = read_whole_study(file)
    truth = CrowdParameters(patience_preferences=100, patience_stops=100, behaviour=behaviour or Behaviour())
    return run_trial(content, url, workers=workers, truth=truth, seed=seed)


def exported(url, folder, clock):
    database = open_database(url)
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder, now=clock())
    database.engine.dispose()
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


def counted(url, *models):
    database = open_database(url)
    with transaction(database, write=False) as session:
        counts = [session.scalar(select(func.count()).select_from(model)) for model in models]
    database.engine.dispose()
    return counts


def test_a_well_behaved_crowd_finishes_and_every_answer_is_there_once(small_study, tmp_path, new_url):
    """Each worker leaves one slot and one judgment a showing; every page's events are there."""
    url = new_url(tmp_path)
    report, _ = trial(small_study(), url)

    slots, showings, judgments, pages = counted(url, Slot, Showing, Judgment, PageLoad)
    assert report.finished == report.workers == 6
    assert slots >= 6
    assert judgments == showings == pages


def test_bad_habits_leave_no_duplicates_and_no_holes(small_study, tmp_path, new_url):
    """Reloads, double clicks and late, repeated, reordered batches end in the same rows, each once."""
    url = new_url(tmp_path)
    report, _ = trial(small_study(task={"workers_per_query": None}), url, workers=12, behaviour=EVERYTHING)

    database = open_database(url)
    with transaction(database, write=False) as session:
        revisions = session.scalars(select(Judgment.revision)).all()
        numbers = session.execute(
            select(
                func.count(), func.max(StoredEvent.number), func.count(StoredEvent.number.distinct())
            ).group_by(StoredEvent.page_load_id)
        ).all()
        codes = session.scalars(select(Worker.completion_code)).all()
        told = {one.habit: one for one in effects(session, report)}
        events = session.scalar(select(func.count()).select_from(StoredEvent))
    database.engine.dispose()
    assert {"reload", "offline", "double_click"} <= set(report.habits)
    assert f"{events:,} are stored once, 0 missing" in told["offline"].said
    assert f"{report.events_sent - events:,} of them again" in told["offline"].said
    assert told["quit"].said.startswith(f"{codes.count(None)} workers have no completion code")
    assert {one.habit for one in told.values()} == {
        name.replace("_", " ") for name, n in report.habits.items() if n
    }
    assert set(revisions) == {1}
    assert all(count == highest == distinct for count, highest, distinct in numbers)
    assert sum(code is not None for code in codes) == report.finished < report.workers


def test_who_was_turned_away_is_told_by_the_reason(small_study, tmp_path, new_url):
    """A full study, a check that was failed twice, and nothing left to do are three things."""
    url = new_url(tmp_path)
    report, _ = trial(small_study(task={"workers_per_query": 1}), url, workers=5)
    database = open_database(url)
    with transaction(database, write=True) as session:
        told = {one.habit: one.said for one in effects(session, report)}
        refused = report.habits["refused_at_the_door"]
        assert session.scalar(select(func.count()).select_from(Worker)) == 5 - refused
        for worker in session.scalars(select(Worker).limit(2)):
            worker.stopped_as = "failed_checks"
        session.flush()
        later = effects(session, replace(report, habits={"turned_away": 5}))
    database.engine.dispose()
    assert refused > 0
    assert told["refused at the door"].startswith("the study was full; they were not asked for consent")
    assert [one.said for one in later] == ["2 failed a check twice; for 3 nothing was left to do"]


def test_the_same_seed_gives_the_same_tables_to_the_byte(small_study, tmp_path, new_url):
    """Answers, names and times are drawn from the seed alone; another seed gives others."""
    tables = []
    for number, seed in enumerate((3, 3, 4)):
        (tmp_path / str(number)).mkdir()
        url = new_url(tmp_path / str(number))
        _, clock = trial(small_study(), url, workers=2, seed=seed, behaviour=EVERYTHING)
        tables.append(exported(url, tmp_path / f"tables{number}", clock))

    assert tables[0] == tables[1]
    assert tables[0] != tables[2]


def test_simulated_and_real_answers_never_mix(small_study, tmp_path, new_url):
    """A database that holds workers of the study is refused before anything is stored."""
    url = new_url(tmp_path)
    trial(small_study(), url, workers=2)
    before = counted(url, Worker, Judgment, Ballot)

    with pytest.raises(InputError, match="already holds workers of study 'small'"):
        trial(small_study(), url, workers=2)
    assert counted(url, Worker, Judgment, Ballot) == before


def test_two_studies_can_be_rehearsed_in_one_database(small_study, tmp_path, new_url):
    """With one seed too: names are unique in a database, so the second study draws others."""
    url = new_url(tmp_path)
    reports = [trial(small_study(study=name), url, workers=1)[0] for name in ("first", "second")]

    assert [report.finished for report in reports] == [1, 1]
    assert counted(url, Worker) == [2]


def test_a_page_that_shows_what_no_system_wrote_is_noticed(small_study):
    """A simulated person knows every summary by its digest, and holds every word of the page against it."""
    content = read_whole_study(small_study())
    world = next(iter(build_worlds(content, CrowdParameters(patience_preferences=100)).values())).world
    digest, known = next(iter(world.sides.items()))
    elements = tuple(
        Element(key=key, text=text, second=tuple(Element(key=one[0], text=one[1]) for one in below))
        for key, text, _, below in known.shown
    )

    assert world.worth(SideOnPage(digest, elements)) == known.worth
    for side in (
        SideOnPage("0" * 64, elements),
        SideOnPage(digest, elements[:-1]),
        SideOnPage(digest, (replace(elements[0], text="something else"), *elements[1:])),
    ):
        with pytest.raises(PageError, match="the page shows what no system made"):
            world.worth(side)


def test_two_systems_that_show_the_same_and_are_not_worth_the_same_end_a_simulation(
    small_study, tmp_path, new_url
):
    """Nobody could prefer the better one; before, the last of the two decided in silence what both were worth."""
    path = small_study(study="alike")
    folder = path.parent
    texts = (folder / "iunits.tsv").read_text(encoding="utf-8")
    (folder / "iunits.tsv").write_text(
        texts.replace("It is 3776 m high", "It last erupted in 1707"), encoding="utf-8"
    )
    shown = (folder / "sysgamma.xml").read_text(encoding="utf-8")
    (folder / "sysbeta.xml").write_text(shown.replace("SYU-4", "SYU-1"), encoding="utf-8")

    with pytest.raises(InputError, match=r"show the same of topic \S+ but are not worth the same \(") as told:
        trial(path, new_url(tmp_path), workers=1)
    assert "cannot tell them apart; leave one of the two out" in str(told.value)


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("mount fuji", {"queries.tsv": ("green tea", "mount fuji")}),
        (
            "climbing it",
            {
                "intents.tsv": ("getting there", "climbing it"),
                "probability.tsv": ("SYI-1\t0.5\nSYQ-1\tSYI-2\t0.5", "SYI-1\t0.9\nSYQ-1\tSYI-2\t0.1"),
            },
        ),
    ],
)
def test_what_a_crowd_knows_by_its_words_must_have_words_of_its_own(small_study, words, changes):
    """Two queries of one title, two intents of one: the last one decided in silence what both were."""
    path = small_study()
    for name, (was, instead) in changes.items():
        written = (path.parent / name).read_text(encoding="utf-8")
        assert was in written
        (path.parent / name).write_text(written.replace(was, instead), encoding="utf-8")

    with pytest.raises(InputError, match=f"two of its parts read '{words}' and are not alike"):
        build_worlds(read_whole_study(path), CrowdParameters())


def test_true_scores_are_m_measure_at_the_true_patience(small_study):
    """What the crowd prefers by is what `prefcal score summaries` would print."""
    from metrics.readers.mobileclick import read_collection_files
    from metrics.readers.mobileclick_runs import read_summary_run
    from metrics.summaries.score import MMeasure, score_summaries

    file = read_study_file(small_study(), KINDS)
    content = read_study_content(file)
    number, task = next((n, t) for n, t in enumerate(content.tasks, start=1) if t.systems)
    world = build_worlds(content, CrowdParameters(patience_preferences=60))[number].world
    collection = read_collection_files(
        {kind: file.path.parent / f.path for kind, f in task.files.items()}, name="small"
    )
    runs = [
        read_summary_run(file.path.parent / f.path, collection, name=name) for name, f in task.systems.items()
    ]
    frame = score_summaries(collection, runs, [MMeasure(patience=60)])

    expected = frame[frame["topic"] != "all"]["value"].to_numpy()
    assert np.unique([known.worth for known in world.sides.values()]) == pytest.approx(np.unique(expected))


def test_a_crowd_goes_to_a_server_that_runs(small_study, tmp_path, new_url):
    """On its clock and into its database; who is sent again finds their code."""
    path, url = small_study(task={"workers_per_query": None}), new_url(tmp_path)
    content, clock = read_whole_study(path), VirtualClock(START)
    load(content, url, clock, 1)
    going = {"workers": 2, "truth": CrowdParameters(), "seed": 1, "arrival_seconds": 60, "clock": clock}
    with serving(create_app(Config(database=url), now=clock)) as address:
        assert run_on_server(content, address, **going).finished == 2
        came = clock()
        assert run_on_server(content, address, **going).finished == 2
        assert (clock() - came).total_seconds() <= 60
        other = replace(
            content,
            file=replace(content.file, entry=content.file.entry.model_copy(update={"study": "other"})),
        )
        with pytest.raises(InputError, match="does not serve study 'other'"):
            run_on_server(other, address, **going)
        texts = path.parent / "iunits.tsv"
        texts.write_text(texts.read_text(encoding="utf-8").replace("\n", " now\n"), encoding="utf-8")
        changed = read_whole_study(path)
        with pytest.raises(InputError, match="shows something else than 'small' as it stands in this file"):
            run_on_server(changed, address, **{**going, "workers": 3})
    assert counted(url, Worker) == [3]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "127.0.0.1:8000", "http://"])
def test_no_server_at_an_address_is_said(small_study, url):
    """Also for an address that is none."""
    content = read_whole_study(small_study())
    with pytest.raises(InputError, match="no study server answers at"):
        run_on_server(
            content,
            url,
            workers=1,
            truth=CrowdParameters(),
            seed=1,
            arrival_seconds=0,
            clock=VirtualClock(START),
        )
