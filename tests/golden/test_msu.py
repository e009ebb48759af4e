"""Values of the authors' own programs for Modeled Stream Utility: every one.

`gold/msu` says how they were made: with given trails by their class for trails, and from a seed by their stand-alone
program, on synthetic runs over the judgments of 2014. Tolerance 1e-9.
"""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from metrics.events import UpdateRun
from metrics.msu.measures import MSU
from metrics.msu.score import msu_scores, msu_user_scores
from metrics.msu.trails import GivenUsers, trails
from metrics.readers.tempsum import read_events, read_lengths, read_update_run
from metrics.readers.trails import read_trails
from tests.golden.test_tempsum import files
from tests.study_app.prefcal_command import run_here

DECAYS = ("0", "0.1", "0.5", "1")


@pytest.fixture(scope="module")
def collection(shared):
    return read_events(**files(shared, "2014"))


@pytest.fixture(scope="module")
def gold(shared):
    return json.loads((shared / "gold/msu/expected_trails.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def runs(shared, gold):
    return [read_update_run(shared / "gold/tempsum/ts-2014/runs" / run) for run in gold]


def wanted_means(gold):
    """Mean over users, per topic and over the run's topics."""
    return {
        (run, topic, f"MSU@{decay}"): value
        for run, of_run in gold.items()
        for decay, values in of_run.items()
        for topic, value in [*values["topics"].items(), ("all", values["AVG"])]
    }


def wanted_users(gold):
    """Every user's own gain, users called 1, 2, ..."""
    return {
        (run, topic, f"MSU@{decay}", str(number)): value
        for run, of_run in gold.items()
        for decay, values in of_run.items()
        for topic, users in values["users"].items()
        for number, value in enumerate(users, start=1)
    }


def test_given_trails_from_python(shared, collection, gold, runs):
    """Means and each of a hundred users, for four decays in one pass."""
    users = read_trails(shared / "gold/msu/trails.json")
    lengths = read_lengths(shared / "gold/msu/update_lengths_words.tsv", collection.topics)
    measures = [MSU(lateness=float(decay)) for decay in DECAYS]
    options = {"lengths": lengths, "topics": "run"}
    means = {one[:3]: one.value for one in msu_scores(collection, runs, measures, users, **options)}
    each = {
        (*one[:3], one.user): one.value
        for one in msu_user_scores(collection, runs, measures, users, **options)
    }

    wanted = wanted_means(gold)
    assert {key: means[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)
    wanted = wanted_users(gold)
    assert len(wanted) == 34_000
    assert {key: each[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_counting_the_words_gives_the_given_lengths(shared, collection, gold, runs):
    """Without a file of lengths the scores are the same: both count pieces between ASCII white space."""
    users = read_trails(shared / "gold/msu/trails.json")
    scores = msu_scores(collection, runs, [MSU(lateness=0.1)], users, topics="run")
    found = {one[:3]: one.value for one in scores}
    wanted = {key: value for key, value in wanted_means(gold).items() if key[2] == "MSU@0.1"}
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_given_trails_from_the_command_line(shared, gold, monkeypatch, capsys):
    """The same values through files, options and csv."""
    judgments = files(shared, "2014")
    options = [
        *["--topics-file", judgments["topics"], "--nuggets", judgments["nuggets"]],
        *["--matches", judgments["matches"], "--updates", judgments["updates"]],
        *["--lengths", shared / "gold/msu/update_lengths_words.tsv"],
        *["--trails", shared / "gold/msu/trails.json"],
        *[part for decay in DECAYS for part in ("--lateness", decay)],
        *["--topics", "run", "--format", "csv"],
    ]
    paths = [shared / "gold/tempsum/ts-2014/runs" / run for run in gold]
    ended = run_here(monkeypatch, capsys, "score", "msu", *options, *paths)
    rows = csv.DictReader(io.StringIO(ended.out))
    found = {(row["run"], row["topic"], row["metric"]): float(row["value"]) for row in rows}
    wanted = wanted_means(gold)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)

    ended = run_here(monkeypatch, capsys, "score", "msu", *options, "--per-user", paths[0])
    rows = csv.DictReader(io.StringIO(ended.out))
    found = {(row["run"], row["topic"], row["metric"], row["user"]): float(row["value"]) for row in rows}
    wanted = {key: value for key, value in wanted_users(gold).items() if key[0] == paths[0].name}
    assert len(wanted) == 6_000
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_the_authors_program_with_its_own_random_numbers(shared, collection, runs):
    """Their stand-alone program draws the users anew for every topic; given those, ours reads the same.

    What it does otherwise is put into the data: of equal times and confidences it shows the larger update id first, and
    an unlisted update is as long as the topic's mean without its fraction.
    """
    gold = json.loads((shared / "gold/msu/expected_seed_mode.json").read_text(encoding="utf-8"))["runs"]
    lengths = read_lengths(shared / "gold/msu/update_lengths_words.tsv", collection.topics)
    sorted_runs = [by_update(run) for run in runs]
    found = {}
    for topic, event in collection.topics.items():
        users = GivenUsers(trails(authors_users(event.end - event.start, count=100)))
        mean = float(int(sum(lengths[topic].values()) / len(lengths[topic])))
        scores = msu_scores(
            replace(collection, topics={topic: event}),
            sorted_runs,
            [MSU(lateness=0.5, unlisted_words=mean)],
            users,
            lengths=lengths,
        )
        found |= {(one.run, one.topic): one.value for one in scores if one.topic == topic}
    for run, values in gold.items():
        topics = {topic: value for topic, value in values.items() if topic != "AVG"}
        assert {topic: found[run, topic] for topic in topics} == pytest.approx(topics, abs=1e-9), run
        assert np.mean([found[run, topic] for topic in topics]) == pytest.approx(values["AVG"], abs=1e-9)


def by_update(run):
    """The run with its lines sorted by update id."""
    order = sorted(range(len(run.updates)), key=run.updates.__getitem__)
    return UpdateRun(
        name=run.name,
        topics=tuple(run.topics[line] for line in order),
        updates=tuple(run.updates[line] for line in order),
        seconds=run.seconds[order],
        confidence=run.confidence[order],
    )


def authors_users(topic_seconds, *, count):
    """Users as the authors' program draws them, M_A = 3 h, S_A = 1.5 h, M_D = 2 min, S_D = 1 min, seed 1234."""
    state = np.random.RandomState(1234)
    logs = [log_normal(10_800, 5_400), log_normal(120, 60), (1.29, 0.558)]
    people = [[state.lognormal(mu, sigma) for mu, sigma in logs] for _ in range(count)]
    users = []
    for away_mean, session_mean, speed in people:
        pairs, now = [], 0.0
        while now < topic_seconds:
            session = state.exponential(session_mean)
            if now + session > topic_seconds:
                break
            now += session
            away = min(state.exponential(away_mean), topic_seconds - now)
            pairs.append((session, away))
            now += away
        users.append((speed, pairs))
    return users


def log_normal(mean, sd):
    variance = np.log(1 + sd**2 / mean**2)
    return np.log(mean) - variance / 2, np.sqrt(variance)


def test_no_nugget_of_2014_became_known_at_a_users_visit(shared, collection):
    """There the authors' program and the paper part; the paper's reading, which is ours, is not put to the test."""
    users = read_trails(shared / "gold/msu/trails.json").trails
    for event in collection.topics.values():
        known = [nugget.seconds - event.start for nugget in event.nuggets.values()]
        assert not np.isin(known, users.start[users.start > 0]).any()
