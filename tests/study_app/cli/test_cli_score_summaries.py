"""What `prefcal score summaries` prints, and what it says when something is wrong."""

import json

import pytest

from calibration.user_model import summary_model
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from tests.metrics.two_layered_files import FILES, RUN, write_collection, write_run
from tests.study_app.cli.printed_scores import table, values
from tests.study_app.prefcal_command import HEAVY, modules_of, run_apart, run_here

MODEL = {
    "format": "prefcal-user-model/1",
    "parameters": {"patience_chars": {"estimate": 840.0, "interval": [600.0, 1176.0]}},
    "intents": {
        "Q1": {
            "I1": {"estimate": 0.5, "interval": [0.3, 0.7]},
            "I2": {"estimate": 0.5, "interval": [0.3, 0.7]},
        },
        "Q2": {"I3": {"estimate": 1.0, "interval": [0.9, 1.0]}},
    },
}

RATED = FILES["importance.tsv"] + "Q1\tI2\tU1\t0\nQ1\tI2\tU2\t0\nQ1\tI1\tU3\t0\n"
"""A row for each iUnit and intent."""


@pytest.fixture
def files(tmp_path):
    """A collection, a run and a user model."""
    write_collection(tmp_path, importance=RATED)
    write_run(tmp_path)
    (tmp_path / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    return tmp_path


@pytest.fixture
def score(monkeypatch, capsys, files):
    """Score the run of the collection with options."""

    def run(*options, runs=("run.xml",), collection=files):
        paths = [files / name for name in runs]
        return run_here(
            monkeypatch, capsys, "score", "summaries", "--collection", collection, *options, *paths
        )

    return run


def test_csv_is_the_documented_table(score):
    """Q1: 3/4 of 4 at 9 and 1/4 of 3 at 29 characters; Q2: 4 at 7 characters; the mean of both."""
    ended = score("--patience", "840", "--format", "csv")
    assert ended == (
        0,
        (
            "run,topic,metric,value\n"
            "run,Q1,M@840,3.691964285714\n"
            "run,Q2,M@840,3.966666666667\n"
            "run,all,M@840,3.82931547619\n"
        ),
        "",
    )


@pytest.mark.parametrize(
    ("options", "metric", "q1"),
    [
        ([], "M@1500", 3 * (1 - 9 / 1500) + 0.75 * (1 - 29 / 1500)),
        (["--patience", "inf"], "M@inf", 3.75),
        (["--patience", "0"], "M@0", 0.0),
        (["--patience", "840.50"], "M@840.5", 3 * (1 - 9 / 840.5) + 0.75 * (1 - 29 / 840.5)),
        (["--patience", "100", "--truncate", "12"], "M@100", 3 * 0.91),
        (["--patience", "100", "--intents", "uniform"], "M@100", 2 * 0.91 + 1.5 * 0.71),
        (["--patience", "100", "--layers", "first"], "M@100", 3 * 0.91),
        (["--patience", "100", "--layers", "second"], "M@100", 0.75 * (1 - 20 / 100)),
        (["--patience", "100", "--topics", "run"], "M@100", 3 * 0.91 + 0.75 * 0.71),
    ],
)
def test_every_option_changes_what_it_says(score, options, metric, q1):
    """The column shows the patience alone, whatever the other options."""
    assert values(score(*options, "--format", "csv"))["Q1", metric] == pytest.approx(q1)


def test_patience_can_be_repeated_and_runs_listed(score, files):
    """One call for a whole sweep of a whole track."""
    write_run(files, name="other.xml")
    ended = score("--patience", "840", "--patience", "inf", "--format", "json", runs=["run.xml", "other.xml"])
    rows = json.loads(ended.out)
    assert [row["metric"] for row in rows[:2]] == ["M@840", "M@inf"]
    assert [row["run"] for row in rows[::6]] == ["run", "other"]


def test_people_get_a_table(score):
    """One column a metric, four decimals."""
    lines = score("--patience", "840").out.splitlines()
    assert lines[0].split() == ["run", "topic", "M@840"]
    assert lines[-1].split() == ["run", "all", "3.8293"]


def test_the_result_can_go_into_a_file(score, files):
    """Then nothing is printed."""
    ended = score("--format", "csv", "-o", files / "scores.csv")
    assert ended == (0, "", "")
    assert (files / "scores.csv").read_text(encoding="utf-8").startswith("run,topic,metric,value\n")


def test_the_models_patience_takes_the_place_of_the_default(score, files):
    """A name with the fitted number in it, so that nobody takes it for the default."""
    assert ("Q1", "M@840") in table(score("--model", files / "model.json", "--format", "csv"))


def test_an_explicit_patience_wins_over_the_models(score, files):
    """Explicit options win."""
    keys = table(score("--model", files / "model.json", "--patience", "100", "--format", "csv"))
    assert {metric for _, metric in keys} == {"M@100"}


def test_an_infinite_patience_of_the_model_is_null_there(score, files):
    """Preferences may show no decay at all."""
    model = {**MODEL, "parameters": {"patience_chars": {"estimate": None, "interval": [900.0, None]}}}
    (files / "model.json").write_text(json.dumps(model))
    assert values(score("--model", files / "model.json", "--format", "csv"))["Q1", "M@inf"] == 3.75


def test_fitted_intents_are_taken_only_when_asked_for(score, files):
    """The collection's own probabilities are the default, model or not."""
    model = ["--model", files / "model.json", "--patience", "inf", "--format", "csv"]
    assert values(score(*model))["Q1", "M@inf"] == 3.75
    assert values(score(*model, "--intents", "fitted"))["Q1", "M@inf"] == 0.5 * 4 + 0.5 * 3


def test_draws_give_each_score_an_interval(score, files):
    """M rises with patience, so its interval runs from M at the low to M at the high end of L."""
    rows = table(score("--model", files / "model.json", "--draws", "2000", "--format", "csv"))
    low, high = (float(rows["Q2", "M@840"][end]) for end in ("low", "high"))
    assert low == pytest.approx(4 * (1 - 7 / 600), abs=0.002)
    assert high == pytest.approx(4 * (1 - 7 / 1176), abs=0.002)
    assert list(rows["Q2", "M@840"]) == ["run", "topic", "metric", "value", "low", "high"]


def test_draws_depend_on_the_seed_alone(score, files):
    """The same command gives the same file."""
    options = ["--model", files / "model.json", "--intents", "fitted", "--draws", "50", "--format", "csv"]
    assert score(*options) == score(*options, "--seed", "1") != score(*options, "--seed", "2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--patience", "-1"], "'-1' is no number of characters"),
        (["--patience", "nan"], "'nan' is no number of characters"),
        (["--patience", "long"], "'long' is no number of characters; write one such as 840, or inf"),
        (["--truncate", "-1"], "-1 is not in the range x>=0"),
        (["--layers", "third"], "'third' is not one of 'both', 'first', 'second'"),
        (["--intents", "fitted"], "--intents fitted needs --model FILE"),
        (["--draws", "9"], "--draws needs --model FILE"),
        (["--draws", "9", "--model", "m", "--patience", "9"], "--draws has nothing to draw"),
    ],
)
def test_wrong_usage_is_exit_2(score, options, message):
    """What the command line itself can tell, before any file is opened."""
    ended = score(*options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_no_run_is_wrong_usage(score):
    """There is nothing to score."""
    assert score(runs=[]).code == 2


def test_the_faults_of_all_runs_are_one_line_each_on_stderr(score, files):
    """Exit 1, nothing on stdout, nothing written."""
    write_run(files, RUN.replace('uid="U1"', 'uid="U4"'), name="a.xml")
    write_run(files, RUN.replace('iid="I3"', 'iid="I1"'), name="b.xml")
    ended = score("-o", files / "scores.csv", runs=["a.xml", "b.xml"])
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines() == [
        f"{files}/a.xml:6: iUnit 'U4' is one of query 'Q2', not of 'Q1'; delete it",
        f"{files}/b.xml:16: intent 'I1' is one of query 'Q1', not of 'Q2'; delete it",
        f"{files}/b.xml:18: intent 'I1' is one of query 'Q1', not of 'Q2'; delete it",
    ]
    assert not (files / "scores.csv").exists()


def test_at_most_twenty_faults_are_shown(score, files):
    """Then how many more there are."""
    write_collection(files, importance="".join(f"Q1\tI1\tU{unit}\t1\n" for unit in range(10, 40)))
    lines = score().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and 10 more"


def test_two_files_of_one_name_are_a_fault(score, files):
    """Their rows could not be told apart."""
    write_run(files, name="run.txt")
    ended = score(runs=["run.xml", "run.txt"])
    assert ended.code == 1
    assert "is called 'run' too; rename one of the two files" in ended.err


def test_summaries_without_importance_are_warned_of(score, files):
    """Before anybody has rated them every summary scores 0."""
    (files / "importance.tsv").write_text("")
    ended = score()
    cause = "importance may be that of another collection, or not be rated yet"
    assert ended.err.splitlines() == [
        f"{files}: warning: 2 of 2 queries have no iUnit of importance above 0, such as 'Q1', and score 0; {cause}",
        f"{files}/run.xml: warning: 3 of 3 iUnits have no importance, such as 'U1'; {cause}",
    ]


def test_given_intents_need_probabilities(score, files):
    """The cure is in the line."""
    (files / "probability.tsv").unlink()
    ended = score()
    assert ended.err == (
        f"{files}:1: there are no intent probabilities; "
        "add probability.tsv, or use uniform ones (--intents uniform)\n"
    )
    assert score("--intents", "uniform").code == 0


def test_a_model_that_has_intent_probabilities_is_named_where_the_collection_has_none(score, files):
    """The option that takes them is the nearest cure."""
    (files / "probability.tsv").unlink()
    (files / "model.json").write_text(json.dumps(MODEL))
    ended = score("--model", files / "model.json")
    assert ended.err == (
        f"{files}:1: there are no intent probabilities; take those of the model (--intents fitted), or add probability.tsv\n"
    )
    assert score("--model", files / "model.json", "--intents", "fitted").code == 0


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"format": "other/1"}, [], 'format is "other/1"'),
        (
            {"parameters": {}},
            [],
            "the model has no patience_chars; say which patience you want with --patience",
        ),
        (
            {"parameters": {"patience_chars[ja]": {"estimate": 5}}},
            [],
            "the model has no patience_chars, only patience_chars[ja]; say which",
        ),
        (
            {"parameters": {"patience_chars": {"estimate": 5.0, "interval": [6.0, 7.0]}}},
            [],
            "patience_chars is 5.0 with the interval [6.0, 7.0]; an estimate above 0 must lie in its interval",
        ),
        (
            {"parameters": {"patience_chars": {"estimate": 5.0}}},
            ["--draws", "5"],
            "the interval has no lower end; leave out --draws",
        ),
        (
            {"intents": {}},
            ["--intents", "fitted"],
            "the fitted intents of query 'Q1' are none, those of the collection I1, I2",
        ),
        (
            {
                "intents": {
                    "Q1": {"I1": {"estimate": 0.5}, "I2": {"estimate": 0.4}},
                    "Q2": MODEL["intents"]["Q2"],
                }
            },
            ["--intents", "fitted"],
            "the intents of 'Q1' add up to 0.9, not 1; divide each estimate by their sum",
        ),
    ],
)
def test_a_model_that_does_not_fit_is_a_fault_of_its_file(score, files, change, options, message):
    """What is asked of the model must be in it."""
    (files / "model.json").write_text(json.dumps({**MODEL, **change}))
    ended = score("--model", files / "model.json", *options)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{files}/model.json:1: ")
    assert message in ended.err


