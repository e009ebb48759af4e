"""The report's findings on agreement: headline, summary, and the figures of the paper."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from calibration.agree.measures.variants import Fit, Role
from calibration.agree.result import beyond_perfect, nothing_detectable, often_tied, tells
from metrics.errors import listed
from study_app.report.drawing.figures import Mark, agreement_rows
from study_app.report.page import (
    LEVEL,
    Figure,
    Section,
    counted,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
    quantity,
)
from study_app.report.parts.agreement_tables import (
    agreement_table,
    by_votes_table,
    comparison_table,
    disagreement_tables,
    exclusion_table,
)
from study_app.report.results import (
    HATCHED,
    PLACES,
    Row,
    TaskResult,
    ceiling,
    finding,
    scatters,
)

SIGNIFICANT = 0.05
NO_INTERVAL = "A dotted row has no interval: all queries are alike, or there is only one. That is not certainty but too few to say."
READ = {
    "o": "Discs: as the paper or the study has them.",
    "D": "Diamonds: fitted.",
    "s": "Open squares: one part left out.",
    "x": "Crosses: fitted in sample, too good.",
    "^": "Triangles: scores from elsewhere.",
}
"""Sign of a row -> how it is read."""


def headline(result: TaskResult) -> str:
    """Say the main finding in one sentence: of the comparisons that were named, else of what was fitted and tested."""
    sentence = finding(result)
    if not tells(result.row(result.main)):
        return sentence
    if result.named_comparisons:
        return f"{sentence}; {_compared(result.named_comparisons)}"
    if result.fitted is None or result.named is None or result.asked != result.main:
        return sentence
    fitted, comparison = result.row(result.fitted), result.comparison(result.fitted)
    if comparison is None or (np.isnan(comparison["p_holm"]) and comparison["difference"] != 0):
        return sentence
    change = (
        f"what was fitted makes it {percent(fitted['agreement'])}"
        if comparison["p_holm"] < SIGNIFICANT
        else "what was fitted makes no difference that this study could detect"
    )
    return f"{sentence}; {change}"


def _compared(rows: list[Row]) -> str:
    """Say what the primary one of the named comparisons found, or how many of several differ."""
    first = rows[0]
    if len(rows) > 1 and first["standing"] != "primary":
        differing = sum(row["p_holm"] < SIGNIFICANT for row in rows)
        return f"{differing} of {len(rows)} comparisons that were named show a difference"
    if not first["p_holm"] < SIGNIFICANT:
        return f"against {first['against']} there is no difference that this study could detect"
    interval = points_interval(first["low"], first["high"])
    return f"against {first['against']} that is {points(first['difference'])} points ({interval})"


def summary(result: TaskResult, *, simulated: bool) -> Iterator[str]:
    """Yield the findings on one task in words, each number with its interval."""
    crowd = "simulated worker" if simulated else "worker"
    row = result.row(result.asked)
    seconds = row["mean_decision_seconds"]
    decided = "" if np.isnan(seconds) else f" A decision took {seconds:.1f} seconds on average."
    judgments, pairs = (
        counted(row["judgments"], "judgment"),
        f"{counted(row['pairs'], 'pair')} of {result.things[1]}",
    )
    known = not np.isnan(row["workers"])
    yield (
        f"{counted(int(row['workers']), crowd)} compared {pairs} over {result.topics_counted} in {judgments}.{decided}"
        if known
        else f"{judgments} compared {pairs} over {result.topics_counted}; who judged is not known.{decided}"
    )
    against, half, drop, weighted = (
        percent(result.row(result.asked, ties)["agreement"])
        for ties in ("against", "half", "drop", "weighted")
    )
    over = "queries and people" if known else "queries"
    yield (
        f"{result.in_words(result.asked)} is on the side of the majority in {percent(row['agreement'])} of the pairs"
        f" ({LEVEL} interval over {over}: {percent_interval(row['low'], row['high'])}). {_leading(result)};"
        f" {counted(row['vote_ties'], 'pair')} {_is(row['vote_ties'])} tied in the votes and"
        f" {quantity(float(row['metric_ties']))} in its scores. With a tie against the measure it is {against}, as half an agreement {half}, without the"
        f" tied pairs {drop}, and on average {weighted} of a pair’s votes are for the measure’s choice."
    )
    yield from _ceiling_sentences(result)
    yield from _named_sentences(result)
    if result.fitted is not None:
        yield _fitted_sentence(result, result.fitted)
    if len(result.fair_measures) > 1 and tells(row):
        yield _best_sentence(result)


def _leading(result: TaskResult) -> str:
    """Say what a tie counts in what leads, and why."""
    tied = list(often_tied(result.rows).items())
    if not tied:
        return "A tie counts against the measure here"
    which = listed([f"{name} on {percent(share)}" for name, share in tied], most=3)
    return f"A tie counts as half an agreement here, since scores tie on many pairs ({which})"


def _ceiling_sentences(result: TaskResult) -> Iterator[str]:
    row = result.row(result.main)
    if np.isnan(ceiling(row)).any():
        yield f"How far people agree with each other cannot be told: {row['no_ceiling']}."
        return
    of, there = "of the pairs", ""
    if result.ceiling_is_of_fewer:
        of = f"of the {quantity(float(row['pairs_there']))} of {counted(row['pairs'], 'pair')} that have {result.of_two}"
        there = f" There {result.asked} is in {percent(result.row(result.asked)['agreement_there'])}."
    yield (
        f"People do not agree with each other all the time: a second panel of the same size would be on the side of"
        f" this one in {percent(row['ceiling'])} {of}"
        f" ({percent_interval(row['ceiling_low'], row['ceiling_high'])}), and a measure that knew what most"
        f" people prefer in {percent(row['perfect'])} ({percent_interval(row['perfect_low'], row['perfect_high'])}).{there}"
    )
    yield from beyond_perfect(result.rows, result.ties)


def agreement_section(result: TaskResult, key: str) -> Section:
    """Return every measure's agreement in a figure and a table, the comparisons, and the scatter of the paper's Fig. 3."""
    others = [row["against"] for row in result.named_comparisons[:1]]
    shown = dict.fromkeys(name for name in (result.asked, *others, result.fitted) if name is not None)
    tables = [agreement_table(result, key)]
    if len(result.comparisons):
        tables.append(comparison_table(result, key))
        tables.append(by_votes_table(result, key))
    if len(result.unexcluded):
        tables.append(exclusion_table(result, key))
    tables += disagreement_tables(result, key)
    return Section(
        key=key,
        title=_section_title(result),
        short="Agreement" if key == "agreement" else f"Agreement, {result.task}",
        paragraphs=() if len(result.pairs) else ("There is no pairs.csv, so no scatter is drawn.",),
        figures=(_rows_figure(result, key), *scatters(result, list(shown), key, result.asked)),
        tables=tuple(tables),
    )


def _section_title(result: TaskResult) -> str:
    row = result.row(result.asked)
    if not tells(row):
        return finding(result)
    return (
        f"{result.asked} and the majority are on the same side in {percent(row['agreement'])} of the pairs"
        f" ({percent_interval(row['low'], row['high'])})"
    )


def _rows_figure(result: TaskResult, key: str) -> Figure:
    row = result.row(result.main)
    panel, perfect = ceiling(row)
    without = bool(np.isnan([panel, perfect]).any())
    best = listed([f"{name} {percent(result.row(name)['agreement'])}" for name in result.best], most=3)
    marks = [
        Mark(
            label=measure,
            value=float(against["agreement"]),
            low=float(against["low"]),
            high=float(against["high"]),
            sign=_sign(against),
            there=float(against["agreement_there"]) if result.ceiling_is_of_fewer else np.nan,
        )
        for measure, against in ((name, result.row(name)) for name in result.measures)
    ]
    return Figure(
        name=key,
        title=finding(result)
        + (
            f"; highest of {len(result.fair_measures)} measures: {best}"
            if len(result.fair_measures) > 1 and tells(row) and result.named is not None
            else ""
        ),
        wide=True,
        draw=partial(agreement_rows, marks=marks, ceiling=panel, perfect=perfect),
        alt="Agreement of each measure: "
        + "; ".join(
            f"{mark.label} {percent(mark.value)} ({percent_interval(mark.low, mark.high)})" for mark in marks
        )
        + ("." if without else f". A second panel {percent(panel)}, a perfect measure {percent(perfect)}."),
        caption=(
            f"Agreement with its {LEVEL} interval over queries{'' if np.isnan(row['workers']) else ' and people'}, a tie counting"
            f" {'half' if result.ties == 'half' else 'against the measure'}."
            f" {' '.join(text for sign, text in READ.items() if sign in {mark.sign for mark in marks})}"
            " Dashed: one half."
            + (f" No ceiling is drawn: {row['no_ceiling']}." if without else f" {HATCHED}{_on_fewer(result)}")
            + (f" {NO_INTERVAL}" if any(np.isnan(mark.low) for mark in marks) else "")
        ),
    )


def _on_fewer(result: TaskResult) -> str:
    """Say which pairs the ceilings are of, where these are fewer, and how the agreement there is drawn."""
    if not result.ceiling_is_of_fewer:
        return ""
    row = result.row(result.main)
    return (
        f" Both are of the {quantity(float(row['pairs_there']))} of {counted(row['pairs'], 'pair')} that have {result.of_two}; an upright"
        " line is the agreement on these, and only that is comparable with them."
    )


def _sign(row: Row) -> str:
    if row["fit"] == Fit.IN_SAMPLE:
        return "x"
    return {Role.FITTED: "D", Role.ABLATION: "s", Role.SCORES: "^"}.get(Role(str(row["role"])), "o")


def _named_sentences(result: TaskResult) -> Iterator[str]:
    """Yield what each comparison that was named has found, where it was named, and what the others are."""
    for row in result.named_comparisons:
        if np.isnan(row["difference"]):
            continue
        kind = "primary comparison" if row["standing"] == "primary" else "comparison"
        yield (
            f"The {kind} named {PLACES[str(row['named'])]}{_when(row)}: {row['measure']} against {row['against']},"
            f" {points(row['difference'])} points ({points_interval(row['low'], row['high'])}{_tested(row)})."
        )
    if result.named_comparisons:
        yield "All other comparisons are exploratory."


def _when(row: Row) -> str:
    return ", when the answers were there and not in the study file" if row["named"] == "analysis" else ""


def _best_sentence(result: TaskResult) -> str:
    row = result.row(result.best[0])
    share = f"{percent(row['agreement'])} ({percent_interval(row['low'], row['high'])})"
    measures = counted(len(result.fair_measures), "measure")
    if len(result.best) == len(result.fair_measures):
        return f"The {measures} that were not fitted in sample agree equally often: {share}."
    agree = "agrees" if len(result.best) == 1 else "agree"
    first = "" if len(result.best) == 1 or np.isnan(row["low"]) else "; the interval is of the first"
    return (
        f"Of the {measures} that were not fitted in sample, {listed(result.best, most=3)} {agree} most often:"
        f" {share}{first}."
    )


def _is(number: object) -> str:
    return "is" if number == 1 else "are"


def _fitted_sentence(result: TaskResult, measure: str) -> str:
    row, comparison = result.row(measure), result.comparison(measure)
    source = (
        "each query is judged with what was fitted to the others"
        if row["fit"] == Fit.CROSS_FITTED
        else "fitted to other data than these preferences"
    )
    sentence = (
        f"{result.in_words(measure)} agrees in {percent(row['agreement'])}"
        f" ({percent_interval(row['low'], row['high'])}; {source})"
    )
    if comparison is None or np.isnan(comparison["low"]) or np.isnan(comparison["difference"]):
        return f"{sentence}."
    detectable = points(comparison["minimum_detectable"]).lstrip("+")
    return (
        f"{sentence}: {points(comparison['difference'])} points against {result.main}"
        f" ({points_interval(comparison['low'], comparison['high'])}{_tested(comparison)}). "
        + (
            nothing_detectable(comparison["minimum_detectable"])
            or f"A study of this size finds a true difference of {detectable} points in four of five cases."
        )
    )


def _tested(comparison: Row) -> str:
    """Say what the test of a comparison found, before and after the correction; nothing without a test."""
    p, corrected = comparison["p_t"], comparison["p_holm"]
    if np.isnan(p):
        return ""
    if np.isnan(corrected):
        return f", p {_equals(p)}, not corrected"
    return f", p {_equals(p)}, {_equals(corrected)} after Holm’s correction".replace(", = ", ", ")


def _equals(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"
