"""The bundled study's events: the files belong together, the streams last for days, and the systems differ in kind."""

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from metrics.events import Event, UpdateRun
from metrics.msu.measures import MSU
from metrics.msu.score import msu_scores
from metrics.msu.trails import Population, SimulatedUsers
from metrics.readers.tempsum import read_events, read_update_run
from metrics.updates.measures import Comprehensiveness, ExpectedLatencyGain
from metrics.updates.score import update_scores
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS

STREAMS = Path(__file__).resolve().parents[2] / "examples" / "two_layered" / "streams"
SYSTEMS = ("prompt", "late", "chatty", "sparse")
EVENTS = read_events(
    topics=STREAMS / "topics.xml",
    nuggets=STREAMS / "nuggets.tsv",
    matches=STREAMS / "matches.tsv",
    updates=STREAMS / "updates.tsv",
)
RUNS = {name: read_update_run(STREAMS / "runs" / f"{name}.txt") for name in SYSTEMS}
MINUTE, HOUR, DAY = 60, 3600, 86_400


def population(away_hours: float) -> Population:
    """A crowd that comes back after so many hours, for a minute and a half."""
    return Population(
        away_mean_seconds=away_hours * HOUR,
        away_sd_seconds=away_hours * HOUR / 2,
        session_mean_seconds=90,
        session_sd_seconds=45,
    )


@pytest.fixture(scope="module")
def msu() -> dict[tuple[str, float, str], float]:
    """MSU by topic, hours away and system."""
    values = {}
    for hours in (2, 8, 16):
        users = SimulatedUsers(population=population(hours), count=150)
        for score in msu_scores(EVENTS, RUNS.values(), [MSU()], users):
            values[score.topic, hours, score.run] = score.value
    return values


def told(name: str, topic: str) -> list[tuple[float, str]]:
    """Seconds and update of each emission of a system, as the run has them."""
    run = RUNS[name]
    entries = run.entries(EVENTS.topics)[topic]
    return [(float(run.seconds[entry]), run.updates[entry]) for entry in entries]


def first_told(name: str, topic: str) -> dict[str, float]:
    """When a system first tells each nugget."""
    event = EVENTS.topics[topic]
    first: dict[str, float] = {}
    for seconds, update in sorted(told(name, topic)):
        for nugget in event.nuggets_of(update):
            first.setdefault(nugget, seconds)
    return first


def every_event(test):
    return pytest.mark.parametrize("topic", list(EVENTS.topics))(test)


# The files belong together.


def test_there_are_two_events_of_five_days_and_nothing_is_left_out():
    """Every match names a nugget and an update that are there, and no two systems use different topics."""
    assert [event.end - event.start for event in EVENTS.topics.values()] == [5 * DAY, 5 * DAY]
    assert (EVENTS.skipped.nugget, EVENTS.skipped.update) == (0, 0)
    assert {frozenset(run.topics) for run in RUNS.values()} == {frozenset(EVENTS.topics)}


@every_event
def test_every_update_of_every_run_has_a_text_and_stands_once_within_the_event(topic: str):
    """All of it can be shown, and a worker who follows the event for its whole time may see all of it."""
    event = EVENTS.topics[topic]
    for name in SYSTEMS:
        emitted = told(name, topic)
        assert len({update for _, update in emitted}) == len(emitted)
        assert all(event.start <= seconds < event.end for seconds, _ in emitted)
        assert all(event.updates[update].text for _, update in emitted)


@every_event
def test_updates_are_short_sentences_and_a_match_spans_the_fact_in_bytes(topic: str):
    """8 to 40 words can be read on a phone; the nugget's words are where the match says."""
    event = EVENTS.topics[topic]
    words = [len(update.text.split()) for update in event.updates.values()]
    repeated = [name for name in event.matches if "-repeat" in name]

    assert 8 <= min(words) <= max(words) <= 40
    assert len(repeated) > 100
    for name in repeated:
        [match] = event.matches[name]
        text = event.updates[name].text.encode()[match.start : match.end].decode()
        assert text == event.nuggets[match.nugget].text


@every_event
def test_lengths_count_characters_as_in_2014(topic: str):
    """What the readers take from the length columns is what the track's second year wrote there."""
    event = EVENTS.topics[topic]
    for each in (*event.nuggets.values(), *event.updates.values()):
        assert each.words == len(each.text)


