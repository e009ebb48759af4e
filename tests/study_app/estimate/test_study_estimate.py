"""What `prefcal study check` says of time, workers and money: small studies worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study_app.cli.study.commands import what_is_collected, what_is_done
from study_app.estimate.content import StudyContent, read_study_content, read_whole_study
from study_app.estimate.estimate import consent_seconds, estimate, task_seconds
from study_app.protocol.sides import Block, Side
from study_app.tasks.content import TaskContent, TopicContent, drawn_worth
from study_app.tasks.kinds import kind_of
from study_app.tasks.questions import Questions
from study_app.tasks.ranked_pairs import RankedPairs
from study_app.tasks.stream_pairs import StreamPairs
from study_app.tasks.workload import SecondsRange, reading_seconds, workers_to_fill
from tests.study_app.small_ranked import write_ranked_study
from tests.study_app.small_streams import SYSTEMS, streams_task, write_events
from tests.study_app.small_study import pairs_task, votes_task, write_small_study
from tests.study_app.small_tasks import questions_task

RANKED = dict.fromkeys(("topics", "qrels", "windows", "texts"), "f")
PUSHES = dict.fromkeys(("topics", "qrels", "clusters", "epochs", "texts"), "f")
FEW_TOPICS = "summaries: 2 topics with pairs: there are no intervals with fewer than 4, however many answer; add topics"
LISTED = Side((Block(key="r1", id="d", kind="link", title="t", text="x", words=40, chars=60, window="w"),))
PUSHED = Side((Block(key="p1", id="p", kind="update", text="x", words=20, chars=60, at=0),) * 2)


def content(entry, shown=None, *, topics=("T1",)):
    """Return a task in which every system shows the same of every topic."""
    systems = list(getattr(entry, "systems", ()))
    return TaskContent(
        entry=entry,
        files={},
        systems=dict.fromkeys(systems),
        topics=tuple(TopicContent(id=topic, text="one two three four") for topic in topics),
        sides={(topic, system): shown for topic in topics for system in systems},
    )


def capacity(task):
    """Return what a task collects."""
    return kind_of(task.entry).capacity(task)


def ranked(systems=2, **changes):
    named = {f"s{number}": "f" for number in range(systems)}
    return RankedPairs(kind="ranked_pairs", collection=RANKED, systems=named, **changes)


def pushed(systems=2, **changes):
    named = {f"s{number}": "f" for number in range(systems)}
    return StreamPairs(
        kind="stream_pairs", collection=PUSHES, systems=named, days=("20150720",) * 2, **changes
    )


@pytest.fixture
def small(tmp_path):
    """Return a function that reads the small study with changes to its task and to the study."""

    def read(task=None, **study) -> StudyContent:
        return read_whole_study(write_small_study(tmp_path, task=task, **study))

    return read


def test_reading_time_counts_words_in_english_and_characters_in_japanese():
    """4 words and 6 characters a second; consent takes a moment besides."""
    assert reading_seconds("one two three four, five six seven eight", "en") == 2
    assert reading_seconds("富士山に登る日。", "ja") == 7 / 6
    assert consent_seconds("word " * 40, "en") == SecondsRange(0.3 * 10 + 5, 10 + 20)


def test_a_pair_page_takes_reading_and_deciding():
    """Two lists of 40 words are 20 s of reading; one pair cannot be repeated, one query not chosen."""
    assert task_seconds(content(ranked(), LISTED)) == SecondsRange(0.3 * 20 + 3, 20 + 10)


def test_what_comes_again_is_read_less():
    """Three systems: three pairs and two repeats are five pages with ten sides, three of them new."""
    task = content(ranked(systems=3, validation_pairs=2), LISTED)
    low, high = 0.3 * 30 + 0.05 * 70 + 5 * 3, 30 + 0.25 * 70 + 5 * 10
    assert task_seconds(task) == SecondsRange(pytest.approx(low), pytest.approx(high))


def test_what_looks_the_same_is_worth_the_same_where_worth_is_drawn():
    """Else a simulated crowd would have to prefer one of two equal sides."""
    alike, other = content(ranked(systems=3), LISTED), Side(LISTED.blocks * 2)
    alike.sides["T1", "s2"] = other
    worth = drawn_worth(alike)

    assert worth["T1", "s0"] == worth["T1", "s1"] != worth["T1", "s2"]


def test_several_queries_are_the_shortest_to_the_longest_and_are_chosen():
    """Two of three: short and middle at least, middle and long at most, and two choices."""
    task = content(ranked(queries_per_worker=2), topics=("T1", "T2", "T3"))
    for number, topic in enumerate(("T1", "T2", "T3"), start=1):
        longer = Side(LISTED.blocks * number)
        task.sides.update({(topic, system): longer for system in ("s0", "s1")})
    low = 0.3 * (20 + 40) + 2 * 3 + 2 * 5
    high = (40 + 60) + 2 * 10 + 2 * 30
    assert task_seconds(task) == SecondsRange(pytest.approx(low), high)


def test_instructions_examples_and_checks_take_their_time():
    """prefcal's own words are a matter of a minute; one's own are counted; every check question is added."""
    check = [{"question": "Which?", "options": ["a", "b"], "answer": 1}] * 2
    bare = task_seconds(content(ranked(), LISTED))
    standard = task_seconds(content(ranked(instructions="standard"), LISTED))
    own = task_seconds(content(ranked(instructions="word " * 40, check=check, example=False), LISTED))
    assert (standard.low - bare.low, standard.high - bare.high) == (30, 90)
    assert (own.low - bare.low, own.high - bare.high) == pytest.approx((3 + 2 * 5, 10 + 2 * 15))


def test_pushed_pairs_come_with_their_profile():
    """One pair: a profile of 1 s, two streams of 10 s each."""
    assert task_seconds(content(pushed(), PUSHED)) == SecondsRange(pytest.approx(0.3 * 21 + 3), 21 + 10)


def test_questions_take_time_by_their_type():
    """A number is quicker than a text; texts and options are read."""
    asked = [
        {"id": "a", "text": "How many words here?", "type": "number"},
        {"id": "b", "text": "Why four words here?", "type": "text"},
    ]
    task = content(Questions(kind="questions", questions=asked), topics=("questions",))
    assert task_seconds(task) == SecondsRange(pytest.approx(2 * 0.3 + 3 + 15), 2 + 10 + 60)
    assert capacity(task) is None


def test_search_lasts_as_long_as_its_timer(small):
    """Not as long as the shortest that is allowed: 80 s, not 60, and up to a minute more."""
    with_search, without = small(), small({"search_seconds": 0})
    longer, shorter = task_seconds(with_search.tasks[0]), task_seconds(without.tasks[0])
    assert (longer.low - shorter.low, longer.high - shorter.high) == pytest.approx((80, 140))


@given(places=st.integers(1, 60), limit=st.integers(1, 20), wanted=st.integers(1, 60))
def test_the_workers_that_fill_a_task_are_enough_and_one_fewer_is_not(places, limit, wanted):
    """Dealt out in turn, nobody gets a place twice or more than they are asked to do."""
    workers = workers_to_fill(places, limit, wanted)
    wanted = min(wanted, places)
    dealt = [(slot % workers, slot // limit) for slot in range(places * limit)]
    assert len(set(dealt)) == len(dealt)
    assert max(sum(1 for worker, _ in dealt if worker == who) for who in range(workers)) <= wanted
    assert workers - 1 < limit or (workers - 1) * wanted < places * limit


@pytest.mark.parametrize(
    ("task", "workers", "each", "things"),
    [
        (ranked(systems=3, judgments_per_pair=4), 8, (4, 4), 6),
        (ranked(systems=3, judgments_per_pair=4, pairs=2), 12, (4, 4), 6),
        (ranked(systems=4, judgments_per_pair=4, pairs=5), 10, (4, 5), 12),
        (ranked(judgments_per_pair=None), None, None, 2),
        (pushed(systems=3, judgments_per_pair=4, pairs_per_worker=3), 8, (4, 4), 6),
        (pushed(systems=3, judgments_per_pair=4, pairs_per_worker=10), 4, (4, 4), 6),
    ],
)
def test_judged_pairs_need_so_many_workers(task, workers, each, things):
    """Two topics; a worker judges one query of ranked lists, and any pairs of pushes."""
    held = capacity(content(task, LISTED, topics=("T1", "T2")))
    assert (held.workers, held.each, held.things) == (workers, each, things)


def test_summary_pairs_votes_and_ratings_are_counted(small):
    """3 workers of 2 queries with 3 pairs; 10 votes on each; 2 ratings of 4 iUnits for each of 2 intents of 2 queries."""
    importance = {**votes_task(name="ratings"), "kind": "iunit_importance", "intents_per_worker": 3}
    study = small({"pairs": 2}, tasks=[pairs_task(workers_per_query=3, pairs=2), votes_task(), importance])
    pairs, votes, ratings = (capacity(task) for task in study.tasks)
    assert (pairs.workers, pairs.each, pairs.things, pairs.a_worker) == (6, (2, 2), 6, 2)
    assert (votes.workers, votes.each, votes.things) == (20, (10, 10), 2)
    assert (ratings.workers, ratings.each, ratings.things, ratings.a_worker) == (3, (2, 2), 16, 12)


@pytest.mark.parametrize(
    ("task", "done", "collected"),
    [
        (
            content(ranked(systems=3, depth=5), LISTED, topics=("T1", "T2")),
            "chooses 1 of 2 queries and judges 3 pairs of 3 systems, 3 of them twice, 5 entries a list",
            "20 workers; 10 judgments of each of 6 pairs",
        ),
        (
            content(ranked(judgments_per_pair=None), LISTED),
            "takes the only query and judges 1 pair of 2 systems, 10 entries a list",
            "no limit of workers; each adds judgments of 1 of 1 pair",
        ),
        (
            content(pushed(systems=3, validation_pairs=4), PUSHED, topics=("T1", "T2")),
            "judges 6 of 6 pairs, 4 of them twice: 3 systems, 2 profiles, 0 days",
            "10 workers; 10 judgments of each of 6 pairs",
        ),
        (
            content(Questions(kind="questions", questions=[{"id": "a", "text": "Age?", "type": "number"}])),
            "answers 1 question",
            "answers of everybody",
        ),
    ],
)
def test_each_task_is_told_in_two_lines(task, done, collected):
    """What a worker does, and what the study has then."""
    assert what_is_done(task) == done
    assert what_is_collected(capacity(task)) == collected


def test_the_cost_is_the_reward_with_the_fee_for_all_who_can_come(small):
    """6 workers at 3.00 and a third on top; an hour's pay is by the estimated minutes."""
    found = estimate(small(reward=3.0, platform_fee=0.25, currency="EUR"))
    assert (found.workers, found.cost.with_fee, found.cost.total) == (6, 3.75, 22.5)
    assert found.cost.an_hour.high == pytest.approx(3 * 3600 / found.seconds.low)
    assert estimate(small(reward=3.0, task={"workers_per_query": None})).cost.total is None
    assert estimate(small()).cost is None


