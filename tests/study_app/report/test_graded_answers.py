"""The report of graded answers: criteria, reasons beside disagreements, gold pairs beside repeats, and methods."""

import json
import re

import pandas as pd
import pytest

import prefcal
from calibration.tables.files import write_tables
from study_app.report.build import build_report
from study_app.report.folder import read_material
from study_app.report.parts.methods import methods_section
from study_app.report.parts.workers import workers_section
from study_app.report.reasons import MAX_CHARS, with_reasons
from tests.calibration.graded import WORTHS, graded_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of results with tables that have everything, and a study.json that says how people were asked."""
    room = tmp_path_factory.mktemp("graded")
    tables = graded_study()
    tables["workers"].loc[0, ["excluded", "reason"]] = [True, "rule 2: gold"]
    write_tables(tables, room / "tables")
    protocol = {
        "choices": "graded5",
        "criteria": ["Think of a friend.", {"name": "correct", "text": "Which is right?"}, "short"],
        "min_gold": 0.5,
    }
    record = {"study": "s", "tasks": {"answers": {"kind": "answer_pairs", "protocol": protocol}}}
    (room / "tables" / "study.json").write_text(json.dumps(record))
    scores = pd.DataFrame(
        {"run": run, "topic": f"q{topic}", "metric": "m", "value": -worth}
        for run, worth in WORTHS.items()
        for topic in range(6)
    )
    prefcal.write_agreement(prefcal.agree(room / "tables", scores=scores), room)
    return room


@pytest.fixture(scope="module")
def report(folder):
    return build_report(read_material(folder))


def section(report, key):
    return next(each for each in report.sections if each.key == key)


def test_the_criterion_that_goes_with_the_choice_is_named_first(report):
    """With its share and interval, the others after it, and a table for papers."""
    criteria = section(report, "criteria")

    assert criteria.title.startswith("Overall choice and answer about correct are the same in ")
    others = criteria.paragraphs[0]
    assert re.match(
        r"Of the other criteria this share is: short [\d.]+\u202f% \([\d.]+ to [\d.]+\u202f%\)\.", others
    )
    assert "less often" not in others
    assert "what goes together and not what causes what" in criteria.paragraphs[0]
    assert [row[0] for row in criteria.tables[0].rows] == ["correct", "short"]
    assert criteria.tables[0].for_papers


def test_reasons_stand_beside_the_pairs_of_the_disagreements(folder, report):
    """With the side that they are for; of workers who count, three at most."""
    (table,) = (each for each in section(report, "agreement").tables if each.name.endswith("-disagreements"))
    cells = [row[table.columns.index("Reasons")] for row in table.rows]
    judged = pd.read_csv(folder / "tables" / "preferences.csv")
    excluded = judged.loc[judged["worker"] == "w0", "judgment"]

    assert any(cell.startswith(("for A: because of J", "for B: because of J")) for cell in cells)
    assert max(cell.count("because of ") for cell in cells) == 3
    assert any(" more" in cell for cell in cells)
    assert not any(f"of {judgment}" in cell.split(" · ") for judgment in excluded for cell in cells)


def test_without_reasons_there_is_no_such_column(folder):
    """Tables are exported without texts unless they are asked for."""
    material = read_material(folder)
    plain = material.tables["preferences"].assign(reason=None)
    found = with_reasons(material.disagreements.drop(columns="reasons"), plain, None)

    assert "reasons" not in found
    long = material.tables["preferences"].assign(reason="x" * 500)
    cut = with_reasons(material.disagreements.drop(columns="reasons"), long, None)["reasons"]
    assert cut.str.contains("x" * MAX_CHARS + "…", regex=False).all()
    assert not cut.str.contains("x" * (MAX_CHARS + 1)).any()


def test_gold_pairs_stand_beside_repeats_with_who_was_left_out(folder):
    """How often they were right, and that they count nowhere else."""
    said = " ".join(workers_section(read_material(folder)).paragraphs)
    judged = pd.read_csv(folder / "tables" / "preferences.csv").dropna(subset="gold")
    right = 100 * (judged["gold"] == judged["choice"]).mean()

    assert f"were answered right in {right:.1f}" in said
    assert "of 36 judgments of 12 workers; 1 was left out for it. They count in no other number." in said


def test_methods_say_how_people_were_asked(folder):
    """The criteria asked, those only shown, and the rule."""
    said = " ".join(methods_section(read_material(folder), []).paragraphs)

    assert "Above the two stood: Think of a friend." in said
    assert "On the same page and scale people answered about correct (Which is right?), short." in said
    assert "less than 0.5 of at least 3 gold pairs answered right" in said


def test_what_was_counted_is_said_of_each_where_it_differs(folder, tmp_path):
    """An agreement by a criterion, and ranks by the overall choice, in one folder."""
    scores = pd.DataFrame(
        {"run": run, "topic": f"q{topic}", "metric": "m", "value": worth}
        for run, worth in WORTHS.items()
        for topic in range(6)
    )
    by_short = prefcal.agree(folder / "tables", scores=scores, by="short")
    prefcal.write_agreement(by_short, tmp_path)
    prefcal.write_ranking(prefcal.rank(folder / "tables"), tmp_path)
    mixed = read_material(tmp_path)
    prefcal.write_ranking(prefcal.rank(folder / "tables", by="short"), tmp_path)

    assert mixed.about == ("Agreement: By the answers about short, in place of the overall choice.",)
    assert read_material(tmp_path).about == ("By the answers about short, in place of the overall choice.",)
