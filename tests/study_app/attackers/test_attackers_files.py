"""Files of strangers: none runs anything, fills the memory, reaches other files, or steers a terminal or a spreadsheet."""

import csv
import gzip
import io
import re
from decimal import Decimal

import pytest

from metrics.errors import FORMULA, Fault, FaultLog, InputError, escape_spreadsheet_cell, printable
from metrics.readers import lines
from metrics.readers.columns import read_csv_columns
from metrics.readers.texts import read_profiles
from metrics.readers.trees import read_json, read_xml
from study_app.cli.output import table_text
from study_app.cli.people.platform_lists import bonus_lines
from study_app.estimate.content import read_whole_study
from study_app.report.drawing.style import read_look
from study_app.study.file import read_study_file
from study_app.study.yaml_values import parsed_yaml
from study_app.tasks.kinds import KINDS
from tests.study_app.every_task import write_every_task
from tests.study_app.prefcal_command import run_apart, run_here
from tests.study_app.small_study import votes_task

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(f'*{old}' for _ in range(10))}]\n"
    for old, new in zip("abcdefghij", "bcdefghijk", strict=True)
)
YAML = {
    "deep lists": "study: " + "[" * 60_000,
    "deep and whole": "study: " + "[" * 60_000 + "]" * 60_000,
    "deep keys": "{a: " * 20_000,
    "deep items": "- " * 20_000 + "a",
    "a billion laughs": LAUGHS,
    "itself": "study: &a [*a]",
    "an object of Python": 'study: !!python/object/apply:os.system ["touch pwned"]',
    "another tag": "study: !!python/name:os.system",
    "a number without end": "study: small\nseed: " + "9" * 10_000,
    "a day that is none": "study: 2026-99-99",
    "a zone that is none": "study: 2026-01-01T00:00:00+99:99",
    "half a character": 'study: "\\ud800"',
    "NUL": 'study: "\\0"',
    "a control": "study: \x1b[31m",
    "no text": "\x00\x01\x02",
}


