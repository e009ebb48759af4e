"""What of runs and judgments takes no part in a score: counted in every family, and warned of in Python."""

from dataclasses import replace

import numpy as np
import pytest

from metrics.events import SkippedMatches, UpdateRun, events_left_out, updates_left_out
from metrics.msu.measures import MSU
from metrics.msu.score import score_msu
from metrics.msu.trails import Population, SimulatedUsers
from metrics.push.measures import ELG
from metrics.push.score import score_push
from metrics.push.streams import Created, PushCollection, PushRun, push_judgments_left_out, push_left_out
from metrics.ranked.lists import RankedCollection, RankedRun, ranked_judgments_left_out, ranked_left_out
from metrics.ranked.measures import TIAP
from metrics.ranked.score import score_ranked
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.readers.tempsum import read_events
from metrics.summaries.score import (
    MMeasure,
    score_summaries,
    summaries_left_out,
    summary_collection_left_out,
)
from metrics.unused_input import TOPIC, LeftOutWarning, UnusedInput
from metrics.updates.measures import ExpectedGain
from metrics.updates.score import score_updates
from tests.metrics.event_files import START, write_events
from tests.metrics.two_layered_files import write_collection, write_run

POSTED = 1437350400
DAY = 86_400
PUSHES = PushCollection(
    name="judgments",
    days={"MB1": ("20150720", "20150721"), "MB2": ("20150720", "20150721")},
    gains={"MB1": {"a": 1.0, "b": 0.5}, "MB2": {"c": 1.0}},
    clusters={"MB1": (("a", "b"),), "MB2": (("c",),)},
    created={
        "a": Created("20150720", POSTED),
        "b": Created("20150720", POSTED),
        "c": Created("20150725", POSTED),
    },
)


def pushed(*pushes):
    topics, tweets, epochs = zip(*pushes, strict=True)
    return PushRun(name="run", topics=topics, tweets=tweets, epochs=np.array(epochs))


def sentences(found):
    return [part.sentence() for part in found]


def test_a_sentence_has_verbs_and_nouns_in_the_right_number():
    """One is, several are; one topic, two topics."""
    part = UnusedInput(
        count=1, of=2, noun=("topic", "topics"), says="have no push", cause="why", then="are left out"
    )

    assert part.sentence() == "1 of 2 topics has no push and is left out"
    assert replace(part, of=1).sentence() == "1 of 1 topic has no push and is left out"
    assert replace(part, count=2, example="9").sentence(4) == (
        "2 of 2 topics have no push, such as '9' (line 4), and are left out"
    )


def test_more_than_half_is_most():
    """Half is not."""
    part = UnusedInput(
        count=1, of=2, noun=("push", "pushes"), says="are odd", cause="the columns may be swapped"
    )

    assert not part.is_most
    assert replace(part, of=1).is_most
    assert part.warning() == "1 of 2 pushes is odd; the columns may be swapped"


def test_every_push_is_held_against_pool_days_and_time():
    """Times and days are asked of pooled pushes only, since nothing is known about others."""
    run = pushed(
        ("MB9", "a", POSTED),
        ("1", "x", POSTED),
        ("1", "c", POSTED),
        ("1", "a", POSTED - 1),
        ("1", "b", POSTED + DAY),
        ("1", "b", POSTED + DAY - 1),
    )

    assert sentences(push_left_out(PUSHES, run)) == [
        "1 of 6 pushes is for topics that are not judged, such as 'MB9', and is left out",
        "1 of 6 pushes is of tweets in no pool, such as 'x'",
        "1 of 5 pooled pushes is of tweets posted outside the days 20150720:20150721, such as 'c', and is left out",
        "1 of 5 pooled pushes came before the tweet was posted, such as 'a'",
        "1 of 5 pooled pushes came a day or more after the tweet was posted, such as 'b'",
        (
            "1 of 2 judged topics has no push in the run, such as 'MB2', and counts with the score of silence "
            '(topics="run" leaves it out)'
        ),
    ]


@pytest.mark.parametrize(
    ("pushes", "cause"),
    [
        ([("a", "MB1", POSTED)], "the columns swapped (a line of a run is: topic tweet epoch runtag)"),
        ([("MB1", "a", POSTED * 1000)], "the times are in milliseconds: divide them by 1000"),
        ([("MB1", "a", POSTED - 1)], "the times may be of another time zone or unit"),
        ([("MB1", "c", POSTED)], "the days may be of another year"),
    ],
)
def test_what_is_true_of_most_pushes_comes_with_its_likely_cause(pushes, cause):
    """As in a file of milliseconds, where every score is that of silence."""
    most = [part for part in push_left_out(PUSHES, pushed(*pushes)) if part.is_most]

    assert cause in most[0].warning()


