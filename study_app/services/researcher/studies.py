"""Which of the loaded studies a command is about."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from metrics.errors import input_fault
from metrics.wording import listed, nearest
from study_app.store.models import Study


def chosen_study(session: Session, name: str | None) -> Study:
    """Return the study of that name, or the only one when no name is given.

    Raises
    ------
    InputError
        If there is none, or several and no name.
    """
    studies = {study.name: study for study in session.scalars(select(Study).order_by(Study.name))}
    if name in studies:
        return studies[name]
    if not studies:
        raise input_fault("no study is loaded", cure="load one: prefcal study load FILE")
    if name is not None:
        near = nearest(name, studies)
        cure = f"did you mean {near!r}" if near else f"loaded: {listed(studies)}"
        raise input_fault(f"no study is called {name!r}", cure=cure)
    if len(studies) > 1:
        raise input_fault(
            f"{len(studies)} studies are loaded", cure=f"name one with --study: {listed(studies)}"
        )
    return next(iter(studies.values()))
