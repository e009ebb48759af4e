"""What `prefcal agree` prints for people: the answer in two sentences, one table of measures, and the comparisons."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from calibration.agree.measures.variants import Fit
from calibration.agree.result import (
    AgreementTables,
    By,
    beyond_perfect,
    cannot_be_told,
    judged_things,
    leading_ties,
    nothing_detectable,
    often_tied,
    tells,
)
from metrics.agreement.agreement import TIES, Ties
from metrics.errors import counted
from study_app.cli.output import table_text

PLACES = {"study_file": "in the study file", "analysis": "at analysis", "nowhere": ""}
"""Column ``named`` of comparisons.csv -> where that is."""
WAYS = {
    By.MAJORITY: "Agreement with the majority, in points",
    By.WEIGHTED: "Mean share of the votes for a measure's choice, in points",
    By.VOTES: "Slopes of both measures in one model of the votes, in log odds a standard difference",
}
TESTED = ("measure", "against", "difference", "95 %", "p", "p (Holm)")
NONE, NO_INTERVAL = "none", "no interval"
NOTABLE = 0.05
"""Difference from the leading convention for ties above which another one has a column."""
MOST_COUPLES, MOST_THREE_WAYS = 15, 3
"""Comparisons beyond which only comparisons.csv has them: all of them, and those by votes."""


def agreement_text(found: AgreementTables) -> str:
    """Put the agreement of every task into sentences and tables."""
    parts: list[str] = []
    for task, rows in found.agreement.groupby("task", sort=False):
        comparisons = found.comparisons
        of_task = comparisons[comparisons["task"] == task] if len(comparisons) else comparisons
        known = [one.sentence for one in found.diagnostics[str(task)] if one.severity == "info"]
        things = judged_things(found.pairs[found.pairs["task"] == task])
        parts.append("\n".join(_TaskText(str(task), rows, of_task, known, things).lines()))
    return "\n\n".join(parts) + "\n"


def number(value: float, digits: int = 3) -> str:
    """Print a number, `none` where it is undefined."""
    return NONE if math.isnan(value) else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """Print a p value, never as zero; `none` where there is none."""
    return "<.001" if p < 0.001 else number(p).removeprefix("0")


def interval(low: float, high: float) -> str:
    """Print an interval, in words where there is none."""
    return NO_INTERVAL if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"


def percent(share: float) -> str:
    """Print a share in per cent; `none` where it is undefined."""
    return NONE if math.isnan(share) else f"{100 * share:.1f} %"


def percent_range(low: float, high: float) -> str:
    """Print an interval of shares; in words where there is none."""
    return NO_INTERVAL if math.isnan(low) else f"{100 * low:.1f} to {100 * high:.1f}"


class _TaskText:
    """The lines of one task, and what they have in common."""

    def __init__(
        self,
        task: str,
        rows: pd.DataFrame,
        comparisons: pd.DataFrame,
        known: list[str],
        things: tuple[str, str],
    ) -> None:
        self.task, self.comparisons, self.known, self.things = task, comparisons, known, things
        self.applied = rows[rows["exclusions"] == "applied"]
        self.everybody = rows[rows["exclusions"] == "none"]
        self.ties: Ties = leading_ties(self.applied)
        self.leading = self.applied[self.applied["ties"] == self.ties].set_index("measure")
        self.first = self.leading.iloc[0]
        primary = comparisons[(comparisons["standing"] == "primary") & (comparisons["by"] == By.MAJORITY)]
        self.primary = None if primary.empty else str(primary["measure"].iloc[0])

    def lines(self) -> Iterator[str]:
        """Yield all of it."""
        yield self._what_was_judged()
        yield ""
        yield from self._answer()
        yield ""
        yield table_text(self._columns(), list(self._measure_rows())).rstrip("\n")
        yield from self._notes()
        yield from self._comparison_lines()

    def _what_was_judged(self) -> str:
        first = self.first
        seconds, workers = first["mean_decision_seconds"], first["workers"]
        decided = "" if math.isnan(seconds) else f", {seconds:.1f} s a decision"
        by = "" if math.isnan(workers) else f" by {counted(int(workers), 'worker')}"
        return (
            f"Task {self.task} ({first['language']}): {counted(first['judgments'], 'judgment')}{by} on"
            f" {counted(first['pairs'], 'pair')} of {self.things[1]}, {counted(first['queries'], 'query', 'queries')}{decided}"
        )

    def _answer(self) -> Iterator[str]:
        """Yield how often measures agree with the majority, and how often people would."""
        first, pairs = self.first, counted(self.first["pairs"], "pair")
        if not tells(first):
            yield "Too few pairs with a majority, or queries, to say anything by."
        fair = self.leading[self.leading["fit"] != Fit.IN_SAMPLE].dropna(subset="agreement")
        if self.primary is not None or len(fair) == 1:
            name = self.primary or str(fair.index[0])
            yield f"{name} agrees with the majority in {_share(self.leading.loc[name])} of {pairs}."
        elif len(fair):
            ordered = fair.sort_values("agreement", kind="stable")
            high, low = str(ordered.index[-1]), str(ordered.index[0])
            yield (
                f"Of {len(fair)} measures {high} agrees with the majority most often, in {_share(ordered.loc[high])} of {pairs},"
                f" and {low} least often, in {_share(ordered.loc[low])}."
            )
        if first["no_ceiling"]:
            yield f"How often people agree with each other cannot be told: {first['no_ceiling']}."
            return
        there, which = (
            "",
            "two people or more judged" if not math.isnan(first["workers"]) else "have two votes or more",
        )
        if self._has_there:
            there = f", of the {first['pairs_there']:,} of {pairs} that {which}"
        yield (
            f"A second panel of as many people would in {_share(first, 'ceiling')}{there}; a measure that knew what most people"
            f" prefer would in {_share(first, 'perfect')}."
        )
        if there:
            yield f"Compare these with the column of the {first['pairs_there']:,} pairs."
        yield from beyond_perfect(self.applied, self.ties)

    def _columns(self) -> list[str]:
        columns = ["measure"]
        columns += ["fit"] if (self.leading["fit"] != Fit.NONE).any() else []
        columns += ["agreement", "95 %"]
        columns += [f"on {self.first['pairs_there']:,} pairs"] if self._has_there else []
        columns += list(self._others)
        columns += ["equal scores"] if self.leading["metric_ties"].any() else []
        columns += ["draws"] if self._drawn else []
        columns += ["with excluded"] if len(self.everybody) else []
        return columns + ([f"against {self.primary}", "p (Holm)"] if self.primary else [])

    @property
    def _has_there(self) -> bool:
        return not self.first["no_ceiling"] and self.first["pairs_there"] < self.first["pairs"]

    @property
    def _drawn(self) -> bool:
        return bool(self.applied["draws"].notna().any())

    @property
    def _others(self) -> list[Ties]:
        """The other conventions for ties that say something clearly different of a measure."""
        values = self.applied.pivot_table(index="measure", columns="ties", values="agreement", dropna=False)
        return [
            ties
            for ties in TIES
            if ties != self.ties
            and ties in values
            and ((values[ties] - values[self.ties]).abs() > NOTABLE).any()
        ]

    def _measure_rows(self) -> Iterator[list[str]]:
        by_ties = self.applied.set_index(["measure", "ties"])["agreement"]
        everybody = self.everybody[self.everybody["ties"] == self.ties].set_index("measure")["agreement"]
        columns = self._columns()
        for measure, row in sorted(self.leading.iterrows(), key=lambda item: item[0] != self.primary):
            name = str(measure)
            yield [
                f"{name} (primary)" if name == self.primary else name,
                *([str(row["fit"]).replace("_", " ")] if "fit" in columns else []),
                percent(row["agreement"]),
                percent_range(row["low"], row["high"]),
                *([percent(row["agreement_there"])] if self._has_there else []),
                *(percent(by_ties[name, ties]) for ties in self._others),
                *([f"{row['metric_ties']:,}"] if "equal scores" in columns else []),
                *([percent_range(row["draw_low"], row["draw_high"])] if self._drawn else []),
                *([percent(everybody[name])] if len(everybody) else []),
                *(self._against(name) if self.primary else []),
            ]

    def _against(self, measure: str) -> list[str]:
        """Return the difference of a measure from the primary one, and its p; as seen from the measure."""
        rows = self.comparisons[self.comparisons["by"] == By.MAJORITY]
        for one, other, sign in (("measure", "against", 1), ("against", "measure", -1)):
            row = rows[(rows[one] == measure) & (rows[other] == self.primary)]
            if len(row):
                found = row.iloc[0]
                difference = sign * found["difference"]
                ends = sorted((sign * found["low"], sign * found["high"]))
                shown = NONE if math.isnan(difference) else f"{100 * difference:+.1f}{_points(*ends)}"
                return [shown, p_value(found["p_holm"])]
        return ["", ""]

    def _notes(self) -> Iterator[str]:
        first = self.first
        tied = often_tied(self.applied)
        votes = f"{first['vote_ties']:,} of {counted(first['pairs'], 'pair')} are tied in the votes"
        if tied:
            which = ", ".join(f"{name} {share:.0%}" for name, share in list(tied.items())[:3])
            yield f"A tie counts half, since scores tie on many pairs ({which}); {votes}."
        else:
            yield f"A tie counts against a measure, as in the paper; {votes}."
        rest = [ties for ties in TIES if ties not in {self.ties, *self._others}]
        yield (
            f"{', '.join(rest)}, votes: agreement.csv, comparisons.csv."
            if rest
            else "By votes: comparisons.csv."
        )
        yield from self.known
        if self.leading["low"].isna().any() and not first["warnings"]:
            yield "no interval: all queries are alike; that is too little to say, not certainty."
        if first["no_ceiling_interval"]:
            yield f"The ceilings have no interval: {first['no_ceiling_interval']}."
        if self._drawn:
            count = counted(int(self.applied["draws"].max()), "time")
            yield f"draws: 95 % of the agreements when the fitted parameters are drawn anew ({count})."
        if self.applied["converted"].any():
            yield "(converted): judged for another kind of collection; shown for comparison only."
        if len(self.everybody):
            yield (
                f"with excluded: the agreement when excluded workers count too ({int(self.everybody.iloc[0]['workers'])} in all)."
            )

    def _comparison_lines(self) -> Iterator[str]:
        """Yield a table for each way to compare."""
        rows = self.comparisons
        if rows.empty:
            return
        by_majority = rows[rows["by"] == By.MAJORITY]
        if len(by_majority) > MOST_COUPLES:
            below = int((by_majority["p_holm"] < 0.05).sum())
            yield ""
            yield (
                f"{len(by_majority)} comparisons of two measures are in comparisons.csv; {below} of them have p (Holm) below .05."
            )
            return
        for way, of_way in rows.groupby("by", sort=False):
            if way != By.MAJORITY and len(by_majority) > MOST_THREE_WAYS:
                continue
            yield ""
            yield f"{WAYS[By(str(way))]}{_correction(of_way) if way == By.MAJORITY else ''}:"
            yield ""
            yield table_text(self._comparison_columns(way), list(self._compared(of_way, way))).rstrip("\n")
        yield from dict.fromkeys(filter(None, map(nothing_detectable, by_majority["minimum_detectable"])))
        if self._names_places:
            yield "named at analysis: with an option, when the answers were there; not planned in the study file."

    @property
    def _names_places(self) -> bool:
        return bool((self.comparisons["named"] != "nowhere").any())

    def _comparison_columns(self, way: object) -> list[str]:
        columns = [*TESTED, "detectable"] if way == By.MAJORITY else list(TESTED)
        return [*columns, "named"] if self._names_places else columns

    def _compared(self, rows: pd.DataFrame, way: object) -> Iterator[list[str]]:
        scale, digits = (1, 3) if way == By.VOTES else (100, 1)
        for row in rows.to_dict("records"):
            detectable, is_told = row["minimum_detectable"], not cannot_be_told(row)
            yield [
                row["measure"],
                row["against"],
                NONE
                if math.isnan(row["difference"]) or not is_told
                else f"{scale * row['difference']:+.{digits}f}",
                "cannot be told"
                if not is_told
                else NO_INTERVAL
                if math.isnan(row["low"])
                else f"{scale * row['low']:.{digits}f} to {scale * row['high']:.{digits}f}",
                p_value(row["p_t"]),
                p_value(row["p_holm"]),
                *(
                    [
                        NONE
                        if math.isnan(detectable) or nothing_detectable(detectable)
                        else f"{scale * detectable:.{digits}f}"
                    ]
                    if way == By.MAJORITY
                    else []
                ),
                *([f"{row['standing']} {PLACES[row['named']]}".strip()] if self._names_places else []),
            ]


def _share(row: Any, name: str = "agreement") -> str:
    """Print a share with its interval."""
    low, high = ("low", "high") if name == "agreement" else (f"{name}_low", f"{name}_high")
    return f"{percent(row[name])} ({percent_range(row[low], row[high])})"


def _points(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" ({100 * low:.1f} to {100 * high:.1f})"


def _correction(rows: pd.DataFrame) -> str:
    """Say what Holm's correction is over, if any of these is corrected."""
    if rows["p_t"].isna().all() and rows["low"].notna().any():
        return ", with too few people or queries for p"
    if rows["p_t"].isna().all():
        return ", without p"
    if rows["p_holm"].isna().all():
        return ", none of the family, so without Holm's p"
    family = rows[rows["standing"] == "family"]
    if len(family) > 1:
        return f"; Holm's p is over {len(family)} comparisons"
    return ""
