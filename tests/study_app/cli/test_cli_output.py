"""The three formats of every result, and files that are whole or not there."""

import json
import math
import stat

import pytest

from metrics.errors import InputError
from metrics.files import write_atomically
from metrics.results import Score
from study_app.cli.output import Output, ScoreOutput, csv_text, json_text, table_text, wrapped

SCORES = [
    Score("a", "1", "M@840", 1 / 3),
    Score("a", "1", "M@inf", math.nan),
    Score("a", "all", "M@840", 2e20),
    Score("a", "all", "M@inf", 4.0),
]


def test_csv_carries_thirteen_significant_digits_and_nan():
    """As the reference values are stored; a number needs no more digits than it has."""
    assert csv_text(
        ["run", "value"], [["a,b", 1 / 3], ["c", math.nan], ["d", 4.0], ["e", None], ["f", 7]]
    ) == ('run,value\n"a,b",0.3333333333333\nc,nan\nd,4\ne,\nf,7\n')


def test_json_is_a_list_of_objects_without_nan():
    """JSON has no NaN and no infinity; readers in any language must be able to load it."""
    text = json_text(["run", "value"], [["ä", 1 / 3], ["b", math.nan], ["c", math.inf]])
    assert json.loads(text, parse_constant=pytest.fail) == [
        {"run": "ä", "value": 0.3333333333333},
        {"run": "b", "value": None},
        {"run": "c", "value": None},
    ]
    assert json.loads(json_text(["run"], [])) == []


def test_a_table_aligns_numbers_and_leaves_ids_alone():
    """Topic 007 is no 7, and 1e5 no number."""
    assert table_text(["topic", "value"], [["007", 1 / 3], ["1e5", 10.0]]).splitlines() == [
        "topic      value",
        "-------  -------",
        "007       0.3333",
        "1e5      10.0000",
    ]
    assert table_text(["topic"], []).splitlines()[0].strip() == "topic"


def test_scores_are_long_for_machines_and_wide_for_people(capsys):
    """A program wants one row a value, a reader one column a metric."""
    ScoreOutput(format="csv").scores(SCORES)
    assert capsys.readouterr().out.splitlines() == [
        "run,topic,metric,value",
        "a,1,M@840,0.3333333333333",
        "a,1,M@inf,nan",
        "a,all,M@840,2e+20",
        "a,all,M@inf,4",
    ]
    ScoreOutput(per_topic=True).scores(SCORES[:2])
    assert capsys.readouterr().out.splitlines()[::2] == [
        "run    topic      M@840    M@inf",
        "a      1         0.3333      nan",
    ]


def test_users_and_intervals_get_columns_of_their_own(capsys):
    """They stand where the documented table has them: user before metric, low and high last."""
    score = Score("a", "1", "MSU@0.5", 2.0, "u7")
    ScoreOutput(format="csv").scores([score], {score[:3]: (1.5, 2.5)})
    assert capsys.readouterr().out == "run,topic,user,metric,value,low,high\na,1,u7,MSU@0.5,2,1.5,2.5\n"
    ScoreOutput(per_topic=True).scores([score], {score[:3]: (1.5, 2.5)})
    assert "2.0000 [1.5000, 2.5000]" in capsys.readouterr().out


def test_a_file_is_replaced_whole(tmp_path):
    """Nobody who reads while we write ever sees half a table."""
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with path.open() as reader:
        Output(format="csv", file=str(path)).rows(["a"], [["ü"]])
        assert reader.read() == "old"
    assert path.read_text(encoding="utf-8") == "a\nü\n"
    assert [child.name for child in tmp_path.iterdir()] == ["scores.csv"]


def test_a_file_that_cannot_be_written_is_a_fault_and_leaves_nothing(tmp_path):
    """The old file stays, no temporary one does."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(tmp_path / "folder", "new")
    assert [child.name for child in tmp_path.iterdir()] == ["folder"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    """A text that cannot be encoded breaks off after the temporary file was opened."""
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["scores.csv"]


def test_a_written_file_has_the_usual_rights(tmp_path):
    """Temporary files are private by habit; a result is for colleagues too."""
    write_atomically(tmp_path / "ours", "x")
    (tmp_path / "plain").write_text("x")
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "plain")]
    assert rights[0] == rights[1]


def test_a_dash_is_the_terminal(capsys):
    """As in most commands."""
    Output(format="csv", file="-").rows(["a"], [])
    assert capsys.readouterr().out == "a\n"


@pytest.mark.parametrize(
    ("metrics", "heads"),
    [
        (["MSU@0.505813436", "MSU@0.5", "nDCG@10"], ["MSU@0.5058", "MSU@0.5", "nDCG@10"]),
        (["MSU@0.505813436", "MSU@0.505813437"], ["MSU@0.505813436", "MSU@0.505813437"]),
    ],
)
def test_people_see_four_digits_of_a_fitted_parameter_and_machines_all(metrics, heads, capsys):
    """Unless two columns would then have one name."""
    scores = [Score("r", "all", metric, 1.0) for metric in metrics]
    ScoreOutput().scores(scores)
    assert capsys.readouterr().out.splitlines()[0].split() == ["run", "topic", *heads]
    ScoreOutput(format="csv").scores(scores)
    assert [line.split(",")[2] for line in capsys.readouterr().out.splitlines()[1:]] == metrics


def test_a_table_has_the_means_alone_unless_topics_are_asked_for(capsys):
    """Fifty topics of ten runs are nothing to read; programs get them all."""
    shown = {}
    for per_topic in (False, True):
        ScoreOutput(per_topic=per_topic).scores(SCORES)
        shown[per_topic] = [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]]

    assert shown == {False: ["all"], True: ["1", "all"]}


def test_words_are_broken_at_the_width_of_a_terminal_and_lines_of_a_pipe_stay_whole(monkeypatch):
    """A terminal would break within words; a program looks for whole lines."""
    text = "Six days are few: people may come more often on some days than on others, 5 % of them."
    table = (["name", "words"], [["a", text]])
    piped = (wrapped(text), table_text(*table).splitlines()[2])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    lines = wrapped(text, indent="  ").splitlines()

    assert piped == (text, f"a       {text}")
    assert " ".join(line.strip() for line in lines) == text
    assert len(lines) == 3
    assert all(line.startswith("  ") for line in lines[1:])
    assert max(map(len, [*lines, *table_text(*table).splitlines()])) <= 40
