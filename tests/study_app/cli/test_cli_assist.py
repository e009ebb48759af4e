"""`--assist`: numbers of people that a judge assists, beside those of people alone, as `agree`, `rank` and `plan agreement` print them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

import prefcal
from calibration.agree.folder import JUDGES
from calibration.judges.assist import AGREEMENTS, MEANING
from calibration.rank.folder import ASSISTED
from calibration.tables.files import write_tables
from study_app.report.build import build_report
from study_app.report.folder import read_material
from study_app.report.page import percent
from study_app.report.parts.assisted import METHOD
from tests.calibration.judged_summaries import study
from tests.study_app.cli.test_cli_agree_judges import judged_by
from tests.study_app.prefcal_command import run_here, run_once


def frames(judged=lambda topic, pair: pair % 2 == topic % 2):
    """A study of which people judged some pairs, and two judges: one judged all pairs, the other only those of people."""
    tables = study(topics=24, workers=5)
    everything = tables["preferences"]
    rows = [
        judged_by(tables, "all", lambda left, right, _: "left" if left < right else "right"),
    ]
    topics = {name: place for place, name in enumerate(sorted(everything["topic"].unique()))}
    couples = everything[["system_left", "system_right"]].min(axis=1) + everything[
        ["system_left", "system_right"]
    ].max(axis=1)
    numbers = pd.factorize(couples, sort=True)[0]
    is_kept = [
        judged(topics[topic], number) for topic, number in zip(everything["topic"], numbers, strict=True)
    ]
    people = everything[is_kept]
    if len(people):
        some = {**tables, "preferences": people}
        rows.append(judged_by(some, "some", lambda left, right, _: "left" if left < right else "right"))
    verdicts = pd.concat(rows, ignore_index=True)
    verdicts["judgment"] = [f"v{place}" for place in range(len(verdicts))]
    verdicts["decided_at"] = pd.to_datetime(verdicts["decided_at"])
    judges = pd.DataFrame({"worker": list(verdicts["worker"].unique()), "kind": "model"})
    return {
        **tables,
        "preferences": pd.concat([people, verdicts], ignore_index=True),
        "workers": judges,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("assist")
    write_tables(frames(), made / "tables")
    return made


@pytest.fixture(scope="module")
def agreed(folder):
    said = run_once("agree", folder / "tables", "--assist", "all", "-o", folder / "results")
    assert said.code == 0, said.err
    return said


def test_agree_prints_the_assisted_number_beside_that_of_people(folder, agreed):
    """What it is, what it saves in width, and the same numbers in the file."""
    rows = pd.read_csv(folder / "results" / JUDGES["assisted"], keep_default_na=False, na_values=["nan"])
    assert tuple(rows.columns) == AGREEMENTS
    assert (
        "Assisted by all: people's votes on 72 pairs of 24 topics, its verdicts on 144 pairs of 24 topics."
        in agreed.out
    )
    assert " ".join(MEANING.split()) in " ".join(agreed.out.split())
    alone = pd.read_csv(folder / "results" / "agreement.csv").set_index(["measure", "ties"])
    for _, row in rows[rows["against"] == ""].iterrows():
        one = alone.loc[(row["measure"], row["ties"])]
        assert (row["people"], row["people_low"], row["people_high"]) == pytest.approx(
            (one["agreement"], one["low"], one["high"]), nan_ok=True
        )
        assert not row["width_ratio"] > 1.05
    compared = (
        pd.read_csv(folder / "results" / "comparisons.csv").query("by == 'weighted'").dropna(subset="low")
    )
    known = rows[rows["ties"] == "weighted"].set_index(["measure", "against"])
    for _, row in compared.iterrows():
        one = known.loc[(row["measure"], row["against"])]
        assert (one["people"], one["people_low"], one["people_high"]) == pytest.approx(
            (row["difference"], row["low"], row["high"])
        )
    assert json.loads((folder / "results" / "agree.json").read_text())["assist"] == "all"


def test_python_has_the_same_and_the_next_agree_forgets_it(folder, agreed, monkeypatch, capsys):
    """`prefcal.agree(..., assist=)`; without it the file is deleted."""
    assert agreed.code == 0
    found = prefcal.agree(folder / "tables", assist="all").judges.assisted
    kept = pd.read_csv(folder / "results" / JUDGES["assisted"])
    assert found["estimate"].tolist() == pytest.approx(kept["estimate"].tolist())
    assert prefcal.agree(folder / "tables").judges.assisted.empty
    again = run_here(
        monkeypatch, capsys, "agree", folder / "tables", "-o", folder / "again", "--assist", "all"
    )
    assert (folder / "again" / JUDGES["assisted"]).exists(), again.err
    run_here(monkeypatch, capsys, "agree", folder / "tables", "-o", folder / "again")
    assert not (folder / "again" / JUDGES["assisted"]).exists()


def test_the_report_has_a_section_on_it(folder, agreed):
    """Sentence, table and methods, with the numbers of the file."""
    assert agreed.code == 0
    material = read_material(folder / "results")
    notes = (
        "summaries: people chose their pairs; assisted numbers do not hold (pairs_not_drawn)",
        "of something else",
    )
    material = replace(material, record={**material.record, "notes": notes})
    sections = {section.key: section for section in build_report(material).sections}
    (table,) = sections["assisted"].tables
    rows = pd.read_csv(folder / "results" / JUDGES["assisted"], keep_default_na=False, na_values=["nan"])
    first = rows[(rows["against"] == "") & (rows["ties"] == "against")].iloc[0]

    assert table.rows[0][0] == first["measure"]
    assert table.rows[0][3] == percent(first["estimate"])
    assert sections["assisted"].title.startswith(
        f"With all the agreement of {first['measure']} is {percent(first['estimate'])}"
    )
    assert MEANING in sections["assisted"].paragraphs
    assert sections["assisted"].paragraphs[2:] == (
        "People chose their pairs; assisted numbers do not hold (pairs_not_drawn).",
    )
    assert METHOD in sections["methods"].paragraphs


def test_rank_prints_it_too(folder, monkeypatch, capsys):
    ended = run_here(
        monkeypatch, capsys, "rank", folder / "tables", "--assist", "all", "-o", folder / "ranked"
    )
    assert ended.code == 0, ended.err
    assert "Assisted by all" in ended.out
    assert " less " in ended.out
    rows = pd.read_csv(folder / "ranked" / ASSISTED)
    assert rows["system"].nunique() == 4
    assert len(rows) == 7


@pytest.mark.parametrize("command", ["agree", "rank"])
@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ("nobody", "no judge is called 'nobody'; name one of all, some"),
        (
            "some",
            "the judge judged no pair besides the 72 pairs that people judged, so it adds nothing to them",
        ),
    ],
)
def test_a_judge_that_cannot_assist_is_one_sentence(folder, monkeypatch, capsys, command, judge, why):
    ended = run_here(
        monkeypatch, capsys, command, folder / "tables", "--assist", judge, "-o", folder / "refused"
    )
    assert ended.code == 1
    assert [line for line in ended.err.splitlines() if "warning" not in line] == [
        line for line in ended.err.splitlines() if why in line
    ]
    assert not (folder / "refused").exists()


@pytest.mark.parametrize("command", ["agree", "rank"])
def test_without_people_there_is_nothing_to_assist(tmp_path, monkeypatch, capsys, command):
    write_tables(frames(lambda *_: False), tmp_path / "tables")
    ended = run_here(
        monkeypatch, capsys, command, tmp_path / "tables", "--assist", "all", "-o", tmp_path / "refused"
    )
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert len([line for line in ended.err.splitlines() if "warning" not in line]) == 1
    assert not (tmp_path / "refused").exists()


def test_a_plan_says_what_a_judge_can_save(monkeypatch, capsys):
    """1 - ratio^2 = R^2 at most; on stderr where the answer is for machines."""
    plan = "plan", "agreement", "--studies", "20", "--jobs", "1", "--judge-correlation"
    ended = run_here(monkeypatch, capsys, *plan, "0.6")
    assert "narrows the interval by 20.0 % at most" in " ".join(ended.out.split())
    assert "as 56 % more queries would" in " ".join(ended.out.split())
    ended = run_here(monkeypatch, capsys, *plan, "-0.2", "--format", "csv")
    assert "saves nothing" in ended.err
    assert "saves nothing" not in ended.out
    assert run_here(monkeypatch, capsys, *plan, "1").code == 2
