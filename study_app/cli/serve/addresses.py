"""Where a served study is found: the lines that `serve` and `demo` print."""

from sqlalchemy.orm import Session

from study_app.services.researcher.settings import RESEARCHER_KEY, setting
from study_app.services.worker.entry import loaded_studies
from study_app.store.plan import Plans
from study_app.study.platforms import platform_of


def address_lines(session: Session, base: str) -> list[str]:
    """Return, for every loaded study, the worker's address and the researcher's; ``base`` is http://HOST:PORT."""
    key = setting(session, RESEARCHER_KEY)
    lines = []
    for plan in loaded_studies(session, Plans()):
        query = platform_of(plan.entry).entrance_query
        lines += [
            f"{plan.name}: {plan.entry.title}",
            f"  workers:    {base}/s/{plan.name}" + (f"?{query}" if query else ""),
            f"  researcher: {base}/r/{plan.name}?key={key}",
        ]
    return lines
