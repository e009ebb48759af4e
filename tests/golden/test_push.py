"""Values of the TREC 2015 script and of one implementation a switch: every one, from Python and from the command line.

`gold/push` says how they were made: the track's own script, unmodified in arithmetic, on synthetic runs over the real
judgments of 2015 and 2016; the other readings from an independent implementation that equals the script. Tolerance 1e-9.
"""

import csv
import io
import json
import math
from collections import Counter

import pytest

from metrics.push.contingency import PushCell
from metrics.push.days import TRACK, count_pushes
from metrics.push.measures import ELG, NCG, T11U, SilencePrecision, SilenceRecall
from metrics.push.pool import push_pool
from metrics.push.score import push_scores, score_push_days
from metrics.push.streams import days_between
from metrics.readers.push import read_push_collection, read_push_run
from tests.metrics.push_strategies import run_of
from tests.study_app.prefcal_command import run_here

FILES = {
    "mb-2015": ("qrels.txt", "clusters-2015.json", "tweet2dayepoch.txt", "20150720:20150729"),
    "rts-2016": (
        "rts2016-batch-qrels.txt",
        "rts2016-batch-clusters.json",
        "rts2016-batch-tweets2dayepoch.txt",
        "20160802:20160811",
    ),
}
PRINTED = {"ELG": "ELG-{}", "nCG": "nCG-{}", "T11U": "T11U", "G": "gain"}
"""Gold's name of a value -> the command line's."""

RUNS = [
    *(("mb-2015", run) for run in ["edge", "empty", "noisy_mix", "oracle_d60", "oracle_first"]),
    *(("mb-2015", run) for run in ["over10_shuffled", "silent_aware"]),
    *(
        ("rts-2016", run)
        for run in ["edge", "empty", "oracle_d200", "random_low", "redundant", "silent_blind"]
    ),
]
SWITCHES = {
    "order": "time",
    "denom": "capped",
    "gain": "own",
    "clip": True,
    "dup_delay": "own",
    "unpooled": "nonrel",
    "redundant_day": "eventful",
}


@pytest.fixture(scope="module")
def judged(shared):
    """Each year's judgments."""
    return {
        year: read_push_collection(
            qrels=shared / "data" / year / "qrels" / qrels,
            clusters=shared / "data" / year / "qrels" / clusters,
            epochs=shared / "data" / year / "qrels" / epochs,
            days=days_between(*days.split(":")),
        )
        for year, (qrels, clusters, epochs, days) in FILES.items()
    }


@pytest.fixture(scope="module")
def gold(shared):
    """Year -> run -> reading -> values."""
    return {
        year: json.loads((shared / "gold/push" / year / "expected.json").read_text(encoding="utf-8"))
        for year in FILES
    }


def measures_of(reading):
    """The measures that a reading of gold, such as `track_1+order=time`, has values for."""
    base, _, switch = reading.partition("+")
    convention, _, silent_days = base.replace("reference", "track_1").partition("_")
    options = {"convention": convention}
    daily = {"silent_days": int(silent_days)}
    if switch:
        name = switch.partition("=")[0]
        (daily if name == "redundant_day" else options)[name] = SWITCHES[name]
        assert switch == f"{name}={SWITCHES[name]}"
    return {
        "ELG": ELG(**options, **daily),
        "nCG": NCG(**options, **daily),
        "T11U": T11U(**options),
        "T11U_redundant_is_pain": T11U(redundant="pain", **options),
        "G": PushCell(**options),
        "Nx": Nonrelevant(**options),
        "Nred": Redundant(**options),
    }


class Nonrelevant(PushCell):
    """Both kinds of non-relevant pushes; not registered, for the comparison only."""

    def topic_values(self, table):
        return table.totals(table.nonrelevant)


class Redundant(PushCell):
    """Redundant pushes; not registered, for the comparison only."""

    def topic_values(self, table):
        return table.totals(table.redundant)


def wanted_values(cases):
    """Gold's values of one reading by (topic, measure)."""
    by_topic = {**cases.get("topics", {}), "all": cases}
    return {
        (topic, name): value
        for topic, values in by_topic.items()
        for name, value in values.items()
        if isinstance(value, int | float)
    }


@pytest.mark.parametrize(("year", "name"), RUNS)
def test_every_reading_from_python(shared, judged, gold, year, name):
    """Both conventions, silence rewarded and not, each switch by itself; runs and topics."""
    run = read_push_run(shared / "gold/push" / year / "runs" / name)
    readings = gold[year][name]
    assert len(readings) == 5 + len(SWITCHES)
    measures = {
        f"{reading} {name}": one for reading in readings for name, one in measures_of(reading).items()
    }
    scores = push_scores(judged[year], [run], measures)
    found = {(score.topic, score.metric): score.value for score in scores}
    wanted = {
        (topic, f"{reading} {name}"): value
        for reading, cases in readings.items()
        for (topic, name), value in wanted_values(cases).items()
    }
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("year", "name"), RUNS)
@pytest.mark.parametrize("reading", ["track_1", "paper_1"])
def test_every_day_from_python(shared, judged, gold, year, name, reading):
    """Scores, kind and pushes that count, of each of the 510 and 560 topic-days."""
    run = read_push_run(shared / "gold/push" / year / "runs" / name)
    chosen = {label: measures_of(reading)[label] for label in ["ELG", "nCG"]}
    frame = score_push_days(judged[year], [run], chosen)
    columns = ["topic", "day", "metric", "kind", "pushes", "value"]
    found = {row[:3]: row[3:] for row in frame[columns].itertuples(index=False, name=None)}
    for topic, cases in gold[year][name][reading]["topics"].items():
        for day, elg, ncg, pushes, kind in cases["days"]:
            assert found[topic, day, "ELG"] == (kind, pushes, pytest.approx(elg, abs=1e-9))
            assert found[topic, day, "nCG"] == (kind, pushes, pytest.approx(ncg, abs=1e-9))


