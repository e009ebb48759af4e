"""`prefcal rank`, and the section of the report that it fills."""

import io
import json
from shutil import copytree

import pandas as pd
import pytest
from click.testing import CliRunner

import prefcal
from calibration.rank.folder import RANKING_COLUMNS
from metrics.errors import InputError
from study_app.cli import cli
from study_app.report.build import build_report
from study_app.report.folder import read_material
from study_app.report.parts.ranking import preferred, ranking_sections


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Three systems on four topics, judged by six people; a is mostly preferred, one couple twice as often tied."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [
        ("t", f"q{topic}", f"w{worker}", *couple, choice)
        for topic in range(4)
        for worker in range(6)
        for couple, choice in (
            (("a", "b"), "left" if worker + topic != 4 else "right"),
            (("c", "a"), "right" if worker + topic % 2 else "left"),
            (("b", "c"), ("left", "right", "equally_bad")[(topic + worker) % 3]),
        )
    ]
    columns = ["task", "topic", "worker", "system_left", "system_right", "choice"]
    frame = pd.DataFrame(rows, columns=columns).assign(pair=lambda table: table["topic"])
    frame.to_csv(folder / "preferences.csv", index=False)
    return folder


def run(*words):
    return CliRunner().invoke(cli, ["rank", *map(str, words)])


def test_the_answer_is_the_first_line_and_the_table_is_in_ranks_and_per_cent(tables):
    """What is less than sure is said in the same place; worths and counts are in the files."""
    lines = run(tables).stdout.splitlines()
    few = run(tables, "--level", ".999999").stdout

    assert lines[0].startswith("a wins 88 % of its comparisons (")
    assert lines[2].split() == ["rank", "system", "win", "rate", "95", "%"]
    assert lines[-1] == "Worths and duels: ranking.csv and duels.csv with -o DIR."
    assert few.startswith("These judgments do not tell which is first: any of 3 systems may be (")


def test_too_few_people_are_the_answer(tables, tmp_path):
    """Nobody is said to be ahead, and the sentence is not said twice."""
    rows = pd.read_csv(tables / "preferences.csv")
    (tmp_path / "tables").mkdir()
    rows[rows["worker"] < "w2"].to_csv(tmp_path / "tables" / "preferences.csv", index=False)
    result = run(tmp_path / "tables")

    assert result.stdout.startswith("2 people judged")
    assert "no intervals, and all ranks are open" in result.stdout
    assert "people judged" not in result.stderr


def test_csv_has_the_columns_that_are_promised_the_best_first(tables):
    """One row a system."""
    lines = run(tables, "--format", "csv").stdout.splitlines()

    assert lines[0] == ",".join(RANKING_COLUMNS)
    assert lines[1].split(",")[:4] == ["t", "a", "4", "48"]


