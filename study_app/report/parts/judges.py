"""The report's section on judges that are no people: beside one more person, the measures, and what people’s disagreement leaves possible."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from calibration.judges.numbers import JUDGE, MEASURE, JudgeTables, NumberWords, judge_in_words
from calibration.judges.people_in_turn import COST, MIN_PAIRS
from study_app.report.drawing.figures import CEILING, JUDGE_SIGN, CurveMark, rows_with_intervals
from study_app.report.page import (
    LEVEL,
    Figure,
    ReportTable,
    Section,
    decimal,
    percent,
    percent_interval,
    pluralise,
    points,
    points_interval,
    quantity,
    to_table,
)

WORDS = NumberWords(
    percent,
    percent_interval,
    lambda difference: f"{points(difference)} points",
    points_interval,
    lambda number: quantity(float(number)),
)
NO_ESTIMATE = (
    "What a judge says is no estimate of what people prefer: an agreement with people says nothing about pairs, topics or systems that"
    " people did not judge, nor whether the judge errs in favour of one system."
)
MAX_TOPICS = 12
"""Topics of a judge that are shown, the worst first."""


def judges_section(task: str, judges: JudgeTables, key: str) -> Section:
    """Return what the judges of a task are worth.

    Parameters
    ----------
    task : str
        Its name.
    judges : JudgeTables
        Of this task, with a row at least.
    key : str
        Anchor of the section, and beginning of the names of what is in it.
    """
    rows = judges.rows()
    first, *others = (judge_in_words(row, WORDS).removesuffix(".") for row in rows)
    return Section(
        key=key,
        title=first,
        short="Judges",
        paragraphs=(
            *(f"{sentence}." for sentence in others),
            *(" ".join(_conduct(row)) for row in rows),
            *filter(None, map(_in_turn, rows)),
            NO_ESTIMATE,
        ),
        figures=(axis_figure(judges.axis, key),) if len(judges.axis) else (),
        tables=(*_numbers(task, judges.numbers, key), *_topics(task, judges.topics, key)),
    )


def how_judged(judges: JudgeTables) -> Iterator[str]:
    """Yield for the methods what each judge is, and how it was asked."""
    for row in judges.rows():
        model = (
            f"model {row['model']}"
            if isinstance(row["model"], str) and row["model"]
            else "model not on record"
        )
        prompt = row["prompt_sha256"]
        asked = (
            f"prompt with SHA-256 {prompt[:12]}"
            if isinstance(prompt, str) and prompt
            else "prompt not on record"
        )
        first, last = row["first_at"], row["last_at"]
        when = ""
        if isinstance(first, str) and first:
            when = f", asked on {first}" if first == last else f", asked between {first} and {last}"
        orders = {"both": "in both orders of the sides", "one": "in one order of the sides"}
        samples = pluralise(row["repeats"], "time")
        yield (
            f"Task {row['task']}: judge {row['judge']} ({model}, {asked}{when}) gave {pluralise(row['answers'], 'answer')} on"
            f" {pluralise(row['pairs'], 'pair')} that people judged, {orders.get(row['orders'], 'in orders that nobody knows')}, a pair up to"
            f" {samples}; {percent(row['unusable'])} of them could not be used. A contradiction between orders and an unusable answer count"
            " as a tie; of several verdicts on a pair the first counts. Judges enter no majority, ceiling, fit or ranking."
        )


def _conduct(row: dict[str, Any]) -> Iterator[str]:
    """Yield how a judge goes about it, beside people."""
    name = row["judge"]
    if not np.isnan(row["contradicts"]):
        yield f"{name} contradicts itself on {percent(row['contradicts'])} of verdicts when the sides are exchanged."
    if not np.isnan(row["first_chosen"]):
        yield f"It chooses the side shown first in {percent(row['first_chosen'])} of its answers for a side."
    if not np.isnan(row["repeats_same"]):
        yield f"Asked again, it gives the same verdict on {percent(row['repeats_same'])} of pairs."
    if not np.isnan(row["longer"]):
        yield (
            f"It prefers the longer side in {percent(row['longer'])} of its verdicts for a side"
            f" ({percent_interval(row['longer_low'], row['longer_high'])}), people in {percent(row['longer_people'])} of votes"
            f" ({percent_interval(row['longer_people_low'], row['longer_people_high'])})."
        )
    if row["triads"]:
        yield (
            f"{quantity(float(row['circles']))} of {quantity(float(row['triads']))} triads that it decides are circles, of people’s majorities"
            f" {quantity(float(row['circles_people']))} of {quantity(float(row['triads_people']))}."
        )


def _in_turn(row: dict[str, Any]) -> str:
    """Say how a judge stands against each person; nothing where nobody knows who judged."""
    if np.isnan(row["advantage"]):
        return ""
    does = (
        f"Against each person in turn (Calderon and others 2025), {row['judge']} agrees with the others at least as well as the person on"
        f" {percent(row['advantage'])} of pairs, on average over people"
    )
    if not row["people_tested"]:
        return f"{does}. Nobody judged {MIN_PAIRS} pairs of four topics with others, so no person is tested alone."
    return (
        f"{does}. It wins against {row['people_beaten']} of {pluralise(row['people_tested'], 'person', 'people')} with {MIN_PAIRS} pairs or"
        f" more; to win, it has to be less than {percent(COST, 0)} of pairs worse than the person."
    )


def axis_figure(axis: pd.DataFrame, key: str) -> Figure:
    """Return judges, measures, one more person, a second panel and a perfect measure on one axis."""
    is_rated = axis["kind"].isin([JUDGE, MEASURE])
    rated = axis[is_rated].sort_values("agreement", ascending=False, kind="stable")
    signs = {JUDGE: JUDGE_SIGN, MEASURE: "o"}
    marks = [
        CurveMark(
            label=str(row["name"]),
            value=row["agreement"],
            low=row["low"],
            high=row["high"],
            sign=signs.get(row["kind"], CEILING),
        )
        for row in (*rated.to_dict("records"), *axis[~is_rated].to_dict("records"))
    ]
    pairs = int(axis["pairs"].iloc[0])
    person = next((mark.value for mark in marks if mark.label == "one more person"), np.nan)
    leader = rated.iloc[0]
    return Figure(
        name=f"{key}-axis",
        title=f"{leader['name']} agrees with one person in {percent(leader['agreement'])} of pairs, one more person in {percent(person)}",
        wide=True,
        draw=partial(
            rows_with_intervals, marks=marks, label="agreement with one person’s vote", reference=person
        ),
        alt="How often each agrees with one person’s vote on a pair: "
        + "; ".join(
            f"{mark.label} {percent(mark.value)} ({percent_interval(mark.low, mark.high)})" for mark in marks
        )
        + ".",
        caption=(
            f"How often each agrees with the vote of one person, a tie counting half, with its {LEVEL} interval, all on the same"
            f" {pluralise(pairs, 'pair')} that two people or more and every judge judged. Diamonds: judges that are no people. Discs: measures."
            " Plus signs: one more person, a second panel of as many people, and a measure that knew what most people prefer."
            " Upright line: one more person. Dashed: one half."
        ),
    )


def _numbers(task: str, numbers: pd.DataFrame, key: str) -> Iterator[ReportTable]:
    """Yield how far judges agree with people, and how they go about it."""
    interval = f"{LEVEL} interval"
    yield to_table(
        key,
        f"Judges beside people in task {task}",
        numbers,
        (
            ("Judge", str, "judge"),
            ("Pairs", WORDS.number, "pairs_there"),
            ("With one person", percent, "one_person"),
            ("Two people", percent, "two_people"),
            ("Difference", points, "difference"),
            (interval, points_interval, "difference_low", "difference_high"),
            ("Contradicts", percent, "contradicts"),
            ("First chosen", percent, "first_chosen"),
            ("Same again", percent, "repeats_same"),
            ("Unusable", percent, "unusable"),
        ),
        note=(
            "Pairs: those that two people or more judged, which the next columns are of; the difference is in points. Contradicts:"
            " verdicts whose two orders differ. First chosen: answers for the side shown first. Same again: pairs asked again on which every"
            " verdict is the same. A dash: not known."
        ),
        for_papers=True,
    )
    yield to_table(
        f"{key}-majority",
        f"Judges and the majority in task {task}",
        numbers,
        (
            ("Judge", str, "judge"),
            ("Pairs", WORDS.number, "pairs"),
            ("Ties half", percent, "agreement_half"),
            (interval, percent_interval, "low", "high"),
            ("Ties against", percent, "agreement_against"),
            ("Ties out", percent, "agreement_drop"),
            ("By votes", percent, "agreement_weighted"),
            ("Of two people", percent, "agreement_there"),
            ("Kappa", decimal, "kappa"),
        ),
        note=(
            "Of all pairs that people and the judge judged, a tie counting as for measures. Of two people: ties half, on those pairs that two"
            " people or more judged. Kappa: Cohen’s, on pairs that both decide. More in judge.csv."
        ),
        for_papers=True,
    )


def _topics(task: str, topics: pd.DataFrame, key: str) -> Iterator[ReportTable]:
    """Yield the topics of each judge, the worst first."""
    for number, (judge, rows) in enumerate(topics.groupby("judge", sort=False), start=1):
        left_out = len(rows) - MAX_TOPICS
        yield to_table(
            f"{key}-topics-{number}",
            f"{judge} by topic in task {task}, the worst first",
            rows.head(MAX_TOPICS),
            (
                ("Topic", str, "topic"),
                ("Pairs", WORDS.number, "pairs"),
                ("With majority", percent, "agreement_half"),
                ("With one person", percent, "one_person"),
                ("Two people", percent, "two_people"),
                ("Ties", percent, "ties"),
            ),
            note=(f"{pluralise(left_out, 'topic')} more: judge_topics.csv. " if left_out > 0 else "")
            + "Ties: share of its verdicts. Worst of many topics is partly chance.",
        )
