"""Findings on agreement, and the paper's figures."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from calibration.agree.measures.variants import ParameterOrigin, VariantRole
from calibration.agree.result import (
    DIFFERENCE_COLUMNS,
    beyond_perfect,
    counted_measures,
    decided,
    has_enough_pairs,
    often_tied,
    undetectable_note,
)
from metrics.errors import join_names
from study_app.report.drawing.figures import CEILING, MAX_MARKERS, CurveMark, rows_with_intervals, scatter
from study_app.report.page import (
    LEVEL,
    Figure,
    Section,
    p_value,
    percent,
    percent_interval,
    pluralise,
    points,
    points_interval,
    quantity,
)
from study_app.report.parts.agreement_tables import agreement_tables
from study_app.report.results import PLACES, SUMMARIES, Row, TaskResult

SIGNIFICANT = 0.05
MAX_ROWS = 12
"""Measures that the first screen has room for."""
SECOND, PERFECT = "a second panel", "a perfect measure"
NO_INTERVAL = "A dotted row has no interval: all queries are alike, or there is only one. That is not certainty but too few to say."
READ = {
    "o": "Discs: as the paper or the study has them.",
    "D": "Diamonds: fitted.",
    "s": "Open squares: one part left out.",
    "x": "Crosses: fitted in sample, too good.",
    "^": "Triangles: scores from elsewhere.",
    CEILING: "Plus signs: what is possible, from how much people agree with each other.",
}
"""Reading of a row, by its sign."""
SIGNS = (
    "Each sign is a pair of {plural} for one query. Circles: measure and majority prefer the same {singular} (shaded"
    " quadrants). Triangles: they prefer different ones. Crosses: equal scores or an equal vote. Differences and votes are"
    " of the first of the two {plural} by name."
)
COUNTED = (
    "Cells count the pairs of {plural}: the darker, the more, on a logarithmic scale. Measure and"
    " majority prefer the same one in the shaded quadrants. Differences and votes are of the first of the two by name."
)


def answer(result: TaskResult) -> str:
    """Return how often the main measure agrees, and what named comparisons show.

    With too little data it says so.
    """
    row, measures = result.row(result.primary_measure), len(result.fair)
    if not has_enough_pairs(row):
        which = result.named or (result.main if len(result.measures) == 1 else "any measure")
        return (
            f"Too few to say how well {which} agrees with the preferences: {pluralise(decided(row), 'decided pair')},"
            f" {result.topics_counted}"
        )
    if np.isnan(row["agreement"]):
        return f"{result.named or 'No measure'} tells the two {result.things[1]} of {'no' if result.named else 'any'} pair apart"
    share = f"{percent(row['agreement'])} of {pluralise(row['pairs'], 'pair')}"
    if result.named is None and measures > 1:
        counted = counted_measures(result.rows, result.fair)
        if len(result.best) == measures:
            return f"{counted} agree with the majority equally often, on {share}"
        agree = "agrees" if len(result.best) == 1 else "agree"
        return (
            f"{join_names(result.best, most=3)} {agree} with the majority most often of {counted}, on {share}"
        )
    sentence = f"{result.primary_measure} agrees with the majority on {share} ({percent_interval(row['low'], row['high'])})"
    return f"{sentence}; {_compared(result.named_comparisons)}" if result.named_comparisons else sentence


def _compared(rows: list[Row]) -> str:
    """Return the result of the primary named comparison, or how many differ."""
    first = rows[0]
    if all(np.isnan(row["p_t"]) for row in rows):
        return f"whether that is more or less often than {first['against']} is not tested"
    if len(rows) > 1 and first["standing"] != "primary":
        differing = sum(row["p_holm"] < SIGNIFICANT for row in rows)
        return f"{differing} of {len(rows)} comparisons that were named show a difference"
    if not first["p_holm"] < SIGNIFICANT:
        return f"against {first['against']} there is no difference that this study could detect"
    interval = points_interval(first["low"], first["high"])
    return f"against {first['against']} that is {points(first['difference'])} points ({interval})"


def certainty(result: TaskResult) -> str:
    """Return the interval of the agreement, its source, and the nearest rival.

    The rival is the measure compared first, or the next best.
    """
    row = result.row(result.primary_measure)
    people = "" if np.isnan(row["workers"]) else f", {pluralise(int(row['workers']), 'worker')}"
    size = f"{pluralise(row['judgments'], 'judgment')} of {result.topics_counted}{people}"
    if result.named is None and len(result.fair) > 1 and not has_enough_pairs(row):
        return f"The interval of each measure is in the figure; {size}"
    if np.isnan(row["low"]):
        return f"No interval: all queries are alike, or there is only one; {size}"
    sentence = f"With {LEVEL} confidence {result.primary_measure} is between {percent_interval(row['low'], row['high']).replace(' to ', ' and ')} ({size})"
    if result.named_comparisons and (tested := _tested(result.named_comparisons[0])):
        return f"{sentence}; the difference has {tested.removeprefix(', ')}"
    change = runner_up(result)
    if result.named is not None or change is None:
        return sentence
    ahead = f"ahead of {change['against']} ({points(change['difference'])} points, {points_interval(change['low'], change['high'])})"
    return (
        f"{sentence}; it is {ahead}"
        if change["low"] > 0
        else f"{sentence}; these data do not show whether it is {ahead}"
    )


def runner_up(result: TaskResult) -> "Row | None":
    """Return the comparison of the main measure with the next best, or None.

    The result is None where no measure has an interval.
    """
    others = result.fair[~result.fair["measure"].isin(result.best)]
    change = (
        result.comparison(result.primary_measure, str(others["measure"].iloc[0])) if len(others) else None
    )
    return None if change is None or np.isnan(change["low"]) else change


def ceiling(result: TaskResult) -> str:
    """Return how often people agree with each other, and the measure's distance."""
    row, asked = result.row(result.main), result.row(result.primary_measure)
    if row["no_ceiling"]:
        return f"How far people agree with each other cannot be estimated: {row['no_ceiling']}"
    of, distance = "", _from_panel(asked, result.primary_measure)
    if result.ceiling_is_of_fewer:
        of = f" of the {quantity(float(row['pairs_there']))} pairs that have {result.of_two}"
        distance = f", where {result.primary_measure} is in {percent(asked['agreement_there'])}{distance}"
    return (
        f"Another panel of as many people would agree with this majority in {percent(row['ceiling'])}{of}"
        f" ({percent_interval(row['ceiling_low'], row['ceiling_high'])}), and a measure that knew what most people prefer in"
        f" {percent(row['perfect'])} ({percent_interval(row['perfect_low'], row['perfect_high'])}){distance}"
    )


