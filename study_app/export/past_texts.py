"""Texts that were mended while a study ran: which version a page showed, and both versions for study.json."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from calibration.tables.study_json import LoadedChange, MendedText, StudyLoaded
from study_app.protocol.sides import Side
from study_app.protocol.texts import TopicTexts, side_lines
from study_app.store.models import StoredSummary, System, Task, Topic
from study_app.store.task_models import PastText, StudyLoad

VERSION_COLUMN = "text_version"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTexts:
    """Mended texts of a study, the earliest first.

    Attributes
    ----------
    rows : sequence of PastText
        The texts of before.
    ends : mapping of int to sequence of int
        Last versions of the study that showed the earlier texts of each topic, ascending.
    """

    rows: Sequence[PastText]
    ends: Mapping[int, Sequence[int]]

    def version(self, topic: int, study_version: int | None) -> int:
        """Return which version of a topic's texts a page showed, from 1.

        ``study_version`` is that of the page; None for one that an earlier prefcal served.
        """
        return 1 + bisect_left(self.ends.get(topic, ()), study_version or 0)


def past_texts(session: Session, study_id: int) -> PastTexts:
    """Return the mended texts of a study."""
    stored = (
        select(PastText)
        .join(Topic, Topic.id == PastText.topic_id)
        .join(Topic.task)
        .where(Task.study_id == study_id)
        .order_by(PastText.upto_version, Task.position, Topic.position, PastText.id)
    )
    rows = session.scalars(stored).all()
    ends: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        ends[row.topic_id].add(row.upto_version)
    return PastTexts(rows=rows, ends={topic: sorted(versions) for topic, versions in ends.items()})


def mended_records(session: Session, study_id: int, preferences: pd.DataFrame) -> tuple[MendedText, ...]:
    """Return both versions of each mended text, with their hashes, times and judgments.

    ``preferences`` is the table, with its column `VERSION_COLUMN` where something was mended.
    """
    past = past_texts(session, study_id)
    later: dict[tuple[int, int | None], list[PastText]] = defaultdict(list)
    for row in past.rows:
        later[row.topic_id, row.system_id].append(row)
    records = []
    for row in past.rows:
        same = later[row.topic_id, row.system_id]
        topic = session.get_one(Topic, row.topic_id)
        system = None if row.system_id is None else session.get_one(System, row.system_id).name
        place = same.index(row)
        following = same[place + 1] if place + 1 < len(same) else None
        begins, changes = (
            (1 if place == 0 else past.version(topic.id, same[place - 1].upto_version + 1)),
            (past.version(topic.id, row.upto_version + 1)),
        )
        ends = None if following is None else past.version(topic.id, following.upto_version + 1)
        saw = _versions_seen(preferences, topic, system)
        records.append(
            MendedText(
                task=topic.task.name,
                topic=topic.name,
                system=system,
                at=row.mended_at,
                text_version=changes,
                before=_text(row, row.content),
                after=_text(row, _current(session, row) if following is None else following.content),
                sha256_before=row.sha256,
                sha256_after=row.new_sha256,
                judgments_before=None if saw is None else sum(begins <= version < changes for version in saw),
                judgments_after=None
                if saw is None
                else sum(version >= changes and (ends is None or version < ends) for version in saw),
            )
        )
    return tuple(records)


def _versions_seen(preferences: pd.DataFrame, topic: Topic, system: str | None) -> list[int] | None:
    """Return the version that each judgment of a topic, or of a system's side of it, saw; None without judgments."""
    if VERSION_COLUMN not in preferences:
        return None
    rows = preferences[(preferences["task"] == topic.task.name) & (preferences["topic"] == topic.name)]
    if system is not None:
        rows = rows[(rows["system_left"] == system) | (rows["system_right"] == system)]
    return [int(version) for version in rows[VERSION_COLUMN]]


def _current(session: Session, row: PastText) -> Mapping[str, Any]:
    """Return what is shown now in place of a text, as `PastText.content` has it."""
    if row.system_id is not None:
        shown = select(StoredSummary.content).where(
            StoredSummary.topic_id == row.topic_id, StoredSummary.system_id == row.system_id
        )
        content: Mapping[str, Any] = session.scalars(shown).one()
        return content
    topic = session.get_one(Topic, row.topic_id)
    return {
        "text": topic.text,
        "detail": topic.detail,
        "intents": {intent.name: intent.text for intent in topic.intents},
    }


def _text(row: PastText, content: Mapping[str, Any]) -> str:
    """Return a text as lines: the blocks of a side, or the texts of a topic."""
    if row.system_id is not None:
        return "\n".join(side_lines(Side.of(content)))
    intents = [(name, text, None) for name, text in content["intents"].items()]
    return "\n".join(TopicTexts.of(content["text"], content["detail"], intents).lines())


def load_records(session: Session, study_id: int) -> tuple[StudyLoaded, ...]:
    """Return every load of a changed study file while the study ran."""
    loads = select(StudyLoad).where(StudyLoad.study_id == study_id).order_by(StudyLoad.version)
    return tuple(
        StudyLoaded(
            at=load.at,
            study_sha256=load.sha256,
            changes=tuple(LoadedChange(what=what, line=line) for what, line in load.changes),
        )
        for load in session.scalars(loads)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSides:
    """Earlier sides by (topic, system), rows: the last version of the study that showed each, ascending."""

    ends: Mapping[tuple[int, int], Sequence[int]]
    sides: Mapping[tuple[int, int], Sequence[Side]]

    def before(self, topic: int, system: int, study_version: int | None) -> int | None:
        """Return the place of the earlier side that a page showed, None where it showed today's."""
        ends = self.ends.get((topic, system), ())
        place = bisect_left(ends, study_version or 0)
        return place if place < len(ends) else None


def past_sides(session: Session, study_id: int) -> PastSides:
    """Return the earlier sides of a study."""
    ends: dict[tuple[int, int], list[int]] = defaultdict(list)
    sides: dict[tuple[int, int], list[Side]] = defaultdict(list)
    for row in past_texts(session, study_id).rows:
        if row.system_id is not None:
            ends[row.topic_id, row.system_id].append(row.upto_version)
            sides[row.topic_id, row.system_id].append(Side.of(row.content))
    return PastSides(ends=ends, sides=sides)