def test_more_events_a_worker_than_there_are_is_said(tmp_path):
    """Nine of two are two."""
    write_events(tmp_path, SYSTEMS)

    def warnings(wanted):
        task = streams_task(topics_per_worker=wanted)
        return estimate(read_whole_study(write_small_study(tmp_path, tasks=[task]))).warnings

    assert warnings(2) == ()
    assert warnings(9) == ("news: topics_per_worker is 9, but there are no more than 2 events",)


@pytest.mark.parametrize(
    ("task", "study", "warning"),
    [
        ({"queries_per_worker": 5}, {}, "summaries: queries_per_worker is 5, but there are no more than 2 queries"),
        ({"pairs": 7}, {}, "summaries: pairs is 7, but a query has no more than 3"),
        ({"validation_pairs": 5}, {}, "summaries: validation_pairs is 5, but no more than 3 of 3 pairs can be repeated; write 3"),
        ({"validation_pairs": 2}, {}, "a worker gets 2 repeats in all, but consistency is judged from 3 on"),
        ({"pairs": 1, "workers_per_query": 2}, {}, "summaries: some pairs would get no answer"),
        ({"compare": ["MMeasur"]}, {}, "summaries: 'MMeasur' is not a measure of summary_pairs: prefcal agree needs its --scores; did you mean MMeasure?"),
        ({"primary": ["M@1500", "M@15OO"]}, {}, "summaries: 'M@15OO' is not a measure of summary_pairs"),
        ({"compare": ["UMeasure"]}, {}, "summaries: 'UMeasure' is not a measure of summary_pairs"),
        ({}, {"platform": "prolific"}, "platform prolific checks one code for everybody"),
        ({"instructions": "standard"}, {"platform": "prolific"}, "whoever fails a check gets no code"),
        ({}, {"tasks": [questions_task(), pairs_task()], "platform": "connect"}, "whoever is screened out gets"),
        ({}, {"platform": "prolific", "id_parameter": "who"}, "id_parameter is for platform generic only"),
        ({}, {"tasks": [pairs_task(workers_per_query=1), votes_task()]}, "pairs is full after 2 workers; 18 can"),
    ],
)  # fmt: skip
def test_what_cannot_come_out_as_meant_is_said(small, task, study, warning):
    """Before anybody is paid."""
    assert any(line.startswith(warning) for line in estimate(small(task, **study)).warnings)


