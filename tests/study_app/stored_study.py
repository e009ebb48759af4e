"""A small study in a database, and people in it, put there row by row; the server plays no part."""

from datetime import UTC, datetime, timedelta
from itertools import count

from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.store.database import open_database
from study_app.store.models import (
    EPOCH,
    MILLISECOND,
    Assignment,
    Ballot,
    Base,
    Judgment,
    LoadedStudy,
    PageLoad,
    Pair,
    PlatformEntry,
    PlatformIdentity,
    Showing,
    Slot,
    StoredEvent,
    StoredSummary,
    System,
    Task,
    Topic,
    Worker,
)

LOADED = datetime(2026, 2, 27, 12, tzinfo=UTC)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=7)

COLLECTION = {
    "queries.tsv": "MC-1\tmount fuji\nMC-2\ttea\n",
    "iunits.tsv": (
        "MC-1\tU1\tit is 3776 m high\nMC-1\tU2\tit last erupted in 1707\nMC-1\tU3\topen in summer\n"
        "MC-2\tU4\tgreen, black and white\n"
    ),
    "intents.tsv": "MC-1\tI1\tnature\nMC-1\tI2\tclimbing\nMC-2\tI3\tkinds\n",
    "importance.tsv": "MC-1\tI1\tU1\t4\nMC-1\tI1\tU2\t2.5\nMC-1\tI2\tU3\t3\nMC-2\tI3\tU4\t4\n",
    "probability.tsv": "MC-1\tI1\t0.75\nMC-1\tI2\t0.25\nMC-2\tI3\t1\n",
}
RUNS = {
    # it is 3776 m high (12 chars, 5 words); climbing (8, 1) -> open in summer (12, 3); it last erupted ... (19, 5)
    "good.xml": '<iunit uid="U1"/><link iid="I2"/><iunit uid="U2"/>',
    "flat.xml": '<iunit uid="U2"/>',
    "none.xml": "",
}
STUDY = """\
study: fuji
title: A small study
consent: Please take part.
lease_minutes: 30
tasks:
  - kind: intent_votes
    name: votes
    collection: &files
      queries: queries.tsv
      iunits: iunits.tsv
      intents: intents.tsv
      importance: importance.tsv
      probability: probability.tsv
  - kind: summary_pairs
    name: pairs
    queries_per_worker: 2
    collection: *files
    systems: {good: good.xml, flat: flat.xml, none: none.xml}
"""


def write_study(folder, text=STUDY):
    """Write the study file with all that it names; return its path."""
    for name, content in COLLECTION.items():
        (folder / name).write_text(content, encoding="utf-8")
    for name, first in RUNS.items():
        second = '<second iid="I2"><iunit uid="U3"/></second>' if "link" in first else ""
        (folder / name).write_text(
            f'<results><sysdesc>by hand</sysdesc><result qid="MC-1"><first>{first}</first>{second}</result>'
            '<result qid="MC-2"><first><iunit uid="U4"/></first></result></results>',
            encoding="utf-8",
        )
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def stored_engine(url):
    """An engine for a database that no server serves; in memory there is one connection."""
    return create_engine(url) if url == "sqlite://" else open_database(url).engine