def _from_panel(row: Row, measure: str) -> str:
    """Return a measure's difference from the panel, and whether it is significant.

    The text is empty without an interval.
    """
    difference, low, high = (row.get(name, np.nan) for name in DIFFERENCE_COLUMNS)
    if np.isnan(low):
        return ""
    amount = f"{points(difference)} points ({points_interval(low, high)})"
    if low <= 0 <= high:
        return f"; the difference of {measure} from the panel, {amount}, is not significant"
    return f"; {measure} agrees {'more' if low > 0 else 'less'} often than the panel, by {amount}"


def detectable(result: TaskResult) -> str:
    """Return the differences that a study of this size mostly misses, or nothing."""
    if result.comparisons.empty:
        return ""
    smallest = result.comparisons["minimum_detectable"].dropna()
    known = [difference for difference in smallest if not undetectable_note(difference)]
    if not known:
        return next(filter(None, map(undetectable_note, smallest)), "").removesuffix(".")
    ends = dict.fromkeys(points(end).lstrip("+") for end in (min(known), max(known)))
    which = ", depending on the measures," if len(ends) > 1 else ""
    return (
        f"With {result.topics_counted} in task {result.task} true differences below {' to '.join(ends)} points{which} are mostly"
        " missed"
    )


def agreement_section(result: TaskResult, key: str) -> Section:
    """Return the section on agreement: sentences, tables and scatter (Fig. 3).

    It adds a figure of every measure if the first screen has no space for it.
    """
    others = [row["against"] for row in result.named_comparisons[:1]]
    shown = dict.fromkeys(
        name for name in (result.primary_measure, *others, result.fitted) if name is not None
    )
    all_rows = (
        ()
        if key == "agreement" and len(result.measures) <= MAX_ROWS
        else (rows_figure(result, f"{key}-all"),)
    )
    return Section(
        key=key,
        title=answer(result),
        short="Agreement" if key == "agreement" else f"Agreement, {result.task}",
        paragraphs=tuple(_paragraphs(result)),
        figures=(*all_rows, *scatters(result, list(shown), key, result.primary_measure)),
        tables=tuple(agreement_tables(result, key)),
    )


