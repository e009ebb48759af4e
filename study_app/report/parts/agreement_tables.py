"""Tables on agreement: measures, differences, exclusions, disagreements."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from calibration.agree.result import DIFFERENCE_COLUMNS, undetectable_note
from metrics.agreement.agreement import TIES
from study_app.report.page import (
    DASH,
    LEVEL,
    NONE,
    Column,
    ReportTable,
    p_value,
    percent,
    percent_interval,
    pluralise,
    points,
    points_interval,
    quantity,
    to_table,
)
from study_app.report.pictures import PictureCell
from study_app.report.results import PLACES, TaskResult

MAX_CHARS = 240
"""Characters of a text that are shown."""
BEFORE, AFTER = 40, 80
"""Characters that are shown before the first difference, and behind it at least."""
LINE = "/"
"""Separator of the lines of a text."""
SAME = "the same text as A"
FITS = {
    "none": DASH,
    "other_data": "other data",
    "cross_fitted": "these preferences, cross-fitted",
    "in_sample": "these preferences, in sample",
}
CONVENTIONS = {"against": "Ties against", "half": "Ties half", "drop": "Ties out", "weighted": "By votes"}
STANDINGS = {"primary": "primary", "family": "of the family", "exploratory": "exploratory"}
INTERVAL = f"{LEVEL} interval"


def agreement_tables(result: TaskResult, key: str) -> Iterator[ReportTable]:
    """Yield the tables of a task.

    They are agreements, differences, agreements without exclusions, and disagreements.
    """
    yield agreement_table(result, key)
    if len(result.comparisons):
        yield comparison_table(result, key)
    if len(result.unexcluded):
        yield exclusion_table(result, key)
    if len(result.disagreements):
        yield disagreement_table(result, key)


def agreement_table(result: TaskResult, key: str) -> ReportTable:
    """Return every measure in the three conventions and by votes, and the ceilings."""
    main, others = result.row(result.main), [ties for ties in TIES if ties != result.ties]
    pair_count = f"On {quantity(float(main['pairs_there']))} pairs"
    rows = [
        {**result.row(measure), **{ties: result.row(measure, ties)["agreement"] for ties in others}}
        for measure in result.measures
    ]
    for name, column in (
        () if main["no_ceiling"] else (("a second panel", "ceiling"), ("a perfect measure", "perfect"))
    ):
        rows.append(
            {
                "measure": f"Ceiling: {name}",
                "agreement": None if result.ceiling_is_of_fewer else main[column],
                "low": main[f"{column}_low"],
                "high": main[f"{column}_high"],
                "agreement_there": main[column],
                "metric_ties": None,
                "fit": "none",
                **dict.fromkeys(("draw_low", "draw_high", *DIFFERENCE_COLUMNS)),
                **{ties: result.row(result.main, ties)[column] for ties in others},
            }
        )
    columns: list[Column] = [
        ("Measure", str, "measure"),
        ("Agreement", percent, "agreement"),
        (INTERVAL, percent_interval, "low", "high"),
    ]
    if result.ceiling_is_of_fewer:
        columns.append((pair_count, percent, "agreement_there"))
    has_difference = not main["no_ceiling"] and DIFFERENCE_COLUMNS[0] in main
    if has_difference:
        columns += [
            ("From panel", points, DIFFERENCE_COLUMNS[0]),
            (INTERVAL, _between, *DIFFERENCE_COLUMNS),
        ]
    columns += [(CONVENTIONS[ties], percent, ties) for ties in others]
    columns += [("Equal scores", quantity, "metric_ties"), ("Fitted to", FITS.__getitem__, "fit")]
    notes = [
        (
            f"Agreement: share of pairs in which the better score is the majority’s choice, a tie counting"
            f" {'half' if result.ties == 'half' else 'against the measure'}. Ties half: a tie counts half. Ties against: it counts"
            " against the measure. Ties out: tied pairs are left out. By votes: mean share of a pair’s votes for the measure’s choice."
            " Rows in sample were fitted to the preferences they are judged by and are too good."
        )
    ]
    if result.ceiling_is_of_fewer:
        notes.append(f"{pair_count}: on those that have {result.of_two}, which the ceilings are of.")
    if has_difference:
        notes.append("From panel: agreement less that of a second panel on the same pairs, in points.")
    if main["no_ceiling"]:
        notes.append(f"No ceiling: {main['no_ceiling']}.")
    if result.rows["low"].isna().any():
        notes.append("No interval: all queries are alike, or there is only one, which is not certainty.")
    if result.rows["draw_low"].notna().any():
        columns.append(("By draws", percent_interval, "draw_low", "draw_high"))
        notes.append("By draws: agreement when the fitted parameters are drawn anew.")
    caption = f"Agreement with the preferences in task {result.task}"
    return to_table(key, caption, rows, columns, note=" ".join(notes), for_papers=True)


def _between(difference: float | None, low: float | None, high: float | None) -> str:
    return DASH if difference is None else points_interval(low, high)


def comparison_table(result: TaskResult, key: str) -> ReportTable:
    """Return every comparison by majorities, the primary one first."""
    notes = [
        (
            "By majorities, paired by query: t test over queries and people, and exchange of the two measures within queries (not"
            " corrected; only where nobody judged several queries). Holm’s correction is over the family of comparisons. Detectable:"
            " the smallest true difference that such a study finds in four of five cases. A dash: no variation, too few people or"
            " queries, tastes that differ widely, or not in the family. By all votes, and by a model of them: comparisons.csv."
        )
    ]
    if (result.comparisons["named"] == "analysis").any():
        notes.append("Named at analysis: with an option, when the answers were there; not planned.")
    notes += dict.fromkeys(filter(None, map(undetectable_note, result.comparisons["minimum_detectable"])))
    return to_table(
        f"{key}-comparisons",
        f"Differences between measures in task {result.task}, in percentage points",
        result.comparisons,
        (
            ("Measure", str, "measure"),
            ("Against", str, "against"),
            ("Difference", points, "difference"),
            (INTERVAL, points_interval, "low", "high"),
            ("p", p_value, "p_t"),
            ("p (Holm)", p_value, "p_holm"),
            ("p (sign flips)", p_value, "p_sign_flip"),
            ("Detectable", _detectable, "minimum_detectable"),
            ("Standing", _standing, "standing", "named"),
        ),
        note=" ".join(notes),
        for_papers=True,
    )


def _detectable(difference: float) -> str:
    return NONE if undetectable_note(difference) else points(difference).lstrip("+")


def _standing(standing: str, named: str) -> str:
    """Return the purpose of a comparison, and where it was named."""
    return STANDINGS.get(standing, standing) + (f", named {PLACES[named]}" if named in PLACES else "")


def exclusion_table(result: TaskResult, key: str) -> ReportTable:
    """Return the agreement with and without the excluded workers."""
    everybody = result.unexcluded[result.unexcluded["ties"] == result.ties]
    without = result.rows[result.rows["ties"] == result.ties]
    ends = ["measure", "agreement", "low", "high"]
    return to_table(
        f"{key}-exclusions",
        f"With and without the excluded workers in task {result.task}",
        without.merge(everybody[ends], on="measure", suffixes=("", "_with")),
        (
            ("Measure", str, "measure"),
            ("Left out", percent, "agreement"),
            (INTERVAL, percent_interval, "low", "high"),
            ("Counted", percent, "agreement_with"),
            (INTERVAL, percent_interval, "low_with", "high_with"),
        ),
        note=(
            f"{pluralise(int(without['workers'].iloc[0]), 'worker')} without and"
            f" {int(everybody['workers'].iloc[0])} with the excluded ones. Excluding people for what they prefer would"
            " raise the agreement by itself; the rule looks at search time, repeats and gold pairs only."
        ),
    )


def disagreement_table(result: TaskResult, key: str) -> ReportTable:
    """Return the pairs on which measure and people disagree most, with both sides."""
    shown = result.disagreements.sort_values("rank")
    has_texts = bool(shown[["text_a", "text_b"]].notna().any(axis=None))
    columns: list[Column] = [
        ("Topic", _topic),
        ("A", str, "system_a"),
        ("B", str, "system_b"),
        ("Votes A : B", "{:.0f} : {:.0f}".format, "votes_a", "votes_b"),
        ("Equal", lambda good, bad: f"{good + bad:.0f}", "equally_good", "equally_bad"),
        ("Score A less B", quantity, "difference"),
    ]
    note = "Worth reading before believing a number: what do people see here that the measure does not?"
    if has_texts:
        columns += [(f"Text of {side}", lambda row, n=n: _texts(row)[n]) for n, side in enumerate("AB")]
        note += (
            f" A {LINE} ends a line. Where two texts begin alike for long, that is left out (…); disagreements.csv has them"
            " whole."
        )
    has_reasons = "reasons" in shown and bool(shown["reasons"].notna().any())
    if has_reasons:
        columns.append(("Reasons", lambda text: text if isinstance(text, str) else DASH, "reasons"))
    caption = f"Pairs of task {result.task} on which {shown['measure'].iloc[0]} and the votes disagree most"
    return to_table(
        f"{key}-disagreements", caption, shown, columns, note=note, cards=has_texts or has_reasons
    )


def _topic(row: Mapping[str, Any]) -> str:
    text = row.get("topic_text")
    return str(row["topic"]) if text is None or pd.isna(text) else f"{row['topic']}: {text}"


def _texts(row: Mapping[str, Any]) -> tuple[str, str]:
    a, b = (text if isinstance(text, str) else "" for text in (row["text_a"], row["text_b"]))
    shown_a, shown_b = side_by_side(a, b)
    return shown_a or DASH, shown_b or DASH


def side_by_side(text_a: str, text_b: str, most: int = MAX_CHARS) -> tuple[str, str]:
    """Return two texts as displayed, without a long beginning in common.

    Lines are kept apart.

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
    alike = (first_char == other for first_char, other in zip(a, b, strict=False))
    common = next((index for index, same in enumerate(alike) if not same), min(len(a), len(b)))
    start = 0 if common + AFTER <= most else _word_begins(a, common - BEFORE, common)
    return _cut(a, most, start), _cut(b, most, start)


def _one_line(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return f" {LINE} ".join(line for line in lines if line)


def _word_begins(text: str, low: int, high: int) -> int:
    """Return where the first word of a range begins.

    In a script without spaces it is the start of the range.
    """
    space = text.find(" ", low, high)
    return low if space < 0 else space + 1


def _cut(text: str, most: int, start: int = 0) -> str:
    before = "… " if start else ""
    shown = text[start:]
    return before + (shown if len(shown) <= most else f"{shown[:most].rstrip()}…")
