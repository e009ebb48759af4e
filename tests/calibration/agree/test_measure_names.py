"""One measure, called as tables print it or as the registry does, is added to what agreement is said of."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.agree.agree_tables import agree
from calibration.agree.measures.kinds import KINDS
from calibration.agree.measures.names import is_name, measure_called, nearest_name, printed_name
from calibration.agree.result import NamedComparisons
from calibration.agree.score_sources import ScoreSources
from calibration.user_model.model import IntentEntry, UserModel
from metrics.errors import InputError
from metrics.registry import all_measures, parse_measure
from metrics.summaries.score import MMeasure, m_from_positions
from tests.calibration.judged_streams import SYSTEMS, TASK, judged_cells, write_push_study
from tests.calibration.judged_summaries import study

GIVEN = {f"q{n}": {"i1": 0.75, "i2": 0.25} for n in range(5)}


@pytest.fixture(scope="module")
def tables():
    """Five queries with positions and judgments."""
    return study(topics=5)


@pytest.mark.parametrize(
    ("kind", "names", "measure"),
    [
        ("summary_pairs", ("M@840", "M@840.0", "MMeasure(patience=840)"), "MMeasure(patience=840)"),
        ("summary_pairs", ("M@1500", "MMeasure"), "MMeasure(patience=1500)"),
        (
            "summary_pairs",
            ("M@9 first layer only uniform P", "MMeasure(intents='uniform', layers='first', patience=9)"),
            "MMeasure(patience=9, layers='first', intents='uniform')",
        ),
        ("stream_pairs", ("ELG-0", "ELG(silent_days=0)"), "ELG(silent_days=0)"),
        ("stream_pairs", ("ELG", "ExpectedLatencyGain"), "ExpectedLatencyGain(convention='2014')"),
        ("stream_pairs", ("T11U", "T11U(alpha=0.66)"), "T11U(alpha=0.66)"),
        ("stream_pairs", ("MSU@0.1", "MSU@0.1 (converted)", "MSU(lateness=0.1)"), "MSU(lateness=0.1)"),
        ("ranked_pairs", ("TIA-nDCG@5", "TIANDCG(k=5)"), "TIANDCG(k=5)"),
        ("ranked_pairs", ("TIA-AP", "TIAAP"), "TIAAP(k=None)"),
        ("ranked_pairs", ("RBP(p=0.95)", "RBP(p=0.95, k=None)"), "RBP(p=0.95)"),
    ],
)
def test_a_measure_has_one_name_in_the_tables_and_any_in_the_study_file(kind, names, measure):
    """Nobody should have to know which command prints it in which way."""
    assert {measure_called(name, kind) for name in names} == {parse_measure(measure)}
    assert {printed_name(parse_measure(measure), kind) for _ in names} == {names[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_that_tables_print_is_read_back(kind):
    """At the defaults and away from them; what is fitted to preferences is a name, yet no measure by itself."""
    for name in KINDS[kind].classes:
        default = all_measures()[name]()
        assert measure_called(printed_name(default, kind), kind) == default
        assert measure_called(repr(default), kind) == default
    assert all(is_name(name, kind) for name in KINDS[kind].names)
    assert all(
        measure_called(name, kind) is None for name in KINDS[kind].names if name.endswith("@preferences")
    )


@given(
    patience=st.floats(0, 1e9),
    layers=st.sampled_from(["both", "first", "second"]),
    intents=st.sampled_from(["given", "uniform", "fitted"]),
)
def test_an_m_measure_of_any_patience_keeps_its_name(patience, layers, intents):
    """The printed name loses nothing, however odd the number."""
    measure = MMeasure(patience=patience, layers=layers, intents=intents)

    assert measure_called(printed_name(measure, "summary_pairs"), "summary_pairs") == measure


@pytest.mark.parametrize(
    "name", ["M@15OO", "M@-3", "M", "UMeasure", "ELG-1", "MMeasure(truncate=9)", "M@", "MMeasure(", ""]
)
def test_what_agreement_cannot_be_said_of_is_no_name(name):
    """Typing slips, other tasks' measures, and those that score no system."""
    assert not is_name(name, "summary_pairs")


def test_the_nearest_name_is_told():
    """In either way of writing."""
    assert nearest_name("ELG1", "stream_pairs") == "ELG-1"
    assert nearest_name("MMeasur", "summary_pairs") == "MMeasure"


def test_a_named_measure_is_scored_although_no_table_has_it(tables):
    """840 is the patience of NTCIR's own evaluation; the family holds it only because it is named."""
    wanted = NamedComparisons(compare=("M@1500", "MMeasure(patience=840)"))

    found = agree(ScoreSources(tables=tables), named_comparisons=wanted)

    assert found.wanted["summaries"].compare == ("M@1500", "M@840")
    row = found.agreement.drop_duplicates("measure").set_index("measure").loc["M@840"]
    assert (row["role"], row["fit"], row["patience_chars"]) == ("named", "none", 840)
    family = found.comparisons.loc[found.comparisons["standing"] == "family", "measure"]
    assert set(family) == {"M@840"}
    scores = m_from_positions(tables["positions"].drop(columns="task"), GIVEN, [840]).iloc[:, 0]
    for pair in found.pairs.to_dict("records"):
        one, other = (scores[pair["topic"], pair[side]] for side in ("system_a", "system_b"))
        assert pair["difference M@840"] == pytest.approx(one - other)


def test_a_planned_comparison_does_not_put_a_named_measure_into_the_family(tables):
    """Only `compare` names the family."""
    rows = agree(
        ScoreSources(tables=tables), named_comparisons=NamedComparisons(primary=("M@1500", "M@840"))
    ).comparisons.query("by == 'majority'")

    assert rows[["standing", "measure", "against"]].iloc[0].tolist() == ["primary", "M@1500", "M@840"]
    assert rows["p_holm"].notna().sum() == 2
    assert "M@840" not in rows["measure"].tolist()


