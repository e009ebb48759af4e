"""Which measures are compared: what a study planned, what belongs to a family, what is only looked at."""

import itertools

import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.comparisons import PlannedComparison, couples
from calibration.agree.measures.names import resolved, resolved_for_all
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, VariantRole
from calibration.agree.result import (
    ComparisonRole,
    NamedComparisons,
    NamedWhen,
    undetectable_note,
    wanted_by_study,
)
from calibration.agree.score_sources import ScoreSources
from calibration.tables.sources import TaskSources
from calibration.user_model.model import ParameterEntry, UserModel
from metrics.agreement.comparison import holm
from metrics.errors import InputError
from tests.calibration.judged_summaries import TASK, study

SCORES = pd.Series(dtype="float64")


def variant(measure, fit=ParameterOrigin.NONE, *, converted=False):
    return ScoredMeasure(
        measure=measure, family="push", role=VariantRole.DEFAULT, fit=fit, scores=SCORES, converted=converted
    )


MEASURES = (
    variant("ELG-1"),
    variant("ELG-0"),
    variant("T11U"),
    variant("MSU@0.5 (converted)", converted=True),
    variant("T11U@preferences", ParameterOrigin.CROSS_FITTED),
    variant("T11U@preferences in sample", ParameterOrigin.IN_SAMPLE),
)


def made(wanted):
    return [(str(one.standing), one.measure, one.against, one.in_family) for one in couples(wanted, MEASURES)]


def test_where_nothing_is_named_every_two_fair_measures_are_compared_in_one_family():
    """No measure is the main one; in-sample ones are no fair rivals, converted ones were judged for something else."""
    fair, converted = ["ELG-1", "ELG-0", "T11U", "T11U@preferences"], "MSU@0.5 (converted)"
    found = made(NamedComparisons())

    assert found[:6] == [("family", second, first, True) for first, second in itertools.combinations(fair, 2)]
    assert [row[0::3] for row in found[6:]] == [("exploratory", False)] * 4
    assert all(converted in row for row in found[6:])


def test_the_planned_comparison_comes_first_and_makes_the_others_exploratory():
    """Whoever plans one test has one test."""
    found = made(NamedComparisons(primary=("ELG-1", "ELG-0")))

    assert found[0] == ("primary", "ELG-1", "ELG-0", False)
    assert {standing for standing, *_ in found[1:]} == {"exploratory"}
    assert ("exploratory", "ELG-0", "ELG-1", True) not in found
    assert ("exploratory", "T11U", "ELG-1", True) in found


def test_a_named_family_is_compared_with_its_first_measure():
    """And all others too, outside the family."""
    assert made(NamedComparisons(compare=("T11U", "ELG-0", "MSU@0.5 (converted)"))) == [
        ("family", "ELG-0", "T11U", True),
        ("family", "MSU@0.5 (converted)", "T11U", True),
        ("exploratory", "ELG-1", "T11U", False),
        ("exploratory", "T11U@preferences", "T11U", False),
    ]


def test_a_single_name_is_compared_with_the_default_measure():
    """Is mine better than the default?"""
    assert couples(NamedComparisons(compare=("T11U",)), MEASURES)[0] == PlannedComparison(
        standing=ComparisonRole.FAMILY,
        measure="T11U",
        against="ELG-1",
        in_family=True,
        named=NamedWhen.STUDY_FILE,
    )


def test_the_correction_is_over_the_family_alone():
    """The primary comparison of a study file keeps its p; what is outside the family has none."""
    model = UserModel(parameters={"patience_chars_stops": ParameterEntry(estimate=300.0)})
    protocol = {"primary": ["M@stops", "M@1500"], "compare": ["M@1500", "M@1500 uniform P", "M@preferences"]}
    sources = {TASK: TaskSources(kind="summary_pairs", protocol=protocol)}
    model = model.model_copy(
        update={
            "parameters": model.parameters
            | {
                f"patience_chars_{name}": ParameterEntry(estimate=value)
                for name, value in (("preferences", 800.0), ("grid", 700.0))
            }
        }
    )

    rows = agree(ScoreSources(tables=study(), model=model, sources=sources)).comparisons.query(
        "by == 'majority'"
    )

    assert rows["standing"].tolist() == ["primary", *["exploratory"] * (len(rows) - 1)]
    assert rows["named"].tolist()[:3] == ["study_file"] * 3
    assert set(rows["named"][3:]) == {"nowhere"}
    assert rows["p_holm"].iloc[0] == rows["p_t"].iloc[0]
    family = rows[(rows["against"] == "M@1500") & rows["measure"].isin(["M@1500 uniform P", "M@preferences"])]
    assert family["p_holm"].tolist() == pytest.approx(holm(family["p_t"]).tolist(), nan_ok=True)
    assert rows[rows["measure"] == "M@grid"]["p_holm"].isna().all()


def test_a_primary_comparison_that_was_named_at_analysis_is_corrected_with_its_family():
    """It may have been chosen by looking, so it has no right to a p of its own."""
    wanted = NamedComparisons(primary=("M@840", "M@1500"), compare=("M@1500", "M@250", "M@1500 uniform P"))

    rows = agree(ScoreSources(tables=study()), named_comparisons=wanted).comparisons.query("by == 'majority'")

    named = rows[rows["named"] == "analysis"]
    assert named["measure"].tolist() == ["M@840", "M@250", "M@1500 uniform P"]
    assert rows["standing"].iloc[0] == "primary"
    assert named["p_holm"].tolist() == pytest.approx(holm(named["p_t"].fillna(1)).tolist())
    assert named["p_holm"].iloc[0] > named["p_t"].iloc[0]


