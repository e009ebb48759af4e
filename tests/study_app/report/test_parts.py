"""Single parts of the report: fits drawn from what was kept, methods, workers, the primary comparison."""

import dataclasses
import json
import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from calibration.agree.task_agreement import CEILING_COLUMNS
from calibration.fit.families import FitOptions
from calibration.fit.fit_files import FitPlot, FitPlots, read_fit_plots, write_fit_plots
from calibration.fit.user_model_fit import fit_user_model
from calibration.tables.study_json import JoinedStudy, ResultsOpened, TaskRecord
from calibration.user_model.model import Diagnostic, ParameterEntry, UserModel, write_user_model
from study_app.report.folder import read_material
from study_app.report.page import duration_phrase, quantity, quantity_interval
from study_app.report.parts.agreement import agreement_section, answer
from study_app.report.parts.agreement_tables import disagreement_table
from study_app.report.parts.curve import ablation_section, curve_sections
from study_app.report.parts.fit import NOT_DRAWN, fit_section, fit_title
from study_app.report.parts.front import front
from study_app.report.parts.methods import limits_section, methods_section, provenance_section
from study_app.report.parts.workers import workers_section
from study_app.report.results import task_results


@pytest.fixture(scope="module")
def material(made):
    return read_material(made)


@pytest.fixture(scope="module")
def fit(material):
    """A fit of the tables of the folder."""
    return fit_user_model(material.tables, seed=3, options=FitOptions(checks=False), record=material.study)


@pytest.fixture(scope="module")
def fitted(material, fit, tmp_path_factory):
    """The same folder with that fit's user model and drawings."""
    path = tmp_path_factory.mktemp("fitted") / "user-model.json"
    write_user_model(fit.model, path)
    write_fit_plots(fit.drawable, path)
    return dataclasses.replace(material, model=fit.model, plots=read_fit_plots(path))


def test_a_fit_is_drawn_with_the_numbers_of_the_user_model(fitted):
    """The title's estimate is the model's."""
    section = fit_section(fitted)
    figure = next(one for one in section.figures if one.name == "fit-patience-chars-preferences-profile")
    entry = fitted.model.parameters["patience_chars_preferences"]

    assert f"a patience of {quantity(entry.estimate)} characters" in figure.title
    assert NOT_DRAWN not in section.paragraphs


def test_without_drawings_of_this_user_model_none_is_shown(material):
    """The model was written by hand, so nothing is beside it."""
    section = fit_section(material)

    assert section.figures == ()
    assert "prefcal fit writes both" in section.paragraphs[-1]


def test_methods_have_the_numbers_of_the_protocol(material):
    """What was done, with what limits, and who was left out."""
    results = list(task_results(material))
    sections = (methods_section(material, results), *limits_section(material, results))
    said = " ".join(text for section in sections for text in (section.title, *section.paragraphs))

    assert "8 simulated workers took part" in said
    assert "all pairs of two-layered summaries" in said
    assert "a mean search under 200 seconds or less than 0.4 of at least 3 repeats" in said
    assert "With 6 queries in task summaries true differences below" in said
    assert "The workers were simulated" in said


def test_one_detectable_difference_is_no_range(material):
    """73.6 to 73.6 points."""
    [result, *_] = task_results(material)
    alike = dataclasses.replace(result, comparisons=result.comparisons.assign(minimum_detectable=0.736))

    said = " ".join(next(limits_section(material, [alike])).paragraphs)

    assert "true differences below 73.6 points are mostly missed" in said


def test_an_empty_user_model_is_not_called_a_missing_one(material):
    """The file stands beside the report."""
    empty = fit_section(dataclasses.replace(material, model=UserModel()))
    missing = fit_section(dataclasses.replace(material, model=None))

    assert empty.paragraphs[0].startswith("The user-model.json in this folder holds no parameter")
    assert missing.paragraphs[0].startswith("There is no user-model.json in this folder")


def test_an_estimate_of_zero_with_everything_above_it_open_is_said_in_words():
    """0, at least 0."""
    assert quantity_interval(0.0, None) == "cannot be told"
    assert quantity_interval(0.5, None) == "0.5 to open"


def test_methods_tell_once_that_results_were_looked_at_early(material):
    """From study.json, and from agree.json where it says the same."""
    look = ResultsOpened(at=datetime(2026, 3, 1, 13, tzinfo=UTC), judgments=312)
    opened = material.study.model_copy(update={"results_opened": (look,)})
    told = dataclasses.replace(material, study=opened, record=material.record | {"notes": [opened.looks]})
    for one in (told, dataclasses.replace(material, study=opened)):
        paragraphs = methods_section(one, []).paragraphs
        assert [text for text in paragraphs if "looked at" in text] == [opened.looks]
    assert opened.looks.endswith("first on 2026-03-01 13:00 UTC at 312 judgments.")
    assert "looked at" not in " ".join(methods_section(material, []).paragraphs)


