"""Search of people by their id at the platform, each search with a line of the audit.

The audit has the pseudonym of whoever was found, and never the id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import input_fault, join_names
from study_app.services.researcher.audit import LOOK_UP, NOBODY, add_audit_entry
from study_app.services.researcher.studies import chosen_study
from study_app.store.models import LoadedStudy, PlatformIdentity, Worker
from study_app.store.pseudonym_keys import pseudonym_key
from study_app.study.id_list import LOOKED_UP, digest_of
from study_app.study.shared_pseudonyms import shared_pseudonym


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerMatch:
    """Worker of a study who has an id at a platform.

    Attributes
    ----------
    study_id, worker_id : int
        Rows.
    study, platform, pseudonym, withdrawal_code : str
    id_deleted : bool
        The id stands here no more; the key of the study's shared pseudonyms tells whose it was.
    """

    study_id: int
    study: str
    worker_id: int
    platform: str
    pseudonym: str
    withdrawal_code: str
    id_deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """Outcome of a search.

    Attributes
    ----------
    study : str or None
        The study that was searched; None for every loaded one.
    matches : sequence of WorkerMatch
        At most one a study, in order of loading.
    elsewhere : sequence of str
        Other studies of the database that know the id.
    """

    study: str | None
    matches: Sequence[WorkerMatch]
    elsewhere: Sequence[str] = ()

    def found(self) -> Sequence[WorkerMatch]:
        """Return the matches; raises `InputError` where there is none."""
        if not self.matches:
            known = f"it stands in {join_names(self.elsewhere)}: name that study" if self.elsewhere else ""
            raise input_fault(
                f"no worker of {self.study or 'any loaded study'} has this platform id",
                cure=known
                or "check it letter by letter; who never came, or whose id was deleted, cannot be found by it",
            )
        return self.matches

    def only(self) -> WorkerMatch:
        """Return the one match; raises `InputError` where there is none, or more than one."""
        matches = self.found()
        if len(matches) > 1:
            names = join_names([f"{match.study} on {match.platform}" for match in matches])
            raise input_fault(f"this id stands in {len(matches)} studies ({names})", cure="name one of them")
        return matches[0]


def look_up(session: Session, name: str, study: str | None, *, now: datetime) -> LookUp:
    """Find who has an id at a platform, with a line in the audit of every study that was searched or has it.

    Parameters
    ----------
    session : Session
        Writing.
    name : str
        The id.
    study : str or None
        Name of the study to search; None for every loaded one.
    now : datetime
        Time of the search.

    Raises
    ------
    InputError
        If there is no such study.
    """
    everywhere = session.scalars(select(LoadedStudy).order_by(LoadedStudy.id)).all()
    searched = everywhere if study is None and everywhere else [chosen_study(session, study)]
    matches, elsewhere = [], []
    for each in everywhere or searched:
        match = match_of(session, each, name)
        if match is not None or each in searched:
            detail = NOBODY if match is None else match.pseudonym
            add_audit_entry(session, each.id, None, LOOK_UP, detail, now=now)
        if match is not None and each in searched:
            matches.append(match)
        elif match is not None:
            elsewhere.append(each.name)
    return LookUp(study=study, matches=matches, elsewhere=elsewhere)


def match_of(session: Session, study: LoadedStudy, name: str) -> WorkerMatch | None:
    """Return the worker of a study who has an id at the study's platform, None where nobody has."""
    name, platform = name.strip(), study.config["platform"]
    if not name.isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    workers = select(Worker).where(Worker.study_id == study.id)
    known = workers.join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id).where(
        PlatformIdentity.platform == platform, PlatformIdentity.platform_worker == name
    )
    worker, key = session.scalars(known).one_or_none(), pseudonym_key(session, study.id)
    id_deleted = worker is None and key is not None
    if worker is None and key is not None:
        pseudonym = shared_pseudonym(key, platform, name)
        worker = session.scalars(workers.where(Worker.pseudonym == pseudonym)).one_or_none()
    if worker is None:
        return None
    return WorkerMatch(
        study_id=study.id,
        study=study.name,
        worker_id=worker.id,
        platform=platform,
        pseudonym=worker.pseudonym,
        withdrawal_code=worker.withdrawal_code,
        id_deleted=id_deleted,
    )


def lists_with(session: Session, name: str) -> list[str]:
    """Return the loaded studies whose lists have the digest of an id."""
    listed = []
    for study in session.scalars(select(LoadedStudy).order_by(LoadedStudy.id)):
        lets_in = study.config.get("ids") or []
        keeps_out = study.config.get("keep_out") or []
        own = digest_of(study.name, name.strip())
        others = {each.partition(" ")[0] for each in keeps_out}
        if own in lets_in or any(f"{each} {digest_of(each, name.strip())}" in keeps_out for each in others):
            listed.append(study.name)
    return listed


def looking_up(session: Session, study: str) -> list[str]:
    """Return the loaded studies that keep out the people of a study by looking them up."""
    configs = session.execute(select(LoadedStudy.name, LoadedStudy.config).order_by(LoadedStudy.id))
    return [name for name, config in configs if f"{study} {LOOKED_UP}" in (config.get("keep_out") or [])]
