"""The table that `prefcal agree` prints for people."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from calibration.agree.result import AgreementTables, By, cannot_be_told, nothing_detectable, tells
from metrics.errors import counted
from study_app.cli.output import table_text

CONVENTIONS = ("against", "half", "drop", "weighted")
HEADS = {
    "primary": "Primary comparison",
    "family": "Comparisons",
    "exploratory": "Exploratory comparisons",
}
PLACES = {"study_file": "in the study file", "analysis": "at analysis", "nowhere": ""}
"""Column ``named`` of comparisons.csv -> where that is."""
TESTED = ("measure", "against", "difference", "95 %", "p", "p Holm")
NONE, NO_INTERVAL = "none", "no interval"


def agreement_text(found: AgreementTables) -> str:
    """Put the agreement of every task into tables, with the sentences that they need."""
    parts: list[str] = []
    for task, rows in found.agreement.groupby("task", sort=False):
        comparisons = found.comparisons
        of_task = comparisons[comparisons["task"] == task] if len(comparisons) else comparisons
        known = [one.sentence for one in found.diagnostics[str(task)] if one.severity == "info"]
        parts.append("\n".join([*_task_lines(str(task), rows, of_task, known)]))
    return "\n\n".join(parts) + "\n"


def number(value: float, digits: int = 3) -> str:
    """Print a number, `none` where it is undefined."""
    return NONE if math.isnan(value) else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """Print a p value, never as zero; `none` where there is none."""
    return "<0.001" if p < 0.001 else number(p)


def interval(low: float, high: float) -> str:
    """Print an interval, in words where there is none."""
    return NO_INTERVAL if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"


def _task_lines(
    task: str, rows: pd.DataFrame, comparisons: pd.DataFrame, known: Iterable[str]
) -> Iterable[str]:
    applied = rows[rows["exclusions"] == "applied"]
    everybody = rows[rows["exclusions"] == "none"]
    first = applied.iloc[0]
    seconds = first["mean_decision_seconds"]
    decided = "" if math.isnan(seconds) else f", {seconds:.1f} s a decision"
    yield (
        f"Task {task} ({first['language']}): {counted(first['judgments'], 'judgment')} by"
        f" {counted(first['workers'], 'worker')} on {counted(first['pairs'], 'pair')} of"
        f" {counted(first['queries'], 'query', 'queries')}{decided}"
    )
    yield ""
    columns = ["measure", "fit", "agreement", "95 %", *CONVENTIONS[1:], "equal scores"]
    drawn = applied["draws"].notna().any()
    columns += ["draws"] if drawn else []
    columns += ["with excluded"] if len(everybody) else []
    rows_shown = _measure_rows(applied, everybody, drawn=drawn)
    yield table_text(columns, [*rows_shown, *_ceiling_rows(applied, columns)])
    yield (
        "agreement counts every tie against the measure, as the paper does;"
        f" {first['vote_ties']} of {counted(first['pairs'], 'pair')} {'is' if first['vote_ties'] == 1 else 'are'} tied"
        " in the votes. Intervals are over queries, and over people where the same people judge several."
    )
    yield from known
    if not tells(first):
        yield "Too few pairs with a majority, or queries, to say anything by."
    if first["no_ceiling"]:
        yield f"No ceiling: {first['no_ceiling']}."
    if first["no_ceiling_interval"]:
        yield f"The ceilings have no interval: {first['no_ceiling_interval']}."
    if applied["low"].isna().any() or (len(comparisons) and comparisons["low"].isna().any()):
        yield "no interval: all queries are alike or there is only one; too few to say, not certainty."
    if drawn:
        count = counted(int(applied["draws"].max()), "time")
        yield f"draws: 95 % of the agreements when the fitted parameters are drawn anew ({count})."
    if applied["converted"].any():
        yield "(converted): judged for another kind of collection; shown for comparison only."
    if len(everybody):
        yield (
            f"with excluded: the agreement when excluded workers count too ({everybody.iloc[0]['workers']} in all)."
        )
    yield from _comparison_lines(comparisons)


def _measure_rows(rows: pd.DataFrame, everybody: pd.DataFrame, *, drawn: bool) -> Iterable[list[str]]:
    with_excluded = everybody[everybody["ties"] == "against"].set_index("measure")["agreement"]
    for (measure, fit), of_measure in rows.groupby(["measure", "fit"], sort=False):
        by_ties = of_measure.set_index("ties")
        against = by_ties.loc["against"]
        yield [
            str(measure),
            str(fit).replace("_", " "),
            number(against["agreement"]),
            interval(against["low"], against["high"]),
            *(number(by_ties.loc[ties, "agreement"]) for ties in CONVENTIONS[1:]),
            str(against["metric_ties"]),
            *([interval(against["draw_low"], against["draw_high"])] if drawn else []),
            *([number(with_excluded[measure])] if len(with_excluded) else []),
        ]


def _ceiling_rows(rows: pd.DataFrame, columns: list[str]) -> Iterable[list[str]]:
    """Yield a row for each of the two ceilings; none where there is no ceiling."""
    by_ties = rows[rows["measure"] == rows["measure"].iloc[0]].set_index("ties")
    against = by_ties.loc["against"]
    if against["no_ceiling"]:
        return
    for name, column in (("a second panel", "ceiling"), ("a perfect measure", "perfect")):
        cells = [
            f"ceiling: {name}",
            "",
            number(against[column]),
            interval(against[f"{column}_low"], against[f"{column}_high"]),
            *(number(by_ties.loc[ties, column]) for ties in CONVENTIONS[1:]),
        ]
        yield cells + [""] * (len(columns) - len(cells))


def _comparison_lines(comparisons: pd.DataFrame) -> Iterable[str]:
    """Yield a table for each standing, the primary comparison first, and the same ones by votes."""
    if comparisons.empty:
        return
    by_majority = comparisons[comparisons["by"] == By.MAJORITY]
    columns = ["named"] if (comparisons["named"] != "nowhere").any() else []
    for standing, rows in by_majority.groupby("standing", sort=False):
        yield ""
        yield f"{HEADS[str(standing)]} (paired by query{_correction(rows)}):"
        yield ""
        yield table_text(
            [*TESTED, "p sign flips", "detectable", *columns],
            [
                [
                    *_tested(row),
                    p_value(row["p_sign_flip"]),
                    NONE
                    if nothing_detectable(row["minimum_detectable"])
                    else number(row["minimum_detectable"]),
                    *([PLACES[row["named"]]] if columns else []),
                ]
                for row in rows.to_dict("records")
            ],
        ).rstrip("\n")
    yield "detectable: the smallest true difference that four of five such studies would find."
    if (comparisons["named"] == "analysis").any():
        yield "named at analysis: with an option, when the answers were there; not planned in the study file."
    yield from dict.fromkeys(filter(None, map(nothing_detectable, by_majority["minimum_detectable"])))
    yield ""
    yield "The same comparisons by votes, no majority taken:"
    yield ""
    by_votes = comparisons[comparisons["by"] != By.MAJORITY]
    yield table_text(
        ["by", *TESTED], [[row["by"], *_tested(row)] for row in by_votes.to_dict("records")]
    ).rstrip("\n")
    yield "weighted: difference of the vote-weighted agreements. votes: how much more the scores explain who preferred what,"
    yield "both measures in one model, in log odds a standard difference."


def _tested(row: dict[str, Any]) -> list[str]:
    """Return one comparison under the columns of `TESTED`."""
    is_told = not cannot_be_told(row)
    return [
        row["measure"],
        row["against"],
        NONE if math.isnan(row["difference"]) or not is_told else f"{row['difference']:+.3f}",
        interval(row["low"], row["high"]) if is_told else "cannot be told",
        p_value(row["p_t"]),
        p_value(row["p_holm"]),
    ]


def _correction(rows: pd.DataFrame) -> str:
    """Say what Holm's correction is over, if any of these is corrected."""
    if rows["p_t"].isna().all() and rows["low"].notna().any():
        return ", with too few people or queries for p"
    if rows["p_t"].isna().all():
        return ", without variation between queries, so without p"
    if rows["p_holm"].isna().all():
        return ", none of the family, so without Holm's p"
    if (rows["standing"] == "primary").all():
        family = rows["named"].iloc[0] == "analysis"
        return (
            "; Holm's p is over it and the family"
            if family
            else "; it is the only one planned, so Holm's p is p"
        )
    return "; Holm's p is over the family"