def test_joined_studies_and_people_who_may_stand_twice_are_in_the_methods(material):
    """Each study with its size; what it does to intervals where nobody can be recognised."""
    part = {"tables_sha256": "0" * 64, "workers": 12, "judgments": 240}
    joined = tuple(JoinedStudy(study=name, **part) for name in ("wave1", "wave2"))
    study = material.study.model_copy(update={"joined": joined, "in_several": 1, "may_stand_twice": 0})
    known, unknown = (
        " ".join(methods_section(dataclasses.replace(material, study=each), []).paragraphs)
        for each in (study, study.model_copy(update={"may_stand_twice": 2}))
    )
    sizes = "wave1 (12 people, 240 judgments), wave2 (12 people, 240 judgments). 1 person took part in more than one."

    assert f"Tables of 2 studies were joined: {sizes}" in known
    assert "too narrow" not in known
    assert "intervals over people can be 1.4 times too narrow, more with few people" in unknown


def test_methods_have_no_plural_of_one(material):
    """One pair, one second, one day, one update, one worker."""
    kinds = {
        "summary_pairs": {"pairs": 1, "search_seconds": 1},
        "stream_visits": {"days": 1, "ask_per_visit": 1},
        "intent_votes": {"votes_per_query": 1},
        "iunit_importance": {"assessors_per_iunit": 1},
    }
    tasks = {kind: TaskRecord(kind=kind, protocol=protocol) for kind, protocol in kinds.items()}
    study = material.study.model_copy(update={"tasks": tasks})

    said = " ".join(methods_section(dataclasses.replace(material, study=study), []).paragraphs)

    assert not re.search(r"\b1 (pairs|seconds|days|updates|workers|systems)\b", said)
    assert len(re.findall(r"\b1 (pair|second|day|update|worker)\b", said)) == 6
    assert (duration_phrase(1.0), duration_phrase(2.0)) == ("1 second", "2 seconds")


def test_sides_that_were_not_drawn_by_lot_are_said_to_be_so(material):
    """Then a lean cannot be told from a liking; on real data this was overlooked once."""
    rows = material.tables["preferences"]
    swapped = rows["system_left"] > rows["system_right"]
    fixed = rows.assign(
        system_left=rows["system_left"].where(~swapped, rows["system_right"]),
        system_right=rows["system_right"].where(~swapped, rows["system_left"]),
    )
    tables = {**material.tables, "preferences": fixed}
    quality = fit_user_model({"preferences": fixed}, seed=1).quality.entries()
    imported, served = (material.study.model_copy(update={"study_sha256": sha}) for sha in (None, "a" * 64))
    others = (
        dataclasses.replace(material, study=served),
        dataclasses.replace(material, study=imported),
        dataclasses.replace(material, study=None),
        dataclasses.replace(material, study=imported, tables=tables, quality=quality),
    )

    drawn, *texts = (" ".join(workers_section(each).paragraphs) for each in others)

    assert "The sides were drawn by lot" in drawn
    assert not any("drawn by lot" in text for text in texts)
    assert all("do not state that sides were assigned at random" in text for text in texts[:2])
    assert "kept its sides every time" in texts[2]
    assert "a lean" not in " ".join(each.title for each in workers_section(others[-1]).figures)


def test_where_nobody_knows_who_judged_no_number_of_workers_is_printed(material):
    """It said "0 workers judged"."""
    unknown = {"preferences": material.tables["preferences"].assign(worker=None)}

    assert (
        workers_section(dataclasses.replace(material, tables=unknown, quality={})).title
        == "Who judged is not known"
    )


def test_of_one_measure_the_answer_gives_agreement_and_interval(material):
    """As a share of the pairs."""
    result = next(task_results(material))
    rows = result.rows.assign(agreement=0.712, low=0.6, high=0.75)
    rows = rows[rows["measure"] == "M@1500"]

    assert answer(dataclasses.replace(result, rows=rows)) == (
        "M@1500 agrees with the majority on 71.2\u202f% of 36 pairs (60.0 to 75.0\u202f%)"
    )