@pytest.mark.parametrize(("year", "name"), RUNS)
@pytest.mark.parametrize("convention", ["track", "paper"])
def test_silence_from_python(shared, judged, gold, year, name, convention):
    """Silent by the pool, and by the pool and the run; gold writes 0 where a run is never quiet, we write NaN."""
    run = read_push_run(shared / "gold/push" / year / "runs" / name)
    measures = {}
    for key, redundant_day in [("silence_pool", "eventful"), ("silence_run", "silent")]:
        options = {"convention": convention, "redundant_day": redundant_day}
        measures |= {
            f"{key} precision": SilencePrecision(**options),
            f"{key} recall": SilenceRecall(**options),
        }
    scores = push_scores(judged[year], [run], measures)
    found = {score.metric: score.value for score in scores if score.topic == "all"}
    for key in ("silence_pool", "silence_run"):
        wanted = gold[year][name][f"{convention}_1"][key]
        precision = wanted["precision"] if wanted["quiet"] else math.nan
        assert found[f"{key} precision"] == pytest.approx(precision, abs=1e-9, nan_ok=True)
        assert found[f"{key} recall"] == pytest.approx(wanted["recall"], abs=1e-9)


@pytest.mark.parametrize(
    ("year", "options", "readings"),
    [
        ("mb-2015", [], {0: "track_0", 1: "track_1"}),
        ("rts-2016", [], {0: "track_0", 1: "track_1"}),
        ("rts-2016", ["--convention", "paper"], {0: "paper_0", 1: "paper_1"}),
        ("mb-2015", ["--unpooled", "nonrel"], {1: "track_1+unpooled=nonrel"}),
    ],
)
def test_the_command_line(shared, gold, monkeypatch, capsys, year, options, readings):
    """The same values through files, options and csv."""
    qrels, clusters, epochs, days = FILES[year]
    folder = shared / "data" / year / "qrels"
    runs = [shared / "gold/push" / year / "runs" / name for of_year, name in RUNS if of_year == year]
    files = ["--qrels", folder / qrels, "--clusters", folder / clusters, "--epochs", folder / epochs]
    ended = run_here(
        monkeypatch,
        capsys,
        "score",
        "push",
        *files,
        *["--days", days, "--cells", "--format", "csv"],
        *options,
        *runs,
    )
    rows = csv.DictReader(io.StringIO(ended.out))
    found = {(row["run"], row["topic"], row["metric"]): float(row["value"]) for row in rows}
    wanted = {
        (run.name, topic, PRINTED[name].format(silent_days)): value
        for run in runs
        for silent_days, reading in readings.items()
        for (topic, name), value in wanted_values(gold[year][run.name][reading]).items()
        if name in PRINTED
    }

    assert len(wanted) >= 3 * len(runs)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_silent_days_of_2015(judged):
    """126 of 510 topic-days are silent (24.7 %), 34 more have only what an earlier day told (6.7 %)."""
    collection = judged["mb-2015"]
    everything = [
        (topic, tweet, collection.created[tweet].epoch)
        for topic, clusters in collection.clusters.items()
        for cluster in clusters
        for tweet in cluster
    ]
    kinds = Counter(count_pushes(push_pool(collection), run_of(everything), TRACK).kinds())

    assert (kinds["silent"], kinds["redundant"], kinds.total()) == (126, 34, 510)


@pytest.mark.parametrize(("year", "silent", "days"), [("mb-2015", 126, 510), ("rts-2016", 131, 560)])
def test_the_empty_run(judged, year, silent, days):
    """It scores 126/510 = 0.2471 in 2015, as published, and 131/560 in 2016."""
    scores = push_scores(judged[year], [run_of([])], [ELG(), NCG(), ELG(silent_days=0), NCG(silent_days=0)])
    found = {score.metric: score.value for score in scores if score.topic == "all"}

    assert found == pytest.approx({"ELG-1": silent / days, "nCG-1": silent / days, "ELG-0": 0, "nCG-0": 0})


def test_an_oracle_that_is_200_minutes_late(judged):
    """Everything it pushes gains nothing, but it leaves redundant days silent: 160 of 510 days score 1."""
    best = best_pushes(judged["mb-2015"], delay_seconds=200 * 60)
    (score,) = [
        score for score in push_scores(judged["mb-2015"], [run_of(best)], [ELG()]) if score.topic == "all"
    ]
    assert round(score.value, 4) == 0.3137
    assert score.value == pytest.approx(160 / 510)


def best_pushes(collection, *, delay_seconds):
    """The first tweet of each cluster that was posted on a scored day."""
    pushes = []
    for topic, clusters in collection.clusters.items():
        for cluster in clusters:
            scored = [tweet for tweet in cluster if collection.created[tweet].day in collection.days[topic]]
            if scored:
                tweet = min(scored, key=lambda one: collection.created[one].epoch)
                pushes.append((topic, tweet, collection.created[tweet].epoch + delay_seconds))
    return pushes
