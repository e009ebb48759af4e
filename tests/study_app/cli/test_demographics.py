"""`prefcal demographics`: what a platform knows of people, only what they agreed to, by pseudonym and never by id."""

import json

import pytest
from sqlalchemy import select

from calibration.join.join import join_tables
from calibration.tables.files import read_tables
from calibration.tables.study_json import recorded_tables
from calibration.tables.suspicions import suspicions
from study_app.store.models import Worker
from study_app.study.demographics import demographics_paragraph, named_demographics
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import write_small_study

LIST = """Submission id,Participant id,Status,Age,Sex,Country of birth,Ethnicity
s1,ann,APPROVED,31,Female,Japan,x
s2,bob,APPROVED,45,CONSENT_REVOKED,Peru,y
s3,cleo,APPROVED,45,Male,Peru,y
s4,stranger,RETURNED,99,Male,Peru,y
s5,dora,APPROVED,DATA_EXPIRED,DATA_EXPIRED,Peru,y
s6,dora,APPROVED,52,Male,Peru,y
"""


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs prefcal on a study's database, by its clock."""

    def run(study, *arguments):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        return run_here(monkeypatch, capsys, *arguments, "--database", study.url)

    return run


def load(study, command, **changes):
    loaded = command(study, "study", "load", write_small_study(study.folder, **changes))
    assert loaded.code == 0, loaded.err
    return loaded


def pseudonyms(study):
    return [name for (name,) in study.rows(select(Worker.pseudonym).order_by(Worker.number))]


def test_only_columns_that_people_agreed_to_are_joined_and_no_id(campaign, command, tmp_path):
    """Zoe came before the consent named any, Ann when it named Age; who withdrew and who has not agreed has none."""
    study = campaign()
    study.arrive("zoe").send()
    load(study, command, demographics=["Age"])
    page = study.arrive("ann")
    assert (
        "Of that, the following is kept with your answers, and may be published with them: Age." in page.text
    )
    page.send()
    load(study, command, demographics=["Age", "Sex"])
    for name in ("bob", "cleo", "dora"):
        study.arrive(name).send()
    study.arrive("eve")
    code = study.rows(select(Worker.withdrawal_code).where(Worker.number == 4))[0][0]
    assert command(study, "withdraw", code).code == 0
    platform, tables = tmp_path / "people.csv", tmp_path / "tables"
    platform.write_text(f"{LIST}s7,zoe,APPROVED,20,Male,Peru,y\n")
    assert command(study, "export", tables, "--parquet").code == 0

    for _ in range(2):  # again is the same
        joined = command(study, "demographics", "small", platform, "-o", tables)
        assert joined.code == 0, joined.err

    assert "demographic_Age, demographic_Sex: 3 workers of 5" in joined.out
    for note in (
        "2 workers agreed to a consent text that does not name all of these columns",
        "1 person of the list never came",
        "3 workers have a combination of",
    ):
        assert note in " ".join(joined.err.split())
    rows = read_tables(tables)["workers"].set_index("worker")
    zoe, ann, bob, cleo, dora = (rows.loc[name] for name in pseudonyms(study)[:5])
    columns = ["demographic_Age", "demographic_Sex"]
    assert [*ann[columns].astype(object).where(ann[columns].notna(), None)] == ["31", None]
    assert [*bob[columns].astype(object).where(bob[columns].notna(), None)] == ["45", None]
    assert [*dora[columns]] == ["52", "Male"]
    assert zoe[columns].isna().all()
    assert cleo[columns].isna().all()
    written = "".join(path.read_text() for path in tables.glob("*.csv"))
    assert not [name for name in ("ann", "bob,", "dora", "s1", "Peru", "Ethnicity") if name in written]
    assert [str(fault) for fault in suspicions(tables, read_tables(tables))] == []
    assert recorded_tables(tables)["workers"].rows == 5
    assert (tables / "workers.csv").stat().st_mode & 0o77 == 0
    audit = json.dumps([str(row) for row in study.everything()["audit"]])
    assert "join demographics" in audit
    assert "3 people, Age, Sex" in audit
    assert "31" not in json.dumps(study.everything()["worker"])


