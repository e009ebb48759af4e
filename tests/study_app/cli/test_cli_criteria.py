"""`rank --by` and `agree --by`: what people answered about a criterion, in place of the overall choice."""

import json

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import prefcal
from calibration.tables.files import write_tables
from metrics.errors import InputError
from study_app.report.build import build_report
from study_app.report.folder import read_material
from tests.calibration.graded import WORTHS, graded_study
from tests.study_app.prefcal_command import run_here

ABOUT = "By the answers about short, in place of the overall choice."
SCORES = pd.DataFrame(
    [
        {"run": run, "topic": f"q{topic}", "metric": "length", "value": -worth}
        for run, worth in WORTHS.items()
        for topic in range(6)
    ]
)


@pytest.fixture(scope="module")
def study():
    return graded_study()


@pytest.fixture(scope="module")
def folder(study, tmp_path_factory):
    room = tmp_path_factory.mktemp("criteria")
    write_tables(study, room / "tables")
    SCORES.to_csv(room / "scores.csv", index=False)
    return room


@pytest.fixture
def run(monkeypatch, capsys):
    return lambda *words: run_here(monkeypatch, capsys, *words)


def put_in_place(study):
    """Return the tables with the answers about `short` written over the choices."""
    answers = study["criteria"].query("criterion == 'short'").set_index("judgment")
    judged = study["preferences"][study["preferences"]["judgment"] != "J3-4"].reset_index(drop=True)
    answered = answers.loc[judged["judgment"]].reset_index()
    return study | {"preferences": judged.assign(choice=answered["choice"], strength=answered["strength"])}


def without_one_answer(study):
    rows = study["criteria"]
    left_out = (rows["judgment"] == "J3-4") & (rows["criterion"] == "short")
    return study | {"criteria": rows[~left_out]}


def test_a_judge_counts_with_what_it_answered_about_the_criterion(study, run, tmp_path):
    """Its verdicts about the overall choice are about something else, and a line says that it is left out."""
    judged = study["preferences"].query("worker == 'w0' and gold.isna() and validation_of.isna()")
    verdicts = judged[["task", "topic", "system_left", "system_right", "choice"]].assign(
        worker="gpt", judgment="V" + judged["judgment"], order=1, repeat=1
    )
    asked = study["criteria"][study["criteria"]["judgment"].isin(judged["judgment"])]
    with_judge = study | {
        "preferences": pd.concat([study["preferences"], verdicts], ignore_index=True),
        "workers": pd.concat([study["workers"], pd.DataFrame({"worker": ["gpt"], "kind": ["model"]})]),
    }
    answered = with_judge | {
        "criteria": pd.concat([study["criteria"], asked.assign(judgment="V" + asked["judgment"])])
    }
    for name, tables in (("overall", with_judge), ("asked", answered)):
        write_tables(tables, tmp_path / name)
    told = [
        run("agree", tmp_path / name, "--by", "short", "-o", tmp_path / f"of-{name}")
        for name in ("overall", "asked")
    ]

    assert "no judge that is no person answered about short, so none is held against people" in told[0].err
    assert "no judge that is no person" not in told[1].err
    assert not (tmp_path / "of-overall" / "judge.csv").exists()
    assert pd.read_csv(tmp_path / "of-asked" / "judge.csv")["judge"].unique().tolist() == ["gpt"]


def test_a_criterion_counts_as_if_its_answers_were_the_choices(study):
    """Ranks and agreement, in Python; a judgment without an answer about it is left out."""
    asked, written = without_one_answer(study), put_in_place(study)
    written["criteria"] = written["criteria"].query("judgment != 'J3-4'")
    ranked = prefcal.rank(asked, by="short"), prefcal.rank(written)
    agreed = prefcal.agree(asked, by="short", scores=SCORES), prefcal.agree(written, scores=SCORES)

    assert ranked[0].ranking["system"].tolist() == ["d", "c", "b", "a"]
    assert prefcal.rank(study, by="correct").ranking["system"].iloc[0] == "a"
    for name in ("ranking", "duels"):
        assert_frame_equal(*(getattr(each, name) for each in ranked))
    for name in ("agreement", "comparisons", "pairs", "disagreements"):
        assert_frame_equal(*(getattr(each, name) for each in agreed))
    assert (ranked[0].about, ranked[1].about) == (ABOUT, None)
    assert agreed[0].summary().count(ABOUT) == ranked[0].summary().count(ABOUT) == 1


def test_commands_say_it_first_write_it_and_so_does_the_report(folder, run):
    """Whoever opens the folder later reads which answers were counted, before any number."""
    tables, results = folder / "tables", folder / "results"
    ranked = run("rank", tables, "--by", "short")
    agreed = run("agree", tables, "--by", "short", "--scores", folder / "scores.csv", "-o", results)

    assert ranked.out.splitlines()[0] == agreed.out.splitlines()[0] == ABOUT
    assert ranked.out.splitlines()[1].startswith("d wins ")
    assert run("rank", tables, "--by", "short", "--format", "csv").err.splitlines()[0] == ABOUT
    for name in ("agree.json", "rank.json"):
        record = json.loads((results / name).read_text())
        assert record["by"] == "short"
        assert record["command"][record["command"].index("--by") + 1] == "short"
    report = build_report(read_material(results))
    assert report.banner.endswith(ABOUT)
    assert ABOUT in next(each for each in report.sections if each.key == "ranking").paragraphs
    assert json.loads((results / "rank.json").read_text())["level"] == 0.95