def test_a_measure_is_not_compared_with_itself_under_two_names(tables):
    """In a family it counts once; a planned comparison needs two."""
    twice = NamedComparisons(compare=("M@1500", "M@840", "MMeasure(patience=840)"))

    assert agree(ScoreSources(tables=tables), named_comparisons=twice).wanted["summaries"].compare == (
        "M@1500",
        "M@840",
    )
    with pytest.raises(InputError, match="both measures of primary are M@840; name two that differ"):
        agree(
            ScoreSources(tables=tables),
            named_comparisons=NamedComparisons(primary=("M@840", "MMeasure(patience=840)")),
        )


def test_probabilities_from_votes_are_named_with_any_patience(tables):
    """They need a model that has them."""
    shares = {name: IntentEntry(estimate=p) for name, p in (("i1", 0.1), ("i2", 0.9))}
    wanted = NamedComparisons(compare=("M@840 fitted P",))

    found = agree(
        ScoreSources(tables=tables, model=UserModel(intents={"q0": shares})), named_comparisons=wanted
    )

    assert "M@840 fitted P" in set(found.agreement["measure"])
    with pytest.raises(InputError, match="nothing here scores 'M@840 fitted P'; give --model FILE"):
        agree(ScoreSources(tables=tables), named_comparisons=wanted)


def test_utilities_of_any_weights_are_named_where_there_are_cells():
    """Contingency(G_E, ...) is a sum over the same cells as T11U."""
    tables = judged_cells(3)
    names = ("T11U(alpha=0.5)", "Contingency(P_E=0.5, P_0=2)")

    found = agree(ScoreSources(tables=tables), named_comparisons=NamedComparisons(compare=names))

    measures = found.wanted[tables["preferences"]["task"].iloc[0]].compare
    cells = tables["push_cells"].drop_duplicates(["topic", "system"]).set_index(["topic", "system"])
    pain = cells[["nonrelevant_eventful", "nonrelevant_silent"]].to_numpy()
    values = (0.5 * (cells["gain"] - pain.sum(axis=1)), cells["gain"] - pain @ np.array([0.5, 2.0]))
    for measure, value in zip(measures, values, strict=True):
        pairs = found.pairs.to_dict("records")
        expected = [
            value[row["topic"], row["system_a"]] - value[row["topic"], row["system_b"]] for row in pairs
        ]
        assert found.pairs[f"difference {measure}"].tolist() == pytest.approx(expected)


def test_pushes_can_be_scored_by_other_rules_and_other_people(tmp_path):
    """From the files; what is converted says so."""
    sources, preferences = write_push_study(tmp_path)
    wanted = NamedComparisons(compare=("ELG(silent_days=1, convention='paper')", "MSU@0.1"))

    found = agree(
        ScoreSources(tables={"preferences": preferences}, sources={TASK: sources}), named_comparisons=wanted
    )

    assert found.wanted[TASK].compare[1] == "MSU@0.1 (converted)"
    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    assert rows.loc[list(found.wanted[TASK].compare), "role"].tolist() == ["named", "named"]
    assert rows.loc["MSU@0.1 (converted)", "lateness"] == 0.1
    assert set(SYSTEMS) == set(found.pairs["system_a"]) | set(found.pairs["system_b"])


def test_scores_from_elsewhere_keep_the_name_that_they_came_under(tables):
    """Whoever computed M@840 means these numbers."""
    systems = tables["positions"][["topic", "system"]].drop_duplicates()
    scores = pd.DataFrame({"run": systems["system"], "topic": systems["topic"], "metric": "M@840"})
    scores["value"] = range(len(scores))

    found = agree(
        ScoreSources(tables=tables, scores=scores), named_comparisons=NamedComparisons(compare=("M@840",))
    )

    rows = found.agreement.drop_duplicates("measure").set_index("measure")
    assert rows.loc["M@840", "family"] == "scores"


def test_a_measure_that_ties_every_pair_is_said_to_and_left_out(tables):
    """It agrees with nobody whatever people prefer: -1 points would be no finding."""
    systems = tables["positions"][["topic", "system"]].drop_duplicates()
    flat = pd.DataFrame({"run": systems["system"], "topic": systems["topic"], "metric": "flat", "value": 0.3})
    evidence = ScoreSources(tables=tables, scores=flat)

    found = agree(evidence)

    assert "flat" in set(found.agreement["measure"])
    assert "flat" not in set(found.comparisons["measure"])
    assert any("flat scores the systems of every pair alike" in note for note in found.notes)
    by_name = agree(evidence, named_comparisons=NamedComparisons(compare=("M@1500", "flat"))).comparisons
    assert by_name["measure"].iloc[0] == "flat"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("M@preferences", "nothing here scores 'M@preferences'; give --model FILE"),
        ("M@1500 first layer only", "nothing here scores .*--collection KIND=PATH and --run NAME=PATH"),
        ("MMeasure(patienc=3)", "MMeasure has no parameter 'patienc'; did you mean patience"),
        ("TIANDCG(k=5)", r"TIANDCG\(k=5\) does not score summary_pairs; what does is MMeasure"),
        ("MMeasur", r"no measure 'MMeasur' in any task; did you mean 'MMeasure'\?"),
        ("M@15OO", r"no measure 'M@15OO' in any task; did you mean 'M@1500'"),
    ],
)
def test_why_a_name_is_refused_is_what_its_writer_must_change(tables, name, message):
    """A missing model is no typing slip, and a typing slip no missing model."""
    with pytest.raises(InputError, match=message):
        agree(ScoreSources(tables=tables), named_comparisons=NamedComparisons(compare=(name,)))
