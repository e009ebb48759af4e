"""The report's findings on agreement: headline, summary, tables, and the figures of the paper."""

from collections.abc import Iterator

import numpy as np

from calibration.variants import Role
from study_app.report.page import Section, Table
from study_app.report.results import TaskResult, scatters
from study_app.report.wording import (
    DASH,
    LEVEL,
    counted,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)

SIGNIFICANT = 0.05
FITS = {
    "none": DASH,
    "other_data": "other data",
    "cross_fitted": "these preferences, cross-fitted",
    "in_sample": "these preferences, in sample",
}
SIGNS = (
    "Each sign is a pair of systems for one query. Circles: measure and majority prefer the same system (shaded"
    " quadrants). Triangles: they prefer different ones. Crosses: equal scores or an equal vote."
)


def headline(result: TaskResult) -> str:
    """Say the main finding in one sentence."""
    row = result.row(result.main)
    name = "M-measure" if row["role"] == Role.DEFAULT else result.main
    sentence = f"{name} agrees with the preferences on {percent(row['agreement'])} of the pairs"
    if result.fitted is None:
        return sentence
    fitted, comparison = result.row(result.fitted), result.comparison(result.fitted)
    found = comparison is not None and comparison["p_holm"] < SIGNIFICANT
    change = (
        f"the fitted patience makes it {percent(fitted['agreement'])}"
        if found
        else "fitting its patience makes no difference that this study could detect"
    )
    return f"{sentence}; {change}"


def summary(result: TaskResult, *, simulated: bool) -> Iterator[str]:
    """Yield the findings on one task in words, each number with its interval."""
    crowd = "simulated worker" if simulated else "worker"
    row = result.row(result.main)
    seconds = row["mean_decision_seconds"]
    decided = "" if np.isnan(seconds) else f" A decision took {seconds:.1f} seconds on average."
    yield (
        f"{counted(row['workers'], crowd)} compared {counted(row['pairs'], 'pair')} of systems over"
        f" {counted(row['queries'], 'query', 'queries')} in {counted(row['judgments'], 'judgment')}.{decided}"
    )
    others = (percent(result.row(result.main, ties)["agreement"]) for ties in ("half", "drop", "weighted"))
    half, drop, weighted = others
    yield (
        f"{result.in_words(result.main)} is on the side of the majority in {percent(row['agreement'])} of the pairs"
        f" ({LEVEL} interval {percent_interval(row['low'], row['high'])}, over queries). A tie counts against the"
        f" measure here; {row['vote_ties']} votes and {row['metric_ties']} scores are tied. With a tie as half an"
        f" agreement it is {half}, without the tied pairs {drop}, and {weighted} of all single votes are for the"
        " measure’s choice."
    )
    yield (
        f"People do not agree with each other all the time: a second panel of the same size would be on the side of"
        f" this one in {percent(row['ceiling'])} of the pairs"
        f" ({percent_interval(row['ceiling_low'], row['ceiling_high'])}), and a measure that knew what most"
        f" people prefer in {percent(row['perfect'])} ({percent_interval(row['perfect_low'], row['perfect_high'])})."
    )
    if result.fitted is not None:
        yield _fitted_sentence(result, result.fitted)


def agreement_section(result: TaskResult, key: str) -> Section:
    """Return the main table, the comparisons and the scatter of the paper's Fig. 3."""
    row = result.row(result.main)
    shown = [measure for measure in (result.main, result.fitted) if measure is not None]
    tables = [_agreement_table(result)]
    if len(result.comparisons):
        tables.append(_comparison_table(result))
    if len(result.unexcluded):
        tables.append(_exclusion_table(result))
    return Section(
        key=key,
        title=f"{result.main} and the majority are on the same side in {percent(row['agreement'])} of the pairs",
        short="Agreement",
        paragraphs=(SIGNS,) if len(result.pairs) else ("There is no pairs.csv, so no scatter is drawn.",),
        figures=tuple(scatters(result, shown, key)),
        tables=tuple(tables),
    )


