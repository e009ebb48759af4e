"""`prefcal judge import`: the tables of people, and beside them the rows of a judge; whole or not at all."""

import gzip
import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from calibration.judges.verdicts import split_verdicts
from calibration.tables.criteria import by_criterion
from calibration.tables.files import read_tables, tables_sha256, write_tables
from calibration.tables.study_json import FileRecord, StudyRecord, TaskRecord, table_records, write_study
from metrics.errors import InputError
from study_app.judges.requests import pair_digest
from tests.study_app.prefcal_command import run_here

VOTES = [
    ("w1", "q1", "A", "B", "left"),
    ("w2", "q1", "B", "A", "left"),
    ("w1", "q2", "A", "C", "equally_good"),
]
STUDY = hashlib.sha256(b"study").hexdigest()
PROMPT = hashlib.sha256(b"prompt").hexdigest()


@pytest.fixture
def judge(monkeypatch, capsys):
    return lambda *words: run_here(monkeypatch, capsys, "judge", "import", *words)


@pytest.fixture
def tables(tmp_path):
    """A study that was served, as its export writes it, with other files beside."""
    folder = tmp_path / "tables"
    frame = pd.DataFrame(VOTES, columns=["worker", "topic", "system_left", "system_right", "choice"])
    frame = frame.assign(task="t", judgment=[f"J{row}" for row in range(len(frame))], pair=["p1", "p1", "p2"])
    write_tables({"preferences": frame, "workers": pd.DataFrame({"worker": ["w1", "w2"]})}, folder)
    runs = {name: FileRecord(path=f"../runs/{name}.txt") for name in "ABC"}
    study = StudyRecord(
        study="s",
        study_sha256=STUDY,
        tasks={"t": TaskRecord(kind="answer_pairs", systems=runs)},
        tables=table_records(folder, {"preferences": 3, "workers": 2}),
    )
    write_study(study, folder)
    (folder / "notes.txt").write_text("mine")
    return folder


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(folder, text, name="verdicts.csv"):
    path = Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_folder_is_the_tables_and_the_rows_of_the_judge(judge, tables, tmp_path):
    """The tables are not touched; people's rows, other files and the hash of the tables stay; the systems' runs are found."""
    before = content(tables)
    file = written(
        tmp_path, "topic,a,b,verdict,order,model\nq1,A,B,a,1,m-1\nq1,B,A,tie,2,m-1\nq2,A,C,,1,m-1\n"
    )
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "deeper" / "with")
    people, verdicts = split_verdicts(read_tables(tmp_path / "deeper" / "with"))
    study = json.loads((tmp_path / "deeper" / "with" / "study.json").read_text())

    assert (ended.code, ended.out) == (
        0,
        f"{tmp_path / 'deeper' / 'with'}: 3 verdicts of gpt on 2 pairs, 1 without a usable answer\n",
    )
    assert content(tables) == before
    pd.testing.assert_frame_equal(people["preferences"], read_tables(tables)["preferences"])
    assert verdicts[["judge", "model", "pair", "order", "vote"]].to_numpy().tolist() == [
        ["gpt", "m-1", "p1", 1, "votes_a"],
        ["gpt", "m-1", "p1", 2, "equally_good"],
        ["gpt", "m-1", "p2", 1, "no_answer"],
    ]
    assert (tmp_path / "deeper" / "with" / "notes.txt").read_text() == "mine"
    assert study["tasks"]["t"]["systems"]["A"]["path"] == "../../runs/A.txt"
    assert study["tables"]["preferences"]["rows"] == 6
    assert tables_sha256(tmp_path / "deeper" / "with") == tables_sha256(tables)


def test_a_second_judge_comes_beside_the_first_and_changed_tables_have_their_own_hash(
    judge, tables, tmp_path
):
    """What is done to people's rows afterwards shows."""
    file = written(tmp_path, "topic,a,b,verdict\nq1,A,B,a\nq2,A,C,b\n")
    judge(file, "--tables", tables, "--name", "one", "-o", tmp_path / "one")
    twice = judge(file, "--tables", tmp_path / "one", "--name", "two", "-o", tmp_path / "two")
    again = judge(file, "--tables", tmp_path / "two", "--name", "two", "-o", tmp_path / "three")
    verdicts = split_verdicts(read_tables(tmp_path / "two"))[1]

    assert twice.code == 0
    assert verdicts["judge"].value_counts().to_dict() == {"one": 2, "two": 2}
    assert tables_sha256(tmp_path / "two") == tables_sha256(tables)
    assert (again.code, "somebody is called 'two' in these tables" in again.err) == (1, True)
    assert not (tmp_path / "three").exists()
    path = tmp_path / "two" / "preferences.csv"
    path.write_text(path.read_text().replace("J0,w1", "J0,w2"))
    assert tables_sha256(tmp_path / "two") != tables_sha256(tables)


