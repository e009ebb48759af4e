"""Numbers of judges as rows of tables, and in words.

`NUMBERS` are the columns of judge.csv, `TOPICS` those of judge_topics.csv, `PEOPLE` those of
judge_people.csv; docs/judges.md explains each.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from calibration.judges.assist import AGREEMENTS
from calibration.judges.beside_people import AS_GOOD, Estimate, JudgeBesidePeople
from metrics.agreement.agreement import TIES

Row = dict[str, Any]
NUMBERS = (
    *("task", "judge", "pairs"),
    *(f"agreement_{ties}" for ties in TIES),
    *("low", "high", "pairs_there", "agreement_there", "one_person", "two_people"),
    *("difference", "difference_low", "difference_high"),
    *("contradicts", "first_chosen", "repeats_same", "unusable", "longer", "longer_people"),
    *("kappa", "circles", "triads", "circles_people", "triads_people"),
    *("one_person_low", "one_person_high", "two_people_low", "two_people_high"),
    *("longer_low", "longer_high", "longer_people_low", "longer_people_high"),
    *("advantage", "people_tested", "people_beaten"),
    *("answers", "orders", "repeats", "model", "prompt_sha256", "first_at", "last_at"),
)
TOPICS = (
    *("task", "judge", "topic", "pairs", "agreement_half", "pairs_there", "one_person", "two_people", "ties"),
)
PEOPLE = (
    *("task", "judge", "worker", "pairs", "topics", "judge_with_others", "person_with_others"),
    *("judge_as_good", "person_as_good", "p", "p_adjusted"),
)

AXIS = ("task", "kind", "name", "agreement", "low", "high", "pairs")
"""Columns of judge_axis.csv."""
TOO_WIDE = 0.2
"""Half the width of the widest interval of a difference that says anything."""
JUDGE, MEASURE, PERSON, PANEL, PERFECT = "judge", "measure", "person", "panel", "perfect"
"""Values of its column ``kind``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeTables:
    """Judges of a study beside its people; frames without a row where there is no judge.

    Attributes
    ----------
    numbers : DataFrame
        One row a task and judge (judge.csv).
    topics : DataFrame
        One row a task, judge and topic, the worst topic of each judge first (judge_topics.csv).
    people : DataFrame
        One row a task, judge and person: the alternative annotator test (judge_people.csv).
    axis : DataFrame
        Judges, measures, one more person, a second panel and a perfect measure on the same pairs (judge_axis.csv).
    assisted : DataFrame
        Agreement of measures with people, assisted by one judge (assisted_agreement.csv).
    """

    numbers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(NUMBERS)))
    topics: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(TOPICS)))
    people: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(PEOPLE)))
    axis: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(AXIS)))
    assisted: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(AGREEMENTS)))

    def of_task(self, task: object) -> "JudgeTables":
        """Return the rows of one task."""
        return JudgeTables(
            **{
                name: (frame := getattr(self, name))[frame["task"] == task].reset_index(drop=True)
                for name in ("numbers", "topics", "people", "axis", "assisted")
            }
        )

    def rows(self) -> list[Row]:
        """Return the rows of ``numbers`` as dictionaries."""
        return [{str(name): value for name, value in row.items()} for row in self.numbers.to_dict("records")]


def joined(tables: Sequence[JudgeTables]) -> JudgeTables:
    """Put the tables of tasks below each other."""
    whole = {}
    for name in ("numbers", "topics", "people", "axis"):
        filled = [frame for each in tables if len(frame := getattr(each, name))]
        if filled:
            whole[name] = pd.concat(filled, ignore_index=True)
    return JudgeTables(**whole)


