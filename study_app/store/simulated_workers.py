"""Record of the studies whose workers are simulated.

A crowd enters only studies without workers, under ids of a form of its own. So the first worker's platform id decides, and the
fact is stored before that id is deleted.
"""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import LoadedStudy, PlatformIdentity, Setting
from study_app.study.platforms import is_simulated_id


def is_simulated(session: Session, study_id: int) -> bool:
    """Return whether the workers of a study are simulated.

    It is False for a crowd on another server whose ids are plain numbers.
    """
    if session.get(Setting, _setting_name(study_id)) is not None:
        return True
    first = (
        select(PlatformIdentity.platform_worker)
        .where(PlatformIdentity.study_id == study_id)
        .order_by(PlatformIdentity.id)
        .limit(1)
    )
    return is_simulated_id(session.scalar(first) or "")


def record_simulated(session: Session, study_id: int) -> None:
    """Store that the workers of a study are simulated."""
    session.merge(Setting(name=_setting_name(study_id), value="yes"))


def simulated_studies(session: Session) -> Sequence[str]:
    """Return the names of all studies whose workers are simulated, sorted."""
    studies = session.execute(select(LoadedStudy.id, LoadedStudy.name).order_by(LoadedStudy.name))
    return [name for study_id, name in studies if is_simulated(session, study_id)]


def _setting_name(study_id: int) -> str:
    return f"simulated_workers:{study_id}"