@every_event
def test_facts_come_all_day_so_that_a_visitor_finds_something_every_few_hours(topic: str):
    """60 to 70 nuggets of all three importances, never more than six hours without one."""
    event = EVENTS.topics[topic]
    known = sorted(max(nugget.seconds, event.start) for nugget in event.nuggets.values())

    assert 60 <= len(known) <= 70
    assert set(Counter(nugget.importance for nugget in event.nuggets.values())) == {1, 2, 3}
    assert max(np.diff([*known, event.end])) <= 6 * HOUR


def test_the_study_follows_them_for_as_long_as_they_last_and_its_consent_says_so():
    """Who agrees knows for how many days, and that coming back is part of it."""
    entry = read_study_file(STREAMS.parent / "study.yaml", KINDS).entry
    streams = entry.tasks[-1]

    assert streams.kind == "stream_visits"
    assert streams.systems == {name: f"streams/runs/{name}.txt" for name in SYSTEMS}
    assert f"For {streams.days:g} days" in entry.consent
    assert {event.end - event.start for event in EVENTS.topics.values()} == {streams.days * DAY}


# The systems differ, each in its own way.


@every_event
def test_prompt_tells_every_nugget_within_a_quarter_of_an_hour_and_each_update_once(topic: str):
    """The best a stream can do."""
    event = EVENTS.topics[topic]
    first = first_told("prompt", topic)

    assert first.keys() == event.nuggets.keys()
    for nugget, seconds in first.items():
        assert seconds - max(event.nuggets[nugget].seconds, event.start) < 15 * MINUTE
    assert all(event.updates[update].original is None for _, update in told("prompt", topic))


@every_event
def test_late_says_the_same_ten_to_thirty_hours_later(topic: str):
    """Same words, so that only time makes the difference; what would come after the event is lost."""
    event = EVENTS.topics[topic]
    delays = [
        seconds - event.nuggets[nugget].seconds
        for nugget, seconds in first_told("late", topic).items()
        if seconds > event.start
    ]

    assert 10 * HOUR <= min(delays) < max(delays) < 30 * HOUR
    assert {update for _, update in told("late", topic)} < {update for _, update in told("prompt", topic)}


@every_event
def test_chatty_says_what_prompt_says_at_the_same_time_among_far_more_that_is_not_new(topic: str):
    """Nothing is missing, and a reader has to find it."""
    event = EVENTS.topics[topic]
    prompt, chatty = set(told("prompt", topic)), set(told("chatty", topic))
    copies = [update for _, update in chatty if event.updates[update].original]
    empty = [update for _, update in chatty if not event.nuggets_of(update)]

    assert prompt < chatty
    assert len(chatty) > 6 * len(prompt)
    assert len(copies) > len(chatty) / 2
    assert len(empty) > len(chatty) / 2
    assert first_told("chatty", topic) == first_told("prompt", topic)


@every_event
def test_chatty_copies_each_fact_twice_repeats_one_an_hour_and_says_eight_empty_lines_an_hour(topic: str):
    """As the page of the example says; a copy that would come after the event is lost."""
    event = EVENTS.topics[topic]
    chatty = [update for _, update in told("chatty", topic)]
    kinds = Counter(
        kind for update in chatty for kind in ("copy", "repeat", "aside") if kind in update.split("-")[1]
    )
    lost = 2 * len(event.nuggets) - kinds["copy"]

    assert 0 <= lost <= 4
    assert kinds["repeat"] == 5 * 24
    assert kinds["aside"] == 5 * 24 * 8
    assert kinds.total() + len(told("prompt", topic)) == len(chatty)
    assert not any(event.nuggets_of(update) for update in chatty if "aside" in update)


@every_event
def test_sparse_says_what_prompt_says_of_facts_of_importance_2_and_3(topic: str):
    """About two thirds of the nuggets, and nothing of the rest."""
    event = EVENTS.topics[topic]

    assert set(told("sparse", topic)) < set(told("prompt", topic))
    assert first_told("sparse", topic).keys() == {
        name for name, nugget in event.nuggets.items() if nugget.importance >= 2
    }


