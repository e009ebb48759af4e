"""Kind of task `stream_pairs`: workers judge pairs of push streams.

Pairs are for an interest profile; see the closing question of push-notification-metrics. The oldest day stands first on a page, and on a
day what came first, so that reading down is what living through the days was like. A day without pushes is there all the same: the system
was quiet. Whether it was silent, with nothing to tell of at all, no user can know; the page says so only where the study reveals it, and
then on both sides alike.
"""

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StringConstraints, Tag

from metrics.errors import Fault, input_fault
from study_app.protocol.sides import Block, Side
from study_app.study.entries import AssignedPairTask, Contradiction, StudyFileModel, expect_entry_type
from study_app.tasks.content import EventFiles, PushFiles, TaskContent
from study_app.tasks.pair_kinds import AssignedPairKind
from study_app.tasks.side_text import Words
from study_app.tasks.task_kind import Collected, FinishedTask, KindParameters, NewTask, SideForm
from study_app.tasks.workload import (
    ASSIGNED_CURES,
    assigned_comments,
    chosen_only,
    count_phrase,
    options_phrase,
    range_phrase,
    taking,
)

MAX_DAYS = 100
"""Each has its place on the page, also one without pushes."""
SHARE_OF_A_DAY = 0.05
"""Least judged tweets of a day of the evaluation, as a share of the busiest day."""


def _day_as_text(value: Any) -> Any:
    """YAML reads 20150720 as a number; a day is text."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Day = Annotated[str, BeforeValidator(_day_as_text), StringConstraints(pattern=r"^\d{8}$")]


def _form(given: Any) -> str:
    """Return the form of a collection of streams, read or not: events or push."""
    has_nuggets = "nuggets" in given if isinstance(given, Mapping) else isinstance(given, EventFiles)
    return "events" if has_nuggets else "push"


FILES: dict[str, type[StudyFileModel]] = {"events": EventFiles, "push": PushFiles}


class StreamPairs(AssignedPairTask):
    """Judge pairs of push streams for an interest profile."""

    kind: Literal["stream_pairs"]
    collection: Annotated[
        Annotated[EventFiles, Tag("events")] | Annotated[PushFiles, Tag("push")], Discriminator(_form)
    ]
    days: Annotated[tuple[Day, Day], Field(strict=False)] | None = None
    reveal_silent_days: Literal["random"] | bool = False

    @property
    def revealed(self) -> Literal["random"] | bool | None:
        """True if workers see which days were silent."""
        return self.reveal_silent_days


def _rules(task: StreamPairs) -> Iterator[Contradiction]:
    is_events = isinstance(task.collection, EventFiles)
    if task.days is None and not is_events:
        yield ((), "days is missing", "write days: [YYYYMMDD, YYYYMMDD], the first and the last")
    if task.days is not None and is_events:
        yield (("days",), "days are those of the events", "remove days")
    if task.days is not None:
        yield from _span(*task.days)


def _span(first: str, last: str) -> Iterator[Contradiction]:
    from metrics.push.streams import parsed_day  # noqa: PLC0415 - numpy comes with it

    try:
        days = (parsed_day(last) - parsed_day(first)).days + 1
    except ValueError as error:
        yield ("days",), str(error), "write each as YYYYMMDD"
        return
    if days < 1:
        yield ("days",), "the first day is after the last", "exchange them"
    if days > MAX_DAYS:
        yield (
            ("days",),
            f"{days} days are more than anybody can judge on a page",
            f"take {MAX_DAYS} days or fewer",
        )


def _read(folder: Path, task: StreamPairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.push_streams import read_push_content  # noqa: PLC0415 - see the room `reading`

    return read_push_content(folder, task, faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushDay:
    """Day of a push stream: name ``YYYYMMDD``, date, timed pushes, and silence.

    Silence says whether the page reveals a silent day.
    """

    name: str
    date: date
    pushes: tuple[tuple[Block, datetime], ...]
    silent: bool


def shown_pushes(side: Side, detail: Mapping[str, Any], *, reveals_silence: bool) -> tuple[PushDay, ...]:
    """Return every day of a profile with a system's pushes.

    `models.Topic` describes the profile.
    """
    pushes: dict[str, list[tuple[Block, datetime]]] = {day: [] for day in detail["days"]}
    for push in side.blocks:
        at = datetime.fromtimestamp(push.at or 0, UTC)
        pushes[f"{at:%Y%m%d}"].append((push, at))
    silent = frozenset(detail["silent"]) if reveals_silence else frozenset()
    return tuple(
        PushDay(name=day, date=date.fromisoformat(day), pushes=tuple(of_day), silent=day in silent)
        for day, of_day in pushes.items()
    )


def _days_text(side: Side, detail: Mapping[str, Any], reveals: bool, words: Words) -> str:  # noqa: FBT001 - as `SideForm.text`
    """Return every day of a profile as text: its date, then its pushes with their minutes."""
    return "\n\n".join(
        "\n".join(
            [
                words("pushes.day", at=day.date),
                *([words("pushes.silent")] if day.silent else []),
                *([f"{at:%H:%M} {push.text}" for push, at in day.pushes] or [words("pushes.quiet")]),
            ]
        )
        for day in shown_pushes(side, detail, reveals_silence=reveals)
    )


def _quiet_and_described(side: Side, detail: Mapping[str, Any]) -> Iterator[str]:
    """Yield `quiet` for a day without pushes, `description` for a described profile."""
    if any(not day.pushes for day in shown_pushes(side, detail, reveals_silence=False)):
        yield "quiet"
    if detail["description"]:
        yield "description"


def _work(content: TaskContent) -> str:
    entry = expect_entry_type(content.entry, StreamPairs)
    days = [len((topic.detail or {}).get("days", ())) for topic in content.topics]
    topics = count_phrase(len(content.topics), "profile")
    return f"{taking(content, entry)}: {len(entry.systems)} systems, {topics}, {range_phrase(days)} days"


def _worth(content: TaskContent, people: KindParameters, path: Path) -> Mapping[tuple[str, str], float]:
    """Return the contingency utility under the people's weights.

    The source is Tan et al., SIGIR 2016, Table 1.

    Raises
    ------
    InputError
        If the streams' cells are not known: nobody could prefer anything.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import, and only a simulation needs it

    if "push_cells" not in content.tables:
        raise input_fault(
            f"task {content.entry.name}: the collection has no judgments, so nobody can prefer anything",
            path=path,
            cure="name qrels and clusters in the collection",
        )
    cells, weights = pd.read_parquet(io.BytesIO(content.tables["push_cells"])), people.push_weights
    worth = (
        cells["gain"]
        - weights["P_E"] * cells["nonrelevant_eventful"]
        - weights["S_E"] * cells["silent_eventful"]
        - weights["P_0"] * cells["nonrelevant_silent"]
        + weights["S_0"] * cells["silent_silent"]
    )
    return dict(zip(zip(cells["topic"], cells["system"], strict=True), worth.astype(float), strict=True))