def test_the_real_command_ends_as_it_should(files):
    """In a process of its own: exit codes and streams as a shell sees them."""
    good = run_apart("score", "summaries", "--collection", files, files / "run.xml", "--format", "csv")
    assert (good.code, good.err) == (0, "")
    assert good.out.startswith("run,topic,metric,value\nrun,Q1,M@1500,")
    bad = run_apart("score", "summaries", "--collection", files, files / "missing.xml")
    assert bad == (1, "", f"{files}/missing.xml:1: there is no such file; check the path\n")
    assert run_apart("score", "summaries").code == 2


def test_nothing_heavy_is_imported_for_help_or_small_scores(files):
    """A command that takes a second to say hello is not used in a loop over files."""
    score_now = ["score", "summaries", "--collection", files, files / "run.xml"]
    for arguments in (["--help"], ["score", "summaries", "--help"], score_now):
        assert not modules_of(*arguments) & HEAVY


def test_the_command_prints_what_a_notebook_gets(score, files):
    """The same draws, the same digits."""
    collection = read_summary_collection(files)
    scored = summary_model(files / "model.json", collection, intents=True).score(
        [read_summary_run(files / "run.xml", collection)], draws=7, seed=4
    )
    ended = score(
        *("--model", files / "model.json", "--intents", "fitted"),
        *("--draws", "7", "--seed", "4", "--format", "csv"),
    )
    assert ended.out == scored.to_csv(index=False, float_format="%.13g")