@pytest.mark.parametrize("name", YAML)
@pytest.mark.parametrize(
    "read", [lambda path: read_study_file(path, KINDS), read_look], ids=["study file", "style file"]
)
def test_no_yaml_runs_crashes_or_explodes(tmp_path, monkeypatch, read, name):
    """Of a study file or a style file: it is refused in plain words, with its line, in no time."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.yaml"
    path.write_text(YAML[name])
    with pytest.raises(InputError) as error:
        read(path)
    assert all(fault.path == str(path) and fault.line != 0 for fault in error.value.faults)
    assert str(error.value).replace("\n", "").isprintable()
    assert not (tmp_path / "pwned").exists()


BASE_60 = ":".join(["59"] * 900)
ODD_VALUES = ["1:30", "190:20:30", "1:30.5", BASE_60, f"{BASE_60}.5", f"1:{BASE_60}:{BASE_60}", "9" * 5000]
ODD_VALUES += ["010", "0x1F", "-0x_", "+0b_", "1_000", "2026-99-99", "2026-03-01", "yes", "no", "on", "="]


@pytest.mark.parametrize("value", ODD_VALUES)
def test_a_value_without_quotes_is_what_it_says(tmp_path, value):
    """Not a number of base 60 or 8, a truth or a date, as old YAML has it: a text where there is one, else a plain fault."""
    path = tmp_path / "study.yaml"
    path.write_text(
        f"study: small\ntitle: {value}\nconsent: a\ntasks:\n  - kind: questions\n    seed: {value}\n"
    )
    with pytest.raises(InputError) as error:
        read_study_file(path, KINDS)
    lines = [str(fault) for fault in error.value.faults]
    assert [line for line in lines if ":2:" in line] == []
    assert parsed_yaml(f"a: {value}") == {"a": value}
    path.write_text(f"study: small\ntitle: a\nseed: {value}\nconsent: a\ntasks: []\n")
    with pytest.raises(InputError) as error:
        read_study_file(path, KINDS)
    assert any(
        f"study.yaml:3: seed must be a whole number, got '{value[:20]}" in str(fault)
        for fault in error.value.faults
    )


@pytest.mark.parametrize("value", ["!!int x", "!!float x", "!!bool x", "!!int 1:30", "!!int {a: b}"])
def test_the_line_of_an_impossible_value_is_named(tmp_path, value):
    """YAML itself says only what is wrong with it."""
    (tmp_path / "study.yaml").write_text(f"study: small\ntasks:\n  - kind: questions\n    seed: {value}\n")
    with pytest.raises(InputError, match=r"study\.yaml:4: not YAML: .* is not what its tag says"):
        read_study_file(tmp_path / "study.yaml", KINDS)


def test_plain_values_are_numbers_truths_and_nothing():
    """As every program that reads YAML has them."""
    text = "[1, -2, +3, 0, 1.5, -.5, 1.5e+3, true, False, null, ~, '1', !!str 1, !!float 3, !!timestamp x]"
    assert parsed_yaml(text) == [1, -2, 3, 0, 1.5, -0.5, 1500.0, True, False, None, None, "1", "1", 3.0, "x"]


@pytest.mark.parametrize("character", ["\x00", "\x01", "\uffff"])
def test_what_no_page_can_show_is_refused_with_its_place(tmp_path, character):
    """A database may refuse it in the middle of `load`, and a reader of HTML too; said are topics and systems, each once."""
    study = write_every_task(tmp_path, tasks={"summary_pairs": {}})
    for name in ("queries.tsv", "iunits.tsv"):
        [path] = tmp_path.rglob(name)
        path.write_text(path.read_text().replace(" ", f" {character}"))
    with pytest.raises(InputError) as error:
        read_whole_study(study)
    code = f"U+{ord(character):04X}"
    said = [str(fault) for fault in error.value.faults]
    line = next(
        number for number, text in enumerate(study.read_text().splitlines(), 1) if "collection" in text
    )
    assert all(one.startswith(f"{study}:{line}: ") and code in one for one in said)
    assert len(said) == len(set(said))
    assert f"has a character that no page can show ({code}); take it out of the collection's files" in said[0]
    assert any(": what sysalpha shows of topic" in one and "take it out of" in one for one in said)


def test_a_text_of_the_study_file_that_no_page_can_show_is_refused_with_its_line(tmp_path):
    study = write_every_task(tmp_path, tasks={"questions": {}}, consent="Please\0take part.")
    with pytest.raises(InputError, match=r"study\.yaml:3: the text has .* \(U\+0000\); take it out"):
        read_whole_study(study)


ENTITIES = {
    "a bomb": '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>',
    "another file": '<!DOCTYPE a [<!ENTITY b SYSTEM "secret.txt">]><a>&b;</a>',
    "another host": '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>',
    "a parameter": '<!DOCTYPE a [<!ENTITY % b SYSTEM "secret.txt"> %b;]><a/>',
    "no declaration": "<a>&secret;</a>",
}


@pytest.mark.parametrize("name", ENTITIES)
def test_no_entity_of_xml_is_resolved(tmp_path, name):
    """Runs and topics need none: a DOCTYPE is refused before anything of it is used."""
    (tmp_path / "secret.txt").write_text("swordfish")
    (tmp_path / "run.xml").write_text(ENTITIES[name])
    with pytest.raises(InputError, match=r"DOCTYPE|not well formed") as error:
        read_xml(tmp_path / "run.xml")
    assert "swordfish" not in str(error.value)


def test_an_entity_in_topics_written_as_text_is_text(tmp_path):
    """Profiles look like SGML, but are not parsed as such."""
    (tmp_path / "topics").write_text(
        "<top>\n<num> Number: MB1\n<title> &xxe; <desc> Description:\na\n<narr> Narrative:\nb\n</top>\n"
    )
    assert read_profiles(tmp_path / "topics")["MB1"].title == "&xxe;"


def test_a_packed_file_in_a_packed_file_is_unpacked_once(tmp_path):
    """The limit would else be one for each layer."""
    (tmp_path / "twice").write_bytes(gzip.compress(gzip.compress(b"x")))
    assert lines.read_bytes(tmp_path / "twice").startswith(lines.GZIP_MAGIC)


JSON = {
    "deep": "[" * 60_000,
    "deep and whole": "[" * 60_000 + "]" * 60_000,
    "a number without end": "9" * 5_000,
    "half a character": '"\\ud800"',
    "an open string": '"' + '\\"' * 200_000,
    "commas": "," * 200_000,
}


@pytest.mark.parametrize("commas", [False, True])
@pytest.mark.parametrize("name", JSON)
def test_no_json_crashes_or_stalls(tmp_path, name, commas):
    """Clusters and the like; an open string once cost the square of its length."""
    (tmp_path / "clusters.json").write_text(JSON[name])
    with pytest.raises(InputError):
        read_json(FaultLog(tmp_path / "clusters.json"), trailing_commas=commas)


def test_a_field_without_end_is_refused(tmp_path):
    """In a CSV from elsewhere."""
    (tmp_path / "a.csv").write_text('a,b\n"' + "x" * 200_000)
    with pytest.raises(InputError, match="field larger"):
        read_csv_columns(tmp_path / "a.csv", ("a", "b"), FaultLog(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "/etc/x", "..", ".", "a\\b", "a\0", "-x", "a b", "x" * 65, "con\n"]
)
@pytest.mark.parametrize("key", ["study", "task", "system"])
def test_no_name_of_a_study_file_is_a_path(small_study, key, name):
    """Names of studies, tasks and systems become parts of addresses and files."""
    changes = {
        "study": {"study": name},
        "task": {"task": {"name": name}},
        "system": {"task": {"systems": {name: "sysalpha.xml", "b": "sysbeta.xml"}}},
    }
    with pytest.raises(InputError):
        read_study_file(small_study(**changes[key]), KINDS)


STEERING = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202etxt\ud800\u2028"


def test_no_word_of_a_file_steers_the_terminal(tmp_path):
    """Control characters and halves of characters are written out, in faults and in tables for people."""
    shown = [
        str(Fault(problem=f"no system {STEERING}", cure="x", path="a")),
        printable(STEERING),
        *table_text(["a"], [[STEERING]]).splitlines(),
    ]
    assert all(line.isprintable() for line in shown)
    assert all(r"\x1b[2J" in line for line in shown[:2])
    (tmp_path / "study.yaml").write_text('study: x\n"\\e[2J\\e]0;owned\\a": 1\n')
    ended = run_apart("study", "check", tmp_path / "study.yaml")
    assert ended.code == 1
    assert ended.err.replace("\n", "").isprintable()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠1"])
def test_no_cell_of_a_list_for_people_is_a_formula(text):
    """Whom to remind and what to reconcile is opened in spreadsheets, and ids come from addresses that anybody can write."""
    for cell in (text, f" {text}", f'"{text}', f"a{text}"):
        assert escape_spreadsheet_cell(cell).replace("'", "") == cell
        assert not computed(cell)
    assert escape_spreadsheet_cell("a-1+2=3@b; c, -d; e") == "a-1+2=3@b; c, -d; e"


def computed(cell):
    """Return the cells that a spreadsheet would compute of a line with this one, whatever separates cells there."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["id", escape_spreadsheet_cell(cell), "end"])
    return [
        found
        for separator in ",;\t|"
        for line in csv.reader(re.split("[\n\r]", text.getvalue()), delimiter=separator)
        for found in line
        if found.strip(' "').startswith(FORMULA)
    ]


