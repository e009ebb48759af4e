"""U- and M-measure: the authors' worked example, the laws they obey, and their values at the edges."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.registry import parse_measure
from metrics.summaries.score import (
    MMeasure,
    UMeasure,
    m_from_positions,
    score_intents,
    score_summaries,
    summary_positions,
    summary_scores,
)
from metrics.summaries.trailtext import first_meetings
from metrics.summaries.two_layered import Collection, IUnit, Link, Query, Run, Summary
from tests.metrics.two_layered_strategies import collection_of, queries, run_of, summaries

FIVE = "XXXXX"
patiences = st.floats(0, 100) | st.just(math.inf)


def m(query, summary, measure=None):
    """M of one summary."""
    return summary_scores(collection_of(query), [run_of(summary)], [measure or MMeasure(patience=30)])[
        0
    ].value


def example(**changes):
    """Texts of five characters each; one intent likes u1 (2), u2 (4) and u4 (1), the other u3 (3)."""
    query = {
        "id": "q",
        "text": "",
        "iunits": dict.fromkeys(["u1", "u2", "u3", "u4"], FIVE),
        "intents": {"one": FIVE, "other": FIVE},
        "importance": {("one", "u1"): 2.0, ("one", "u2"): 4.0, ("one", "u4"): 1.0, ("other", "u3"): 3.0},
        "probability": {"one": 0.6, "other": 0.4},
    }
    return Query(**{**query, **changes})


@pytest.mark.parametrize(
    "trail",
    [
        [IUnit("u1"), IUnit("u2"), IUnit("u2"), IUnit("u4")],
        [IUnit("u1"), IUnit("u2"), Link("other"), IUnit("u4")],
    ],
)
def test_u_measure_of_the_authors_specification(trail):
    """2 (1 - 5/20) + 4 (1 - 10/20) + nothing for a repeat or a link + 1 (1 - 20/20) = 3.5."""
    met = first_meetings(trail, example())
    gains = [example().importance["one", iunit] for iunit in met]
    discounts = UMeasure(patience=20).discount(np.array(list(met.values()), dtype=float))
    assert np.dot(gains, discounts) == 3.5


def test_m_measure_expects_u_over_the_intents():
    """One reads u1 at 5: 2 x 3/4. The other reads u1, link, u3 at 15: 3 x 1/4. M = 0.6 x 1.5 + 0.4 x 0.75 = 1.2."""
    summary = Summary(first=(IUnit("u1"), Link("other")), second={"other": (IUnit("u3"),)})
    frame = score_intents(collection_of(example()), [run_of(summary)], [UMeasure(patience=20)])
    assert dict(zip(frame["intent"], frame["value"], strict=True)) == {"one": 1.5, "other": 0.75}
    assert m(example(), summary, MMeasure(patience=20)) == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (MMeasure(patience=20, intents="uniform"), 0.5 * 1.5 + 0.5 * 0.75),
        (MMeasure(patience=20, layers="first"), 0.6 * 1.5),
        (MMeasure(patience=20, layers="second"), 0.4 * 3 * 0.5),
        (MMeasure(patience=20, truncate=5), 0.6 * 1.5),
        (MMeasure(patience=math.inf), 0.6 * 2 + 0.4 * 3),
        (MMeasure(patience=0), 0.0),
    ],
)
def test_the_variants_on_the_same_summary(measure, value):
    """Uniform P; either layer alone; a cut that loses the link; endless patience, and none."""
    summary = Summary(first=(IUnit("u1"), Link("other")), second={"other": (IUnit("u3"),)})
    assert m(example(), summary, measure) == pytest.approx(value)


def test_fitted_probabilities_take_the_place_of_the_given_ones():
    """A study's own votes, without touching the collection."""
    summary = Summary(first=(IUnit("u1"),), second={})
    collection, runs = collection_of(example(probability=None)), [run_of(summary)]
    measures = [MMeasure(patience=20, intents="fitted")]
    frame = score_summaries(collection, runs, measures, fitted={"q": {"one": 0.25, "other": 0.75}})
    assert frame["value"].tolist() == [0.25 * 1.5] * 2
    for missing in (None, {"q": {"one": 1.0}}, {"Q": {"one": 1.0}}):
        with pytest.raises(InputError, match="query 'q'"):
            score_summaries(collection, runs, measures, fitted=missing)


def test_given_probabilities_must_be_there():
    """A mean over nothing would pass for a score."""
    with pytest.raises(
        InputError, match=r"there are no intent probabilities; add probability\.tsv, or use uniform"
    ):
        m(example(probability=None), Summary(first=(), second={}))