def test_a_folder_of_results_has_tables_figure_and_latex_and_fills_the_first_section_of_the_report(
    tables, tmp_path
):
    """The report shows what was written; the title answers the question."""
    result = run(tables, "-o", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    material = read_material(tmp_path / "out")
    (section,) = ranking_sections(material.ranking)

    assert result.exit_code == 0, result.output
    assert names == {
        "ranking.csv",
        "duels.csv",
        "rank.json",
        "ranking.svg",
        "ranking.pdf",
        "ranking.tex",
        "duels.tex",
    }
    assert section.title == preferred(material.ranking, "t", material.ranking.ranking)
    assert len(section.tables[1].rows) == 3
    report = build_report(material)
    assert report.front.question == "Which system do people prefer?"
    assert report.front.points["Answer"] == f"{section.title}."
    assert report.front.points["Ranks"].startswith("a has rank ")
    assert report.front.figure.name == "ranking"
    assert not next(one for one in report.sections if one.key == "ranking").figures


def test_a_report_beside_the_tables_says_that_the_workers_were_simulated(tables, tmp_path, monkeypatch):
    """rank.json names the tables as they are seen from the results, wherever the command was run."""
    copytree(tables, tmp_path / "tables")
    (tmp_path / "tables" / "study.json").write_text('{"study": "s", "simulated": true}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("tables", "-o", "results").exit_code == 0
    monkeypatch.chdir(tmp_path.parent)
    material = read_material(tmp_path / "results")

    assert json.loads((tmp_path / "results" / "rank.json").read_text("utf-8"))["tables"] == "../tables"
    assert material.simulated
    assert build_report(material).banner.startswith("Simulated workers")


def test_a_report_without_intervals_does_not_say_what_they_are_over(tables, tmp_path):
    """Three topics are too few for any."""
    rows = pd.read_csv(tables / "preferences.csv")
    (tmp_path / "tables").mkdir()
    rows[rows["topic"] < "q3"].to_csv(tmp_path / "tables" / "preferences.csv", index=False)
    assert run(tmp_path / "tables", "-o", tmp_path / "results").exit_code == 0
    points = build_report(read_material(tmp_path / "results")).front.points

    assert points["How sure"].endswith("there are no intervals.")


def test_a_task_that_is_not_there_is_one_line_that_names_those_that_are(tables):
    """With place and cure."""
    result = run(tables, "--task", "nope")

    assert (
        str(result.exception)
        == f"{tables}/preferences.csv:1: no preference of task 'nope' counts; name one of t"
    )


def test_beside_a_damaged_study_json_nothing_is_ranked(tables, tmp_path):
    """It says how many rows there were: without it half a table would be ranked as a whole one."""
    copytree(tables, tmp_path, dirs_exist_ok=True)
    (tmp_path / "study.json").write_text('{"study": ')
    result = run(tmp_path)

    assert result.exit_code == 1
    assert "study.json:1: not JSON" in str(result.exception)


@pytest.fixture(scope="module")
def passages(tmp_path_factory):
    """Two topics with three passages each; of twenty people all but one prefer q0a to q0b, all but another q0a to q0c, else half and half."""
    file = tmp_path_factory.mktemp("passages") / "votes.csv"
    rows = [
        (topic, f"w{worker}", topic + first, topic + second, "right" if is_right else "left")
        for worker in range(20)
        for topic, first, second, is_right in (
            ("q0", "a", "b", worker == 0),
            ("q0", "a", "c", worker == 1),
            ("q0", "b", "c", worker % 2),
            ("q1", "a", "b", worker % 2),
            ("q1", "a", "c", worker < 10),
            ("q1", "b", "c", worker // 2 % 2),
        )
    ]
    pd.DataFrame(rows, columns=["topic", "worker", "left", "right", "winner"]).to_csv(file, index=False)
    return file


def imported(votes, folder, *options):
    words = [
        "--topic",
        "topic",
        "--worker",
        "worker",
        "--left",
        "left",
        "--right",
        "right",
        "--choice",
        "winner",
    ]
    return CliRunner().invoke(cli, ["import", str(votes), *words, *options, "-o", str(folder)])


def test_items_of_one_topic_each_are_ranked_within_their_topic(passages, tmp_path):
    """Without --within the fault names it; with it the answer says of how many topics the best is known, and what may be the best of each."""
    imported(passages, tmp_path / "tables")
    refused = run(tmp_path / "tables")
    result = run(tmp_path / "tables", "--within", "topic", "-o", tmp_path / "out")
    lines = result.stdout.splitlines()
    ranking = pd.read_csv(tmp_path / "out" / "ranking.csv")

    assert "rank each topic for itself: --within topic" in str(refused.exception)
    assert lines[0] == "The best is known in 1 of 2 topics; in 1 any may be the best."
    assert lines[4].endswith("it alone")
    assert lines[5].endswith("3 of 3")
    assert "topics are fixed, and intervals are over people" in " ".join(lines)
    assert tuple(ranking.columns) == ("task", "topic", *RANKING_COLUMNS[1:])
    assert (ranking["topics"] == 1).all()


def test_the_report_has_the_best_of_each_topic(passages, tmp_path):
    """One section, one figure, a row a topic."""
    imported(passages, tmp_path / "tables")
    run(tmp_path / "tables", "--within", "topic", "-o", tmp_path / "out")
    (section,) = ranking_sections(read_material(tmp_path / "out").ranking)
    report = build_report(read_material(tmp_path / "out"))

    assert section.title == "The best is known in 1 of 2 topics; in 1 any may be the best"
    assert "q0: q0a" in section.figures[0].alt
    assert report.front.points["Answer"] == f"{section.title}."


def test_one_topic_is_ranked_as_a_task_is(passages, tmp_path):
    """All items are listed, and intervals are over people; --task-column makes each topic a task."""
    result = imported(passages, tmp_path / "tables", "--task-column", "topic")
    lines = run(tmp_path / "tables", "--task", "q0", "--within", "topic").stdout.splitlines()
    both = imported(passages, tmp_path / "other", "--task-column", "topic", "--task", "t")

    assert result.exit_code == 0
    assert lines[0].startswith("q0a wins 95 % of its comparisons (")
    assert lines[4].split()[1] == "q0a"
    assert any("intervals are over people" in line for line in lines)
    assert both.exit_code == 2
    assert "give one of --task and --task-column" in both.stderr


def test_without_worker_ids_nothing_is_said_within_a_topic(passages, tmp_path):
    """Intervals are over people there, and nobody knows who they were."""
    words = ["--topic", "topic", "--left", "left", "--right", "right", "--choice", "winner"]
    CliRunner().invoke(cli, ["import", str(passages), *words, "-o", str(tmp_path)])
    result = run(tmp_path, "--within", "topic")

    assert result.stdout.startswith("The best is known in 0 of 2 topics; in 2 any may be the best.")
    assert "the judges are unknown" in result.stderr
    assert "()" not in result.stderr
    assert "; no intervals, and all ranks are open." in result.stdout


def test_a_judge_of_passages_is_not_sent_to_an_option_that_it_cannot_take(passages, tmp_path):
    """Within a topic people rank, and --raters goes with no --within."""
    words = [
        "--topic",
        "topic",
        "--worker",
        "worker",
        "--left",
        "left",
        "--right",
        "right",
        "--choice",
        "winner",
    ]
    CliRunner().invoke(cli, ["import", str(passages), *words, "-o", str(tmp_path / "people")])
    rows = pd.read_csv(passages).drop_duplicates(["topic", "left", "right"])
    rows[["topic", "left", "right", "winner"]].to_csv(tmp_path / "verdicts.csv", index=False)
    words = [str(tmp_path / "verdicts.csv"), "--tables", str(tmp_path / "people"), "--name", "gpt"]
    CliRunner().invoke(cli, ["judge", "import", *words, "-o", str(tmp_path / "tables")])

    with pytest.raises(
        InputError, match="people rank each topic for itself, without --raters: --within topic"
    ):
        prefcal.rank(tmp_path / "tables", raters="gpt")


def test_arguments_of_thirty_two_debates_within_their_topics(shared, tmp_path):
    """UKPConvArg1 (Habernal and Gurevych 2016), 84,445 votes: the best of a debate and its worth are those of another program."""
    votes = pd.read_csv(shared / "data" / "ukpconvarg1" / "votes.csv.gz").rename(columns={"choice": "winner"})
    votes.to_csv(tmp_path / "votes.csv", index=False)
    imported(tmp_path / "votes.csv", tmp_path / "tables", "--answer", "equal=equally_good")
    run(tmp_path / "tables", "--within", "topic", "-o", tmp_path / "out")
    ranking = pd.read_csv(tmp_path / "out" / "ranking.csv")
    best = ranking[ranking["topic"] == "ban-plastic-water-bottles_no-bad-for-the-economy"].iloc[0]

    assert ranking["topic"].nunique() == 32
    assert best["system"] == "arg219206"
    assert best["win_rate"] == pytest.approx(0.904, abs=5e-4)
    assert best["worth"] == pytest.approx(3.936, abs=5e-4)


@pytest.fixture
def with_judge(tables, tmp_path):
    """The same tables beside which a judge stands that prefers c, in both orders; once it contradicts itself, once it says nothing."""
    rows = pd.read_csv(tables / "preferences.csv")
    verdicts = [
        {
            "task": "t",
            "topic": f"q{topic}",
            "worker": "gpt",
            "system_left": couple[order - 1],
            "system_right": couple[2 - order],
            "choice": "left" if couple[order - 1] == max(couple) else "right",
            "order": order,
            "pair": f"q{topic}",
        }
        for topic in range(5)
        for couple in (("a", "b"), ("a", "c"), ("b", "c"))
        for order in (1, 2)
    ]
    verdicts[0]["choice"] = "left"
    verdicts[-1]["choice"] = "no_answer"
    folder = tmp_path / "judged"
    folder.mkdir()
    pd.concat([rows, pd.DataFrame(verdicts)]).to_csv(folder / "preferences.csv", index=False)
    (folder / "workers.csv").write_text("worker,kind\ngpt,model\n")
    return folder


def test_a_judge_ranks_on_request_and_the_first_line_says_so(with_judge, tables):
    """People's ranking is the same as without it; the judge's is of its own answers, a contradiction between orders a tie."""
    said = run(with_judge, "--raters", "gpt")
    lines = said.stdout.splitlines()
    table = run(with_judge, "--raters", "gpt", "--format", "csv")
    rates = pd.read_csv(io.StringIO(table.stdout)).set_index("system")["win_rate"]

    assert lines[0] == "By gpt alone, a judge that is no person: this does not say what people prefer."
    assert lines[1].startswith("c wins 100 % of its comparisons")
    assert "1 verdict of 30 without a usable answer, left out" in said.stderr
    assert "people" not in said.stderr
    assert "By gpt alone" in table.stderr
    assert rates.round(3).to_dict() == {"c": 1.0, "b": 0.45, "a": 0.05}
    assert run(with_judge).stdout == run(tables).stdout
    ranked = prefcal.rank(with_judge, raters="gpt")
    assert ranked.frame()["win_rate"].round(3).tolist() == [1.0, 0.45, 0.05]
    with pytest.raises(InputError, match="By gpt alone"):
        prefcal.write_ranking(ranked, with_judge)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--raters", "w1"], "no judge is called 'w1'; name one of gpt"),
        (["--raters", "gpt", "--task", "x"], "no usable verdict of gpt"),
        (["--raters", "gpt", "-o", "x"], "--raters prints a table, and cannot be used with -o"),
    ],
)
def test_a_judge_that_there_is_not_is_a_fault(with_judge, words, said):
    """So is a person's name; a judge's ranking is in no report about people."""
    result = run(with_judge, *words)

    assert result.exit_code
    assert said in f"{result.stderr}{result.exception}"
