"""Printed answer of `prefcal agree`: two sentences and a table of measures."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from calibration.agree.measures.variants import ParameterOrigin
from calibration.agree.result import (
    DIFFERENCE_COLUMNS,
    AgreementTables,
    ComparisonBasis,
    comparable_rows,
    counted_measures,
    extreme_measures,
    has_enough_pairs,
    is_uninformative,
    judged_things,
    leading_ties,
    often_tied,
    undetectable_note,
    without_constant,
)
from calibration.judges.numbers import JudgeTables, NumberWords, judge_in_words
from metrics.agreement.agreement import TIES, Ties
from metrics.errors import join_names, pluralise
from study_app.cli.output import table_text, wrapped

NONE, NO_INTERVAL = "none", "no interval"
FITTED = {
    ParameterOrigin.CROSS_FITTED: "fitted to all other queries (cross-fitted)",
    ParameterOrigin.OTHER_DATA: "fitted to other data",
}
"""Names of the ways in which measures with fitted parameters are computed.

Measures fitted in sample are in agreement.csv only.
"""
OTHER_WAYS = {
    ComparisonBasis.WEIGHTED: "By shares of votes",
    ComparisonBasis.VOTES: "by a model of the votes, in log odds",
    ComparisonBasis.GRADES: "by a model of graded answers, in log odds",
}


def agreement_text(found: AgreementTables) -> str:
    """Put the agreement of every task, and its judges that are no people, into sentences and tables."""
    parts: list[str] = [*map(wrapped, found.about)]
    tasks = list(dict.fromkeys([*found.agreement["task"], *found.judges.numbers["task"]]))
    for task in tasks:
        rows, comparisons, pairs = (
            frame[frame["task"] == task] for frame in (found.agreement, found.comparisons, found.pairs)
        )
        known = [each.sentence for each in found.diagnostics[str(task)] if each.severity == "info"]
        judges, things = found.judges.of_task(task), judged_things(pairs)
        head = f"Task {task}\n" if len(tasks) > 1 else ""
        if len(rows):
            lines = _TaskText(rows, comparisons, known, things, judges).lines()
        else:
            lines = iter(
                [*_on_judges(judges), "", judge_table(judges), "", *map(wrapped, [HOW_JUDGED, *known])]
            )
        parts.append(head + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


HOW_JUDGED = (
    "Judges: agreement with the majority and with one person, a tie counting half. Two orders of a pair that contradict each other make a"
    " tie. What a judge says is no estimate of what people prefer.  Every number: judge.csv; by topic, the worst first: judge_topics.csv."
)


def judge_table(judges: JudgeTables) -> str:
    """Return a table with a row of each judge that is no person."""
    columns = ["judge", "agreement", "95 %", "pairs", "one person", "contradicts", "first side", "unusable"]
    rows = [
        [
            row["judge"],
            percent(row["agreement_half"]),
            percent_range(row["low"], row["high"]),
            f"{row['pairs']:,}",
            *(percent(row[name]) for name in ("one_person", "contradicts", "first_chosen", "unusable")),
        ]
        for row in judges.rows()
    ]
    return table_text(columns, rows).rstrip("\n")


def _on_judges(judges: JudgeTables) -> Iterator[str]:
    words = NumberWords(
        percent,
        percent_range,
        lambda difference: f"{100 * difference:+.1f} points",
        percent_range,
    )
    for row in judges.rows():
        yield wrapped(judge_in_words(row, words))


def percent(share: float, digits: int = 1) -> str:
    """Format a share in per cent; `none` where it is undefined."""
    return NONE if math.isnan(share) else f"{100 * share:.{digits}f} %"


def percent_range(low: float, high: float, digits: int = 1) -> str:
    """Format an interval of shares; in words where there is none."""
    return NO_INTERVAL if math.isnan(low) else f"{100 * low:.{digits}f} to {100 * high:.{digits}f}"


def p_value(p: float) -> str:
    """Format a p value, never as zero; `none` where there is none."""
    return NONE if math.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


class _TaskText:
    """The lines of one task, and what they have in common."""

    def __init__(
        self,
        rows: pd.DataFrame,
        comparisons: pd.DataFrame,
        known: list[str],
        things: tuple[str, str],
        judges: JudgeTables,
    ) -> None:
        self.comparisons, self.known, self.things, self.judges = comparisons, known, things, judges
        self.applied = rows[rows["exclusions"] == "applied"]
        self.everybody = rows[rows["exclusions"] == "none"]
        self.ties: Ties = leading_ties(self.applied)
        self.leading = self.applied[self.applied["ties"] == self.ties].set_index("measure")
        self.fair = self.leading[self.leading["fit"] != ParameterOrigin.IN_SAMPLE]
        self.first = self.leading.iloc[0]
        self.by_majority = comparisons[comparisons["by"] == ComparisonBasis.MAJORITY]
        primary = self.by_majority[self.by_majority["standing"] == "primary"]
        self.primary = None if primary.empty else str(primary["measure"].iloc[0])
        family = self.by_majority.loc[self.by_majority["standing"] == "family", "against"].unique()
        self.reference = self.primary or (str(family[0]) if len(family) == 1 else None)
        self.pairs = pluralise(self.first["pairs"], "pair")
        self.on_fewer = not self.first["no_ceiling"] and self.first["pairs_there"] < self.first["pairs"]

    def lines(self) -> Iterator[str]:
        """Yield all of it."""
        yield from map(wrapped, self._answer())
        yield from _on_judges(self.judges)
        yield ""
        yield table_text(self._columns(), list(self._rows())).rstrip("\n")
        yield ""
        if len(self.judges.numbers):
            yield judge_table(self.judges)
            yield ""
            yield wrapped(HOW_JUDGED)
        yield from map(wrapped, self._notes())

    def _answer(self) -> Iterator[str]:
        """Yield how often measures agree with the majority, and how often people would."""
        first, named = self.first, self.primary
        if not has_enough_pairs(first):
            yield "Too few pairs with a majority, or too few queries, for an answer."
        fair = comparable_rows(self.applied)
        spoken_of = fair if named is None else self.leading.loc[[named]]
        if named is None and len(fair) == 1:
            named = str(fair["measure"].iloc[0])
        if len(spoken_of) and (spoken_of["metric_ties"] == spoken_of["pairs"]).all():
            yield f"{self.primary or 'No measure'} tells the two systems of {'none' if self.primary else 'any'} of {self.pairs} apart."
        elif named is not None:
            yield f"{named} agrees with the majority in {_share(self.leading.loc[named], of=self.pairs)}."
        elif len(fair) and has_enough_pairs(first):
            yield self._most_and_least(fair)
        if first["no_ceiling"]:
            yield f"How often people agree with each other cannot be estimated: {first['no_ceiling']}."
            return
        of = f"{first['pairs_there']:,} pairs, those with two votes or more" if self.on_fewer else ""
        difference = "" if named is None else _difference(self.leading.loc[named], on_fewer=self.on_fewer)
        yield f"A second panel of as many people would in {_share(first, 'ceiling', of=of)}{difference}."
        beyond = self.fair[self.fair["agreement_there"] > self.fair["perfect_high"]]
        if len(beyond):
            yield (
                f"{', '.join(map(str, beyond.index))}: more often than a measure that knew what most people prefer is estimated to. "
                "Only a measure made from these votes can do so, or one that follows people who judged many pairs: "
                "check the source of its scores."
            )

    def _most_and_least(self, fair: pd.DataFrame) -> str:
        """Return which measures agree most and least often, or that all are equal."""
        best, worst = extreme_measures(fair), extreme_measures(fair, highest=False)
        counted = counted_measures(self.applied, fair)
        if len(best) == len(fair):
            share = percent(fair["agreement"].iloc[0])
            return f"{counted} agree with the majority equally often, in {share} of {self.pairs}."
        high, low = self.leading.loc[best[0]], self.leading.loc[worst[0]]
        highest = (
            _share(high, of=self.pairs) if len(best) == 1 else f"{percent(high['agreement'])} of {self.pairs}"
        )
        lowest = _share(low) if len(worst) == 1 else percent(low["agreement"])
        agree = "agrees" if len(best) == 1 else "agree"
        return (
            f"Of {counted} {join_names(best, most=3)} {agree} with the majority most often, in {highest};"
            f" {join_names(worst, most=3)} least often, in {lowest}."
        )

    @property
    def _drawn(self) -> bool:
        return bool(self.applied["draws"].notna().any())

    def _columns(self) -> list[str]:
        columns = ["measure", "agreement", "95 %"]
        columns += [f"on {self.first['pairs_there']:,} pairs"] if self.on_fewer else []
        columns += ["draws"] if self._drawn else []
        columns += ["with excluded"] if len(self.everybody) else []
        return columns + ([f"against {self.reference}", "p (Holm)"] if self.reference else [])

    def _rows(self) -> Iterator[list[str]]:
        """Yield a row of each measure, the primary one first, and of both ceilings."""
        everybody = without_constant(self.everybody[self.everybody["ties"] == self.ties])
        everybody = everybody.set_index("measure")["agreement"]
        for measure, row in sorted(
            without_constant(self.fair).iterrows(), key=lambda item: item[0] != self.primary
        ):
            name = str(measure)
            yield [
                f"{name} (primary)" if name == self.primary else name,
                percent(row["agreement"]),
                percent_range(row["low"], row["high"]),
                *([percent(row["agreement_there"])] if self.on_fewer else []),
                *([percent_range(row["draw_low"], row["draw_high"])] if self._drawn else []),
                *([percent(everybody[name])] if len(everybody) else []),
                *(self._against(name) if self.reference else []),
            ]
        if not self.first["no_ceiling"]:
            columns = self._columns()
            for words, name in (("a second panel", "ceiling"), ("a perfect measure", "perfect")):
                row = dict.fromkeys(columns, "") | {"measure": words}
                if self.on_fewer:
                    row[columns[3]] = _share(self.first, name)
                else:
                    low, high = self.first[f"{name}_low"], self.first[f"{name}_high"]
                    row |= {"agreement": percent(self.first[name]), "95 %": percent_range(low, high)}
                yield list(row.values())

    def _against(self, measure: str) -> list[str]:
        """Return a measure's difference from the reference, and its p value."""
        rows = self.by_majority
        for one, other, sign in (("measure", "against", 1), ("against", "measure", -1)):
            row = rows[(rows[one] == measure) & (rows[other] == self.reference)]
            if len(row):
                return [_points(row.iloc[0], sign), p_value(row.iloc[0]["p_holm"])]
        return ["", ""]

    def _notes(self) -> Iterator[str]:
        first = self.first
        seconds, workers = first["mean_decision_seconds"], first["workers"]
        decided = "" if math.isnan(seconds) else f", {seconds:.1f} s a decision"
        by = "" if math.isnan(workers) else f" by {pluralise(int(workers), 'worker')}"
        yield (
            f"{pluralise(first['judgments'], 'judgment')}{by} on {self.pairs} of {self.things[1]}, "
            f"{pluralise(first['queries'], 'query', 'queries')}{decided}."
        )
        yield from self._on_ties()
        for fit, words in FITTED.items():
            names = ", ".join(map(str, self.fair.index[self.fair["fit"] == fit]))
            if names and not any(sentence.startswith(f"{names}: fitted to") for sentence in self.known):
                yield f"{names}: {words}."
        yield from self.known
        if self.leading["low"].isna().any() and not first["warnings"]:
            yield "No interval: all queries are alike, which is too little to say, not certainty."
        if first["no_ceiling_interval"]:
            yield f"The ceilings have no interval: {first['no_ceiling_interval']}."
        if self._drawn:
            count = pluralise(int(self.applied["draws"].max()), "time")
            yield f"draws: 95 % of the agreements when the fitted parameters are drawn anew ({count})."
        if self.applied["converted"].any():
            yield "(converted): judged for another kind of collection; shown for comparison only."
        if len(self.everybody):
            workers = pluralise(int(self.everybody.iloc[0]["workers"]), "worker")
            yield f"with excluded: the agreement when excluded workers count too ({workers} in all)."
        yield from self._on_comparisons()

    def _on_ties(self) -> Iterator[str]:
        tied = often_tied(self.applied)
        others = ", ".join([*(ties for ties in TIES if ties != self.ties), "votes"])
        in_sample = ", and fits in sample," if len(self.fair) < len(self.leading) else ""
        votes = f"{self.first['vote_ties']:,} of {self.pairs} {'is' if self.first['vote_ties'] == 1 else 'are'} tied in the votes"
        how = "Ties count against a measure, as in the paper"
        if tied:
            which = ", ".join(f"{name} {percent(share, 0)}" for name, share in list(tied.items())[:3])
            how = f"Ties count half, since scores tie on many pairs ({which})"
        yield f"{how}; {votes}.  Other conventions for ties ({others}){in_sample} stand in agreement.csv and comparisons.csv."

    def _on_comparisons(self) -> Iterator[str]:
        """Yield what the comparisons say beyond the table."""
        rows = self.by_majority
        if rows.empty:
            return
        if self.reference is None:
            below = int((rows["p_holm"] < 0.05).sum())
            are = pluralise(len(rows), "comparison")
            said = (
                f"{below} with p (Holm) below .05"
                if rows["p_holm"].notna().any()
                else "none by majority has a p"
            )
            yield f"{are} of two measures in comparisons.csv; {said}."
        elif (corrected := int(rows["p_holm"].notna().sum())) > 1:
            yield f"p (Holm): over {pluralise(corrected, 'comparison')}."
        yield from self._other_ways()
        if (rows["named"] == "analysis").any():
            yield "Named at analysis, with an option when the answers were there; not planned in the study file."
        elif (rows["named"] == "study_file").any():
            yield "Named in the study file."
        yield from dict.fromkeys(filter(None, map(undetectable_note, rows["minimum_detectable"])))

    def _other_ways(self) -> Iterator[str]:
        """Yield the primary comparison, or the only one, by votes instead of majorities."""
        rows = self.comparisons
        named = rows[rows["standing"] == "primary"] if self.primary else rows
        if len(self.by_majority) == 1 or self.primary:
            sentences = [
                f"{words}: {_in_way(row)}"
                for way, words in OTHER_WAYS.items()
                for row in named[named["by"] == way].to_dict("records")
            ]
            first = named.iloc[0]
            if sentences:
                yield f"{first['measure']} against {first['against']}. {'; '.join(sentences)}."
            detectable = first["minimum_detectable"]
            if not math.isnan(detectable) and not undetectable_note(detectable):
                yield f"Four of five studies of this size would find a difference of {100 * detectable:.1f} points."