def test_an_empty_summary_scores_zero():
    """Nothing read, nothing gained; the topic still counts towards the mean."""
    assert m(example(), Summary(first=(), second={})) == 0.0


def test_an_iunit_of_no_characters_counts_in_full_unless_nothing_is_read():
    """It ends at offset 0, so d = 1 for every L > 0, and 0 for L = 0."""
    query = example(iunits={"u1": "...", "u2": FIVE, "u3": FIVE, "u4": FIVE})
    summary = Summary(first=(IUnit("u1"),), second={})
    assert m(query, summary, MMeasure(patience=1e-9)) == 0.6 * 2
    assert m(query, summary, MMeasure(patience=0)) == 0.0


def test_a_run_without_one_of_the_queries_is_refused():
    """The mean over other queries would be another number under the same name."""
    run = Run(name="mine", description="", summaries={})
    with pytest.raises(ValueError, match="run 'mine' has no summary of query 'q'"):
        score_summaries(collection_of(example()), [run], [MMeasure()])


def test_scores_stand_by_run_and_query_with_the_mean_last():
    """The order of the collection, whatever the order in the run's file."""
    empty, full = Summary(first=(), second={}), Summary(first=(IUnit("u1"),), second={})
    collection = Collection(name="two", queries={"q": example(), "r": example(id="r")})
    runs = [Run(name="b", description="", summaries={"r": full, "q": empty})]
    frame = score_summaries(collection, runs, [MMeasure(patience=20), MMeasure(patience=10)])
    assert frame["topic"].tolist() == ["q", "q", "r", "r", "all", "all"]
    assert frame["metric"].tolist() == ["M@20", "M@10"] * 3
    assert frame["value"].tolist() == pytest.approx([0, 0, 0.9, 0.6, 0.45, 0.3])


@given(queries(), summaries(), patiences, patiences)
def test_m_never_falls_when_patience_grows(query, summary, one, two):
    """A more patient user reads the same and gains no less."""
    less, more = sorted([one, two])
    assert m(query, summary, MMeasure(patience=less)) <= m(query, summary, MMeasure(patience=more)) + 1e-12


@given(queries(), summaries(), patiences)
def test_m_lies_between_zero_and_the_expected_total_importance(query, summary, patience):
    """Nothing can be gained twice."""
    total = sum(query.probability[intent] * rating for (intent, _), rating in query.importance.items())
    assert 0 <= m(query, summary, MMeasure(patience=patience)) <= total + 1e-12


@given(queries(), summaries(), st.data())
def test_m_never_rises_when_a_nonrelevant_iunit_moves_up(query, summary, data):
    """What comes later is pushed back, nothing comes forward."""
    layer = list(summary.first)
    places = [place for place in range(1, len(layer)) if layer[place] == IUnit("u5")]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    layer[place - 1], layer[place] = layer[place], layer[place - 1]
    worse = Summary(first=tuple(layer), second=summary.second)
    assert m(query, worse) <= m(query, summary) + 1e-12


@given(
    queries(),
    summaries(),
    st.sampled_from(["both", "first", "second"]),
    st.none() | st.integers(0, 40),
    patiences,
)
def test_m_equals_its_definition_written_out(query, summary, layers, limit, patience):
    """The slow oracle: walk every trailtext, one element after the other."""
    measure = MMeasure(patience=patience, layers=layers, truncate=limit)
    assert m(query, summary, measure) == pytest.approx(
        oracle(query, summary, layers, limit, patience), abs=1e-12
    )


def oracle(query, summary, layers, limit, patience):
    total = 0.0
    for intent, probability in query.probability.items():
        offset, seen = 0, set()
        for element in oracle_trail(query, summary, intent, layers, limit):
            offset += len(text_of(element, query))
            if isinstance(element, IUnit) and element.id not in seen:
                seen.add(element.id)
                decay = max(0.0, 1 - offset / patience) if patience > 0 else 0.0
                total += probability * query.importance.get((intent, element.id), 0.0) * decay
    return total


def oracle_trail(query, summary, intent, layers, limit):
    for element in oracle_cut(query, summary.first, limit):
        if isinstance(element, IUnit):
            yield from [] if layers == "second" else [element]
        else:
            yield element
            if element.intent == intent and layers != "first":
                yield from oracle_cut(query, summary.second[intent], limit)


