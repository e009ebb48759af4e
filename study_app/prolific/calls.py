"""Record of every call of the API in the database of the study that it is for."""

from dataclasses import dataclass

from sqlalchemy import update

from study_app.prolific.api import CallEffect, CallStakes, ProlificApi, address_of, token_of
from study_app.store.database import Database, transaction
from study_app.store.platform_models import PlatformCall
from study_app.store.tokens import Now


@dataclass(frozen=True, kw_only=True)
class StoredCalls:
    """Calls about one study (row), each stored before it is made and again after its answer."""

    database: Database
    study_id: int
    now: Now

    def begin(self, method: str, path: str, stakes: CallStakes | None) -> int:
        """Store that a call is about to be made, and what depends on it; return its row."""
        with transaction(self.database, write=True) as session:
            call = PlatformCall(
                study_id=self.study_id, method=method, path=path, began_at=self.now(), outcome=""
            )
            session.add(call)
            session.flush()
            if stakes is not None:
                stakes.begin(session, call.id)
            return call.id

    def end(
        self, call: int, status: int | None, outcome: str, effect: CallEffect, stakes: CallStakes | None
    ) -> None:
        """Store the answer of a call, or that there was none, and what follows for what depends on it."""
        with transaction(self.database, write=True) as session:
            session.execute(
                update(PlatformCall)
                .where(PlatformCall.id == call)
                .values(ended_at=self.now(), status=status, outcome=outcome)
            )
            if stakes is not None:
                stakes.end(session, effect, outcome)


def open_api(database: Database, study_id: int, *, now: Now) -> ProlificApi:
    """Return a client whose calls are recorded for a study.

    Raises
    ------
    InputError
        If there is no token in the environment.
    """
    return ProlificApi(address_of(), token_of(), StoredCalls(database=database, study_id=study_id, now=now))