def _in_way(row: Any) -> str:
    """Return a comparison by votes with its p."""
    if is_uninformative(row):
        return "cannot be told"
    if row["by"] in {ComparisonBasis.VOTES, ComparisonBasis.GRADES}:
        ends = "" if math.isnan(row["low"]) else f" ({row['low']:.2f} to {row['high']:.2f})"
        amount = NONE if math.isnan(row["difference"]) else f"{row['difference']:+.2f}{ends}"
    else:
        amount = f"{_points(row)} points"
    return f"{amount}, p {p_value(row['p_t'])}"


def _share(row: Any, name: str = "agreement", *, of: str = "") -> str:
    """Format a share with its interval: `90.5 % of 168 pairs (85.7 to 95.2)`."""
    low, high = ("low", "high") if name == "agreement" else (f"{name}_low", f"{name}_high")
    return f"{percent(row[name])}{f' of {of}' if of else ''} ({percent_range(row[low], row[high])})"


def _points(row: Any, sign: int = 1) -> str:
    """Format a difference of two shares in points, with its interval."""
    if math.isnan(row["difference"]):
        return NONE
    ends = sorted((sign * row["low"], sign * row["high"]))
    interval = "" if math.isnan(row["low"]) else f" ({100 * ends[0]:.1f} to {100 * ends[1]:.1f})"
    return f"{100 * sign * row['difference']:+.1f}{interval}"


def _difference(row: Any, *, on_fewer: bool) -> str:
    """Return the difference from a second panel, with interval and verdict."""
    difference, low, high = (100 * row[name] for name in DIFFERENCE_COLUMNS)
    if math.isnan(difference):
        return ""
    points = f"; the difference{' there' if on_fewer else ''}, {difference:+.1f} points"
    if math.isnan(low):
        return f"{points}, has no interval"
    verdict = "is not significant" if low <= 0 <= high else "is significant at 95 %"
    return f"{points} ({low:.1f} to {high:.1f}), {verdict}"