def oracle_cut(query, layer, limit):
    lengths = [len(text_of(element, query)) for element in layer]
    fits = [limit is None or sum(lengths[: place + 1]) <= limit for place in range(len(layer))]
    return [element for place, element in enumerate(layer) if all(fits[: place + 1])]


def text_of(element, query):
    return query.iunits[element.id] if isinstance(element, IUnit) else query.intents[element.intent]


@given(queries(), summaries(), st.lists(patiences, min_size=1, max_size=6, unique=True))
def test_a_sweep_equals_one_patience_at_a_time_and_the_table_positions(query, summary, sweep):
    """Three ways to the same numbers: all at once, one by one, and from the table that calibration reads."""
    collection, run = collection_of(query), run_of(summary)
    at_once = [
        score.value for score in summary_scores(collection, [run], [MMeasure(patience=one) for one in sweep])
    ]
    one_by_one = [m(query, summary, MMeasure(patience=one)) for one in sweep]
    assert at_once[: len(sweep)] == one_by_one

    table = m_from_positions(summary_positions(collection, run), {"q": query.probability}, sweep)
    expected = [one_by_one] if len(table) else []
    assert table.to_numpy().tolist() == [pytest.approx(row) for row in expected]


@given(queries(), summaries())
def test_variants_scored_together_are_those_scored_alone(query, summary):
    """What one truncation or ablation reads must not leak into another."""
    variants = {
        f"{layers} {limit} {intents}": MMeasure(patience=30, truncate=limit, layers=layers, intents=intents)
        for layers in ("both", "first", "second")
        for limit in (None, 12)
        for intents in ("given", "uniform")
    }
    together = summary_scores(collection_of(query), [run_of(summary)], variants)
    found = {score.metric: score.value for score in together if score.topic == "q"}
    assert found == {label: m(query, summary, one) for label, one in variants.items()}


def test_the_table_positions_has_every_first_meeting_with_its_importance():
    """The columns are those of the tables; what nobody rated has importance 0."""
    summary = Summary(first=(IUnit("u1"), Link("other")), second={"other": (IUnit("u3"),)})
    rows = summary_positions(collection_of(example()), run_of(summary, name="A")).to_dict("records")
    columns = ["topic", "system", "intent", "iunit", "importance", "offset_chars"]
    assert [list(row.values()) for row in rows] == [
        ["q", "A", "one", "u1", 2.0, 5],
        ["q", "A", "other", "u1", 0.0, 5],
        ["q", "A", "other", "u3", 3.0, 15],
    ]
    assert list(rows[0]) == columns


def test_m_from_positions_keeps_tasks_apart():
    """One topic may stand in two tasks; their summaries are not one."""
    table = summary_positions(collection_of(example()), run_of(Summary(first=(IUnit("u1"),), second={})))
    both = pd.concat([table.assign(task="one"), table.assign(task="two")])
    found = m_from_positions(both, {"q": {"one": 0.6}}, [20])
    assert found.index.to_list() == [("one", "q", "run"), ("two", "q", "run")]
    assert found[20.0].tolist() == pytest.approx([0.9, 0.9])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"patience": -1}, "patience must be 0 or more"),
        ({"patience": math.nan}, "patience must be a number"),
        ({"truncate": -1}, "truncate must be 0 or more"),
        ({"truncate": 1.5}, "truncate must be a whole number or None"),
        ({"layers": "third"}, "layers must be 'both', 'first' or 'second'"),
        ({"intents": "guessed"}, "intents must be 'given', 'uniform' or 'fitted'"),
    ],
)
def test_parameters_out_of_range_are_refused(arguments, message):
    """Before anything is computed."""
    with pytest.raises(ValueError, match=message):
        MMeasure(**arguments)


@given(
    st.builds(
        MMeasure,
        patience=st.floats(0) | st.integers(0),
        truncate=st.none() | st.integers(0),
        layers=st.sampled_from(["both", "first", "second"]),
        intents=st.sampled_from(["given", "uniform", "fitted"]),
    )
)
def test_every_variant_reads_back_from_what_it_prints(measure):
    """Names in reports can be put back into a command or a program."""
    assert parse_measure(repr(measure)) == measure


def test_printed_names():
    """Score tables show the patience alone; the full name says the rest."""
    assert MMeasure(patience=840.0).column == "M@840"
    assert UMeasure(patience=math.inf).column == "U@inf"
    assert repr(MMeasure(patience=1500, layers="first")) == "MMeasure(patience=1500, layers='first')"
