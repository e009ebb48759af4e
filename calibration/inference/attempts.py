"""Trying what may fail: one family of parameters that cannot be fitted takes no other with it.

Here is the only place that catches every error. An error of a kind that prefcal knows says why in its own words; any other
is a fault of prefcal, is called so, and leaves its traceback in the log of this module at level DEBUG.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from calibration.inference.results import CalibrationResult, Skipped
from metrics.errors import PrefcalError

T = TypeVar("T")

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmade:
    """What could not be made.

    Attributes
    ----------
    reason : str
        Why, as a clause.
    error : Exception
        The error behind it.
    """

    reason: str
    error: Exception

    def skipped(self, names: Iterable[str]) -> Skipped:
        """Return what is said of the parameters that it would have told."""
        unexpected = not isinstance(self.error, PrefcalError)
        return Skipped(names=tuple(names), reason=self.reason, unexpected=unexpected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What the tables say about a family of parameters.

    Attributes
    ----------
    results : tuple of CalibrationResult
        The fits.
    data : tuple of object
        What each was fitted to, for its checks; None for a fit that has none.
    skipped : tuple of Skipped
        What could not be told, and why.
    """

    results: tuple[CalibrationResult, ...] = ()
    data: tuple[object, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def __add__(self, other: "Fitted") -> "Fitted":
        """Both together."""
        return Fitted(
            results=self.results + other.results,
            data=self.data + other.data,
            skipped=self.skipped + other.skipped,
        )

    def for_language(self, language: str) -> "Fitted":
        """Return the same with the language in brackets behind every parameter's name."""
        return replace(self, results=tuple(fit.for_language(language) for fit in self.results))


def guarded(make: Callable[[], T]) -> T | Unmade:
    """Return what ``make`` returns, or why it could not, whatever went wrong."""
    try:
        return make()
    except PrefcalError as error:
        return Unmade(reason=str(error), error=error)
    except Exception as error:
        LOG.debug("an unexpected error", exc_info=True)
        return Unmade(reason=_unexpected(error), error=error)


def attempt(names: Iterable[str], make: Callable[[], CalibrationResult], data: object = None) -> Fitted:
    """Make a fit, or say why it cannot be made; one whose intervals cannot be computed is none.

    ``data`` is what it is fitted to, for its checks: a value, or a function without arguments that returns it.
    """
    made = guarded(lambda: _with_intervals(make()))
    if isinstance(made, Unmade):
        return Fitted(skipped=(made.skipped(names),))
    return Fitted(results=(made,), data=(data() if callable(data) else data,))


def _with_intervals(fit: CalibrationResult) -> CalibrationResult:
    fit.conf_int()
    return fit


def _unexpected(error: Exception) -> str:
    """Return a clause that calls an error a fault of prefcal: `... stopped this: math range error (OverflowError); ...`."""
    kind, words = type(error).__name__, " ".join(str(error).split())
    named = f"{words} ({kind})" if words else kind
    return (
        f"an error that prefcal did not expect stopped this: {named}; please report it with the traceback that "
        "prefcal fit --debug shows"
    )
