"""What `prefcal score push` prints, and what it says when something is wrong."""

import json

import pytest

from tests.metrics.push_files import CLUSTERS_2015, DAYS, EPOCHS, QRELS, RUN, write_push
from tests.study_app.cli.printed_scores import table, values
from tests.study_app.prefcal_command import HEAVY, modules_of, run_here

MODEL = {
    "format": "prefcal-user-model/1",
    "parameters": {
        "push_alpha": {"estimate": 0.5, "interval": [0.4, 0.6]},
        "push_P_E": {"estimate": 0.5, "interval": [0.3, 0.7]},
        "push_S_E": {"estimate": 0.25, "interval": [0.05, 0.45]},
        "push_P_0": {"estimate": 2.0, "interval": [1.5, 2.5]},
        "push_S_0": {"estimate": 0.0, "interval": [-0.5, 0.5]},
    },
}


@pytest.fixture
def files(tmp_path):
    """Judgments, a run and a user model."""
    write_push(tmp_path)
    (tmp_path / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    return tmp_path


def judgments(folder):
    names = {"--qrels": "qrels.txt", "--clusters": "clusters.json", "--epochs": "epochs.txt"}
    return [word for option, name in names.items() for word in (option, folder / name)]


@pytest.fixture
def score(monkeypatch, capsys, files):
    """Score runs with options."""

    def run(*options, runs=("run.txt",), days=DAYS):
        paths = [files / name for name in runs]
        command = ["score", "push", *judgments(files), "--days", days, *options, *paths]
        return run_here(monkeypatch, capsys, *command)

    return run


def test_csv_is_the_documented_table(score, files):
    """MB226: 1.0 * 0.8 of two pushes, Z = 1, and an eventful day missed; MB227: silence, then a useless push."""
    ended = score("--format", "csv")
    assert ended == (
        0,
        (
            "run,topic,metric,value\n"
            "run,MB226,ELG-1,0.2\n"
            "run,MB226,ELG-0,0.2\n"
            "run,MB226,nCG-1,0.4\n"
            "run,MB226,nCG-0,0.4\n"
            "run,MB226,T11U,0.188\n"
            "run,MB226,silence-precision,0\n"
            "run,MB226,silence-recall,nan\n"
            "run,MB227,ELG-1,0.5\n"
            "run,MB227,ELG-0,0\n"
            "run,MB227,nCG-1,0.5\n"
            "run,MB227,nCG-0,0\n"
            "run,MB227,T11U,-0.34\n"
            "run,MB227,silence-precision,1\n"
            "run,MB227,silence-recall,0.5\n"
            "run,all,ELG-1,0.35\n"
            "run,all,ELG-0,0.1\n"
            "run,all,nCG-1,0.45\n"
            "run,all,nCG-0,0.2\n"
            "run,all,T11U,-0.076\n"
            "run,all,silence-precision,0.5\n"
            "run,all,silence-recall,0.5\n"
        ),
        (
            f"{files}/qrels.txt: 1 of 2 judged topics has no cluster, such as 'MB227'\n"
            f"{files}/run.txt: 1 of 4 pushes is of tweets in no pool, such as 'x' (line 4)\n"
        ),
    )


@pytest.mark.parametrize(
    ("options", "metric", "mb226"),
    [
        (["--convention", "paper"], "ELG-1", 0.4 / 2 / 2),
        (["--convention", "paper"], "nCG-0", 0.4 / 1 / 2),
        (["--alpha", "1"], "T11U(alpha=1)", 0.8),
        (["--alpha", "0"], "T11U(alpha=0)", -1.0),
        (["--unpooled", "nonrel"], "ELG-1", 0.8 / 3 / 2),
        (["--unpooled", "nonrel"], "T11U", 0.66 * 0.8 - 0.34 * 2),
        (["--cells"], "gain", 0.8),
        (["--cells"], "nonrelevant_eventful", 1.0),
        (["--cells"], "silent_eventful", 1.0),
        (["--cells"], "nonrelevant_silent", 0.0),
        (["--cells"], "silent_silent", 0.0),
    ],
)
def test_every_option_changes_what_it_says(score, options, metric, mb226):
    """The names of the metrics do not show the convention."""
    assert values(score(*options, "--format", "csv"))["MB226", metric] == pytest.approx(mb226)


def test_the_mean_can_be_taken_over_the_runs_own_topics(score, files):
    """As some authors' scripts do."""
    (files / "one.txt").write_text("MB227 t5 1437436860 tag\n")
    found = values(score("--topics", "run", "--format", "csv", runs=["one.txt"]))
    assert found["all", "ELG-1"] == 0.5
    assert found["all", "silence-precision"] == 1.0


def test_the_empty_run_is_scored(score, files):
    """Two of four topic-days are silent."""
    (files / "empty").write_text("")
    found = values(score("--format", "csv", runs=["empty"]))
    assert (found["all", "ELG-1"], found["all", "nCG-1"], found["all", "silence-recall"]) == (0.5, 0.5, 1.0)


def test_undefined_shares_are_null_in_json(score):
    """JSON has no NaN."""
    rows = json.loads(score("--format", "json").out)
    assert rows[6] == {"run": "run", "topic": "MB226", "metric": "silence-recall", "value": None}


def test_people_get_a_table(score):
    """One column a metric, four decimals; a row a run, and with --per-topic one a topic too."""
    header, _, *means = score().out.splitlines()
    assert header.split()[:4] == ["run", "topic", "ELG-1", "ELG-0"]
    assert [row.split()[:4] for row in means] == [["run", "all", "0.3500", "0.1000"]]
    every = score("--per-topic").out.splitlines()[2:]
    assert [row.split()[1] for row in every] == ["MB226", "MB227", "all"]


def test_files_for_machines_have_every_topic_whatever_is_asked(score):
    """Scripts depend on them."""
    for chosen in ("csv", "json"):
        assert score("--format", chosen).out == score("--format", chosen, "--per-topic").out
        assert "MB226" in score("--format", chosen).out


WRONG_RUNS = {
    "swapped": ("t1 MB226 1437351600 tag\n", "are for topics that are not judged", "columns swapped"),
    "unpooled": ("MB226 y 1437351600 tag\n", "are of tweets in no pool", "columns swapped"),
    "early": ("MB226 t1 1437340000 tag\n", "came before the tweet was posted", "another time zone or unit"),
    "milliseconds": ("MB226 t1 1437351600000 tag\n", "came a day or more after", "divide them by 1000"),
}


@pytest.mark.parametrize("name", WRONG_RUNS)
def test_a_run_of_which_most_is_wrong_is_warned_of_with_the_likely_cause(score, files, name):
    """Each of these was once a score without a word; the score is still the same."""
    line, what, cause = WRONG_RUNS[name]
    (files / "wrong").write_text(line * 3)
    ended = score(runs=["wrong"])
    (warning,) = [
        said
        for said in ended.err.splitlines()
        if said.startswith(f"{files}/wrong: warning: 3 of 3") and what in said
    ]
    assert cause in warning
    assert "(line 1)" in warning
    assert ended.code == 0


def test_days_of_another_year_are_warned_of(score, files):
    """Every topic-day would be silent, and silence score 1."""
    ended = score(days="20160720:20160721")
    assert (
        f"{files}/qrels.txt: warning: 3 of 3 clustered tweets were posted outside the days 20160720:20160721, "
        "such as 't1', and are left out; the days may be of another year\n"
    ) in ended.err
    assert (
        f"{files}/run.txt: warning: 3 of 3 pooled pushes are of tweets posted outside the days" in ended.err
    )


def test_the_model_gives_alpha_and_the_contingency_measure(score, files):
    """T11U under the fitted alpha; one more metric with the fitted weights, G_E = 1."""
    found = values(score("--model", files / "model.json", "--format", "csv"))
    assert found["MB226", "T11U"] == pytest.approx(0.5 * 0.8 - 0.5)
    assert found["MB226", "Contingency"] == pytest.approx(0.8 - 0.5 * 1 - 0.25 * 1)
    assert found["MB227", "Contingency"] == pytest.approx(-2.0 * 1 + 0.0 * 1)


def test_a_weight_that_the_model_lacks_counts_0_and_is_named(score, files):
    """`fit` leaves out P_0 and S_0 where the pairs tell their sum alone; `agree` has the same rule."""
    parameters = {name: MODEL["parameters"][name] for name in ("push_P_E", "push_S_E")}
    (files / "model.json").write_text(json.dumps({**MODEL, "parameters": parameters}))
    ended = score("--model", files / "model.json", "--draws", "20", "--format", "csv")
    found = table(ended)
    assert float(found["MB226", "Contingency"]["value"]) == pytest.approx(0.8 - 0.5 * 1 - 0.25 * 1)
    assert [found["MB227", "Contingency"][one] for one in ("value", "low", "high")] == ["0", "0", "0"]
    assert (
        f"{files}/model.json: the contingency utility counts push_P_0, push_S_0 as 0, which the model lacks: "
        "prefcal fit leaves out weights that the judged pairs do not identify\n"
    ) in ended.err


def test_an_explicit_alpha_wins_over_the_models(score, files):
    """The weights are still the model's."""
    found = values(score("--model", files / "model.json", "--alpha", "1", "--format", "csv"))
    assert found["MB226", "T11U(alpha=1)"] == pytest.approx(0.8)
    assert ("MB226", "Contingency") in found


def test_draws_give_an_interval_to_what_the_model_moves(score, files):
    """T11U = alpha * 0.8 - (1 - alpha) runs from alpha's low to its high end; ELG does not move."""
    rows = table(score("--model", files / "model.json", "--draws", "2000", "--format", "csv"))
    low, high = (float(rows["MB226", "T11U"][end]) for end in ("low", "high"))
    assert low == pytest.approx(0.4 * 0.8 - 0.6, abs=0.01)
    assert high == pytest.approx(0.6 * 0.8 - 0.4, abs=0.01)
    assert (rows["MB226", "ELG-1"]["low"], rows["MB226", "ELG-1"]["high"]) == ("0.2", "0.2")
    low, high = (float(rows["MB227", "Contingency"][end]) for end in ("low", "high"))
    assert low == pytest.approx(-2 - (0.5**2 + 0.5**2) ** 0.5, abs=0.05)
    assert high == pytest.approx(-2 + (0.5**2 + 0.5**2) ** 0.5, abs=0.05)


def test_draws_depend_on_the_seed_alone(score, files):
    """The same command gives the same file."""
    options = ["--model", files / "model.json", "--draws", "50", "--format", "csv"]
    assert score(*options) == score(*options, "--seed", "1") != score(*options, "--seed", "2")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "the model has none of push_alpha, push_P_E, push_S_E, push_P_0, push_S_0; leave out --model"),
        ({"push_alpha": {"estimate": None}}, "push_alpha is infinite; give it a finite estimate"),
        ({"push_alpha": {"estimate": 1.5}}, "push_alpha is 1.5; it must be from 0 to 1"),
    ],
)
def test_a_model_that_has_not_what_is_needed_is_a_fault(score, files, parameters, message):
    """In one line, with the file."""
    (files / "model.json").write_text(json.dumps({**MODEL, "parameters": parameters}))
    ended = score("--model", files / "model.json")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{files}/model.json:1: {message}")
    assert ended.err.count("\n") == 1