def test_the_folder_and_the_frames_give_the_same(folder, study):
    """Files are read in a compact form for votes."""
    for found in (prefcal.rank(folder / "tables", by="short"), prefcal.rank(study, by="short")):
        assert found.ranking["system"].iloc[0] == "d"
    one, other = prefcal.rank(folder / "tables", by="short"), prefcal.rank(study, by="short")
    assert_frame_equal(one.ranking, other.ranking)


@pytest.mark.parametrize("command", ["rank", "agree"])
def test_a_criterion_that_nobody_was_asked_about_is_a_line(command, folder, run, tmp_path, study):
    """With the names there are; or that there are none."""
    out = ["-o", tmp_path / "out"] if command == "agree" else []
    unknown = run(command, folder / "tables", "--by", "shrt", *out)
    write_tables({"preferences": study["preferences"]}, tmp_path / "plain")
    none = run(command, tmp_path / "plain", "--by", "short", *out)

    assert (unknown.code, none.code) == (1, 1)
    assert "there is no criterion 'shrt'; name one of correct, short" in unknown.err
    assert "people were asked for the overall choice only: there is no table criteria" in none.err
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="name one of correct, short"):
        getattr(prefcal, command)(study, by="shrt")


def test_grades_are_printed_written_and_reported(folder, run, tmp_path):
    """The answer, the table and the figure are worths; a reader of the folder sees the model's name."""
    ranked = run("rank", folder / "tables", "--ordinal", "-o", tmp_path / "out")
    lines = ranked.out.splitlines()
    material = read_material(tmp_path / "out")
    report = build_report(material)

    assert lines[0].startswith("a has the highest worth by graded answers, +0.")
    assert lines[2].split() == ["rank", "system", "worth", "95", "%", "win", "rate"]
    assert "Worths are by a cumulative-link model of how much better people found one side" in " ".join(lines)
    assert material.ranking.ordinal
    assert (material.ranking.ranking["rank_low"].diff().dropna() >= 0).all()
    (section,) = (each for each in report.sections if each.key == "ranking")
    assert "a cumulative-link model of graded answers" in section.tables[0].note
    assert report.front.points["Answer"] == f"{section.title}."
    assert report.front.figure.caption.startswith("Worth with its 95")
    assert (tmp_path / "out" / "ranking.svg").stat().st_size > 1_000


def test_without_worths_the_answer_says_so(study, run, tmp_path):
    """A system that always loses by most: its ranks are not read off from win rates in silence."""
    judged = study["preferences"].copy()
    for side, other in (("left", "right"), ("right", "left")):
        judged.loc[judged[f"system_{side}"] == "d", ["choice", "strength"]] = [other, 2]
    write_tables({"preferences": judged}, tmp_path / "tables")
    ended = run("rank", tmp_path / "tables", "--ordinal", "-o", tmp_path / "out")
    report = build_report(read_material(tmp_path / "out"))

    assert ended.out.startswith("Graded answers give no worths here, so that all ranks are open;")
    assert "1 to 4  d         none     no interval  0 %" in ended.out
    assert "no worths: a, b, c never lose, so no worth is finite" in ended.err
    assert report.front.points["Answer"].startswith("Graded answers give no worths here")
    assert report.front.figure.caption.startswith("Win rate with its 95")


def test_by_a_criterion_its_grades_are_taken(folder, run):
    """Both options together."""
    lines = run("rank", folder / "tables", "--ordinal", "--by", "short").out.splitlines()

    assert lines[0] == ABOUT
    assert lines[1].startswith("d has the highest worth by graded answers, +")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--ordinal", "--within", "topic"], "--ordinal ranks over topics"),
        (["--ordinal", "--raters", "x"], "--raters prints a table"),
    ],
)
def test_options_that_exclude_each_other_are_a_usage_error(folder, run, options, fault):
    """Before anything is read."""
    ended = run("rank", folder / "nowhere", *options)

    assert ended.code == 2
    assert fault in ended.err


def test_measures_are_compared_by_grades_too(folder, run, tmp_path):
    """One more way for each comparison, corrected by itself; without the option there is none."""
    scores = pd.concat([SCORES, SCORES.assign(metric="other", value=SCORES["value"].rank() % 5)])
    scores.to_csv(tmp_path / "scores.csv", index=False)
    words = ["agree", folder / "tables", "--scores", tmp_path / "scores.csv", "-o", tmp_path / "out"]
    plain = run(*words)
    before = pd.read_csv(tmp_path / "out" / "comparisons.csv")
    graded = run(*words, "--ordinal")
    after = pd.read_csv(tmp_path / "out" / "comparisons.csv")

    assert (plain.code, graded.code) == (0, 0)
    assert set(before["by"]) == {"majority", "weighted", "votes"}
    pd.testing.assert_frame_equal(after[after["by"] != "grades"].reset_index(drop=True), before)
    (row,) = after[after["by"] == "grades"].to_dict("records")
    assert row["low"] < row["difference"] < row["high"]
    assert "by a model of graded answers, in log odds: " in graded.out
    assert "graded answers" not in plain.out


def test_measures_are_not_compared_by_grades_that_are_not_there(folder, run, tmp_path, study):
    """One line for each task."""
    judged = study["preferences"].drop(columns="strength")
    write_tables({"preferences": judged}, tmp_path / "plain")
    words = [
        "agree",
        tmp_path / "plain",
        "--scores",
        folder / "scores.csv",
        "-o",
        tmp_path / "out",
        "--ordinal",
    ]
    ended = run(*words)

    assert ended.code == 1
    assert (
        "task answers: its answers have no strength: they are not graded; compare by choices alone"
        in ended.err
    )
    assert not (tmp_path / "out").exists()
