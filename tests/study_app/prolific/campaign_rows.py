"""People of a campaign on Prolific, put into its database row by row: complete data, and a submission each."""

from typing import Any

from study_app.store.database import Database, transaction
from study_app.store.models import LoadedStudy, PlatformEntry, PlatformIdentity, Worker
from study_app.store.platform_models import ProlificStudy

REMOTE = "5f00"


def person(number: int) -> str:
    """Return the id of a person on Prolific."""
    return f"{number:024x}"


def submission(number: int) -> str:
    """Return the id of a person's submission."""
    return f"sub{number:05}"


def add_people(database: Database, count: int, *, now: Any, remote: str | None = REMOTE) -> None:
    """Let people finish the study, from 1 to ``count``, and say which study on Prolific they came from."""
    with transaction(database, write=True) as session:
        study = session.query(LoadedStudy).one().id
        if remote is not None:
            session.add(ProlificStudy(study_id=study, label="", remote=remote, made_at=now))
        workers = [
            Worker(
                study_id=study,
                number=number,
                pseudonym=f"w{number:05}",
                withdrawal_code=f"wd{number:05}",
                arrived_at=now,
                last_seen_at=now,
                consented_at=now,
                completed_at=now,
                completion_code="CDONE",
            )
            for number in range(1, count + 1)
        ]
        session.add_all(workers)
        session.flush()
        identities = [
            PlatformIdentity(
                study_id=study,
                worker_id=worker.id,
                platform="prolific",
                platform_worker=person(worker.number),
            )
            for worker in workers
        ]
        session.add_all(identities)
        session.flush()
        session.add_all(
            PlatformEntry(
                identity_id=identity.id,
                arrived_at=now,
                parameters={"STUDY_ID": remote or REMOTE, "SESSION_ID": submission(number)},
            )
            for number, identity in enumerate(identities, start=1)
        )
