"""What `prefcal agree` prints and writes."""

import csv
import io
import json
import math
import os
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner

import prefcal
from calibration.agree.measures.names import is_name
from calibration.agree.result import DIFFERENCE_COLUMNS
from calibration.tables.files import tables_sha256, write_tables
from calibration.user_model.model import ParameterEntry, UserModel, write_user_model
from study_app.cli import cli
from study_app.cli.results.agree_table import _difference, agreement_text
from tests.calibration.judged_summaries import SYSTEMS, study
from tests.study_app.prefcal_command import run_here

FILES = (
    *("agreement.csv", "comparisons.csv", "curve.csv", "pairs.csv", "disagreements.csv", "agree.json"),
    *("ranking.csv", "duels.csv", "rank.json"),
)
KINDS = {"summary_pairs": "summaries", "stream_pairs": "streams", "ranked_pairs": "ranked lists"}


@pytest.fixture
def agree(monkeypatch, capsys):
    return lambda *arguments: run_here(monkeypatch, capsys, "agree", *arguments)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables, with a user model beside it."""
    folder = tmp_path_factory.mktemp("study") / "tables"
    write_tables(study(), folder)
    model = UserModel(
        tables_sha256=tables_sha256(folder),
        parameters={
            "patience_chars_preferences": ParameterEntry(estimate=800.0),
            "patience_chars_stops": ParameterEntry(estimate=700.0),
        },
    )
    write_user_model(model, folder.parent / "user-model.json")
    return folder


def test_everything_is_written_and_a_table_is_printed(agree, tables, tmp_path):
    """The measures, the ceiling, the ties, the comparisons, and who judged."""
    ended = agree(tables, "--model", tables.parent / "user-model.json", "-o", tmp_path / "out")

    assert ended.code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    for text in (
        "288 judgments by 8 workers on 36 pairs of systems, 6 queries",
        "Of 4 measures M@",
        "agree with the majority most often",
        "M@preferences ",
        "M@preferences: fitted to the other queries",
        "A second panel of as many people would in ",
        "6 comparisons of two measures in comparisons.csv",
        "pairs are tied in the votes",
        "Other conventions for ties (half, drop, weighted, votes), and fits in sample, stand in agreement.csv and comparisons.csv.",
    ):
        assert text in ended.out
    assert "in sample " not in ended.out
    assert "against M@" not in ended.out
    assert ended.out.splitlines()[-1] == f"Next: prefcal report {tmp_path / 'out'}"
    assert "no agreement of single layers" in ended.err


@pytest.mark.parametrize(
    ("command", "options"), [("agree", "-o results"), ("rank", ""), ("fit", "-o user-model.json")]
)
def test_the_answer_stands_above_what_stderr_says(command, options, tmp_path, monkeypatch):
    """On a terminal both are one text, and the answer is its first line."""
    monkeypatch.chdir(tmp_path)
    judged = study()
    if command == "fit":
        del judged["positions"]
    write_tables(judged, "tables")

    ended = CliRunner().invoke(cli, [command, "tables", *options.split()])

    assert ended.exit_code == 0
    assert ended.stderr
    assert ended.output.splitlines()[0] == ended.stdout.splitlines()[0]


def test_agreement_csv_is_what_is_printed_for_machines(agree, tables, tmp_path):
    """--format csv prints the rows of agreement.csv."""
    ended = agree(tables, "-o", tmp_path, "--format", "csv")

    printed = list(csv.DictReader(io.StringIO(ended.out)))
    written = pd.read_csv(tmp_path / "agreement.csv")
    assert [row["measure"] for row in printed] == written["measure"].tolist()
    assert [float(row["agreement"]) for row in printed] == pytest.approx(written["agreement"].tolist())
    assert set(written["ties"]) == {"against", "half", "drop", "weighted"}


def test_json_has_null_where_a_number_is_unknown(agree, tmp_path):
    """One query has no interval."""
    write_tables(study(topics=1), tmp_path / "tables")

    ended = agree(tmp_path / "tables", "-o", tmp_path / "out", "--format", "json")

    rows = json.loads(ended.out)
    assert rows[0]["low"] is None
    assert rows[0]["queries"] == 1


def test_a_missing_interval_is_said_in_words(agree, tables, tmp_path):
    """Nothing varies within one query: that is too few, not sure."""
    write_tables(study(topics=1), tmp_path / "tables")
    few, enough = (agree(one, "-o", tmp_path / "out").out for one in (tmp_path / "tables", tables))

    for sentence in ("no interval", "Too few pairs with a majority, or too few queries"):
        assert sentence in few
    assert "Too few" not in enough
    assert "  -  " not in few


def test_a_study_too_small_for_a_ceiling_has_none_and_says_why(agree, tmp_path):
    """In the printed table, in the file for machines and in words; a larger one has both ceilings and no reason."""
    write_tables(study(topics=1), tmp_path / "tables")

    printed = agree(tmp_path / "tables", "-o", tmp_path / "out").out

    assert "second panel" not in printed
    assert (
        "How often people agree with each other cannot be estimated: a ceiling needs 10 pairs with "
        in printed
    )
    rows = pd.read_csv(tmp_path / "out" / "agreement.csv")
    assert (
        rows[["ceiling", "ceiling_low", "perfect", "perfect_high", *DIFFERENCE_COLUMNS]].isna().all(axis=None)
    )
    assert rows["no_ceiling"].str.startswith("a ceiling needs 10 pairs with ").all()


def test_what_no_study_of_this_size_can_detect_is_no_number():
    """A difference above 1 is larger than any two agreements can be apart."""
    found = prefcal.agree(study(topics=6))
    small = replace(found, comparisons=found.comparisons.assign(minimum_detectable=1.3))

    assert "A study of this size can detect no difference" in agreement_text(small)
    assert "A study of this size can detect no difference" not in agreement_text(found)


@pytest.mark.parametrize(
    ("numbers", "fewer", "said"),
    [
        (
            (0.013, -0.062, 0.089),
            False,
            "; the difference, +1.3 points (-6.2 to 8.9), is not significant",
        ),
        (
            (0.1, 0.02, 0.18),
            True,
            "; the difference there, +10.0 points (2.0 to 18.0), is significant at 95 %",
        ),
        (
            (-0.1, -0.2, -0.01),
            False,
            "; the difference, -10.0 points (-20.0 to -1.0), is significant at 95 %",
        ),
        ((0.1, math.nan, math.nan), False, "; the difference, +10.0 points, has no interval"),
        ((math.nan, math.nan, math.nan), False, ""),
    ],
)
def test_a_difference_from_the_second_panel_has_its_interval(numbers, fewer, said):
    """A verdict states its significance."""
    assert _difference(dict(zip(DIFFERENCE_COLUMNS, numbers, strict=True)), on_fewer=fewer) == said


def test_one_of_a_kind_is_no_plural(agree, tmp_path):
    """One worker on one query."""
    tables = study(topics=1, workers=1)
    write_tables(tables, tmp_path / "tables")

    printed = agree(tmp_path / "tables", "-o", tmp_path / "out").out

    assert "6 judgments by 1 worker on 6 pairs of systems, 1 query" in printed


def test_how_it_was_made_is_written_down(agree, tables, tmp_path, monkeypatch):
    """Hashes, seed, version and the command as one would type it; no folder of this machine is named."""
    monkeypatch.chdir(tmp_path)
    agree(tables, "--seed", 5, "-o", tmp_path)

    record = json.loads((tmp_path / "agree.json").read_text())
    assert record["tables_sha256"] == tables_sha256(tables)
    assert record["seed"] == 5
    beside = os.path.relpath(tables, tmp_path)
    assert record["command"] == ["prefcal", "agree", beside, "--seed", "5", "--output", "."]
    assert record["tables"] == beside
    assert str(tmp_path.parent) not in (tmp_path / "agree.json").read_text()


def test_a_look_at_results_while_the_study_ran_is_told(agree, tables, tmp_path):
    """On stderr, and in the notes of agree.json, from which the report takes its methods."""
    looked = shutil.copytree(tables, tmp_path / "tables")
    opened = [{"at": f"2026-03-0{day}T13:00:00Z", "judgments": 100 * day} for day in (1, 2)]
    (looked / "study.json").write_text(json.dumps({"study": "s", "results_opened": opened}))
    ended = agree(looked, "-o", tmp_path / "out")
    told = (
        "Who is preferred was looked at 2 times before these tables were written: first on 2026-03-01 13:00 UTC"
        " at 100 judgments, last on 2026-03-02 13:00 UTC at 200 judgments."
    )
    assert told in ended.err
    assert told in json.loads((tmp_path / "out" / "agree.json").read_text())["notes"]


def test_the_command_can_be_given_again_in_the_folder_of_the_results(agree, tables, tmp_path, monkeypatch):
    """With everything that changes what is found, its paths as they are seen from there: the same bytes come out."""
    folder = tmp_path / "with a blank" / "out"
    scores = tmp_path / "scores.csv"
    rows = [f"{system},q{n},mine,{rank}" for n in range(6) for rank, system in enumerate(SYSTEMS)]
    scores.write_text("\n".join(["run,topic,metric,value", *rows]) + "\n")
    monkeypatch.chdir(tables.parent)
    options = (
        "--primary",
        "mine",
        "M@1500",
        "--compare",
        "M@840",
        "--compare",
        "mine",
        "--draws",
        3,
        "--seed",
        4,
    )
    agree("tables", "--model", "user-model.json", "--scores", scores, *options, "-o", folder)
    first = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    again = json.loads((folder / "agree.json").read_text())["again"]

    for name in first:
        (folder / name).unlink()
    monkeypatch.chdir(folder)
    ended = agree(*again[2:])

    assert ended.code == 0
    assert again[-2:] == ["--output", "."]
    assert {path.name: path.read_bytes() for path in folder.glob("*.csv")} == first


def test_a_model_of_other_tables_is_other_data(agree, tmp_path, tables):
    """Its hash says so; nothing is cross-fitted then."""
    write_tables(study(seed=9), tmp_path / "tables")

    agree(tmp_path / "tables", "--model", tables.parent / "user-model.json", "-o", tmp_path)

    fits = pd.read_csv(tmp_path / "agreement.csv").drop_duplicates("measure").set_index("measure")["fit"]
    assert fits["M@preferences"] == "other_data"


@pytest.mark.parametrize(
    "row", ["map                   \tall\t0.25\n", "map all 0.25\n", "runid\tall\tbm25\n"]
)
def test_what_trec_eval_prints_is_known_and_the_converter_named(agree, tables, tmp_path, row):
    """To put commas into it would not make it a table of scores."""
    (tmp_path / "bm25.eval").write_text(row)
    ended = agree(tables, "--scores", tmp_path / "bm25.eval", "-o", tmp_path)
    assert ended.code == 1
    assert ended.err.endswith(
        f"{tmp_path}/bm25.eval:1: this is what trec_eval prints (metric, topic, value), and no CSV with a header; run trec_eval "
        "-q, one file per run, and turn all of them into one CSV: prefcal convert trec-to-scores RUN.eval ... -o scores.csv\n"
    )


def test_scores_of_any_tool_are_judged_too(agree, tables, tmp_path):
    """Does my metric agree?"""
    scores = tmp_path / "scores.csv"
    rows = [f"{system},q{n},mine,{rank}" for n in range(6) for rank, system in enumerate(SYSTEMS)]
    scores.write_text("\n".join(["run,topic,metric,value", *rows]) + "\n")

    ended = agree(tables, "--scores", scores, "-o", tmp_path)

    assert ended.code == 0
    assert "mine" in ended.out
    assert "difference mine" in pd.read_csv(tmp_path / "pairs.csv").columns


def test_the_answer_names_no_measure_that_says_nothing_or_was_made_for_other_judgments():
    """Such measures have their rows in the table only: the highest or lowest of all would say nothing of them."""
    tables = study()
    scores = pd.DataFrame(
        [(system, f"q{n}", "constant", 1.0) for n in range(6) for system in SYSTEMS],
        columns=["run", "topic", "metric", "value"],
    )
    found = prefcal.agree(tables, scores=scores)
    worst = found.agreement["measure"] == "M@1500 uniform P"
    converted = replace(found, agreement=found.agreement.assign(converted=worst))

    answers = [agreement_text(each).partition("\n\nmeasure")[0] for each in (found, converted)]

    assert "constant " in agreement_text(found)
    assert answers[0].startswith("Of 2 measures (constant not counted) M@1500")
    assert answers[0].count("constant") == 1
    assert answers[1].startswith("M@1500 agrees with the majority in ")


def test_measures_that_tie_everywhere_are_said_to_tell_nothing():
    """No measure is named for agreeing in 0 % of pairs."""
    tables = {"preferences": study()["preferences"]}
    scores = pd.DataFrame(
        [(system, f"q{n}", "constant", 1.0) for n in range(6) for system in SYSTEMS],
        columns=["run", "topic", "metric", "value"],
    )
    result = prefcal.agree(tables, scores=scores)
    answer = agreement_text(result)

    assert "No measure tells the two systems of any of" in answer
    assert "constant agrees with" not in answer
    assert re.search(r"\nconstant +none +no interval\n", answer)
    assert "0.000" not in result.summary().partition("ceilings")[0]


def test_equal_measures_are_not_most_and_least_and_a_refused_answer_names_none():
    """Scores of twice the size put systems in the same order; of four queries and one couple there is no answer."""
    preferences = study()["preferences"]
    scores = pd.DataFrame(
        [
            (system, f"q{n}", name, times * (n + rank) % 7)
            for n in range(6)
            for rank, system in enumerate(SYSTEMS)
            for name, times in (("one", 1), ("twice", 1))
        ],
        columns=["run", "topic", "metric", "value"],
    )
    found = prefcal.agree({"preferences": preferences}, scores=scores)
    pair = preferences["pair"].iloc[0]
    few = prefcal.agree({"preferences": preferences[preferences["pair"] == pair]}, scores=scores)
    equal, refused = (agreement_text(each).partition("\n\nmeasure")[0] for each in (found, few))

    assert equal.startswith("2 measures agree with the majority equally often, in ")
    assert refused.startswith("Too few pairs with a majority")
    for answer in (equal, refused):
        assert "one" not in answer.split()
        assert "least often" not in answer


def test_a_score_that_is_called_like_one_of_ours_stands_beside_it(agree, tables, tmp_path):
    """What `prefcal score` wrote is called as what `prefcal agree` computes itself."""
    scores = tmp_path / "scores.csv"
    rows = [f"{system},q{n},M@1500,{rank}" for n in range(6) for rank, system in enumerate(SYSTEMS)]
    scores.write_text("\n".join(["run,topic,metric,value", *rows]) + "\n")

    ended = agree(tables, "--scores", scores, "-o", tmp_path)

    assert ended.code == 0
    measures = pd.read_csv(tmp_path / "agreement.csv")["measure"]
    assert {"M@1500", "M@1500 (from scores)"} <= set(measures)


def test_a_primary_comparison_is_printed_first_with_the_place_where_it_was_named(agree, tables, tmp_path):
    """--primary names it, and everything else is called exploratory."""
    model = tables.parent / "user-model.json"
    options = (
        "--primary",
        "M@preferences",
        "M@1500",
        "--compare",
        "M@stops",
        "--compare",
        "M@1500 uniform P",
    )

    ended = agree(tables, "--model", model, *options, "-o", tmp_path)

    assert ended.code == 0
    answer, panel = ended.out.splitlines()[:2]
    assert answer.startswith("M@preferences agrees with the majority in ")
    assert panel.startswith("A second panel of as many people would in ")
    assert re.search(
        r"; the difference, [+-][\d.]+ points \(-?[\d.]+ to -?[\d.]+\), is (not )?significant", panel
    )
    rows = pd.read_csv(tmp_path / "agreement.csv")
    difference, low, high = (rows[name] for name in DIFFERENCE_COLUMNS)
    assert difference.tolist() == pytest.approx((rows["agreement_there"] - rows["ceiling"]).tolist())
    assert ((low < difference) & (difference < high)).all()
    assert "M@preferences (primary)" in ended.out
    assert "against M@preferences" in ended.out
    assert "Named at analysis, with an option when the answers were there" in ended.out
    assert "M@preferences against M@1500. By shares of votes: " in ended.out
    comparisons = pd.read_csv(tmp_path / "comparisons.csv").query("by == 'majority'")
    assert comparisons["named"].tolist()[:2] == ["analysis", "analysis"]
    standing = comparisons["standing"]
    assert standing.tolist() == ["primary", *["exploratory"] * (len(standing) - 1)]
    record = json.loads((tmp_path / "agree.json").read_text())
    assert record["named"]["summaries"] == {
        "primary": ["M@preferences", "M@1500"],
        "compare": ["M@stops", "M@1500 uniform P"],
        "at_analysis": True,
    }
    assert [word for word in record["command"] if word.startswith("M@")] == [
        "M@preferences",
        "M@1500",
        "M@stops",
        "M@1500 uniform P",
    ]


def test_draws_spread_the_agreement_of_fitted_measures(agree, tables, tmp_path):
    """A column of the printed table; what cannot be drawn is said."""
    model = UserModel(
        parameters={
            "patience_chars_stops": ParameterEntry(estimate=300.0, interval=(30.0, 3000.0)),
            "patience_chars_grid": ParameterEntry(estimate=300.0),
        }
    )
    write_user_model(model, tmp_path / "model.json")

    ended = agree(tables, "--model", tmp_path / "model.json", "--draws", 20, "-o", tmp_path / "out")

    assert ended.code == 0
    assert "drawn anew (20 times)" in ended.out
    assert "--draws keeps the estimate of patience_chars_grid" in ended.err
    rows = pd.read_csv(tmp_path / "out" / "agreement.csv").drop_duplicates("measure").set_index("measure")
    assert rows.loc["M@stops", "draws"] == 20
    assert json.loads((tmp_path / "out" / "agree.json").read_text())["draws"] == 20


def test_the_help_says_how_measures_are_called(agree):
    """Its examples are true."""
    shown = agree("--help").out

    names = {
        kind: [name.strip() for name in line.split("pairs of ")[1].removeprefix(words).split(", ")]
        for kind, words in KINDS.items()
        for line in shown.splitlines()
        if f"pairs of {words} " in line
    }
    assert set(names) == set(KINDS)
    assert all(is_name(name, kind) for kind, of_kind in names.items() for name in of_kind)


def test_the_pairs_that_disagree_most_are_written(agree, tables, tmp_path):
    """At most ten of a task, the strongest first."""
    agree(tables, "-o", tmp_path)

    rows = pd.read_csv(tmp_path / "disagreements.csv")
    assert 0 < len(rows) <= 10
    assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
    fair = pd.read_csv(tmp_path / "agreement.csv").query(
        "ties == 'against' and fit != 'in_sample' and exclusions == 'applied'"
    )
    assert set(rows["measure"]) == {fair.loc[fair["agreement"].idxmax(), "measure"]}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ("--scores", "{folder}/scores.csv"),
            "scores.csv:1: judged without a score: beta, delta, gamma; give a score",
        ),
        (("--model", "{folder}/none.json"), "none.json:1: there is no such file"),
        (("--run", "alpha={folder}/none.xml"), "none.xml:1: there is no such file"),
        (
            ("--primary", "M@1500", "M@15OO"),
            "--primary, --compare: there is no measure 'M@15OO' in any task; did you mean 'M@1500'",
        ),
        (("--compare", "M@preferences"), "nothing here scores 'M@preferences'; give --model FILE"),
        (("--collection", "query={folder}/scores.csv"), "--collection: there is no 'query' in this study"),
    ],
)
def test_faults_are_one_line_each_and_nothing_is_written(agree, tables, tmp_path, options, line):
    """Exit 1, nothing on stdout, no folder."""
    (tmp_path / "scores.csv").write_text("run,topic,metric,value\nalpha,q0,mine,1\n")

    ended = agree(tables, *(one.format(folder=tmp_path) for one in options), "-o", tmp_path / "out")

    assert (ended.code, ended.out) == (1, "")
    assert line in ended.err
    assert "; " in ended.err
    assert not (tmp_path / "out").exists()


def test_results_are_not_written_among_the_tables(agree, tables):
    """The next export would find a folder that is not its own."""
    ended = agree(tables, "-o", tables / ".")

    assert (ended.code, ended.out) == (2, "")
    assert "is the folder of the tables; name another for the results" in ended.err
    assert not (tables / "agree.json").exists()


def test_a_folder_that_cannot_be_made_is_a_fault(agree, tables, tmp_path):
    """A file stands in the way."""
    (tmp_path / "file").touch()

    ended = agree(tables, "-o", tmp_path / "file" / "out")

    assert (ended.code, ended.out) == (1, "")
    assert "the folder cannot be made" in ended.err


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-o", "out", "--run", "alpha"),
        ("-o", "out", "--draws", "9"),
        ("-o", "out", "--primary", "M@1500"),
    ],
)
def test_wrong_usage_is_exit_2(agree, tables, options):
    """-o is needed, a run is NAME=PATH, draws need a model, and a comparison two measures."""
    assert agree(tables, *options).code == 2


def test_warnings_stand_on_stderr_and_in_the_record_and_who_judged_what_in_the_table(agree, tmp_path):
    """Three people judge four queries: no p, and both reasons by name."""
    folder = tmp_path / "few"
    write_tables(study(topics=4, workers=3), folder)

    ended = agree(folder, "-o", tmp_path / "found")

    assert ended.code == 0
    assert "summaries: few_workers: 3 workers judged, too few" in ended.err
    assert "summaries: few_topics: 4 queries were judged, too few" in ended.err
    assert "no interval" in ended.out
    record = json.loads((tmp_path / "found" / "agree.json").read_text())
    assert [one["name"] for one in record["diagnostics"]["summaries"]] == [
        "few_workers",
        "few_topics",
        "side_effect",
    ]