def _methods(task: FinishedTask) -> str:
    shown = {True: "was shown", "random": "was shown to a random half of the workers"}
    silent = shown.get(task.protocol.get("reveal_silent_days", False), "was not shown")
    return (
        f"a worker read an interest profile and what two systems had pushed on the same days, for {task.systems}"
        f"{chosen_only(task.protocol)}, and"
        f" judged: {options_phrase(task.protocol)}. Quiet days were seen as quiet; whether a day had nothing relevant {silent}."
    )


def _evaluated_days(found: Collected) -> list[int] | None:
    """Return the first and the last day of the evaluation.

    It returns None for events, which have their own.
    """
    if found.family != "pushes":
        return None
    count = Counter(row[1] for row in found.files["epochs"].rows)
    least = SHARE_OF_A_DAY * max(count.values())
    days = sorted(day for day, tweets in count.items() if tweets >= least)
    return [int(days[0]), int(days[-1])]


KIND = AssignedPairKind(
    entry=StreamPairs,
    files=lambda given: FILES[_form(given)],
    criteria={
        "en": (
            "How much of what you would want to know did the notifications tell you?",
            "How rarely did they disturb you for nothing?",
        ),
        "ja": (
            "知りたいことを、通知がどれだけ知らせてくれましたか",
            "不要な通知に邪魔されることが、どれだけ少なかったですか",
        ),
    },
    cures={
        **ASSIGNED_CURES,
        "systems": "write NAME: RUN, one line per system, two at least",
        "collection": "write topics: FILE, qrels: FILE, clusters: FILE, epochs: FILE and texts: FILE below it",
        "days": "write days: [YYYYMMDD, YYYYMMDD], the first and the last",
    },
    rules=_rules,
    topic="Profile",
    read=_read,
    side=SideForm(
        name="pushes",
        value=lambda side, detail, reveals: shown_pushes(side, detail, reveals_silence=reveals),
        shows=lambda side, detail: tuple(_quiet_and_described(side, detail)),
        text=_days_text,
    ),
    optional=("quiet", "description"),
    check=(2, 3),
    work=_work,
    worth=_worth,
    preferred_by=lambda _entry: "push weights",
    methods=_methods,
    new=NewTask(
        name="notifications",
        runs={"events": 2, "pushes": 2},
        usual=lambda found: found.family == "pushes",
        days=_evaluated_days,
        telling=3,
        title={"en": "Which notifications would you rather get?", "ja": "どちらの通知を受け取りたいですか"},
        activity={
            "en": "you read what somebody wants to be told of, and compare the notifications that two services would have sent",
            "ja": "ある人が知りたいことを読み、二つのサービスが送った通知を比べます",
        },
        comments={
            "days": "the first and the last day; what is pushed on other days is not shown",
            **assigned_comments("profile"),
            "reveal_silent_days": "true: days without anything relevant say so; random: for half of the workers",
        },
    ),
)
