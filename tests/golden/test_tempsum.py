"""Values of the track's own evaluation programs: every one, from Python and from the command line.

`gold/tempsum` says how they were made: the programs of 2013 and 2014, run on synthetic runs over the real judgments (in
2013 over synthetic texts, because the pooled ones are not public). Tolerance 1e-9.
"""

import csv
import io
import json

import pytest

from metrics.readers.tempsum import read_events, read_update_run
from metrics.updates.measures import MEASURES, UpdateCount
from metrics.updates.score import update_scores
from tests.study_app.prefcal_command import run_here

COLUMNS = {
    "nupd": "updates",
    "egain": "E[Gain]",
    "elatgain": "ELG",
    "negain": "nE[Gain]",
    "nelatgain": "nELG",
    "comp": "C",
    "latcomp": "LC",
    "hmean": "HM",
    "everb": "E[Verbosity]",
    "elat": "E[Latency]",
}
BIASED = {
    "econfgain": "conf-E[Gain]",
    "econflatgain": "conf-ELG",
    "neconfgain": "conf-nE[Gain]",
    "neconflatgain": "conf-nELG",
    "confcomp": "conf-C",
    "conflatcomp": "conf-LC",
    "confhmean": "conf-HM",
    "econfverb": "conf-E[Verbosity]",
    "econflat": "conf-E[Latency]",
}
"""Gold's name of a column -> ours."""

MODES = {
    ("2014", "graded"): {},
    ("2014", "ignore"): {"unsampled": "skip"},
    ("2014", "binary"): {"binary": True},
    ("2013", "graded"): {"convention": "2013"},
    ("2013", "binary"): {"convention": "2013", "binary": True},
}
OPTIONS = {
    ("2014", "graded"): [],
    ("2014", "ignore"): ["--unsampled", "skip"],
    ("2014", "binary"): ["--binary"],
    ("2013", "graded"): ["--convention", "2013"],
    ("2013", "binary"): ["--convention", "2013", "--binary"],
}


def files(shared, year):
    """The judgments of a year, as the reader's arguments."""
    folder = shared / f"data/ts-{year}/qrels"
    topics = {"2014": "trec2014-ts-topics-test.xml", "2013": "topics_masked.xml"}
    updates = {
        "2014": folder / "updates_sampled.tsv",
        "2013": shared / "gold/tempsum/ts-2013/pooled_updates.synthetic.tsv",
    }
    return {
        "topics": folder / topics[year],
        "nuggets": folder / "nuggets.tsv",
        "matches": folder / "matches.tsv",
        "updates": updates[year],
    }


def wanted_values(shared, year, mode, columns):
    """Gold's values by (run, topic, column)."""
    folder = shared / f"gold/tempsum/ts-{year}"
    gold = json.loads((folder / f"expected_{mode}.json").read_text(encoding="utf-8"))
    wanted = {
        (run, topic, columns[name]): value
        for run, of_run in gold.items()
        for topic, values in [*of_run["topics"].items(), ("all", of_run["AVG"])]
        for name, value in values.items()
        if name in columns
    }
    return wanted, [folder / "runs" / run for run in gold]


@pytest.mark.parametrize(("year", "mode"), MODES)
def test_every_column_from_python(shared, year, mode):
    """Plain and confidence-biased, per topic and over the topics of the run."""
    wanted, paths = wanted_values(shared, year, mode, {**COLUMNS, **BIASED})
    plain = [kind(**MODES[year, mode]) for kind in MEASURES]
    biased = [kind(confidence=True, **MODES[year, mode]) for kind in MEASURES if kind is not UpdateCount]
    scores = update_scores(
        read_events(**files(shared, year)),
        [read_update_run(path) for path in paths],
        [*plain, *biased],
        topics="run",
    )
    found = {score[:3]: score.value for score in scores}
    assert len(wanted) > 600
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("year", "mode"), OPTIONS)
def test_the_command_line(shared, monkeypatch, capsys, year, mode):
    """The same values through files, options and csv, and a line about matches of what is not there."""
    wanted, paths = wanted_values(shared, year, mode, COLUMNS)
    judgments = files(shared, year)
    names = {
        "topics": "--topics-file",
        "nuggets": "--nuggets",
        "matches": "--matches",
        "updates": "--updates",
    }
    options = [part for name, option in names.items() for part in (option, judgments[name])]
    ended = run_here(
        monkeypatch,
        capsys,
        *["score", "updates", *options, *OPTIONS[year, mode], "--topics", "run", "--format", "csv", *paths],
    )
    rows = csv.DictReader(io.StringIO(ended.out))
    found = {(row["run"], row["topic"], row["metric"]): float(row["value"]) for row in rows}
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)
    assert ended.err.count("skipped matches: ") == 1
    assert f"skipped matches: {'9' if year == '2014' else '326'} of nuggets" in ended.err
