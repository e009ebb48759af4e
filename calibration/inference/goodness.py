"""What to know before a fit is believed: where there are few workers or topics, and how far data lie from the law.

Of few, intervals are less reliable than they say, whatever their method. A law is tested by how often data drawn from it lie as far
from it as those that it was fitted to.

Values that should be uniform are held against the uniform law by Anderson and Darling's statistic (1952). Its tables, and
statsmodels' `normal_ad` and `scipy.stats.anderson`, are for plain samples with a fitted mean and spread; here each value has a
law of its own (its exposure, its voters, its error), so p is by simulation with the law fitted anew each time.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from calibration.inference.results import warning
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats
from metrics.errors import counted

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


_EDGE = 1e-12


def anderson_darling(values: ArrayLike) -> float:
    """Return A^2 of values that should be uniform on (0, 1); 0 and 1 are taken for next to 0 and 1."""
    u = np.clip(np.sort(values), _EDGE, 1 - _EDGE)
    return anderson_darling_of_logs(np.log(u), np.log1p(-u))


def anderson_darling_of_logs(log_below: Floats, log_above: Floats) -> float:
    """Return A^2 from the logarithms of u_i and of 1 - u_i, u ascending, (n,) each.

    A^2 = -n - sum_i (2 i - 1) (log u_i + log(1 - u_{n + 1 - i})) / n
    """
    n = len(log_below)
    odd = 2 * np.arange(1, n + 1) - 1
    return float(-n - (odd * (log_below + log_above[::-1])).sum() / n)
