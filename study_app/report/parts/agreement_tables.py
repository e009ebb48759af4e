"""The report's tables on agreement: every measure, their differences, exclusions, and the pairs that disagree most."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from calibration.agree.result import By, cannot_be_told, nothing_detectable
from metrics.agreement.agreement import TIES
from study_app.report.page import (
    DASH,
    LEVEL,
    UNTOLD,
    ReportTable,
    counted,
    decimal,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
    quantity,
)
from study_app.report.pictures import PictureCell
from study_app.report.results import PLACES, TaskResult

MOST_CHARS = 240
"""Characters of a text that are shown."""
BEFORE, AFTER = 40, 80
"""Characters that are shown before the first difference, and behind it at least."""
LINE = "/"
"""What stands between the lines of a text."""
SAME = "the same text as A"
FITS = {
    "none": DASH,
    "other_data": "other data",
    "cross_fitted": "these preferences, cross-fitted",
    "in_sample": "these preferences, in sample",
}
CONVENTIONS = {"against": "Ties against", "half": "Ties half", "drop": "Ties out", "weighted": "By votes"}
STANDINGS = {"primary": "primary", "family": "of the family", "exploratory": "exploratory"}
TEXTS = (
    f" A {LINE} ends a line. Where two texts begin alike for long, that is left out (…); disagreements.csv has"
    " them whole."
)


def side_by_side(text_a: str, text_b: str, most: int = MOST_CHARS) -> tuple[str, str]:
    """Return two texts as they are shown: lines apart, a beginning in common left out where the difference comes late.

    Parameters
    ----------
    text_a, text_b : str
        In plain lines; may be empty.
    most : int
        Characters to show of each.
    """
    if isinstance(text_a, PictureCell) or isinstance(text_b, PictureCell):
        return text_a, text_b
    a, b = _one_line(text_a), _one_line(text_b)
    if a and a == b:
        return _cut(a, most), SAME
    alike = (one == other for one, other in zip(a, b, strict=False))
    common = next((place for place, same in enumerate(alike) if not same), min(len(a), len(b)))
    start = 0 if common + AFTER <= most else _word_begins(a, common - BEFORE, common)
    return _cut(a, most, start), _cut(b, most, start)


def _one_line(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return f" {LINE} ".join(line for line in lines if line)


def _word_begins(text: str, low: int, high: int) -> int:
    """Return where the first word within a stretch begins; its start in a script without spaces."""
    space = text.find(" ", low, high)
    return low if space < 0 else space + 1


def _cut(text: str, most: int, start: int = 0) -> str:
    before = "… " if start else ""
    shown = text[start:]
    return before + (shown if len(shown) <= most else f"{shown[:most].rstrip()}…")


def agreement_table(result: TaskResult, key: str) -> ReportTable:
    """Return every measure in the three conventions and by votes, and the ceilings."""
    rows = []
    drawn, fewer = result.rows["draw_low"].notna().any(), result.ceiling_is_of_fewer
    others = [ties for ties in TIES if ties != result.ties]
    for measure in result.measures:
        against = result.row(measure)
        rows.append(
            (
                measure,
                percent(against["agreement"]),
                percent_interval(against["low"], against["high"]),
                *([percent(against["agreement_there"])] if fewer else []),
                *(percent(result.row(measure, ties)["agreement"]) for ties in others),
                quantity(float(against["metric_ties"])),
                FITS[str(against["fit"])],
                *([percent_interval(against["draw_low"], against["draw_high"])] if drawn else []),
            )
        )
    against = result.row(result.main)
    known = not against["no_ceiling"]
    ceilings = (("a second panel", "ceiling"), ("a perfect measure", "perfect")) if known else ()
    for name, column in ceilings:
        interval = percent_interval(against[f"{column}_low"], against[f"{column}_high"])
        conventions = (percent(result.row(result.main, ties)[column]) for ties in others)
        rows.append(
            (
                f"Ceiling: {name}",
                percent(against[column]) if not fewer else DASH,
                interval,
                *([percent(against[column])] if fewer else []),
                *conventions,
                DASH,
                DASH,
                *([DASH] if drawn else []),
            )
        )
    return ReportTable(
        name=key,
        for_papers=True,
        caption=f"Agreement with the preferences in task {result.task}",
        columns=(
            "Measure",
            "Agreement",
            f"{LEVEL} interval",
            *([f"On {quantity(float(against['pairs_there']))} pairs"] if fewer else []),
            *(CONVENTIONS[ties] for ties in others),
            "Equal scores",
            "Fitted to",
            *(["By draws"] if drawn else []),
        ),
        rows=tuple(rows),
        note=(
            "Agreement: share of pairs in which the better score is the majority’s choice, a tie counting"
            f" {'half' if result.ties == 'half' else 'against the measure'}."
            + (
                f" On {quantity(float(against['pairs_there']))} pairs: on those that have {result.of_two}, which the ceilings are of."
                if fewer
                else ""
            )
            + " Ties half: a tie counts half. Ties against: it counts against the measure. Ties out: tied pairs are left out. By votes:"
            " mean share of a pair’s votes for the measure’s choice. Rows in sample were fitted to the preferences they are judged by and are too"
            " good."
            + ("" if known else f" No ceiling: {against['no_ceiling']}.")
            + (
                " No interval: all queries are alike, or there is only one, which is not certainty."
                if result.rows["low"].isna().any()
                else ""
            )
            + (" By draws: agreement when the fitted parameters are drawn anew." if drawn else "")
        ),
        text_columns=frozenset({0, 7}),
    )


def comparison_table(result: TaskResult, key: str) -> ReportTable:
    """Return every comparison, the primary one first."""
    rows = tuple(
        (
            str(row["measure"]),
            str(row["against"]),
            points(row["difference"]),
            points_interval(row["low"], row["high"]),
            p_value(row["p_t"]),
            p_value(row["p_holm"]),
            p_value(row["p_sign_flip"]),
            _detectable(row["minimum_detectable"]),
            _standing(row),
        )
        for row in result.comparisons.to_dict("records")
    )
    unknowable = map(nothing_detectable, result.comparisons["minimum_detectable"])
    late = (result.comparisons["named"] == "analysis").any()
    return ReportTable(
        name=f"{key}-comparisons",
        for_papers=True,
        caption=f"Differences between measures in task {result.task}, in percentage points",
        columns=(
            "Measure",
            "Against",
            "Difference",
            f"{LEVEL} interval",
            "p",
            "p (Holm)",
            "p (sign flips)",
            "Detectable",
            "Standing",
        ),
        rows=rows,
        note=(
            "By majorities, paired by query: t test over queries and people, and exchange of the two measures within queries (not"
            " corrected; only where nobody judged several queries). Holm’s correction is over the family of comparisons. Detectable: the smallest true difference that such a study finds in four"
            " of five cases. A dash: no variation, too few people or queries, or not in the family."
            + (
                " Named at analysis: with an option, when the answers were there; not planned."
                if late
                else ""
            )
            + "".join(dict.fromkeys(f" {text}" for text in unknowable if text))
        ),
        text_columns=frozenset({0, 1, 8}),
    )


BY = {"weighted": "all votes", "votes": "model"}
"""Column ``by`` of comparisons.csv -> what the table says."""


def by_votes_table(result: TaskResult, key: str) -> ReportTable:
    """Return the same comparisons by votes, no majority taken."""
    return ReportTable(
        name=f"{key}-comparisons-by-votes",
        caption=f"Differences between measures in task {result.task}, by votes",
        columns=("By", "Measure", "Against", "Difference", f"{LEVEL} interval", "p", "p (Holm)"),
        rows=tuple(
            (
                BY[row["by"]],
                str(row["measure"]),
                str(row["against"]),
                *_by_votes(row),
                p_value(row["p_t"]),
                p_value(row["p_holm"]),
            )
            for row in result.by_votes.to_dict("records")
        ),
        note=(
            "No majority is taken. All votes: the mean share of a pair’s votes for the measure’s choice, in percentage points. Model:"
            " how much more the score differences of the measure explain who preferred what, both in one model of the votes"
            " (Davidson), in log odds a standard difference. Holm’s correction is over the family, for either by itself. A dash:"
            " the votes do not tell, or not in the family."
        ),
        text_columns=frozenset({0, 1, 2}),
    )


def _by_votes(row: dict[Any, Any]) -> tuple[str, str]:
    """Return the difference and its interval, in points or in log odds."""
    if row["by"] == By.WEIGHTED:
        return points(row["difference"]), points_interval(row["low"], row["high"])
    if np.isnan(row["low"]):
        return DASH, DASH
    if cannot_be_told(row):
        return DASH, UNTOLD
    return f"{decimal(row['difference'])}", f"{decimal(row['low'])} to {decimal(row['high'])}"


def _detectable(difference: float) -> str:
    return "none" if nothing_detectable(difference) else points(difference).lstrip("+")


def _standing(row: "dict[str, object]") -> str:
    """Return what a comparison was made for, and where it was named."""
    standing, place = str(row["standing"]), PLACES.get(str(row["named"]))
    return STANDINGS.get(standing, standing) + (f", named {place}" if place else "")


def exclusion_table(result: TaskResult, key: str) -> ReportTable:
    """Return the agreement with and without the excluded workers."""
    everybody = result.unexcluded[result.unexcluded["ties"] == result.ties].set_index("measure")
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
    return ReportTable(
        name=f"{key}-exclusions",
        caption=f"With and without the excluded workers in task {result.task}",
        columns=("Measure", "Left out", f"{LEVEL} interval", "Counted", f"{LEVEL} interval"),
        rows=tuple(rows),
        note=(
            f"{counted(int(result.row(result.main)['workers']), 'worker')} without and"
            f" {int(everybody['workers'].iloc[0])} with the excluded ones. Excluding people for what they prefer would"
            " raise the agreement by itself; the rule looks at search time and repeats only."
        ),
    )


def disagreement_tables(result: TaskResult, key: str) -> Iterator[ReportTable]:
    """Yield the pairs on which measure and people disagree most, with what the people saw; nothing without the file."""
    if result.disagreements.empty:
        return
    shown = result.disagreements.sort_values("rank")
    has_texts = shown[["text_a", "text_b"]].notna().any(axis=None)
    rows = tuple(
        (
            _topic(row),
            str(row["system_a"]),
            str(row["system_b"]),
            f"{row['votes_a']:.0f} : {row['votes_b']:.0f}",
            f"{row['equally_good'] + row['equally_bad']:.0f}",
            quantity(row["difference"]),
            *(_texts(row["text_a"], row["text_b"]) if has_texts else ()),
        )
        for row in shown.to_dict("records")
    )
    measure = shown["measure"].iloc[0]
    yield ReportTable(
        name=f"{key}-disagreements",
        caption=f"Pairs of task {result.task} on which {measure} and the votes disagree most",
        columns=(
            "Topic",
            "A",
            "B",
            "Votes A : B",
            "Equal",
            "Score A less B",
            *(("Text of A", "Text of B") if has_texts else ()),
        ),
        rows=rows,
        note="Worth reading before believing a number: what do people see here that the measure does not?"
        + (TEXTS if has_texts else ""),
        text_columns=frozenset({0, 1, 2, 6, 7} if has_texts else {0, 1, 2}),
        cards=has_texts,
    )


def _topic(row: "dict[str, object]") -> str:
    text = row.get("topic_text")
    return str(row["topic"]) if text is None or pd.isna(text) else f"{row['topic']}: {text}"


def _texts(text_a: object, text_b: object) -> tuple[str, str]:
    a, b = (text if isinstance(text, str) else "" for text in (text_a, text_b))
    shown_a, shown_b = side_by_side(a, b)
    return shown_a or DASH, shown_b or DASH