def test_a_handful_of_pairs_is_no_finding(material):
    """Neither in the headline nor in the summary, the table or the figure."""
    result = next(task_results(material))
    reason = "a ceiling needs 10 pairs with a majority, and this study has 4"
    unknown = dict.fromkeys(CEILING_COLUMNS, np.nan)
    rows = result.rows.assign(pairs=4, vote_ties=0, no_ceiling=reason, **unknown)
    few = dataclasses.replace(result, rows=rows)

    section = agreement_section(few, "agreement")

    assert answer(few) == (
        "Too few to say how well any measure agrees with the preferences: 4 decided pairs, 6 queries"
    )
    shown = front(dataclasses.replace(material, record={}), [few], [])
    said = " ".join(shown.points.values())
    assert reason in said
    assert "A finding needs 10 pairs with a majority" in said
    assert "prefcal plan agreement" in said
    assert f"Task summaries has no ceiling: {reason}." in methods_section(material, [few]).paragraphs
    assert "most often" not in said
    assert next(curve_sections(few, None, None, "")).title.endswith("(too few to say)")
    assert section.title == shown.figure.title == answer(few)
    assert f"No ceiling: {reason}." in shown.figure.caption
    assert "second panel" not in shown.figure.alt
    assert not [row for row in section.tables[0].rows if row[0].startswith("Ceiling")]


def test_a_curve_of_a_few_queries_has_no_band(material):
    """Where four queries happen to be alike, it would be a line and look certain."""
    result = next(task_results(material))
    few = dataclasses.replace(result, rows=result.rows.assign(queries=4))

    (with_band,) = next(curve_sections(result, None, None, "")).figures
    (without,) = next(curve_sections(few, None, None, "")).figures

    assert "holds the whole curve" in with_band.caption
    assert "No band is drawn: 4 queries, too few" in without.caption
    assert np.isnan(without.draw.keywords["band"]).all()


@pytest.mark.parametrize(
    ("high", "begins"), [(-0.01, "M agrees less without its parts: "), (0.003, "M without its parts: ")]
)
def test_parts_are_said_to_be_needed_only_where_the_interval_says_so(material, high, begins):
    """A difference whose interval holds 0 is none that one may tell of."""
    result = next(task_results(material))
    rows = result.comparisons.assign(difference=-0.018, low=-0.038, high=high)

    title = ablation_section(dataclasses.replace(result, comparisons=rows), "parts").title

    assert title.startswith(begins)
    assert "−1.8 points (−3.8 to " in title


@pytest.mark.parametrize(
    ("asked", "least", "said"),
    [(180, 200, "for 200 seconds by the clock on the page (180 at the very least)"), (200, 200, "page, and")],
)
def test_methods_say_the_search_time_that_the_page_asks_for(material, asked, least, said):
    """The longer of the two settings; the server lets go on from the first."""
    task = material.study.tasks["summaries"].model_copy(
        update={"protocol": {"search_seconds": asked, "min_search_seconds": least}}
    )
    study = material.study.model_copy(update={"tasks": {"summaries": task}})

    text = " ".join(methods_section(dataclasses.replace(material, study=study), []).paragraphs)

    assert said in text


def test_a_comparison_named_the_other_way_round_is_found(material):
    """A study may name the main measure first, and the fitted one after it."""
    result = next(task_results(material))
    forth = result.comparison(result.fitted)
    row = dict(forth) | {
        "measure": result.main,
        "against": result.fitted,
        "difference": -0.1,
        "low": -0.3,
        "high": 0.1,
    }
    back = dataclasses.replace(result, comparisons=pd.DataFrame([row])).comparison(result.fitted)

    assert (back["measure"], back["against"]) == (result.fitted, result.main)
    assert (back["difference"], back["low"], back["high"]) == (0.1, -0.1, 0.3)


def test_no_measure_is_best_where_all_are_equal(material):
    """All ties: the sentence does not list them."""
    result = next(task_results(material))
    equal = dataclasses.replace(result, rows=result.rows.assign(agreement=0.0))

    assert answer(equal) == "5 measures agree with the majority equally often, on 0.0\u202f% of 36 pairs"


def test_ranked_lists_without_time_stand_beside_the_same_with_it(material):
    """No word of M or of patience, which ranked lists do not have."""
    result = next(task_results(material))
    base = result.rows[result.rows["measure"] == result.main].assign(family="ranked")
    rows = pd.concat(
        [
            base.assign(measure="TIA-P@6", role="default", agreement=0.875),
            base.assign(measure="IA-P@6", role="ablation", agreement=0.5),
        ]
    )
    ranked = dataclasses.replace(result, rows=rows, comparisons=pd.DataFrame(), pairs=pd.DataFrame())

    section = ablation_section(ranked, "parts")

    assert section.title == "Without time, and in brackets with it: IA-P@6 50.0\u202f% (TIA-P@6 87.5\u202f%)"
    assert "patience" not in " ".join(section.paragraphs)