def test_parquet_and_workers_nobody_knows(judge, tmp_path):
    """A judge stands beside a crowd without names; a large table's Parquet has the judge too."""
    frame = pd.DataFrame(VOTES, columns=["worker", "topic", "system_left", "system_right", "choice"])
    write_tables({"preferences": frame.assign(task="t").drop(columns="worker")}, tmp_path / "t", parquet=True)
    file = tmp_path / "verdicts.csv.gz"
    file.write_bytes(gzip.compress(b"topic,a,b,verdict\nq1,A,B,contradicts\nq2,A,C,b\n"))
    ended = judge(
        file, "--tables", tmp_path / "t", "--name", "gpt", "-o", tmp_path / "with", "--model", "m-2"
    )
    for path in (tmp_path / "with").glob("*.csv"):
        if (path.with_suffix(".parquet")).exists():
            path.unlink()
    people, verdicts = split_verdicts(read_tables(tmp_path / "with"))

    assert ended.code == 0
    assert "over both orders" in ended.err
    assert set(people) == {"preferences"}
    assert people["preferences"]["worker"].isna().all()
    assert verdicts["vote"].tolist() == ["contradicts", "votes_b"]
    assert set(verdicts["model"]) == {"m-2"}


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("topic,a,b,verdict\nq1,A,C,a\nq2,B,C,a\n", [], "none of 2 verdicts is of a pair that people judged"),
        ("topic,a,b,verdict\nq1,A,B,a\n", ["--task", "u"], "there is no task 'u'; give --task, one of t"),
        ("topic,a,b,verdict\nq1,A,B,better\n", [], "unknown verdict 'better'"),
        ("", [], "the file is empty"),
    ],
)  # fmt: skip
def test_nothing_is_half_written(judge, tables, tmp_path, text, words, said):
    """A fault is one line, and there is no folder."""
    columns = ["--columns", "topic,left,right,verdict"] if "better" in text else []
    file = written(tmp_path, text)
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "out", *words, *columns)

    assert ended.code == 1
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_tables_in_which_nobody_judged_a_pair_are_refused(judge, tables, tmp_path):
    """A table without a row has no task that the verdicts could be of."""
    preferences = next(tables.glob("preferences.csv"))
    preferences.write_text(preferences.read_text().splitlines()[0] + "\n")
    (tables / "study.json").unlink()
    file = written(tmp_path, "topic,a,b,verdict\nq1,A,B,a\n")
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "out")

    assert ended.code == 1
    assert (
        ended.err == f"{preferences}:1: no person has judged a pair; give tables with preferences of people\n"
    )


def test_pairs_that_nobody_judged_are_kept_and_counted(judge, tables, tmp_path):
    """They are part of no comparison."""
    file = written(tmp_path, "topic,a,b,verdict\nq1,A,B,a\nq2,A,B,b\nq2,C,B,b\n")
    columns = ["--columns", "topic,left,right,verdict"]
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "with", *columns)

    assert ended.code == 0
    assert "2 verdicts of pairs that nobody judged (2 pairs, such as A and B on q2 of t): kept" in ended.err
    assert len(split_verdicts(read_tables(tmp_path / "with"))[1]) == 3


