"""What the report says of comparisons that were named, and of differences that no study can detect."""

import dataclasses

import pandas as pd
import pytest

from calibration.agree.result import NamedComparisons
from study_app.report.drawing.style import ReportStyle
from study_app.report.folder import read_material
from study_app.report.parts.agreement import agreement_section, answer, rows_figure
from study_app.report.parts.front import front
from study_app.report.parts.methods import limits_section, methods_section
from study_app.report.results import task_results


@pytest.fixture(scope="module")
def material(made):
    return read_material(made)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("study_file", "The primary comparison named in the study file: M@stops against M@1500, +7.0 points"),
        (
            "analysis",
            "The primary comparison named at analysis, when the answers were there and not in the study",
        ),
    ],
)
def test_first_screen_and_section_speak_of_the_comparison_that_was_named(material, place, said):
    """Of its measure and not of the default one; with p before and after the correction, and where it was named."""
    named = with_named(next(task_results(material)), place)

    shown = front(material, [named], [])
    text = " ".join(agreement_section(named, "agreement").paragraphs)

    assert shown.question == "Does M@stops agree with people more often than M@1500?"
    assert shown.points["Answer"] == f"{answer(named)}."
    assert shown.points["How sure"].endswith("the difference has p = 0.012, 0.046 after Holm’s correction.")
    assert answer(named).startswith("M@stops agrees with the majority on ")
    assert answer(named).endswith("; against M@1500 that is +7.0 points (+1.0 to +13.0)")
    assert "M at the patience fitted to how far people read (500 characters)" in shown.figure.caption
    assert said in text
    assert "p = 0.012, 0.046 after Holm’s correction)" in text
    assert "named" not in " ".join(agreement_section(next(task_results(material)), "a").paragraphs)


def with_named(result, place):
    """The result of a study whose primary comparison is that of the stops with the default."""
    row = dict(result.comparison("M@stops")) | {"standing": "primary", "named": place, "measure": "M@stops"}
    row |= {"difference": 0.07, "low": 0.01, "high": 0.13, "p_t": 0.0123, "p_holm": 0.0461}
    wanted = NamedComparisons(primary=("M@stops", "M@1500"), at_analysis=place == "analysis")
    others = result.comparisons[result.comparisons["measure"] != "M@stops"]
    rows = pd.concat([pd.DataFrame([row]), others])
    return dataclasses.replace(result, comparisons=rows, wanted=wanted)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("study_file", "was named in the study file, so planned: its p needs no correction."),
        ("analysis", "was named at analysis, when the answers were there: it was not planned"),
    ],
)
def test_methods_and_table_say_where_a_comparison_was_named(material, place, said):
    """Whoever reads the paper must know whether it was chosen by looking."""
    named = with_named(next(task_results(material)), place)

    assert said in " ".join(methods_section(material, [named]).paragraphs)
    row = agreement_section(named, "agreement").tables[1].rows[0]
    assert row[4:6] == ("0.012", "0.046")
    assert row[-1].startswith("primary, named ")


def test_a_patience_that_was_named_is_not_called_the_paper_s(material):
    """The paper has 1,500 characters."""
    result = next(task_results(material))
    rows = result.rows.assign(measure="M@840", role="named", patience_chars=840.0)

    words = dataclasses.replace(result, rows=rows).in_words("M@840")

    assert words == "M at a patience that was named (840 characters)"


def test_differences_that_no_study_can_detect_are_no_numbers(material):
    """178.8 points are more than any two agreements can be apart."""
    result = next(task_results(material))
    small = dataclasses.replace(result, comparisons=result.comparisons.assign(minimum_detectable=1.788))

    sections = (agreement_section(small, "agreement"), *limits_section(material, [small]))
    said = " ".join(text for section in sections for text in section.paragraphs)

    assert "178.8" not in said
    assert "A study of this size can detect no difference" in said
    assert {row[7] for row in agreement_section(small, "agreement").tables[1].rows} == {"none"}


def test_every_scatter_explains_itself_and_the_figure_of_measures_its_own_signs(material):
    """A text above one figure was about another; what no row has is not explained."""
    result = next(task_results(material))
    scatter, *_ = agreement_section(result, "agreement").figures
    rows = rows_figure(result, "agreement")

    assert "Each sign is a pair" in scatter.caption
    assert "of the first of the two systems by name" in scatter.caption
    assert scatter.draw(ReportStyle()).axes[0].get_ylabel() == "votes for the first system"
    assert "Each sign is a pair" not in rows.caption
    assert "Diamonds: fitted." in rows.caption
    assert "Triangles" not in rows.caption


def test_a_question_of_long_names_stays_short(material):
    """Twelve words at the most; the answer has the names."""
    named = with_named(next(task_results(material)), "study_file")
    rows = named.comparisons.assign(against="M@1500 with every intent equally probable")

    assert front(material, [dataclasses.replace(named, comparisons=rows)], []).question == (
        "Which of two measures agrees with people more often?"
    )


def test_a_comparison_without_a_p_is_not_called_no_difference(material):
    """As where tastes differ widely: nothing was tested."""
    named = with_named(next(task_results(material)), "study_file")
    refused = {"low": float("nan"), "high": float("nan"), "p_t": float("nan"), "p_holm": float("nan")}
    result = dataclasses.replace(named, comparisons=named.comparisons.assign(**refused))

    assert answer(result).endswith("; whether that is more or less often than M@1500 is not tested")
    assert "the difference has" not in front(material, [result], []).points["How sure"]