def test_draws_need_an_interval(score, files):
    """An estimate alone says nothing about uncertainty."""
    parameters = {"push_alpha": {"estimate": 0.5}}
    (files / "model.json").write_text(json.dumps({**MODEL, "parameters": parameters}))
    ended = score("--model", files / "model.json", "--draws", "9")
    assert ended.err.endswith(
        f"{files}/model.json:1: push_alpha has no interval to draw from; leave out --draws\n"
    )


@pytest.mark.parametrize(
    ("options", "days", "message"),
    [
        (["--alpha", "1.1"], DAYS, "1.1 is not in the range 0<=x<=1"),
        (["--convention", "trec"], DAYS, "'trec' is not one of 'track', 'paper'"),
        (["--draws", "9"], DAYS, "--draws needs --model FILE"),
        ([], "20150720", "'' is no day; write the first and the last day, like 20150720:20150729"),
        ([], "20150732:20150733", "there is no day 20150732; write"),
        ([], "20150721:20150720", "20150720 comes before 20150721; write"),
    ],
)
def test_wrong_usage_is_exit_2(score, options, days, message):
    """What the command line itself can tell, before any file is opened."""
    ended = score(*options, days=days)
    assert (ended.code, ended.out) == (2, "")
    assert message in " ".join(ended.err.split())