class StoredStudy:
    """The study in memory, or in the database at ``url``, and short ways to add what people did."""

    def __init__(self, folder, text=STUDY, *, url="sqlite://"):
        folder.mkdir(exist_ok=True)
        engine = stored_engine(url)
        Base.metadata.create_all(engine)
        self.session = Session(engine)
        load_study(self.session, read_whole_study(write_study(folder, text)), now=LOADED)
        self.study = self.session.scalars(select(LoadedStudy)).one()
        self.numbers = count(1)

    def close(self):
        """Commit, and leave the file to others."""
        self.session.commit()
        self.session.close()
        self.session.get_bind().dispose()

    def worker(self, pseudonym, *, consented_at=NOON, completed_at=None, **ends):
        """Let somebody arrive; the platform knows them as PLATFORM-<pseudonym>. ``ends``: how else their part ended, and when."""
        worker = Worker(
            study_id=self.study.id,
            number=next(self.numbers),
            pseudonym=pseudonym,
            withdrawal_code=f"CODE-{pseudonym}",
            arrived_at=NOON,
            last_seen_at=NOON,
            consented_at=consented_at,
            completed_at=completed_at,
            completion_code=f"DONE-{pseudonym}" if completed_at else None,
            **ends,
        )
        identity = PlatformIdentity(
            study_id=self.study.id, platform="generic", platform_worker=f"PLATFORM-{pseudonym}"
        )
        self._add(worker)
        identity.worker_id = worker.id
        self._add(identity)
        self._add(
            PlatformEntry(
                identity_id=identity.id, arrived_at=NOON, parameters={"session": f"SESSION-{pseudonym}"}
            )
        )
        return worker

    def slot(self, worker, *, task="pairs", topic="MC-1", search_seconds=240):
        """Give a worker a query of a task; None for a search that was not left."""
        task = self.session.scalars(select(Task).where(Task.name == task)).one()
        assignment = self.session.scalars(
            select(Assignment).where(Assignment.worker_id == worker.id, Assignment.task_id == task.id)
        ).one_or_none()
        if assignment is None:
            assignment = self._add(Assignment(worker_id=worker.id, task_id=task.id, started_at=NOON))
        searches = task.kind == "summary_pairs"
        left_at = (
            NOON + timedelta(seconds=search_seconds) if searches and search_seconds is not None else None
        )
        return self._add(
            Slot(
                assignment_id=assignment.id,
                topic_id=self.session.scalars(
                    select(Topic.id).where(Topic.task_id == task.id, Topic.name == topic)
                ).one(),
                position=len(assignment.slots) + 1,
                leased_at=NOON,
                expires_at=LATER,
                search_shown_at=NOON if searches else None,
                search_left_at=left_at,
            )
        )

    def showing(self, slot, left, right, *, repeats=None):
        """Draw the next pair of a slot: names of systems, and the showing it repeats."""
        self.session.refresh(slot)
        systems = dict(
            self.session.execute(
                select(System.name, System.id).where(System.task_id == slot.topic.task_id)
            ).all()
        )
        pairs = self.session.scalars(select(Pair).where(Pair.topic_id == slot.topic_id))
        wanted = {systems[left], systems[right]}
        place = len(slot.showings) + 1
        pair = next(p for p in pairs if {p.system_a_id, p.system_b_id} == wanted)
        if repeats is None:
            pair.shown_a_left += systems[left] == pair.system_a_id
            pair.shown_b_left += systems[left] == pair.system_b_id
        return self._add(
            Showing(
                slot_id=slot.id,
                pair_id=pair.id,
                position=place,
                name=f"{slot.assignment.worker.pseudonym}.{slot.position}.{place}",
                left_system_id=systems[left],
                right_system_id=systems[right],
                repeats_id=None if repeats is None else repeats.id,
            )
        )

    def summary(self, slot, system):
        """What a system shows for a slot's query."""
        wanted = (
            select(StoredSummary)
            .join(System, System.id == StoredSummary.system_id)
            .where(System.name == system)
        )
        return self.session.scalars(wanted.where(StoredSummary.topic_id == slot.topic_id)).one()

    def judge(self, showing, choice, *, revision=1, page_key="unlogged", late=False, seconds=12.5):
        """Store a revision of an answer, decided so many seconds after the page was shown."""
        return self._add(
            Judgment(
                showing_id=showing.id,
                revision=revision,
                choice=choice,
                page_key=page_key,
                shown_at=NOON + timedelta(minutes=10),
                decided_at=NOON + timedelta(minutes=10, seconds=seconds),
                decision_ms=round(1000 * seconds),
                timing="browser",
                layout="stacked",
                late=late,
            )
        )

    def vote(self, slot, intents, *, revision=1):
        """Store a revision of a ballot."""
        return self._add(
            Ballot(slot_id=slot.id, revision=revision, intents=intents, page_key="p", decided_at=NOON)
        )

    def page(self, worker, showing, key, *happenings, served_at=NOON, lost=(), order=None, received_after=5):
        """Store the events of a page load: (milliseconds, kind, detail), numbered from 1, some of them lost.

        ``received_after``: seconds from serving the page to the arrival of its events.
        """
        received_at = served_at + timedelta(seconds=received_after)
        load = self._add(
            PageLoad(
                key=key,
                worker_id=worker.id,
                step="2/1/pair/1" if showing else "2/1/search",
                showing_id=None if showing is None else showing.id,
                served_at=served_at,
                first_received_at=received_at,
            )
        )
        wall = (served_at - EPOCH) // MILLISECOND
        events = [
            StoredEvent(
                page_load_id=load.id,
                number=number,
                kind=kind,
                page_ms=ms,
                wall_ms=wall + ms,
                received_at=received_at,
                detail=detail[0] if detail else {},
            )
            for number, (ms, kind, *detail) in enumerate(happenings, start=1)
            if number not in lost
        ]
        self._add(*(events if order is None else [events[place] for place in order]))
        return load

    def _add(self, *rows):
        for row in rows:
            self.session.add(row)
            self.session.flush()
        return rows[0] if rows else None


def opened(layout="stacked"):
    """Detail of an open event."""
    return {"layout": layout, "width": 390, "height": 844, "restored": False}


def sees(side, item, share):
    """Detail of a see event."""
    return {"side": side, "item": item, "share": share}


def turns(side, item, *, is_open):
    """Detail of a layer event."""
    return {"side": side, "item": item, "open": is_open}