def test_pairs_that_disagree_most_stand_with_their_texts(material):
    """Texts are cut, votes and ties are counted."""
    row = {
        "task": "summaries",
        "measure": "M@1500",
        "rank": 1,
        "topic": "q0",
        "topic_text": "the query",
        "system_a": "alpha",
        "system_b": "beta",
        "votes_a": 5,
        "votes_b": 1,
        "equally_good": 1,
        "equally_bad": 2,
        "difference": -0.25,
        "text_a": "word " * 100,
        "text_b": None,
    }
    result = dataclasses.replace(next(task_results(material)), disagreements=pd.DataFrame([row]))

    table = disagreement_table(result, "agreement")

    assert table.rows[0][:6] == ("q0: the query", "alpha", "beta", "5 : 1", "3", "−0.25")
    assert table.rows[0][6].endswith("word…")
    assert table.rows[0][7] == "–"


def test_the_command_lines_are_those_that_agree_wrote_down(material):
    """Its own, seen from the folder, and the fit with its options; one whose options nobody knows is a remark."""
    again = [
        "prefcal",
        "agree",
        "../my tables",
        "--model",
        "m.json",
        "--primary",
        "a",
        "b c",
        "--output",
        ".",
    ]
    material = dataclasses.replace(material, record={"command": ["prefcal", "agree", "x"], "again": again})
    fit = "prefcal fit '../my tables' -o m.json --seed 3"
    plots = FitPlots(model_sha256="x", options=("--exclude", "none"), plots=())
    known = dataclasses.replace(material, plots=plots)

    lines = provenance_section(known).commands
    assert lines[lines.index("# again, from this folder") + 1 :] == (
        f"{fit} --exclude none",
        "prefcal agree '../my tables' --model m.json --primary a 'b c' --output .",
        "prefcal report .",
    )
    assert any(line.startswith(f"# {fit}, and") for line in provenance_section(material).commands)


def test_without_a_record_of_the_command_no_line_is_guessed(material):
    """Options that change what agree finds are not known; hashes are."""
    section = provenance_section(
        dataclasses.replace(material, record={"scores": {"path": "s.csv", "sha256": "x"}})
    )

    assert not [line for line in section.commands if line.startswith("prefcal agree")]
    assert any("computed in Python" in line for line in section.commands)
    assert json.dumps(section.tables[0].rows).count("sha256") >= 2


@pytest.mark.parametrize(
    ("cost", "silence", "title"),
    [
        (
            (0.1, 0.7),
            (-1, 2),
            "A non-relevant push on an eventful day costs 0.4 of what a relevant one gains (0.1 to 0.7)",
        ),
        (
            (-4.4, 5.3),
            (0.2, None),
            "A silent day without a push is worth 0.4 of a relevant push (0.2 to open)",
        ),
        (
            (-4.4, 5.3),
            (None, 9),
            "These judgments do not identify the worth of non-relevant pushes and of silence",
        ),
    ],
)
def test_the_title_of_the_push_weights_claims_what_is_told_from_nothing(cost, silence, title):
    """An interval that holds 0 says that the weight may be any, of either sign."""
    ends = {"push_P_E": cost, "push_S_E": (None, None), "push_P_0": (None, None), "push_S_0": silence}
    kept = FitPlot(fit="push", plot="weights", parameters=tuple(ends), details={}, calls=())
    model = UserModel(
        parameters={name: ParameterEntry(estimate=0.4, interval=interval) for name, interval in ends.items()}
    )

    assert fit_title(kept, model) == title


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(45, "45 seconds"), (119, "119 seconds"), (120, "2 minutes"), (7200, "2 hours"), (None, "∞ hours")],
)
def test_durations_are_in_the_unit_that_people_would_use(seconds, written):
    """The largest one that they have twice."""
    assert duration_phrase(seconds) == written


def test_parameters_of_a_diagnostic_are_named_as_in_the_first_table(material):
    """Names have commas, so semicolons part them."""
    note = Diagnostic(name="few_workers", severity="warning", sentence="Few.")
    names = ("away_mean_seconds", "away_median_seconds", "session_quartile_low_seconds")
    model = UserModel(parameters={name: ParameterEntry(estimate=60.0, diagnostics=(note,)) for name in names})
    table = fit_section(dataclasses.replace(material, model=model)).tables[-1]
    assert table.rows[0][0] == "time away, mean; time away, median; session, lower quartile"
