"""What `prefcal score updates` prints, and what it says when something is wrong."""

import csv
import io
import json

import pytest

from tests.metrics.event_files import MATCHES, RUN, write_updates
from tests.study_app.cli.printed_scores import event_options, score_rows, values
from tests.study_app.prefcal_command import HEAVY, modules_of, run_here


@pytest.fixture
def score(monkeypatch, capsys, tmp_path):
    """Score the run of the two small events with options."""
    write_updates(tmp_path)

    def run(*options, runs=("mine",), **changed):
        files = [*event_options(tmp_path, **changed), *options, *(tmp_path / name for name in runs)]
        return run_here(monkeypatch, capsys, "score", "updates", *files)

    return run


def said(folder):
    """What the small events always say: their third topic has no nuggets."""
    return (
        f"{folder}/nuggets.tsv: 1 of 3 topics is not in all of topics file, nuggets and updates, such as '3', "
        "and is left out\n"
    )


def test_csv_has_ten_measures_a_topic_in_the_documented_order(score):
    """Scripts depend on it."""
    rows = list(csv.reader(io.StringIO(score("--format", "csv").out)))
    assert rows[0] == ["run", "topic", "metric", "value"]
    assert [row[2] for row in rows[1:11]] == [
        *["E[Gain]", "ELG", "nE[Gain]", "nELG", "C", "LC", "HM", "E[Verbosity]", "E[Latency]", "updates"]
    ]
    assert [row[1] for row in rows[1::10]] == ["TS14.1", "TS14.2", "all"]
    assert {row[0] for row in rows[1:]} == {"mine"}


@pytest.mark.parametrize(
    ("options", "comprehensiveness", "updates"),
    [
        ([], 1.0, 2),
        (["--binary"], 1.0, 2),
        (["--unsampled", "skip"], 1.0, 2),
        (["--convention", "2013"], 1.0, 2),
    ],
)
def test_a_run_that_finds_everything(score, options, comprehensiveness, updates):
    """Every option is understood; C is 1 under all."""
    found = values(score(*options, "--format", "csv"))
    assert found["TS14.1", "C"] == pytest.approx(comprehensiveness)
    assert found["TS14.1", "updates"] == updates


def test_unsampled_updates_are_counted_or_skipped(score, tmp_path):
    """Counted in 2014, skipped in 2013, whatever is asked for wins."""
    write_updates(tmp_path, RUN + "1 t r d7 7 1000000 1\n")
    for options, updates in [
        ([], 3),
        (["--unsampled", "skip"], 2),
        (["--convention", "2013"], 2),
        (["--convention", "2013", "--unsampled", "count"], 3),
    ]:
        assert values(score(*options, "--format", "csv"))["TS14.1", "updates"] == updates


def test_the_mean_is_over_judged_topics_or_the_runs_own(score, tmp_path):
    """A topic that a run has nothing for counts with 0, unless asked otherwise."""
    write_updates(tmp_path, RUN.splitlines()[-1])
    assert values(score("--format", "csv"))["all", "C"] == 0.5
    assert values(score("--format", "csv", "--topics", "run"))["all", "C"] == 1


def test_matches_of_what_is_not_there_are_told_in_one_line(score, tmp_path):
    """On stderr, so that the table stays a table."""
    assert score().err == said(tmp_path)
    matches = MATCHES + "TS14.1\td1-0\tn8\t0\t1\t0\nTS14.1\tnone-0\tn1\t0\t1\t0\n"
    assert score(matches=matches).err == (
        f"{tmp_path}/matches.tsv: skipped matches: 1 of nuggets that {tmp_path}/nuggets.tsv does not have, "
        f"1 of updates that {tmp_path}/updates.tsv does not have\n" + said(tmp_path)
    )


@pytest.mark.parametrize("measures", ["updates", "msu"])
def test_updates_about_topics_nobody_judged_are_told_in_one_line_a_run(
    measures, monkeypatch, capsys, tmp_path
):
    """A mistyped topic would look like a system that found nothing; the scores are those without these rows."""
    files = event_options(tmp_path)
    crowd = ["--away", "3h,90m", "--session", "2m,1m", "--users", "5"] if measures == "msu" else []
    run = write_updates(tmp_path)
    plain = run_here(monkeypatch, capsys, "score", measures, *files, *crowd, run)
    strange = "\nTS14.9 t r d1 0 1000000 1\n9 t r d1 1 1000000 1\n"
    ended = run_here(
        monkeypatch, capsys, "score", measures, *files, *crowd, write_updates(tmp_path, RUN + strange)
    )
    assert plain.err == said(tmp_path)
    assert ended.err == said(tmp_path) + (
        f"{run}: 2 of 5 updates are about topics that are not judged, such as 'TS14.9' (line 5), "
        "and are left out\n"
    )
    assert ended.out == plain.out


def test_people_get_a_table(score):
    """One column a metric, four decimals."""
    lines = score().out.splitlines()
    assert lines[0].split()[:4] == ["run", "topic", "E[Gain]", "ELG"]
    assert lines[-1].split()[:2] == ["mine", "all"]


def test_a_user_model_changes_nothing_and_that_is_said(score, tmp_path):
    """All score commands take one; here intervals have no width."""
    (tmp_path / "model.json").write_text(json.dumps({"format": "prefcal-user-model/1", "parameters": {}}))
    plain = values(score("--format", "csv"))
    ended = score("--format", "csv", "--model", tmp_path / "model.json", "--draws", "3")
    assert values(ended) == plain
    row = score_rows(ended)[0]
    assert row["low"] == row["value"] == row["high"]
    assert ended.err.endswith(f"{tmp_path}/model.json: no parameter of a user model enters these measures\n")
    assert score("--draws", "3").code == 2


def test_topics_that_a_run_lacks_count_as_0_and_the_line_says_how_to_leave_them_out(score, tmp_path):
    """The mean over the topics of the run has them not."""
    write_updates(tmp_path, RUN.splitlines(keepends=True)[0])
    lacks = f"{tmp_path}/mine: 1 of 2 judged topics has no update in the run, such as 'TS14.2', and "
    assert f"{lacks}counts as 0 (--topics run leaves it out)\n" in score().err
    assert f"{lacks}is left out of the mean\n" in score("--topics", "run").err


def test_faults_are_lines_on_stderr_and_exit_1(score, tmp_path):
    """Of all runs at once; nothing is printed, nothing half-written."""
    write_updates(tmp_path, "1 2 3\n", name="other")
    write_updates(tmp_path, RUN.replace("0.5", "nan"))
    ended = score("-o", tmp_path / "scores.csv", runs=["mine", "other"])
    assert (ended.code, ended.out) == (1, "")
    assert [line.split(": ")[0] for line in ended.err.splitlines()] == [
        f"{tmp_path}/mine:1",
        f"{tmp_path}/other:1",
    ]
    assert not (tmp_path / "scores.csv").exists()


def test_the_command_starts_without_heavy_imports(tmp_path):
    """A small score should take a fraction of a second."""
    assert not modules_of("score", "updates", *event_options(tmp_path), write_updates(tmp_path)) & HEAVY