@every_event
def test_a_fact_stands_above_what_explains_it(topic: str):
    """Both come at one time; the higher confidence is shown first."""
    run = RUNS["prompt"]
    by_time = sorted(
        (run.seconds[entry], -run.confidence[entry], run.updates[entry])
        for entry in run.entries(EVENTS.topics)[topic]
    )
    for (one, _, above), (other, _, below) in itertools.pairwise(by_time):
        if one == other and above.rpartition("-")[0] == below.rpartition("-")[0]:
            assert above < below


# The measures notice the differences, and which system they prefer depends on the people.


@every_event
def test_msu_prefers_prompt_then_sparse_then_chatty_then_late_for_who_comes_every_eight_hours(topic, msu):
    """What the page of the example says, by a margin."""
    scores = [msu[topic, 8, name] for name in ("prompt", "sparse", "chatty", "late")]

    assert all(better > 1.1 * worse for better, worse in itertools.pairwise(scores))


@every_event
def test_whether_chatty_or_sparse_is_better_depends_on_how_often_people_come(topic, msu):
    """Who comes all the time can afford the chatter, who comes seldom drowns in it."""
    assert msu[topic, 2, "chatty"] > msu[topic, 2, "sparse"]
    assert msu[topic, 16, "chatty"] < 0.9 * msu[topic, 16, "sparse"]


@every_event
def test_expected_latency_gain_prefers_sparse_and_puts_chatty_last(topic: str):
    """A set measure counts what is said in vain and not whether anybody has to read it: another order than MSU's."""
    measures = {"ELG": ExpectedLatencyGain(), "C": Comprehensiveness()}
    scores = {
        (score.metric, score.run): score.value
        for score in update_scores(EVENTS, RUNS.values(), measures)
        if score.topic == topic
    }
    elg = [scores["ELG", name] for name in ("sparse", "prompt", "late", "chatty")]

    assert elg == sorted(elg, reverse=True)
    assert [scores["C", name] for name in ("prompt", "chatty")] == pytest.approx([1, 1])
    assert scores["C", "prompt"] > scores["C", "sparse"] > 0.8


# There is enough to read that most visits end because the reader goes, as fits of session lengths need.


def exhausted_visits(event: Event, run: UpdateRun, entries: np.ndarray, seed: int) -> tuple[int, int]:
    """Follow one drawn reader, visit by visit; return how many visits ran out of updates, and how many there were."""
    rng = np.random.default_rng(seed)
    away, session, speed = population(8).user(rng)
    order = entries[np.argsort(run.seconds[entries], kind="stable")]
    words = np.array([len(event.updates[run.updates[entry]].text.split()) for entry in order])
    now, read, exhausted, visits = event.start, 0, 0, 0
    while now < event.end:
        upto = int(np.searchsorted(run.seconds[order], now, side="right"))
        seconds = rng.exponential(session)
        fully_read = int(np.searchsorted(np.cumsum(words[read:upto][::-1]) / speed, seconds, side="right"))
        exhausted += fully_read == upto - read
        visits += 1
        read = upto if fully_read else read
        now += seconds + rng.exponential(away)
    return exhausted, visits


def test_less_than_half_of_all_visits_of_a_typical_crowd_run_out_of_updates():
    """Such visits tell only that the reader would have stayed longer."""
    counts = np.array(
        [
            exhausted_visits(event, run, run.entries(EVENTS.topics)[topic], seed)
            for topic, event in EVENTS.topics.items()
            for run in RUNS.values()
            for seed in range(60)
        ]
    )
    exhausted, visits = counts.sum(axis=0)

    assert visits > 5000
    assert exhausted < visits / 2


def test_the_table_of_the_page_is_what_the_measures_give():
    """Nobody rebuilds the streams and leaves old numbers beside them."""
    scores: dict[str, list[str]] = {name: [] for name in SYSTEMS}
    for hours in (2, 8, 16):
        users = SimulatedUsers(population=population(hours))
        for score in msu_scores(EVENTS, RUNS.values(), [MSU()], users):
            if score.topic == "all":
                scores[score.run].append(f"{score.value:.1f}")
    for measure, digits in ((ExpectedLatencyGain(), 3), (Comprehensiveness(), 2)):
        for score in update_scores(EVENTS, RUNS.values(), [measure]):
            if score.topic == "all":
                scores[score.run].append(f"{score.value:.{digits}f}")

    page = (STREAMS.parent / "README.md").read_text(encoding="utf-8")
    for name, values in scores.items():
        assert f"| `{name}` | {' | '.join(values)} |" in page