def test_a_difference_above_one_can_be_told_by_nobody():
    """Two agreements are never farther apart; what is unknown is another matter."""
    assert undetectable_note(1.788).startswith("A study of this size can detect no difference")
    assert [undetectable_note(one) for one in (0.2, 1.0, float("nan"))] == ["", "", ""]


def test_a_name_may_leave_out_that_it_is_converted():
    """Who writes a study file thinks of the measure."""
    wanted, notes = resolved(
        NamedComparisons(primary=("ELG-1", "MSU@0.5")),
        MEASURES,
        task="t",
        kind="stream_pairs",
        place="study.json",
    )

    assert wanted.primary == ("ELG-1", "MSU@0.5 (converted)")
    assert notes == []


def test_an_unknown_measure_is_refused_with_the_nearest_one():
    """A slip of the hand must not become an exploratory comparison in silence."""
    with pytest.raises(
        InputError,
        match=r"study.json:1: there is no measure 'ELG1' in task t; did you mean 'ELG-1'\? known are ELG-0",
    ):
        resolved(
            NamedComparisons(compare=("ELG1",)), MEASURES, task="t", kind="stream_pairs", place="study.json"
        )


def test_an_in_sample_measure_is_refused_with_its_fair_form():
    """Its agreement is flattered."""
    with pytest.raises(InputError, match="name 'T11U@preferences', which is cross-fitted"):
        resolved_for_all(
            NamedComparisons(compare=("T11U@preferences in sample",)), {"t": MEASURES}, {"t": "stream_pairs"}
        )


def test_what_a_study_names_and_nothing_scores_here_is_left_out_with_a_sentence():
    """Files may be on another machine, the model may come later."""
    wanted = NamedComparisons(
        primary=("nCG-1", "ELG-1"), compare=("ELG-1", "Contingency@preferences", "T11U")
    )

    found, notes = resolved(wanted, MEASURES, task="t", kind="stream_pairs", place="study.json")

    assert found == NamedComparisons(compare=("ELG-1", "T11U"))
    assert [note.split(",")[0] for note in notes] == [
        "t: no comparison with nCG-1",
        "t: no comparison with Contingency@preferences",
    ]
    depth, notes = resolved(
        NamedComparisons(compare=("TIA-P@5",)), MEASURES, task="t", kind="ranked_pairs", place="study.json"
    )
    assert (depth, len(notes)) == (NamedComparisons(), 1)


def test_options_hold_for_every_task_that_has_the_measures():
    """A study has tasks of several kinds; a name that no task knows is refused."""
    other = (variant("M@1500"), variant("M@stops"))
    kinds = {"pushes": "stream_pairs", "summaries": "summary_pairs"}
    wanted = NamedComparisons(primary=("ELG-1", "ELG-0"), compare=("T11U", "M@stops"))

    found = resolved_for_all(wanted, {"pushes": MEASURES, "summaries": other}, kinds)

    assert found == {
        "pushes": NamedComparisons(primary=("ELG-1", "ELG-0"), compare=("T11U",)),
        "summaries": NamedComparisons(compare=("M@stops",)),
    }
    with pytest.raises(
        InputError, match="--compare: there is no measure 'M@stop' in any task; did you mean 'M@stops'"
    ):
        resolved_for_all(NamedComparisons(compare=("M@stop",)), {"summaries": other}, kinds)


def test_the_study_file_names_them_for_each_task():
    """They come with the protocol of study.json; an option takes their place."""
    sources = TaskSources(
        kind="summary_pairs",
        protocol={"primary": ["M@1500 uniform P", "M@1500"], "compare": ["M@1500", "M@1500 uniform P"]},
    )
    evidence = ScoreSources(tables=study(topics=5), sources={TASK: sources})

    planned = agree(evidence)
    typed = agree(evidence, named_comparisons=NamedComparisons(compare=("M@1500 uniform P",)))

    assert wanted_by_study(sources.protocol) == planned.wanted[TASK]
    assert planned.comparisons["standing"].tolist() == ["primary"] * 3
    assert typed.comparisons["standing"].tolist() == ["family"] * 3
    assert wanted_by_study({"primary": None}) == NamedComparisons()


def test_a_study_may_write_a_measure_as_the_registry_does():
    """What `prefcal study check` takes without a word, `prefcal agree` takes too."""
    wanted = NamedComparisons(
        primary=("T11U(alpha=0.66)", "ELG(silent_days=1)"), compare=("MSU(lateness=0.5)",)
    )

    found, notes = resolved(wanted, MEASURES, task="t", kind="stream_pairs", place="study.json")

    assert (found.primary, found.compare, notes) == (("T11U", "ELG-1"), ("MSU@0.5 (converted)",), [])
    with pytest.raises(InputError, match=r"study.json:1: ELG has no parameter 'silent_day'; did you mean"):
        resolved(
            NamedComparisons(compare=("ELG(silent_day=1)",)),
            MEASURES,
            task="t",
            kind="stream_pairs",
            place="study.json",
        )