def _fitted_sentence(result: TaskResult, measure: str) -> str:
    row, comparison = result.row(measure), result.comparison(measure)
    source = (
        "each query is judged with a patience fitted to the others"
        if row["fit"] == "cross_fitted"
        else "the patience was fitted to other data"
    )
    sentence = (
        f"{result.in_words(measure)} agrees in {percent(row['agreement'])}"
        f" ({percent_interval(row['low'], row['high'])}; {source})"
    )
    if comparison is None or np.isnan(comparison["low"]):
        return f"{sentence}."
    return (
        f"{sentence}: {points(comparison['difference'])} points"
        f" ({points_interval(comparison['low'], comparison['high'])}, p {_equals(comparison['p_holm'])} after Holm’s"
        f" correction). A study of this size finds a true difference of"
        f" {points(comparison['minimum_detectable']).lstrip('+')} points in four of five cases."
    )


def _equals(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def _agreement_table(result: TaskResult) -> Table:
    rows = []
    for measure in result.measures:
        against = result.row(measure)
        rows.append(
            (
                measure,
                percent(against["agreement"]),
                percent_interval(against["low"], against["high"]),
                *(percent(result.row(measure, ties)["agreement"]) for ties in ("half", "drop", "weighted")),
                str(against["metric_ties"]),
                FITS[str(against["fit"])],
            )
        )
    for name, column in (("a second panel", "ceiling"), ("a perfect measure", "perfect")):
        against = result.row(result.main)
        interval = percent_interval(against[f"{column}_low"], against[f"{column}_high"])
        conventions = (
            percent(result.row(result.main, ties)[column]) for ties in ("half", "drop", "weighted")
        )
        rows.append((f"Ceiling: {name}", percent(against[column]), interval, *conventions, DASH, DASH))
    return Table(
        caption="Agreement with the preferences",
        columns=(
            "Measure",
            "Agreement",
            f"{LEVEL} interval",
            "Ties half",
            "Ties out",
            "By votes",
            "Equal scores",
            "Fitted to",
        ),
        rows=tuple(rows),
        note=(
            "Agreement: share of pairs in which the better score is the majority’s choice, a tie counting against the"
            " measure. Ties half: a tie counts half. Ties out: tied pairs are left out. By votes: share of single votes"
            " for the measure’s choice. Rows in sample were fitted to the preferences they are judged by and are too"
            " good."
        ),
        text_columns=frozenset({0, 7}),
    )


def _comparison_table(result: TaskResult) -> Table:
    rows = tuple(
        (
            str(row.measure),
            points(row.difference),
            points_interval(row.low, row.high),
            p_value(row.p_holm),
            p_value(row.p_sign_flip),
            points(row.minimum_detectable).lstrip("+"),
        )
        for row in result.comparisons.itertuples()
    )
    return Table(
        caption=f"Difference from {result.main}, in percentage points",
        columns=("Measure", "Difference", f"{LEVEL} interval", "p (Holm)", "p (sign flips)", "Detectable"),
        rows=rows,
        note=(
            "Paired by query: t test, and exchange of the two measures within queries (not corrected). Detectable: the"
            " smallest true difference that such a study finds in four of five cases. A dash: no variation."
        ),
    )


def _exclusion_table(result: TaskResult) -> Table:
    everybody = result.unexcluded[result.unexcluded["ties"] == "against"].set_index("measure")
    rows = []
    for measure in result.measures:
        without, with_ = result.row(measure), everybody.loc[measure]
        rows.append(
            (
                measure,
                percent(without["agreement"]),
                percent_interval(without["low"], without["high"]),
                percent(with_["agreement"]),
                percent_interval(with_["low"], with_["high"]),
            )
        )
    return Table(
        caption="With and without the excluded workers",
        columns=("Measure", "Left out", f"{LEVEL} interval", "Counted", f"{LEVEL} interval"),
        rows=tuple(rows),
        note=(
            f"{counted(result.row(result.main)['workers'], 'worker')} without and"
            f" {int(everybody['workers'].iloc[0])} with the excluded ones. Excluding people for what they prefer would"
            " raise the agreement by itself; the rule looks at search time and repeats only."
        ),
    )