def test_push_judgments_of_several_years_are_found_out():
    """Clusters, grades, times and days each come from a file or option of their own."""
    assert sentences(push_judgments_left_out(replace(PUSHES, clusters={"MB1": (("a", "z"),)}))) == [
        "1 of 2 judged topics has no cluster, such as 'MB2'",
        "1 of 2 clustered tweets has no grade, such as 'z'",
        "1 of 2 clustered tweets has no time of posting, such as 'z', and is left out",
    ]
    later = dict.fromkeys(PUSHES.days, ("20150725",))
    assert sentences(push_judgments_left_out(replace(PUSHES, days=later))) == [
        "2 of 3 clustered tweets were posted outside the days 20150725:20150725, such as 'a', and are left out"
    ]


def test_a_silent_run_and_a_short_file_of_intents_are_nothing_to_warn_of():
    """An empty file is a run that never pushed, and P(c|q) is given where it is not uniform."""
    silent = PushRun(name="run", topics=(), tweets=(), epochs=np.zeros(0, dtype=np.int64))
    three = {"1": LISTS.grades["1"], "2": LISTS.grades["2"], "3": LISTS.grades["2"]}
    short = replace(LISTS, grades=three, probability={"1": {"a": 1.0}})

    assert sentences(push_left_out(PUSHES, silent)) == [
        (
            "2 of 2 judged topics have no push in the run, such as 'MB1', and count with the score of silence "
            '(topics="run" leaves them out)'
        )
    ]
    assert not any(part.is_most for part in push_left_out(PUSHES, silent))
    assert not any(part.is_most for part in ranked_judgments_left_out(short))


def test_a_faultless_run_has_nothing_left_out():
    """Nobody is told of nothing."""
    assert push_left_out(PUSHES, pushed(("MB1", "a", POSTED), ("MB2", "b", POSTED))) == []


def updates(*entries):
    topics, names, seconds = zip(*entries, strict=True)
    return UpdateRun(
        name="run",
        topics=topics,
        updates=names,
        seconds=np.array(seconds, dtype=np.float64),
        confidence=np.ones(len(topics)),
    )


@pytest.fixture
def events(tmp_path):
    return read_events(**write_events(tmp_path))


def test_every_update_is_held_against_topics_sample_span_and_lengths(events):
    """An update that nobody sampled may cost words and never gains."""
    run = updates(("9", "u", START), ("1", "d1-0", START - 1), ("1", "d8-8", START), ("1", "d2-5", START))

    assert sentences(updates_left_out(events, run, lengths={"TS14.1": {"d1-0": 3.0, "d2-5": 4.0}})) == [
        "1 of 4 updates is about topics that are not judged, such as '9', and is left out",
        "1 of 3 updates about judged topics is not among the sampled ones, such as 'd8-8'",
        "1 of 3 updates about judged topics is from before the event begins or after it ends, such as 'd1-0'",
        "1 of 3 updates about judged topics has no length in the file of lengths, such as 'd8-8'",
        (
            "1 of 2 judged topics has no update in the run, such as 'TS14.2', and counts as 0 "
            '(topics="run" leaves it out)'
        ),
    ]


def test_a_mean_over_the_topics_of_the_run_leaves_out_the_others(events):
    """Then they count as nothing, and nobody is told of a choice that was made already."""
    run = updates(("1", "d2-5", START))
    (part,) = [one for one in updates_left_out(events, run, topics="run") if one.noun == TOPIC]

    assert part.sentence() == (
        "1 of 2 judged topics has no update in the run, such as 'TS14.2', and is left out of the mean"
    )


def test_a_command_names_the_choice_as_its_option_where_it_has_one(events):
    """A sweep has none."""
    (part,) = [one for one in updates_left_out(events, updates(("1", "d2-5", START))) if one.noun == TOPIC]

    assert part.sentence(excuse="--topics run").endswith("counts as 0 (--topics run leaves it out)")
    assert part.sentence(excuse="").endswith("and counts as 0")


def test_milliseconds_are_named_in_updates_too(events):
    """No event lasts that long."""
    (late, *_) = updates_left_out(events, updates(("1", "d1-0", 1.4e12)))

    assert late.warning().endswith("the times are in milliseconds: divide them by 1000")


def test_events_of_files_that_do_not_fit_are_counted(events):
    """The third topic of the XML has no nuggets; matches may all name what another year's files have."""
    bare = replace(events, topics={name: replace(one, matches={}) for name, one in events.topics.items()})
    skipped = replace(bare, skipped=SkippedMatches(nugget=3, update=1))

    assert events.incomplete == ("3",)
    assert sentences(events_left_out(events)) == [
        "1 of 3 topics is not in all of topics file, nuggets and updates, such as '3', and is left out"
    ]
    assert sentences(events_left_out(skipped))[1:] == [
        "4 of 4 matches name a nugget or update that is missing from its own file and are skipped",
        "2 of 2 judged topics have no match, such as 'TS14.1'",
    ]


LISTS = RankedCollection(
    name="qrels",
    grades={"1": {"a": {"d1": 1, "n": 0}}, "2": {"a": {"d2": 1}}},
    windows={"d1": "1990", "d2": "1991"},
)


