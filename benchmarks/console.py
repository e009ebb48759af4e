"""Server time of the console's pages, with 1,000 workers and 2.5 million events.

    python benchmarks/console.py [--database URL] [--workers N]

Fills a SQLite file, or the empty PostgreSQL database at URL, by bulk inserts, then asks for every page as a browser
that has signed in does, without a network between. A database that has a study already is used as it is: so the
second run is quick. benchmarks/README.md has the figures.
"""

import argparse
import re
import statistics
import tempfile
import time
from datetime import timedelta

import export
from sqlalchemy import case, func, insert, select, update
from sqlalchemy.orm import Session
from tabulate import tabulate

from study_app.config import Config
from study_app.services.researcher.studies import RESEARCHER_KEY, create_keys, setting
from study_app.store.backups.transfer import go_on_counting
from study_app.store.database import Database, is_empty, migrate, open_database, transaction
from study_app.store.models import Assignment, Base, LoadedStudy, PageLoad, PlatformIdentity, Slot, Worker
from study_app.store.task_models import PlatformRecord
from study_app.store.tokens import secret_token
from study_app.web.app import create_app

ADDRESSES = (
    *("", "limits", "audit"),
    *(
        "people",
        "people?sort=consistency",
        "people?show=flagged",
        "people?show=gaps&sort=gaps",
        "people?sort=device",
    ),
    *("material?task=2", "material?task=3", "material/results", "data", "payments"),
)
"""Pages below /r/STUDY/."""
HIDDEN = re.compile(r'name="(\w+)" value="([^"]*)"')
"""Hidden fields of the form that signs in."""

EVENTS = 50
"""On each of 50 pages of a worker."""
REPEATS = 7
MINUTE_MS = 60_000


def fill(database: Database, workers: int) -> None:
    """Put a study into a database, a worker a minute; nine of ten finish, after 20 to 40 minutes."""
    export.EVENTS = EVENTS
    migrate(database)
    with transaction(database, write=True) as session:
        create_keys(session, new_token=secret_token)
        export.fill(session, workers)
        spread(session)
        list_at_platform(session)
    with database.engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            for name in Base.metadata.tables:
                go_on_counting(connection, Base.metadata, name)
        connection.exec_driver_sql("ANALYZE")  # as databases do by themselves while rows come in bit by bit


def spread(session: Session) -> None:
    """Spread what `export.fill` put into one minute over the time that it would have taken."""
    came = Worker.arrived_at + Worker.number * MINUTE_MS
    spent = (20 + Worker.number % 21) * MINUTE_MS
    done = case((Worker.number % 10 != 0, came + spent))
    session.execute(
        update(Worker).values(
            arrived_at=came,
            consented_at=came + MINUTE_MS,
            last_seen_at=came + spent,
            completed_at=done,
            completion_code=case((Worker.number % 10 != 0, Worker.pseudonym)),
        )
    )
    finished = select(Worker.completed_at).where(Worker.id == Assignment.worker_id)
    of_slot = select(Assignment.id).where(Assignment.id == Slot.assignment_id)
    ended = finished.join(Assignment, Assignment.worker_id == Worker.id).where(
        Assignment.id == Slot.assignment_id
    )
    session.execute(
        update(Slot)
        .where(Slot.done_at.is_(None), of_slot.exists())
        .values(done_at=ended.correlate(Slot).scalar_subquery())
        .execution_options(synchronize_session=False)
    )


def addresses_of_people(session: Session) -> list[str]:
    """Return the pages of one worker in the middle, and the replays of their first page and of their last, a stream."""
    worker = session.get_one(Worker, (session.scalar(select(func.max(Worker.id))) or 0) // 2 + 1)
    keys = session.scalars(
        select(PageLoad.key).where(PageLoad.worker_id == worker.id).order_by(PageLoad.id)
    ).all()
    home = f"people/{worker.pseudonym}"
    replays = [f"{home}/replay/{key}" for key in (keys[0], keys[-1])]
    return [home, f"{home}?of=page&page=2", *replays, *(f"{one}/page?at=5000" for one in replays)]


def list_at_platform(session: Session) -> None:
    """Give everybody an id at the platform, and let its list have all but one in twenty."""
    people = session.execute(select(Worker.id, Worker.study_id)).all()
    ids = [
        {"study_id": study, "worker_id": worker, "platform": "generic", "platform_worker": f"P{worker}"}
        for worker, study in people
    ]
    session.execute(insert(PlatformIdentity), ids)
    state = {
        "status": "AWAITING REVIEW",
        "confirmed": True,
        "paid": False,
        "finding": "pay",
        "read_at": export.START,
    }
    known = session.scalars(select(PlatformIdentity.id)).all()
    session.execute(
        insert(PlatformRecord),
        [state | {"identity_id": one, "submission": f"S{one}"} for one in known if one % 20],
    )


def measured(url: str, workers: int) -> list[tuple[object, ...]]:
    """Ask for every page some times; the processor's time is what remains on a machine with nothing else to do."""
    app = create_app(Config(database=url), now=lambda: export.START + timedelta(minutes=workers * 9 // 10))
    database: Database = app.extensions["prefcal"].database
    with transaction(database, write=False) as session:
        key = setting(session, RESEARCHER_KEY)
        study = session.scalars(select(LoadedStudy.name).order_by(LoadedStudy.id)).first()
        places = [*ADDRESSES, *addresses_of_people(session)]
    client = app.test_client()
    form = client.get(f"/r/{study}?key={key}").text
    client.post(f"/r/{study}/sign-in", data=dict(HIDDEN.findall(form)))
    rows: list[tuple[object, ...]] = []
    for place in places:
        times, worked = [], []
        for _ in range(REPEATS):
            began, busy = time.perf_counter(), time.process_time()
            answer = client.get(f"/r/{study}/{place}")
            times.append(1000 * (time.perf_counter() - began))
            worked.append(1000 * (time.process_time() - busy))
            assert answer.status_code == 200, place
        size = len(answer.get_data()) / 1024
        middles = (round(statistics.median(each)) for each in (times, worked))
        rows.append((f"/{place}", *middles, round(max(times)), round(size)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="address of a database; a new SQLite file if not given")
    parser.add_argument("--workers", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.database or f"sqlite:///{folder}/console.sqlite3"
        database = open_database(url)
        if is_empty(database):
            began = time.perf_counter()
            fill(database, given.workers)
            print(f"filled in {time.perf_counter() - began:.0f} s")
        database.engine.dispose()
        headers = ["page", "median ms", "of which processor", "longest ms", "KB"]
        print(tabulate(measured(url, given.workers), headers=headers, tablefmt="github"))


if __name__ == "__main__":
    main()