def _paragraphs(result: TaskResult) -> Iterator[str]:
    row = result.row(result.primary_measure)
    seconds, known = row["mean_decision_seconds"], not np.isnan(row["workers"])
    who = (
        f"{pluralise(int(row['workers']), 'worker')} compared"
        if known
        else "People of whom nobody knows who they were compared"
    )
    took = "" if np.isnan(seconds) else f" A decision took {seconds:.1f} seconds on average."
    yield (
        f"{who} {pluralise(row['pairs'], 'pair')} of {result.things[1]} over {result.topics_counted} in"
        f" {pluralise(row['judgments'], 'judgment')}.{took} {_leading(result)}; {pluralise(row['vote_ties'], 'pair')}"
        f" {'is' if row['vote_ties'] == 1 else 'are'} tied in the votes and {quantity(float(row['metric_ties']))} in the scores of"
        f" {result.primary_measure}."
    )
    beyond = list(beyond_perfect(result.rows, result.ties))
    yield " ".join([f"{ceiling(result)}.", *beyond])
    for named in result.named_comparisons:
        if not np.isnan(named["difference"]):
            kind = "primary comparison" if named["standing"] == "primary" else "comparison"
            when = (
                ", when the answers were there and not in the study file"
                if named["named"] == "analysis"
                else ""
            )
            yield (
                f"The {kind} named {PLACES[str(named['named'])]}{when}: {named['measure']} against {named['against']},"
                f" {points(named['difference'])} points ({points_interval(named['low'], named['high'])}{_tested(named)})."
            )
    if result.named_comparisons:
        yield "All other comparisons are exploratory."
    if result.pairs.empty:
        yield "There is no pairs.csv, so no scatter is drawn."


def _leading(result: TaskResult) -> str:
    """Return the value of a tie in the leading convention, and the reason."""
    tied = [f"{name} on {percent(share)}" for name, share in often_tied(result.rows).items()]
    if not tied:
        return "A tie counts against the measure here"
    return (
        f"A tie counts as half an agreement here, since scores tie on many pairs ({join_names(tied, most=3)})"
    )


def _tested(comparison: Row) -> str:
    """Return the test of a comparison, before and after correction, or nothing."""
    p, corrected = (f"= {p_value(comparison[name])}".replace("= <", "<") for name in ("p_t", "p_holm"))
    if np.isnan(comparison["p_t"]):
        return ""
    if np.isnan(comparison["p_holm"]):
        return f", p {p}, not corrected"
    return f", p {p}, {corrected} after Holm’s correction".replace(", = ", ", ")


