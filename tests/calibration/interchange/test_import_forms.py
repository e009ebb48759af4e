"""Tables as people have them: JSON, workbooks, frames, several judgments a row, and which rows are read."""

from pathlib import Path

import pandas as pd
import pytest

import prefcal
from metrics.errors import InputError
from tests.study_app.prefcal_command import run_here

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "imports"
PLAIN = {"topic": "q", "worker": "who", "left": "a", "right": "b", "choice": "best"}
WIDE = {"worker": "who", "topic": "q_*", "left": "a_*", "right": "b_*", "choice": "best_*"}


def rows(imported):
    """Who preferred which side of which pair."""
    columns = ["worker", "topic", "system_left", "system_right", "choice"]
    return imported.preferences[columns].to_numpy().tolist()


@pytest.fixture
def put(tmp_path):
    """Write a file and return its path."""

    def write(text, name="given.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def faults(source, **given):
    """The faults of an import, without the folder."""
    with pytest.raises(InputError) as raised:
        prefcal.import_preferences(source, **given)
    return [str(fault).replace(f"{getattr(source, 'parent', '')}/", "") for fault in raised.value.faults]


LOOPED = {
    "worker": "PROLIFIC_PID",
    "choice": "*_Q5",
    "seconds": "*_Q6_Page Submit",
    "pairs": EXAMPLES / "qualtrics-pairs.csv",
    "answers": {"Left": "left", "Right": "right", "No difference": "equally_good"},
}
FORMS = {
    "qualtrics.csv": (
        {**LOOPED, "skip_rows": 2, "where": {"Status": "IP Address"}},
        [
            ["5f0000000000000000000001", "solar eclipse", "bm25", "neural", "right"],
            ["5f0000000000000000000001", "train strike", "bm25", "neural", "left"],
            ["5f0000000000000000000002", "solar eclipse", "bm25", "neural", "equally_good"],
        ],
        [20.518, 31.04, 14.77],
    ),
    "decimal-comma.csv": (
        {
            "topic": "Thema",
            "worker": "Person",
            "left": "links",
            "right": "rechts",
            "choice": "besser",
            "seconds": "Sekunden",
            "delimiter": ";",
            "decimal": ",",
            "answers": {"gleich": "equally_good"},
        },
        [
            ["p1", "Sonnenfinsternis", "bm25", "neural", "right"],
            ["p2", "Sonnenfinsternis", "neural", "bm25", "equally_good"],
        ],
        [20.5, 31.04],
    ),
    "wide.csv": (
        {"worker": "person", "topic": "topic_*", "left": "left_*", "right": "right_*", "choice": "better_*"},
        [
            ["p1", "solar eclipse", "bm25", "neural", "right"],
            ["p1", "train strike", "neural", "bm25", "left"],
            ["p2", "train strike", "bm25", "neural", "left"],
        ],
        None,
    ),
    "label-studio.json": (
        {
            "topic": "data.query",
            "left": "data.system1",
            "right": "data.system2",
            "worker": "annotations.*.completed_by",
            "seconds": "annotations.*.lead_time",
            "choice": "annotations.*.result.0.value.selected",
            "decided_at": "annotations.*.created_at",
        },
        [
            ["3", "solar eclipse", "bm25", "neural", "right"],
            ["4", "solar eclipse", "bm25", "neural", "left"],
            ["3", "train strike", "neural", "bm25", "left"],
        ],
        [20.518, 31.04, 14.77],
    ),
    "potato.jsonl": (
        {
            "worker": "user_id",
            "choice": "label_annotations.preference.selection",
            "pairs": EXAMPLES / "potato-pairs.csv",
            "seconds": "behavioral_data.time_spent",
            "answers": {"A": "left", "B": "right", "tie": "equally_good"},
        },
        [
            ["p1", "solar eclipse", "bm25", "neural", "right"],
            ["p1", "train strike", "neural", "bm25", "equally_good"],
            ["p2", "solar eclipse", "bm25", "neural", "left"],
        ],
        [20.5, 31.0, 14.8],
    ),
    "argilla.json": (
        {
            "topic": "fields.query",
            "left": "metadata.system_a",
            "right": "metadata.system_b",
            "worker": "responses.better.*.user_id",
            "choice": "responses.better.*.value",
            "answers": {"answer_a": "left", "answer_b": "right", "both": "equally_good"},
        },
        [
            ["5a01", "solar eclipse", "bm25", "neural", "right"],
            ["5a02", "solar eclipse", "bm25", "neural", "equally_good"],
            ["5a01", "train strike", "neural", "bm25", "left"],
        ],
        None,
    ),
    "jspsych.csv": (
        {
            "topic": "topic",
            "worker": "subject",
            "left": "left",
            "right": "right",
            "choice": "response",
            "seconds": "rt",
            "seconds_unit": "ms",
            "where": {"part": "pair"},
            "answers": {"0": "left", "1": "right", "null": "none"},
        },
        [
            ["p1", "solar eclipse", "bm25", "neural", "right"],
            ["p1", "train strike", "neural", "bm25", "left"],
        ],
        [20.518, 31.04],
    ),
    "otree.csv": (
        {
            "worker": "participant.code",
            "topic": "compare.*.player.topic",
            "left": "compare.*.player.left",
            "right": "compare.*.player.right",
            "choice": "compare.*.player.better",
            "where": {"session.is_demo": "0"},
            "answers": {"1": "left", "2": "right"},
        },
        [
            ["k3v1zq0a", "solar eclipse", "bm25", "neural", "right"],
            ["k3v1zq0a", "train strike", "neural", "bm25", "left"],
            ["w8d2hh4f", "train strike", "bm25", "neural", "left"],
        ],
        None,
    ),
    "appen.csv": (
        {
            "topic": "query",
            "worker": "_worker_id",
            "left": "system_a",
            "right": "system_b",
            "choice": "better",
            "shown_at": "_started_at",
            "decided_at": "_created_at",
            "time_format": "%m/%d/%Y %H:%M:%S",
            "where": {"_golden": "false", "_tainted": ["false"]},
            "answers": {"a": "left", "b": "right", "same": "equally_good"},
        },
        [
            ["44100001", "solar eclipse", "bm25", "neural", "right"],
            ["44100002", "solar eclipse", "bm25", "neural", "equally_good"],
        ],
        [21.0, 30.0],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_a_tool_writes_is_read_judgment_by_judgment(name):
    """Sides, choices and seconds, as they stand in the file."""
    given, judged, seconds = FORMS[name]
    imported = prefcal.import_preferences(EXAMPLES / name, **given)

    assert rows(imported) == judged
    if seconds is not None:
        assert imported.preferences["decision_seconds"].tolist() == seconds


def test_a_workbook_is_read_by_its_rows():
    """Numbers of people without a point, times as Excel keeps them."""
    pytest.importorskip("openpyxl")
    given = {"topic": "query", "worker": "person", "left": "first", "right": "second", "choice": "better"}
    given |= {"shown_at": "opened", "decided_at": "sent", "time_zone": "Europe/Berlin"}
    imported = prefcal.import_preferences(
        EXAMPLES / "survey.xlsx", **given, sheet="Answers", answers={"no difference": "equally_good"}
    )

    assert rows(imported)[1] == ["2", "solar eclipse", "neural", "bm25", "equally_good"]
    assert imported.preferences["decision_seconds"].tolist() == [21.0, 30.0, 31.0]
    assert imported.preferences["shown_at"][0] == pd.Timestamp("2026-03-01T08:00:00Z")
    assert faults(EXAMPLES / "survey.xlsx", **given) == [
        "survey.xlsx:1: sheets with rows: 'Answers', 'Notes'; name one with --sheet NAME"
    ]
    assert faults(EXAMPLES / "survey.xlsx", **given, sheet="Answers")[0].startswith(
        "survey.xlsx:3: better: unknown choice"
    )


def test_a_formula_that_nobody_computed_is_a_fault_and_not_an_empty_answer(tmp_path):
    """As a program writes it that is no spreadsheet."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["q", "who", "a", "b", "best"], ["1", "w", "x", "y", "=C2"]):
        book.active.append(row)
    book.save(tmp_path / "given.xlsx")

    assert faults(tmp_path / "given.xlsx", **PLAIN) == [
        "given.xlsx:2: a formula has no stored value; open the workbook in Excel and save it"
    ]


def test_without_openpyxl_a_workbook_says_how_to_install_it(monkeypatch):
    """The extra is named, and the way without it."""
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)

    assert faults(EXAMPLES / "survey.xlsx", **PLAIN) == [
        "survey.xlsx:1: this is a workbook, and openpyxl reads those; install it: pip install 'prefcal[excel]', or save the sheet as CSV"
    ]


def test_frames_are_read_as_if_they_were_written_as_a_csv():
    """Numbers, nothing known and yes and no as texts; lines from 2."""
    frame = pd.DataFrame(
        {"q": [1.0, 2.0], "who": ["w", "v"], "a": "x", "b": "y", "best": ["x", None], "gold": [False, True]}
    )

    assert rows(prefcal.import_preferences(frame, **PLAIN)) == [["w", "1", "x", "y", "left"]]
    assert prefcal.import_preferences(frame, **PLAIN).unanswered == 1
    assert rows(prefcal.import_preferences(frame, where={"gold": "false"}, **PLAIN)) == [
        ["w", "1", "x", "y", "left"]
    ]
    assert faults(frame.replace("x", "y"), **PLAIN)[0].startswith("frame:2: a and b are both 'y'")
    with pytest.raises(TypeError, match="no argument 'system'"):
        prefcal.import_preferences(frame, system="a", **PLAIN)


def test_faults_of_wide_tables_name_line_and_column(put):
    """The second judgment of the second row, and not the first."""
    path = put("who,q_1,a_1,b_1,best_1,q_x,a_x,b_x,best_x\nw,1,x,y,x,2,x,y,y\nv,1,x,y,x,2,,y,same\n")

    assert faults(path, **WIDE) == [
        "given.csv:3: a_x is empty; fill it in, or remove the row",
        (
            "given.csv:3: best_*: unknown choice 'same'; give its meaning: --answer same=CHOICE, CHOICE one of left, right, equally_good,"
            " equally_bad, none"
        ),
    ]


def test_a_key_without_its_column_and_a_star_for_nothing_are_faults(put):
    """Nothing is read as if the column were empty."""
    path = put("who,q_1,a_1,b_1,best_1,best_2\nw,1,x,y,x,y\n")

    assert faults(path, **WIDE)[0] == "given.csv:1: there is no column 'q_2'; did you mean 'q_1'?"
    assert faults(path, **WIDE | {"choice": "better_*"}) == [
        "given.csv:1: no column is called like better_*; see how the header is written"
    ]
    assert faults(path, **WIDE | {"choice": "best_1"})[0].startswith(
        "given.csv:1: q_* has a *, and the column of answers has none"
    )


def test_an_empty_answer_that_means_something_is_kept_in_wide_tables(put):
    """The same table, an empty cell being a tie or not shown."""
    path = put("who,best_1,best_2\nw,x,\n")
    pairs = pd.DataFrame({"*": ["1", "2"], "topic": ["t", "u"], "left": "x", "right": "y"})
    given = {"worker": "who", "choice": "best_*", "pairs": pairs}

    assert rows(prefcal.import_preferences(path, **given)) == [["w", "t", "x", "y", "left"]]
    tied = prefcal.import_preferences(path, **given, answers={"": "equally_good"})
    assert rows(tied)[1] == ["w", "u", "x", "y", "equally_good"]


def test_pairs_that_are_missing_stand_twice_or_are_said_twice_are_faults(put):
    """Each with its file and line."""
    path = put("id,who,best\ne1,w,x\ne2,w,x\n")
    given = {"worker": "who", "choice": "best"}
    pairs = put("id,topic,left,right\ne1,t,x,y\n", "pairs.csv")

    assert faults(path, **given, pairs=pairs)[0].startswith("given.csv:3: id 'e2' is not in ")
    twice = put("id,topic,left,right\ne1,t,x,y\ne1,t,x,y\ne2,t,,y\n", "pairs.csv")
    assert [line.partition(":")[2] for line in faults(path, **given, pairs=twice)] == [
        "3: id 'e1' is in an earlier row too; delete one",
        "4: a cell is empty; fill it in, or remove the row",
    ]
    pairs.write_text("id,topic,left,right\ne1,t,x,y\ne2,t,x,y\n")
    assert "leave --topic out" in faults(path, **given, topic="who", pairs=pairs)[0]
    pairs.write_text("id,number,topic,left,right\ne1,1,t,x,y\n")
    assert "name them topic, left and right, and one more" in faults(path, **given, pairs=pairs)[0]
    assert faults(path, **given)[0].startswith("given.csv:1: there is no topic; name its column with --topic")


def test_a_condition_that_no_row_fulfils_is_a_fault_with_the_values_there_are(put):
    """A slip would let everybody in, or nobody."""
    path = put("q,who,a,b,best,gold,state\n1,w,x,y,x,true,ok\n2,w,x,y,same,false,rejected\n")

    assert faults(path, **PLAIN, where={"gold": "False"}) == [
        "given.csv:1: gold is 'False' in no row; its values are 'true', 'false'"
    ]
    assert faults(path, **PLAIN, where={"gold": "true", "state": "rejected"})[0].startswith(
        "given.csv:1: no row has gold true and state rejected"
    )
    assert faults(path, **PLAIN, where={"golden": "true"}) == [
        "given.csv:1: there is no column 'golden'; did you mean 'gold'?"
    ]
    read = prefcal.import_preferences(path, **PLAIN, where={"gold": "true"})
    assert (len(read.preferences), read.notes) == (1, ("1 of 2 rows read, those with gold true",))


def test_skipped_rows_are_rows_and_not_lines_and_qualtrics_are_not_taken_for_data(put):
    """A question's text has line breaks."""
    path = put('q,who,a,b,best\n"a\nquestion",w,x,y,x\n"{""ImportId"":""q""}",w,x,y,x\n1,w,x,y,y\n')

    assert faults(path, **PLAIN) == [
        "given.csv:4: this row is Qualtrics' third header line; give --skip-rows 2"
    ]
    assert rows(prefcal.import_preferences(path, **PLAIN, skip_rows=2)) == [["w", "1", "x", "y", "right"]]
    assert faults(path, **PLAIN, skip_rows=4) == [
        "given.csv:1: 3 rows below the header, and 4 are to be skipped; give fewer --skip-rows"
    ]


@pytest.mark.parametrize(
    ("cell", "decimal", "problem"),
    [
        ('"2,5"', ".", "s is no number: '2,5'; give --decimal , if this is a decimal comma"),
        ("2.500", ",", "s is '2.500', and the decimal point is a comma; write a decimal comma"),
        ('"1.200,5"', ",", "s is '1.200,5', and the decimal point is a comma; write a decimal comma"),
        ('"1,200,5"', ",", "s is no finite number: '1.200.5'"),
    ],
)
def test_a_number_that_may_be_two_is_a_fault(put, cell, decimal, problem):
    """2.500 is two and a half, or two thousand five hundred."""
    path = put(f"q,who,a,b,best,s\n1,w,x,y,x,{cell}\n")

    assert faults(path, **PLAIN, seconds="s", decimal=decimal)[0].startswith(f"given.csv:2: {problem}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[\n{"q": 1},\n{"q": ]', "3: not JSON"),
        ('[\n{"q": 1},\n', "3: the list does not end where the file does"),
        ('{"q": 1}\n\n[1]\n', "3: this element is no object"),
        ('[{"q.a": 1, "q": {"a": 2}}]', "1: two members are called 'q.a'"),
        (
            '[\n{"q": 1, "who": 1, "a": "x", "b": "y", "best": "y"},\n {"q": null, "who": true, "a": "x", "b": "y", "best": 5}]',
            "3: q is empty",
        ),
    ],
)
def test_faults_of_json_name_the_line_on_which_the_object_begins(put, text, problem):
    assert faults(put(text, "given.json"), **PLAIN)[0].startswith(f"given.json:{problem}")


def test_visits_are_read_from_the_same_forms(put, monkeypatch, capsys, tmp_path):
    """JSON lines, some rows, milliseconds."""
    put(
        '{"who": "p", "feed": "f", "from": "2026-03-01T09:00:00Z", "ms": 60500, "kind": "visit"}\n'
        '{"who": "p", "feed": "f", "from": "2026-03-01T10:00:00Z", "ms": 1, "kind": "ping"}\n',
        "log.jsonl",
    )
    monkeypatch.chdir(tmp_path)
    named = (
        "--worker",
        "who",
        "--topic",
        "feed",
        "--start",
        "from",
        "--seconds",
        "ms",
        "--seconds-unit",
        "ms",
    )
    ended = run_here(
        monkeypatch, capsys, "import-visits", "log.jsonl", "-o", "out", *named, "--where", "kind=visit"
    )

    assert (ended.code, ended.out) == (0, "out: 1 visit, 1 follow\n")
    assert "09:01:00.500" in (tmp_path / "out" / "visits.csv").read_text()
    assert (
        run_here(
            monkeypatch, capsys, "import-visits", "log.jsonl", "-o", "out", *named, "--where", "kind"
        ).code
        == 2
    )