@pytest.mark.parametrize("folder", ["tables", "tables/inside", "taken"])
def test_a_folder_that_holds_something_is_left_alone(judge, tables, tmp_path, folder):
    """Nor is one written into the other."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    before = content(tmp_path)
    file = written(tmp_path, "topic,a,b,verdict\nq1,A,B,a\n")
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / folder)

    assert ended.code == 1
    if folder == "taken":
        assert (
            "is not empty, and may hold another judge's rows; name another folder, or delete this one first"
            in ended.err
        )
    assert {name: text for name, text in content(tmp_path).items() if name != "verdicts.csv"} == before


def asked(*pairs, study=STUDY, prompt=PROMPT):
    """Return lines of requests about (topic, system, system, order, sample)."""
    return [
        {
            "id": f"r{number}",
            "task": "t",
            "topic": topic,
            "pair": pair_digest("t", topic, *systems),
            "order": order,
            "sample": sample,
            "messages": [],
            "choices": ["A", "B", "equally_good", "equally_bad"],
            "prompt_sha256": prompt,
            "study_sha256": study,
        }
        for number, (topic, *systems, order, sample) in enumerate(pairs)
    ]


def as_lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


PAIRS = [("q1", "A", "B", 1, 1), ("q1", "B", "A", 2, 1), ("q1", "A", "B", 1, 2), ("q2", "C", "B", 1, 1)]


def test_answers_find_their_systems_through_the_requests(judge, tables, tmp_path):
    """Side A of order 1 is the system whose name comes first; what nobody can read has no answer; pairs that nobody judged are kept."""
    written(tmp_path, as_lines(asked(*PAIRS)), "requests.jsonl")
    answers = [
        {"id": "r1", "choice": "A", "model": "m", "decided_at": "2026-03-01T09:30:00Z"},
        {"id": "r0", "text": "Answer: tie", "model": "m"},
        {"id": "r2", "text": "who knows", "model": "m"},
        {"id": "r3", "choice": "B", "model": "m"},
    ]
    file = written(tmp_path, as_lines(answers), "answers.jsonl")
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "with")
    rows = read_tables(tmp_path / "with")["preferences"].query("worker == 'gpt'").set_index("topic")
    verdicts = split_verdicts(read_tables(tmp_path / "with"))[1]

    assert ended.code == 0
    assert "1 verdict of pairs that nobody judged" in ended.err
    columns = ["system_a", "system_b", "order", "is_swapped", "repeat", "vote"]
    assert verdicts[columns].to_numpy().tolist() == [
        ["A", "B", 1, False, 1, "equally_good"],
        ["A", "B", 1, False, 2, "no_answer"],
        ["A", "B", 2, True, 1, "votes_b"],
        ["B", "C", 1, False, 1, "votes_b"],
    ]
    assert rows.loc["q2", ["system_left", "system_right", "choice"]].tolist() == ["B", "C", "right"]
    assert set(verdicts["prompt_sha256"]) == {PROMPT}
    assert verdicts["decided_at"].notna().sum() == 1


def test_requests_of_one_wave_are_answered_beside_joined_tables(judge, tables, tmp_path):
    """The study file is that of a part; one of no part is refused."""
    study = json.loads((tables / "study.json").read_text())
    part = {"study": "s", "tables_sha256": "0" * 64, "workers": 2, "judgments": 3}
    joined = [part | {"study_sha256": STUDY}, part | {"study": "t", "study_sha256": "1" * 64}]
    (tables / "study.json").write_text(json.dumps(study | {"study_sha256": "2" * 64, "joined": joined}))
    file = written(tmp_path, as_lines([{"id": "r0", "choice": "A"}]), "answers.jsonl")
    codes = []
    for name, of in (("mine", STUDY), ("other", "3" * 64)):
        written(tmp_path, as_lines(asked(PAIRS[0], study=of)), "requests.jsonl")
        codes.append(judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / name).code)
    assert codes == [0, 1]


def test_grades_and_criteria_become_strength_and_table_criteria(judge, tables, tmp_path, monkeypatch, capsys):
    """`--by` then holds the judge against what people said of the criterion; an answer that nobody can read is no answer."""
    words = ["A_much_better", "A_slightly_better", "about_the_same", "B_slightly_better", "B_much_better"]
    lines = [line | {"choices": words, "criteria": ["clear"]} for line in asked(*PAIRS[:2])]
    written(tmp_path, as_lines(lines), "requests.jsonl")
    answers = [
        {"id": "r0", "choice": "A_much_better", "criteria": {"clear": "B_slightly_better"}},
        {"id": "r1", "text": "Answer: about the same"},
    ]
    file = written(tmp_path, as_lines(answers), "answers.jsonl")
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "with")
    read = read_tables(tmp_path / "with")
    rows = read["preferences"].query("worker == 'gpt'")

    assert ended.out.endswith("2 verdicts of gpt on 1 pair, and 2 answers about criteria\n")
    assert rows[["choice", "strength"]].to_numpy().tolist() == [["left", 2], ["equally_good", 0]]
    assert read["criteria"].fillna(-1).to_numpy().tolist() == [
        ["gpt/1", "clear", "right", 1],
        ["gpt/2", "clear", "no_answer", -1],
    ]
    assert run_here(monkeypatch, capsys, "check", tmp_path / "with").code == 0
    by = run_here(monkeypatch, capsys, "agree", tmp_path / "with", "--by", "clear", "-o", tmp_path / "out")
    assert "people were asked for the overall choice only" in by.err
    people = pd.DataFrame({"judgment": ["J0"], "criterion": "clear", "choice": ["no_answer"]})
    with pytest.raises(InputError, match="choice is no_answer, and the worker is not of kind model"):
        write_tables({**read, "criteria": people}, tmp_path / "odd")
    both = pd.concat([read["criteria"], people.assign(choice="right")])
    verdicts = split_verdicts(by_criterion({**read, "criteria": both}, "clear"))[1]
    assert verdicts["vote"].tolist() == ["votes_b", "no_answer"]


@pytest.mark.parametrize(
    ("requests", "answers", "said"),
    [
        ({"study": "0" * 64}, [{"id": "r0", "choice": "A"}], "2 requests of another study file than the tables are of"),
        ({}, [{"id": "r0", "choice": "A", "prompt_sha256": "0" * 64}], "answers another prompt"),
        ({}, [{"id": "x", "choice": "A"}, {"id": "y", "choice": "A"}], "this line answers a request that there is not (and 1 fault more of this kind)"),
        ({}, [{"id": "r0", "choice": "A"}] * 3, "this line answers a request that another line answers (and 1 fault more of this kind)"),
        ({"topic": "q9"}, [{"id": "r0", "choice": "A"}], "1 answer of 1 about pairs whose systems are not in these tables"),
    ],
)  # fmt: skip
def test_answers_of_something_else_are_refused_with_their_count(
    judge, tables, tmp_path, requests, answers, said
):
    """Requests that do not exist, twice, of another study, prompt or systems: one line, and nothing is written."""
    lines = asked(*PAIRS[:2], **({} if "topic" in requests else requests))
    if "topic" in requests:
        lines[0]["pair"] = "0" * 16
    written(tmp_path, as_lines(lines), "requests.jsonl")
    file = written(tmp_path, as_lines(answers), "answers.jsonl")
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "with")

    assert ended.code == 1
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "with").exists()


def test_requests_that_are_elsewhere_are_named(judge, tables, tmp_path):
    """The sentence says how."""
    file = written(tmp_path, '{"id": "r0", "choice": "A"}\n', "answers.jsonl")
    ended = judge(file, "--tables", tables, "--name", "gpt", "-o", tmp_path / "with")

    assert (
        "requests.jsonl:1: there is no such file; name the requests that the answers are to, with --requests FILE"
        in ended.err
    )


def test_the_public_verdicts_of_gpt_4o_come_in_by_one_command(judge, shared, tmp_path, monkeypatch, capsys):
    """As many as the reference says: usable verdicts, pairs, topics, contradictions, pairs asked again, and other verdicts there."""
    data = shared / "data" / "dl21"
    columns = ["--topic", "topic", "--left", "left", "--right", "right", "--choice", "choice"]
    run_here(monkeypatch, capsys, "import", data / "votes.csv.gz", *columns, "-o", tmp_path / "people")
    ended = judge(
        data / "gpt4o.csv.gz", "--tables", tmp_path / "people", "--name", "gpt-4o", "-o", tmp_path / "with"
    )
    verdicts = split_verdicts(read_tables(tmp_path / "with", compact=["preferences"]))[1]
    by_pair = verdicts.groupby(["topic", "system_a", "system_b"], observed=True)["vote"]

    assert ended.out == f"{tmp_path / 'with'}: 9,416 verdicts of gpt-4o on 6,742 pairs\n"
    assert (len(verdicts), by_pair.ngroups, verdicts["topic"].nunique()) == (9416, 6742, 46)
    assert (verdicts["vote"] == "contradicts").sum() == 2423
    assert ((by_pair.size() > 1).sum(), sum(kinds > 1 for kinds in by_pair.nunique())) == (1299, 371)
    decided = verdicts[verdicts["vote"] != "contradicts"]
    kinds = decided.groupby(["topic", "system_a", "system_b"], observed=True)["vote"].nunique()
    assert sum(count > 1 for count in kinds) == 36


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("topic,a,b,verdict\nq1,A,B,a\n", ["--name", "gpt", "--requests", "r.jsonl"], "--requests is for answers to requests"),
        ('{"id": "x", "choice": "A"}\n', ["--name", "gpt", "--sides", "shown"], "--sides is for verdicts that others made"),
        ("topic,a,b,verdict\nq1,A,B,a\n", ["--name", "a\nb"], "--name is not one line of text"),
    ],
)  # fmt: skip
def test_an_option_of_the_other_kind_of_file_is_not_ignored(judge, tables, tmp_path, text, words, said):
    """Whoever gave it expects something of it."""
    ended = judge(written(tmp_path, text), "--tables", tables, "-o", tmp_path / "out", *words)
    assert (ended.code, said in ended.err, (tmp_path / "out").exists()) == (2, True, False)