def test_without_the_extra_a_measure_of_ir_measures_says_how_to_get_it(tmp_path, monkeypatch):
    """Its name may be right all the same."""
    path = write_ranked_study(tmp_path, task={"compare": ["nDCG@10"]})
    assert not any("nDCG@10" in line for line in estimate(read_whole_study(path)).warnings)
    monkeypatch.setattr("metrics.ranked.named.find_spec", lambda _name: None)
    said = "'nDCG@10' is not a measure of ranked_pairs: prefcal agree needs its --scores"
    cure = "measures of ir_measures need pip install 'prefcal[measures]'"
    assert any(said in line and line.endswith(cure) for line in estimate(read_whole_study(path)).warnings)


def test_an_address_that_says_it_all_needs_no_code(small):
    """Connect's redirects are such addresses; one with a place for the code is not."""
    addresses = {
        "return_url": "https://connect.example/complete",
        "early_return_url": "https://connect.example/partial",
    }
    tasks = [questions_task(), pairs_task(validation_pairs=3, instructions="standard")]
    study = {"platform": "connect", "tasks": tasks}
    assert estimate(small({}, **study, **addresses)).warnings == (FEW_TOPICS.replace("summaries", "pairs"),)
    with_codes = {key: f"{address}?c={{code}}" for key, address in addresses.items()}
    assert len(estimate(small({}, **study, **with_codes)).warnings) == 4