def test_every_document_down_to_the_depth_is_held_against_judgments_and_windows():
    """What stands deeper does not enter the measures, whether or not somebody judged it."""
    run = RankedRun(name="run", rankings={"1": ("d1", "n", "x")}, unjudged={"7": 2})

    assert sentences(ranked_left_out(LISTS, run, depth=2)) == [
        "2 of 5 documents are listed for topics that are not judged, such as '7', and are left out",
        "1 of 2 documents down to rank 2 has no window, such as 'n'",
        (
            "1 of 2 judged topics has no list in the run, such as '2', and counts as 0 "
            '(topics="run" leaves it out)'
        ),
    ]
    assert "1 of 3 documents is not judged for the topic, such as 'x'" in sentences(
        ranked_left_out(LISTS, run)
    )


def test_judged_topics_without_relevant_documents_or_intents_are_counted():
    """They score 0, and have equal P(c|q)."""
    nothing = replace(
        LISTS, grades={"1": {"a": {"d1": 0}}, "2": {"a": {"d2": 1}}}, probability={"2": {"a": 1.0}}
    )

    assert sentences(ranked_judgments_left_out(nothing)) == [
        "1 of 2 judged topics has no relevant document, such as '1', and scores 0",
        "1 of 2 judged topics has no P(c|q) in the file of intents, such as '1', and gets equal ones",
    ]
    other_year = replace(LISTS, strange_intents=("8", "9"))
    assert [part.sentence() for part in ranked_judgments_left_out(other_year) if part.is_most] == [
        "2 of 2 topics of the file of intents are not judged, such as '8', and are left out",
    ]


def test_iunits_and_queries_without_importance_are_counted(tmp_path):
    """Everything else that a summary has and its collection has not is a fault of the file."""
    collection = read_summary_collection(write_collection(tmp_path, importance="Q1\tI1\tU1\t4\n"))
    run = read_summary_run(write_run(tmp_path), collection)

    assert sentences(summaries_left_out(collection, run)) == [
        "2 of 3 iUnits have no importance, such as 'U3'"
    ]
    assert sentences(summary_collection_left_out(collection)) == [
        "1 of 2 queries has no iUnit of importance above 0, such as 'Q2', and scores 0",
        "1 of 2 pairs of iUnit and intent has no row of importance, such as 'U1 for I2', and counts 0",
    ]


def test_rows_of_importance_that_are_missing_among_others_of_an_iunit_are_counted(tmp_path):
    """A row that was lost moves scores; one of 0 that was written does not."""
    whole = "".join(
        f"Q1\t{intent}\t{iunit}\t{g}\n" for intent, g in (("I1", 4), ("I2", 0)) for iunit in ("U1", "U2")
    )
    collection = read_summary_collection(write_collection(tmp_path, importance=whole + "Q2\tI3\tU4\t4\n"))
    assert sentences(summary_collection_left_out(collection)) == []

    cut = whole.replace("Q1\tI1\tU2\t4\n", "") + "Q2\tI3\tU4\t4\n"
    assert sentences(
        summary_collection_left_out(read_summary_collection(write_collection(tmp_path, importance=cut)))
    ) == ["1 of 5 pairs of iUnit and intent has no row of importance, such as 'U2 for I1', and counts 0"]


def test_scoring_in_python_warns_of_what_is_most(events, tmp_path):
    """A notebook has no stderr to look at; the scores are there all the same."""
    users = SimulatedUsers(
        population=Population(
            away_mean_seconds=3600, away_sd_seconds=60, session_mean_seconds=60, session_sd_seconds=1
        ),
        count=2,
    )
    strange = updates(("9", "u", START))
    collection = read_summary_collection(write_collection(tmp_path, importance="Q1\tI1\tU2\t4\n"))
    run = read_summary_run(write_run(tmp_path), collection)
    ranked = RankedRun(name="run", rankings={}, unjudged={"7": 2})

    with pytest.warns(
        LeftOutWarning, match=r"^run: 1 of 1 push is of tweets in no pool, such as 'x'; the epochs"
    ):
        assert len(score_push(PUSHES, [pushed(("MB1", "x", POSTED))], [ELG()])) == 3
    with pytest.warns(LeftOutWarning, match=r"^run: 1 of 1 update is about topics that are not judged"):
        score_updates(events, [strange], [ExpectedGain()])
    with pytest.warns(LeftOutWarning, match=r"^run: 1 of 1 update is about topics that are not judged"):
        score_msu(events, [strange], [MSU()], users)
    with pytest.warns(
        LeftOutWarning, match=r"^run: 2 of 2 documents are listed for topics that are not judged"
    ):
        score_ranked(LISTS, [ranked], [TIAP()])
    with pytest.warns(LeftOutWarning, match=r"^run: 3 of 3 iUnits have no importance") as caught:
        score_summaries(collection, [run], [MMeasure()])
    assert {one.filename for one in caught} == {__file__}
