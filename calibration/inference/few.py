"""What is few: below it intervals are less reliable than they say, whatever their method."""

from collections.abc import Iterator

from calibration.inference.results import warning
from calibration.user_model.model import Diagnostic
from metrics.wording import counted

FEW_WORKERS, FEW_TOPICS = 20, 10


def notes_on_few(*, workers: int | None = None, topics: int | None = None) -> Iterator[Diagnostic]:
    """Warn of few workers or topics; None where they are no sample."""
    if workers is not None and workers < FEW_WORKERS:
        yield warning("few_workers", _sentence(workers, "worker"))
    if topics is not None and topics < FEW_TOPICS:
        yield warning("few_topics", _sentence(topics, "topic"))


def _sentence(number: int, what: str) -> str:
    are = "is" if number == 1 else "are"
    return f"{counted(number, what)} {are} few: how much {what}s differ is hardly known, and intervals may be too short."
