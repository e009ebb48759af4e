"""The table that `prefcal agree` prints for people."""

import math
from collections.abc import Iterable

import pandas as pd

from calibration.agree.comparisons import nothing_detectable
from calibration.agree.judged_task import tells
from calibration.agree.study import AgreementTables
from metrics.wording import counted
from study_app.cli.output import table_text

CONVENTIONS = ("against", "half", "drop", "weighted")
HEADS = {
    "primary": "Primary comparison",
    "family": "Comparisons",
    "exploratory": "Exploratory comparisons",
}
PLACES = {"study_file": "in the study file", "analysis": "at analysis", "nowhere": ""}
"""Column ``named`` of comparisons.csv -> where that is."""
NONE, NO_INTERVAL = "none", "no interval"


def agreement_text(found: AgreementTables) -> str:
    """Put the agreement of every task into tables, with the sentences that they need."""
    parts: list[str] = []
    for task, rows in found.agreement.groupby("task", sort=False):
        comparisons = found.comparisons
        of_task = comparisons[comparisons["task"] == task] if len(comparisons) else comparisons
        parts.append("\n".join(_task_lines(str(task), rows, of_task)))
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


def _task_lines(task: str, rows: pd.DataFrame, comparisons: pd.DataFrame) -> Iterable[str]:
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
        " in the votes. Intervals are over queries."
    )
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
    """Yield a table for each standing, the primary comparison first."""
    columns = ["named"] if len(comparisons) and (comparisons["named"] != "nowhere").any() else []
    for standing, rows in comparisons.groupby("standing", sort=False) if len(comparisons) else ():
        yield ""
        yield f"{HEADS[str(standing)]} (paired by query{_correction(rows)}):"
        yield ""
        yield table_text(
            [
                "measure",
                "against",
                "difference",
                "95 %",
                "p",
                "p Holm",
                "p sign flips",
                "detectable",
                *columns,
            ],
            [
                [
                    row.measure,
                    row.against,
                    f"{row.difference:+.3f}",
                    interval(row.low, row.high),
                    p_value(row.p_t),
                    p_value(row.p_holm),
                    p_value(row.p_sign_flip),
                    NONE if nothing_detectable(row.minimum_detectable) else number(row.minimum_detectable),
                    *([PLACES[row.named]] if columns else []),
                ]
                for row in rows.itertuples()
            ],
        ).rstrip("\n")
    if len(comparisons):
        yield "detectable: the smallest true difference that four of five such studies would find."
        if (comparisons["named"] == "analysis").any():
            yield "named at analysis: with an option, when the answers were there; not planned in the study file."
        yield from dict.fromkeys(filter(None, map(nothing_detectable, comparisons["minimum_detectable"])))


def _correction(rows: pd.DataFrame) -> str:
    """Say what Holm's correction is over, if any of these is corrected."""
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