UNFIT = (
    ((), LIST, "may keep nothing that the platform knows of people"),
    (("Age", "Language"), LIST, "missing column 'Language'"),
    (("age",), LIST.replace("Sex", "AGE"), "more than one column 'age'"),
    (
        ("Nickname",),
        LIST.replace("Ethnicity", "Nickname").replace(",x\n", ",ann\n"),
        "column Nickname has platform ids",
    ),
    (("Age",), LIST.replace("Participant id", "Who"), "missing column with the ids of the workers"),
    (("Age",), LIST.replace("ann", "nobody"), "no worker of these tables is in the list"),
)


def test_lists_and_studies_that_do_not_fit_are_refused(campaign, command, tmp_path):
    """By one line each, and the tables stay as they were; a column of the exact name is that column."""
    study = campaign()
    load(study, command, demographics=["Age"])
    study.arrive("ann").send()
    tables, platform, nothing = tmp_path / "tables", tmp_path / "people.csv", tmp_path / "nothing"
    assert command(study, "export", tables).code == 0
    before = {path.name: path.read_bytes() for path in tables.iterdir() if path.is_file()}
    for named, content, problem in UNFIT:
        load(study, command, demographics=list(named))
        platform.write_text(content)
        refused = command(study, "demographics", "small", platform, "-o", tables)
        assert (refused.code, problem in refused.err) == (1, True), refused.err
        assert len(refused.err.splitlines()) <= 2
        assert {path.name: path.read_bytes() for path in tables.iterdir() if path.is_file()} == before
    lost = command(study, "demographics", "small", tmp_path / "lost.csv", "-o", nothing).err
    assert f"{tmp_path / 'lost.csv'}:1: nothing is there" in lost
    assert f"{nothing}:1: nothing is there" in lost
    nothing.mkdir()
    (nothing / "workers.csv").write_text("worker\nw\n")
    assert "tables of no study" in command(study, "demographics", "small", platform, "-o", nothing).err
    platform.write_text(LIST.replace("Sex", "age"))
    assert command(study, "demographics", "small", platform, "-o", tables).code == 0


@pytest.mark.parametrize("name", ["Participant id", "e-mail", "a;b", " ", "First name"])
def test_what_identifies_people_is_no_column(campaign, command, name):
    """In the study file already, with its line."""
    study = campaign()
    refused = command(study, "study", "load", write_small_study(study.folder, demographics=[name]))
    assert refused.code == 1
    assert "demographics" in refused.err


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_consent_text_tells_which_columns_it_named(language):
    """In both languages, wherever the paragraph stands, and nothing where it stands in another one."""
    paragraph = demographics_paragraph(["Age", "Country of birth"], language)
    assert named_demographics(f"First.\n\n{paragraph}\n\nLast.") == {"Age", "Country of birth"}
    assert named_demographics(f"First. {paragraph}") == named_demographics("") == frozenset()


def test_joined_tables_keep_what_each_study_knows(tmp_path):
    """Columns of one study are empty for people of the other; two values of one person are said."""
    for name, age, column in (("a", 30, "demographic_Age"), ("b", 31, "demographic_Sex")):
        (tmp_path / name).mkdir()
        rows = f"worker,demographic_Age,{column}x\nw,{age},{name}\n{name},{age},{name}\n"
        (tmp_path / name / "workers.csv").write_text(rows)
    joined = join_tables([tmp_path / "a", tmp_path / "b"], tmp_path / "c", workers="same")
    workers = read_tables(tmp_path / "c")["workers"].set_index("worker")
    assert workers["demographic_Age"].to_dict() == {"a": "30", "b": "31", "w": "30"}
    assert workers["demographic_Sexx"].isna().to_dict() == {"a": True, "b": False, "w": False}
    assert any("1 person (w) is described otherwise in another study" in note for note in joined.notes)
