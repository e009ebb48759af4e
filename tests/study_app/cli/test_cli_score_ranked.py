"""What `prefcal score ranked` prints, and what it says when something is wrong."""

import json
import math

import pytest

from tests.metrics.ranked_files import QRELS, RUN, WINDOWS, write_ranked
from tests.study_app.cli.printed_scores import table, values
from tests.study_app.prefcal_command import HEAVY, modules_of, run_here

MODEL = {
    "format": "prefcal-user-model/1",
    "parameters": {},
    "intents": {
        "1": {
            "a": {"estimate": 0.75, "interval": [0.65, 0.85]},
            "b": {"estimate": 0.25, "interval": [0.15, 0.35]},
        },
        "2": {"a": {"estimate": 1.0, "interval": [1.0, 1.0]}},
    },
}
SAYS_DAYS = "timestamps; windows are days, choose with --window-unit\n"


@pytest.fixture
def files(tmp_path):
    """Judgments, a run and a user model."""
    write_ranked(tmp_path)
    write_model(tmp_path)
    return tmp_path


def write_model(folder, **intents):
    model = {**MODEL, "intents": {**MODEL["intents"], **intents}}
    (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")


@pytest.fixture
def score(monkeypatch, capsys, files):
    """Score the runs with options."""

    def run(*options, runs=("run.txt",)):
        judged = [f"--qrels={files / 'qrels.txt'}", f"--windows={files / 'windows.txt'}"]
        paths = [files / name for name in runs]
        return run_here(monkeypatch, capsys, "score", "ranked", *judged, *options, *paths)

    return run


def test_csv_is_the_documented_table(score):
    """The worked example of the documentation; topic 2 has nothing relevant."""
    ended = score("-k3", "--format=csv")
    assert ended.code == 0
    assert ended.out.splitlines()[:11] == [
        "run,topic,metric,value",
        "run,1,TIA-P@3,0.2222222222222",
        "run,1,TIA-nDCG@3,0.5",
        "run,1,TIA-ERR@3,0.4444444444444",
        "run,1,TIA-AP,0.1851851851852",
        "run,1,T-SBR@3,1",
        "run,1,TIA-SBR@3,1",
        "run,1,IA-P@3,0.5",
        "run,1,IA-nDCG@3,0.7664339909568",
        "run,1,IA-ERR@3,1",
        "run,1,SBR@3,1",
    ]
    assert values(ended)["2", "TIA-P@3"] == 0
    assert values(ended)["all", "TIA-AP"] == pytest.approx(5 / 27 / 2)


@pytest.mark.parametrize(
    ("options", "metric", "wanted"),
    [
        ([], "TIA-P@10", (2 / 3 * 1 + 1 / 3 * 2) / 20),
        (["-k3", "--intents={}/intents.txt"], "TIA-nDCG@3", 2 / 3 * 0.75 * 0.5 + 1 / 3),
        (["-k3", "--reading=text"], "TIA-nDCG(reading=text)@3", 0.7664339909568),
        (["-k3", "--reading=text"], "TIA-ERR(reading=text)@3", 1),
        (["-k3", "--err=half"], "TIA-ERR(err=half)@3", 2 / 3 * (0.5 / 3) / 2 + 1 / 3 * 0.5),
        (["-k3", "--err=graded"], "IA-ERR(err=graded)@3", ((7 / 8 + 1 / 8 / 8 / 3) + 1 / 8) / 2),
        (
            ["-k3", "--gains=graded"],
            "IA-nDCG(gains=graded)@3",
            (7.5 / (7 + 1 / math.log2(3)) + 1 / (1 + 1 / math.log2(3))) / 2,
        ),
        (["-k2", "--covered=any"], "T-SBR(covered=any)@2", 1),
        (["-k2", "--covered=any"], "TIA-SBR(covered=any)@2", 1),
        (["-k2", "--alpha=0.2"], "TIA-SBR(alpha=0.2)@2", 0.2 + 0.8 / 3),
    ],
    ids=str,
)
def test_every_option_changes_what_it_says(score, files, options, metric, wanted):
    """The column shows the depth alone, whatever the other options."""
    given = [option.format(files) for option in options]
    assert values(score(*given, "--format=csv"))["1", metric] == pytest.approx(wanted)


def test_the_mean_can_be_taken_over_the_runs_own_topics(score, files):
    """Topic 2 is judged, and this run has no list for it."""
    write_ranked(files, run=RUN.replace("2 Q0 n 1 0 tag\n", ""))
    assert values(score("--format=csv", "--topics=run"))["all", "SBR@10"] == 1.0
    assert values(score("--format=csv"))["all", "SBR@10"] == 0.5


def test_depths_can_be_repeated_and_runs_listed(score, files):
    """Measure by measure, each at every depth; TIA-AP is over the whole list."""
    (files / "other.txt").write_text("", encoding="utf-8")
    rows = json.loads(score("-k", "5", "-k", "20", "--format=json", runs=["run.txt", "other.txt"]).out)
    metrics = [row["metric"] for row in rows if (row["run"], row["topic"]) == ("other", "all")]
    assert metrics[:6] == ["TIA-P@5", "TIA-P@20", "TIA-nDCG@5", "TIA-nDCG@20", "TIA-ERR@5", "TIA-ERR@20"]
    assert metrics.count("TIA-AP") == 1
    assert len(metrics) == 19


def test_people_get_a_table(score):
    """One column a metric, four decimals; the topics only where they are asked for."""
    header, _, *means = score("-k3").out.splitlines()
    assert header.split()[:5] == ["run", "topic", "TIA-P@3", "TIA-nDCG@3", "TIA-ERR@3"]
    assert [row.split()[:5] for row in means] == [["run", "all", "0.1111", "0.2500", "0.2222"]]
    assert [row.split()[1] for row in score("-k3", "--per-topic").out.splitlines()[2:]] == ["1", "2", "all"]


def test_what_takes_no_part_is_counted(score, files):
    """Topic 3 of the run was not judged, and nothing is relevant to topic 2."""
    assert score().err.splitlines() == [
        f"{files}/qrels.txt: 1 of 2 judged topics has no relevant document, such as '2', and scores 0",
        f"{files}/run.txt: 1 of 5 documents is listed for topics that are not judged, such as '3', and is left out",
    ]


def test_a_file_of_intents_of_other_topics_is_warned_of(score, files):
    """Else its P(c|q) would be taken for the one that is used."""
    (files / "other.txt").write_text("8 a 0.75\n8 b 0.25\n")
    place, cause = f"{files}/qrels.txt: warning", "the intents may be of another year"
    warnings = [
        line for line in score("--intents", files / "other.txt").err.splitlines() if "warning" in line
    ]
    strange = "1 of 1 topic of the file of intents is not judged, such as '8', and is left out"
    assert warnings == [f"{place}: {strange}; {cause}"]


def test_a_run_of_another_collection_is_warned_of(score, files):
    """It scores 0 everywhere, as a run does that found nothing."""
    write_ranked(files, run="1 Q0 x 1 2 tag\n2 Q0 y 1 2 tag\n")
    ended = score()
    assert ended.code == 0
    assert (
        f"{files}/run.txt: warning: 2 of 2 documents down to rank 10 are not judged for the topic, such as 'x'; "
        "the qrels may be of another collection, or the columns swapped (a line of a run is: topic Q0 docid rank score tag)"
    ) in ended.err
    assert f"{files}/run.txt: warning: 2 of 2 documents down to rank 10 have no window" in ended.err


def test_the_reading_of_the_text_is_said_to_be_plain(score):
    """On stderr, so that nobody takes the columns for time-aware ones."""
    ended = score("--reading", "text", "--format=csv")
    assert ended.err.startswith(
        "--reading text: TIA-nDCG and TIA-ERR are IA-nDCG and IA-ERR, because P(c|q,t) is P(c|q) here; another one can "
        "be passed from Python\n"
    )
    assert values(ended)["1", "TIA-nDCG(reading=text)@10"] == values(ended)["1", "IA-nDCG@10"]
    assert values(ended)["1", "TIA-ERR(reading=text)@10"] == values(ended)["1", "IA-ERR@10"]


def test_timestamps_are_days_unless_a_unit_is_chosen(score, files):
    """What was decided is said; with a unit nothing has to be."""
    write_ranked(files, windows="d1 2001-09-11\nd2 2001-09-30\nd3 2001-10-01\n")
    days = score("--format=csv", "-k1")
    months = score("--format=csv", "-k1", "--window-unit=month")
    years = score("--format=csv", "-k1", "--window-unit=year")

    assert days.err.startswith(f"{files / 'windows.txt'}: {SAYS_DAYS}")
    assert SAYS_DAYS not in months.err + years.err
    found = [values(ended)["1", "T-SBR@1"] for ended in (days, months, years)]
    assert found == pytest.approx([(2 + 1) / (2 + 3), (2 + 1) / (2 + 2), 1])


def test_the_models_intents_take_the_place_of_a_file(score, files):
    """The same numbers as in the file of intents."""
    fitted = score("--intents", "fitted", "--model", files / "model.json", "--format=csv")
    assert values(fitted) == values(score("--intents", files / "intents.txt", "--format=csv"))


def test_a_model_that_is_not_asked_for_changes_nothing_and_says_so(score, files):
    """All scoring commands take a model; with --draws there are columns low and high all the same."""
    ended = score("--model", files / "model.json", "--draws", "3", "--format=csv")
    assert ended.err.startswith(f"{files / 'model.json'}: enters these measures with --intents fitted only\n")
    assert values(ended) == values(score("--format=csv"))
    assert all(row["low"] == row["value"] == row["high"] for row in table(ended).values())


def test_draws_give_intervals_where_subtopics_are_weighed(score, files):
    """IA-ERR@1 of d1 is P(a|q) itself. Measures that do not use P(c|q) have no width.

    P(a|q) = a / (a + b) with sd 0.1 / 1.96 each, at a = 0.75 and b = 0.25: sd 0.1 / 1.96 * sqrt(0.75^2 + 0.25^2).
    """
    write_ranked(files, run="1 Q0 d1 1 1 tag\n")
    options = ["--intents=fitted", f"--model={files / 'model.json'}", "--draws=4000", "--format=csv", "-k1"]
    found = table(score(*options))
    low, high = (float(found["1", "IA-ERR@1"][end]) for end in ("low", "high"))
    mean_low, mean_high = (float(found["all", "IA-ERR@1"][end]) for end in ("low", "high"))

    assert float(found["1", "IA-ERR@1"]["value"]) == 0.75
    half_width = 0.1 * math.hypot(0.75, 0.25)
    assert (low, high) == pytest.approx((0.75 - half_width, 0.75 + half_width), abs=0.006)
    assert (mean_low, mean_high) == pytest.approx((low / 2, high / 2))
    assert float(found["1", "TIA-P@1"]["low"]) == pytest.approx(float(found["1", "TIA-P@1"]["high"]))
    assert score(*options) == score(*options)


def test_draws_over_the_runs_own_topics_follow_the_mean(score, files):
    """`all` and its interval are over the same topics; over none they are undefined."""
    write_ranked(files, run="1 Q0 d1 1 1 tag\n")
    (files / "empty.txt").write_text("", encoding="utf-8")
    options = [
        "--intents=fitted",
        f"--model={files / 'model.json'}",
        "--draws=50",
        "--format=csv",
        "--topics=run",
    ]
    found = table(score(*options))
    assert found["all", "IA-ERR@10"]["low"] == found["1", "IA-ERR@10"]["low"]
    empty = table(score(*options, runs=["empty.txt"]))["all", "IA-ERR@10"]
    assert (empty["value"], empty["low"], empty["high"]) == ("nan", "nan", "nan")


@pytest.mark.parametrize(
    ("intents", "fault"),
    [
        (
            {"1": {}},
            "the model has no probability of subtopic a, b of topic '1'; score without --intents fitted",
        ),
        (
            {"1": {"a": {"estimate": 1.0}}},
            "the model has no probability of subtopic b of topic '1'; score without --intents fitted",
        ),
        (
            {"2": {"a": {"estimate": 0.9}}},
            "the intents of '2' add up to 0.9, not 1; divide each estimate by their sum",
        ),
    ],
)
def test_a_model_with_other_intents_is_refused(score, files, intents, fault):
    """It was fitted to another collection."""
    write_model(files, **intents)
    ended = score("--intents", "fitted", "--model", files / "model.json")
    assert ended == (1, "", f"{files / 'model.json'}:1: {fault}\n")


def test_draws_need_intervals(score, files):
    """Nothing is made up."""
    write_model(files, **{"2": {"a": {"estimate": 1.0}}})
    ended = score("--intents", "fitted", "--model", files / "model.json", "--draws", "9")
    assert ended == (1, "", f"{files / 'model.json'}:1: an intent has no interval; leave out --draws\n")


def test_faults_of_all_files_are_listed_and_nothing_is_printed(score, files):
    """One line a fault, exit 1; runs come after the judgments they are read for."""
    write_ranked(files, qrels=QRELS + "1 a d9 1\n", windows=WINDOWS)
    assert score() == (
        1,
        "",
        f"{files / 'qrels.txt'}:7: document d9 is relevant and has no window; add it to {files / 'windows.txt'}\n",
    )
    write_ranked(files, run=RUN + "1 Q0 d3 4 9.5 tag\n")
    ended = score()
    assert (ended.code, ended.out) == (1, "")
    assert (
        ended.err == f"{files / 'run.txt'}:6: duplicate document d3 in topic 1; delete one of the two lines\n"
    )


def test_grades_above_3_are_refused_under_graded_err_alone(score, files):
    """With the line they stand on."""
    write_ranked(files, qrels=QRELS.replace("d3 3", "d3 4"))
    ended = score("--err", "graded")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{files / 'qrels.txt'}:3: grade 4 is above 3")
    assert score("--err", "half").code == 0
    assert score("--gains", "graded").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "0"], "Invalid value for '-k'"),
        (["--alpha", "2"], "Invalid value for '--alpha'"),
        (["--err", "binary"], "'binary' is not one of 'literal', 'half', 'graded'"),
        (["--intents", "fitted"], "--intents fitted needs --model FILE"),
        (["--draws", "9"], "--draws needs --model FILE"),
        (["--measure", "TIA-P@5", "-k", "3"], "-k has no effect on --measure"),
    ],
)
def test_wrong_usage_is_exit_2(score, options, message):
    """Before any file is read."""
    ended = score(*options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_measures_that_are_named_are_printed_instead(score):
    """Of ir_measures or the package; what is not the default stands in the name. A slip is one line."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    names = ("RR@2", "RBP(p=0.5)", "IA-P@3", "IANDCG(k=3)", "IANDCG(k=3, gains='graded')")
    found = values(score(*(f"--measure={name}" for name in names), "--format=csv"))
    assert {metric for _, metric in found} == {*names[:3], "IA-nDCG@3", "IA-nDCG(gains=graded)@3"}
    assert found["1", "RBP(p=0.5)"] == pytest.approx(0.5 + 0.125)
    assert found["1", "IA-P@3"] == 0.5

    ended = score("--measure=nDGC@10")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("--measure: neither prefcal nor ir_measures has a measure 'nDGC'")


def test_small_scores_start_fast(files):
    """Neither pandas nor scipy nor the web application is imported."""
    judged = [f"--qrels={files / 'qrels.txt'}", f"--windows={files / 'windows.txt'}"]
    imported = modules_of("score", "ranked", *judged, files / "run.txt")
    assert "metrics.ranked.score" in imported
    assert not imported & HEAVY


def test_what_many_runs_have_in_common_is_one_line(score, files):
    """With the run that has the most of it; what few have stays a line each."""
    for number in range(6):
        lines = "".join(f"1 Q0 x{place} 1 {-place} t\n" for place in range(number + 1))
        (files / f"other{number}.txt").write_text(f"1 Q0 d1 1 9 t\n1 Q0 d3 1 8 t\n{lines}")
    err = score(*(files / f"other{number}.txt" for number in range(6))).err.splitlines()
    alike = [
        line
        for line in err
        if "are not judged for the topic" in line or "is not judged for the topic" in line
    ]
    (line,) = alike
    assert line == (
        f"6 of 7 runs: warning: in 4 of them more than half; the most in {files}/other5.txt, 6 of 8 documents down to rank 10 are not "
        "judged for the topic, such as 'x0'; the qrels may be of another collection, or the columns swapped (a line of a run is: "
        "topic Q0 docid rank score tag)"
    )


def test_what_the_second_field_is_can_be_said(score, files):
    """Whole numbers may be rounds of judging or subtopics; the default measures ask, nDCG does not."""
    (files / "qrels.txt").write_text("1 1 d1 1\n1 2 d2 1\n1 3 d3 1\n2 1 n 0\n")
    asked = score("--format", "csv")
    assert (asked.code, asked.out) == (1, "")
    assert "say which: --second-column subtopic or --second-column iteration" in asked.err
    found = {
        kind: values(score("--format", "csv", "-k", "2", "--second-column", kind))["1", "IA-P@2"]
        for kind in ("subtopic", "iteration")
    }
    assert found == {"subtopic": pytest.approx(1 / 6), "iteration": 0.5}
    assert score("--measure", "RBP(p=0.5)").code == 0


def test_a_run_that_shares_no_topic_with_the_judgments_is_named_with_both(score, files):
    """31.1 is a turn of conversation 31, and no topic 1."""
    (files / "run.txt").write_text("31.1 Q0 d1 1 5 t\n32.2 Q0 d2 1 1 t\n")
    ended = score("--format", "csv", "--measure", "RBP(p=0.5)")
    [line] = [line for line in ended.err.splitlines() if "run.txt" in line]
    assert "no topic is in both: the run has 31.1, 32.2, the judgments have 1, 2" in line
    assert {row["value"] for row in table(ended).values()} == {"0"}