def judge_row(task: str, judge: str, numbers: JudgeBesidePeople, verdicts: pd.DataFrame) -> Row:
    """Return the row of judge.csv.

    Parameters
    ----------
    task, judge : str
        Their names.
    numbers : JudgeBesidePeople
        The numbers.
    verdicts : DataFrame
        The verdicts that they are of.
    """
    resolved, half, people = numbers.verdicts, numbers.agreement["half"], numbers.people
    found = {
        "task": task,
        "judge": judge,
        "pairs": int(resolved.is_judged.sum()),
        **{f"agreement_{ties}": estimate.value for ties, estimate in numbers.agreement.items()},
        **_ends("", half),
        "pairs_there": numbers.two_people.pairs,
        "agreement_there": numbers.agreement_there["half"].value,
        "difference": numbers.difference.value,
        **_ends("difference_", numbers.difference),
        "contradicts": _share(resolved.contradictions, resolved.in_two_orders),
        "first_chosen": _share(resolved.first_sided, resolved.sided),
        "repeats_same": _share(resolved.repeated - resolved.changed, resolved.repeated),
        "unusable": _share(resolved.unusable, resolved.answers),
        "kappa": numbers.kappa.value,
        "circles": numbers.circles.circles,
        "triads": numbers.circles.triads,
        "circles_people": numbers.circles_people.circles,
        "triads_people": numbers.circles_people.triads,
        "advantage": people.advantage if people else math.nan,
        "people_tested": people.tested if people else 0,
        "people_beaten": people.beaten if people else 0,
        "answers": resolved.answers,
        "orders": _orders(numbers, verdicts),
        "repeats": resolved.repeats,
        "model": _only(verdicts["model"]),
        "prompt_sha256": _only(verdicts["prompt_sha256"]),
        "first_at": _day(verdicts["decided_at"].min()),
        "last_at": _day(verdicts["decided_at"].max()),
    }
    for name in ("one_person", "two_people", "longer", "longer_people"):
        estimate = getattr(numbers, name)
        found |= {name: estimate.value, **_ends(f"{name}_", estimate)}
    return {name: found[name] for name in NUMBERS}


def standing(row: Mapping[str, Any]) -> str:
    """Say how a judge stands beside one more person, by the interval of their difference.

    Parameters
    ----------
    row : mapping
        Of judge.csv.
    """
    low, high = row["difference_low"], row["difference_high"]
    if math.isnan(low):
        return "with too few topics or people to say how it stands beside one more person"
    if low > 0:
        return "better than one more crowd worker"
    if high < 0:
        return "worse than one more crowd worker"
    if max(-low, high) <= AS_GOOD:
        return "as good as one more crowd worker, and no better"
    if high - low > 2 * TOO_WIDE:
        return f"{row['pairs_there']} pairs are too few to tell whether it is better or worse than one more crowd worker"
    return "it cannot be distinguished from one more crowd worker"


class NumberWords(NamedTuple):
    """How shares, their intervals, differences of shares, the intervals of these, and counts are written."""

    share: Callable[[float], str]
    between: Callable[[float, float], str]
    points: Callable[[float], str]
    points_between: Callable[[float, float], str]
    number: Callable[[int], str] = "{:,}".format


PLAIN = NumberWords("{:.3f}".format, "{:.3f} to {:.3f}".format, "{:+.3f}".format, "{:.3f} to {:.3f}".format)


def judge_in_words(row: Mapping[str, Any], words: NumberWords = PLAIN) -> str:
    """Return the sentence on a judge: beside one more person, or with the majority where no pair has two people.

    Parameters
    ----------
    row : mapping
        Of judge.csv.
    words : NumberWords
        How numbers are written.
    """
    share, between, points, points_between, number = words
    if not row["pairs"]:
        return f"{row['judge']} judged no pair that people judged."
    if not row["pairs_there"]:
        return (
            f"{row['judge']} agrees with the majority in {share(row['agreement_half'])} of {number(row['pairs'])} pairs"
            f" ({between(row['low'], row['high'])}), a tie counting half; none of them has the votes of two people, so it"
            " cannot be compared with one more person."
        )
    apart = ""
    if not math.isnan(row["difference_low"]):
        ends = points_between(row["difference_low"], row["difference_high"])
        apart = f" ({points(row['difference'])}, {ends})"
    return (
        f"{row['judge']} agrees with one person in {share(row['one_person'])} of {number(row['pairs_there'])} pairs"
        f" ({between(row['one_person_low'], row['one_person_high'])}), and two people with each other in"
        f" {share(row['two_people'])}: {standing(row)}{apart}."
    )


def _ends(name: str, estimate: Estimate) -> dict[str, float]:
    return {f"{name}low": estimate.low, f"{name}high": estimate.high}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _orders(numbers: JudgeBesidePeople, verdicts: pd.DataFrame) -> str:
    """Return in which orders the sides were shown: both, one, or unknown."""
    if numbers.verdicts.in_two_orders:
        return "both"
    return "one" if verdicts["order"].notna().any() else "unknown"


def _only(cells: "pd.Series[Any]") -> str:
    """Return the values of a column, each once."""
    return ", ".join(sorted(map(str, cells.dropna().unique())))


def _day(moment: Any) -> str:
    return "" if pd.isna(moment) else f"{moment:%Y-%m-%d}"