@pytest.mark.parametrize("separator", [";", "\t", "|", "\n", "\r\n", "; ", ';"', ';""', "x,y;"])
@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1"])
def test_no_part_of_a_cell_is_a_formula_where_something_else_separates_cells(text, separator):
    """In much of Europe that is a semicolon: `a;=1+1` is two cells there, and quotes do not begin in the middle of one."""
    assert not computed(f"a{separator}{text}")
    assert not computed(f"{separator}{text}")
    assert escape_spreadsheet_cell(f"a{separator}{text}").replace("'", "") == f"a{separator}{text}"


def test_every_list_that_people_open_has_plain_cells(campaign):
    """Payments, whom to remind, what to reconcile, and the table of people: none writes a cell in another way."""
    study = campaign(platform="generic")
    study.arrive("x;=cmd|' /C calc'!A1").send()
    client = study.console()
    for name in ("payments/ask.csv", "payments/pay.csv", "people.csv"):
        lines = client.get(f"/r/small/{name}").text.splitlines()
        assert not any(part.startswith(FORMULA) for line in lines for part in line.split(";"))


def test_no_cell_of_what_a_platform_sent_is_a_formula(campaign, monkeypatch, capsys):
    """Whoever may write into the platform's list would have the researcher's spreadsheet compute."""
    study = campaign(platform="prolific", tasks=[votes_task()], completion_code="DONE-1")
    listed, written = study.folder / "platform.csv", study.folder / "found.csv"
    listed.write_text("Submission id,Participant id,Status,Completion code\n=1+1,@who,-2,DONE-1\n")
    ended = run_here(
        monkeypatch, capsys, "reconcile", "small", listed, "-o", written, "--database", study.url
    )
    assert ended.code == 0
    [row] = csv.DictReader(written.read_text().splitlines())
    assert [*row.values()][:3] == ["'@who", "'=1+1", "'-2"]


def test_a_list_of_bonuses_has_two_columns_whatever_ids_are():
    """Where anybody can choose an id, it must not name another worker's bonus."""
    lines_ = bonus_lines({"w1": "somebody,99.00", "w2": "plain"}, {"w1": Decimal(1), "w2": Decimal("2.5")})
    assert lines_ == '"somebody,99.00",1.00\nplain,2.50\n'