def test_texts_in_another_language_are_noticed(small):
    """Pages, reading time and criteria follow the language that is written."""
    said = "language is ja, but the texts do not look like that"
    assert any(said in line for line in estimate(small({"language": "ja"})).warnings)
    assert not any("language" in line for line in estimate(small()).warnings)


def test_too_few_topics_for_an_interval_are_said_before_anybody_is_paid(small, monkeypatch):
    """However many people answer, `prefcal rank` and `prefcal agree` leave everything open."""
    assert FEW_TOPICS in estimate(small()).warnings
    monkeypatch.setattr("study_app.estimate.estimate.MIN_CLUSTERS", 2)
    assert not any("no intervals" in line for line in estimate(small()).warnings)


def test_a_rule_that_can_leave_nobody_out_is_noticed(small):
    """Consistency is known from repeats only."""
    said = "validation_pairs is 0, so min_consistency excludes no worker; write 0 there too"
    assert any(said in line for line in estimate(small({"validation_pairs": 0})).warnings)
    none = small({"validation_pairs": 0, "min_consistency": 0})
    assert not any(said in line for line in estimate(none).warnings)


def test_a_study_without_oddities_has_no_warnings(small):
    """Nothing to get used to and overlook; that two topics are too few is true of every small study here."""
    names = {"primary": ["M@preferences", "M@1500"], "compare": ["MMeasure(patience=840)", "M@840 uniform P"]}
    assert estimate(small({"validation_pairs": 3, **names})).warnings == (FEW_TOPICS,)


def test_systems_that_show_the_same_are_named(small):
    """Nobody can prefer one of them."""
    study = small({"validation_pairs": 3})
    (study.file.path.parent / "sysbeta.xml").write_bytes(
        (study.file.path.parent / "sysalpha.xml").read_bytes()
    )
    again = read_study_content(study.file)
    assert estimate(again).warnings == (
        FEW_TOPICS,
        "summaries: sysalpha and sysbeta show the same of 2 of 2 topics (SYQ-1, SYQ-2)",
    )


def test_iunits_that_a_file_of_importances_leaves_out_are_said(small, tmp_path):
    """They count 0 in every score after the study; a collection without such a file has them rated later."""
    study = small()
    path = tmp_path / "importance.tsv"
    rows = path.read_text().splitlines(keepends=True)
    last = rows[-1].split("\t")[2]
    path.write_text("".join(row for row in rows if row.split("\t")[2] != last))
    cut = read_study_content(study.file)

    assert not any("importance" in line for line in estimate(study).warnings)
    assert (
        f"summaries: 1 of 8 iUnits has no importance, such as {last!r}; it counts 0" in estimate(cut).warnings
    )
