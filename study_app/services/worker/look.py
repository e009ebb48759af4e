"""A worker looking at a page: what every page is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from study_app.protocol.steps import Step
from study_app.services.worker.answers import ShownPair
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.plan import Plans


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A worker looking at one step's page.

    Attributes
    ----------
    shown : ShownPair or None
        What a pair page shows.
    error : str or None
        The catalogue's key of what was wrong with the last form.
    sent : mapping of str to sequence of str
        The fields of the form that was wrong, so that it can come back as it was filled in.
    home : str
        The worker's standing link.
    arrival : str
        How the worker came, as the query of an address; empty for on their own.
    """

    session: Session
    plans: Plans
    here: Whereabouts
    step: Step
    now: datetime
    shown: ShownPair | None = None
    error: str | None = None
    sent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    home: str = ""
    arrival: str = ""

    @property
    def language(self) -> str:
        """Language of the step's task, of the study for pages of no task."""
        plan = self.here.plan
        return self.here.task(self.step).entry.language if self.step.task else plan.language

    @property
    def query(self) -> str:
        """Text of the step's query, title of its event."""
        return self.here.task(self.step).topic(self.here.slot(self.step).topic_id).text