def rows_figure(result: TaskResult, name: str, most: int | None = None) -> Figure:
    """Return the figure of all agreements, the highest on top, above the ceilings.

    Parameters
    ----------
    result : TaskResult
    name : str
        Of the figure.
    most : int, optional
        Measures to show: the one asked about, and the highest.
    """
    row = result.row(result.main)
    ordered = sorted(
        result.measures, key=lambda measure: np.nan_to_num(-result.row(measure)["agreement"], nan=1.0)
    )
    shown = ordered[:most]
    if result.primary_measure not in shown:
        shown[-1] = result.primary_measure
    marks = [_mark(result, measure) for measure in shown]
    ceilings = [
        CurveMark(
            label=label, value=row[name], low=row[f"{name}_low"], high=row[f"{name}_high"], sign=CEILING
        )
        for label, name in ((SECOND, "ceiling"), (PERFECT, "perfect"))
        if not row["no_ceiling"]
    ]
    left_out = len(ordered) - len(shown)
    signs = {mark.sign for mark in (*marks, *ceilings)}
    fewer = (
        f" The last two rows are of the {quantity(float(row['pairs_there']))} of {pluralise(row['pairs'], 'pair')} that have"
        f" {result.of_two}; an upright line is the agreement on these, and only that is comparable with them."
    )
    words = result.in_words(result.primary_measure)
    parts = (
        "" if words == result.primary_measure else f"{result.primary_measure}: {words}.",
        (
            f"Agreement with its {LEVEL} interval over queries{'' if np.isnan(row['workers']) else ' and people'}, a tie counting"
            f" {'half' if result.ties == 'half' else 'against the measure'}."
        ),
        *(text for sign, text in READ.items() if sign in signs),
        "Dashed: one half.",
        f"No ceiling: {row['no_ceiling']}." if row["no_ceiling"] else "",
        fewer.strip() if result.ceiling_is_of_fewer else "",
        NO_INTERVAL if any(np.isnan(mark.low) for mark in marks) else "",
        f"{pluralise(left_out, 'measure')} more: section Agreement." if left_out else "",
    )
    return Figure(
        name=name,
        title=answer(result),
        wide=True,
        draw=partial(rows_with_intervals, marks=[*marks, *ceilings], label="agreement with the majority"),
        alt="Agreement of each measure: "
        + "; ".join(
            f"{mark.label} {percent(mark.value)} ({percent_interval(mark.low, mark.high)})"
            for mark in (*marks, *ceilings)
        )
        + ".",
        caption=" ".join(filter(None, parts)),
    )


def _mark(result: TaskResult, measure: str) -> CurveMark:
    row = result.row(measure)
    signs = {VariantRole.FITTED: "D", VariantRole.ABLATION: "s", VariantRole.SCORES: "^"}
    return CurveMark(
        label=measure,
        value=float(row["agreement"]),
        low=float(row["low"]),
        high=float(row["high"]),
        sign="x"
        if row["fit"] == ParameterOrigin.IN_SAMPLE
        else signs.get(VariantRole(str(row["role"])), "o"),
        there=float(row["agreement_there"]) if result.ceiling_is_of_fewer else np.nan,
    )


def scatters(
    result: TaskResult, measures: Sequence[str], key: str, against: str | None = None
) -> Iterator[Figure]:
    """Yield the scatter (Fig. 3) of each measure with differences in pairs.csv.

    The first explains the markers.

    Titles have the difference from the measure ``against``, by default the main one, where it was compared.
    """
    against, (singular, plural) = against or result.main, result.things
    how = (COUNTED if len(result.pairs) > MAX_MARKERS else SIGNS).format(singular=singular, plural=plural)
    for number, measure in enumerate(measures, start=1):
        difference = result.pairs.get(f"difference {measure}")
        if difference is None or difference.isna().any():
            continue
        row, comparison, words = (
            result.row(measure),
            result.comparison(measure, against),
            result.in_words(measure),
        )
        change = ""
        if comparison is not None and not np.isnan(comparison["difference"]):
            interval = points_interval(comparison["low"], comparison["high"])
            change = f" ({points(comparison['difference'])} against {against}; {interval})"
        yield Figure(
            name=f"{key}-pairs-{number}",
            title=f"{measure}: {percent(row['agreement'])}{change}",
            draw=partial(
                scatter,
                difference=difference.to_numpy(np.float64),
                share=result.pairs["vote_share"].to_numpy(np.float64),
                measure="M" if row["family"] == SUMMARIES else measure,
                thing=singular,
            ),
            alt=(
                f"Vote share against score difference for {pluralise(row['pairs'], 'pair')} under {measure}:"
                f" {percent(row['agreement'])} lie in the quadrants of agreement, {row['tied_pairs']}"
                f" {'is' if row['tied_pairs'] == 1 else 'are'} tied."
            ),
            caption=" ".join(filter(None, ("" if words == measure else f"{words}.", how))),
        )
        how = ""