def test_faults_are_one_line_each_on_stderr(score, files):
    """Exit 1, nothing on stdout, nothing written; all three files of judgments at once."""
    write_push(files, qrels=QRELS + "226 Q0 t1 9\n", epochs=EPOCHS + "t6\n", clusters=CLUSTERS_2015 + "]")
    ended = score("-o", files / "scores.csv")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines() == [
        f"{files}/qrels.txt:7: there is no grade '9'; write -1, 0, 1, 2, 3 or 4",
        f"{files}/epochs.txt:6: 3 fields expected, got 1; write tweet, day, epoch, separated by white space",
        f"{files}/clusters.json:9: not JSON (Extra data); mend the JSON here",
    ]
    assert not (files / "scores.csv").exists()


def test_the_faults_of_all_runs_come_together_and_at_most_twenty(score, files):
    """Then how many more there are."""
    write_push(files, run=RUN + "MB226 t1 soon tag\n")
    (files / "other.txt").write_text("MB226 t1\nMB226 t1 soon\n" * 15)
    lines = score(runs=["run.txt", "other.txt"]).err.splitlines()
    assert lines[0] == f"{files}/run.txt:5: epoch is no whole number: 'soon'; write digits only"
    assert len(lines) == 21
    assert lines[-1] == "... and 11 more"


def test_a_small_score_imports_nothing_heavy(files):
    """It starts in a fraction of a second, and is used in loops."""
    command = ["score", "push", *judgments(files), "--days", DAYS, files / "run.txt"]
    assert not modules_of(*command) & HEAVY
