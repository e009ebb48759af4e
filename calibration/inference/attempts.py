"""Trying what may fail: one family of parameters that cannot be fitted takes no other with it.

Here is the only place that catches every error. An error of a kind that prefcal knows says why in its own words; any other
is a fault of prefcal, is called so, and leaves its traceback in the log of this module at level DEBUG.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from calibration.inference.results import CalibrationResult, SkippedParameters
from metrics.errors import PrefcalError

T = TypeVar("T")

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitFailure:
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

    def skipped(self, names: Iterable[str]) -> SkippedParameters:
        """Return what is said of the parameters that it would have told."""
        unexpected = not isinstance(self.error, PrefcalError)
        return SkippedParameters(names=tuple(names), reason=self.reason, unexpected=unexpected)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyResult:
    """What the tables say about a family of parameters.

    Attributes
    ----------
    results : tuple of CalibrationResult
        The fits.
    data : tuple of object
        What each was fitted to, for its checks; None for a fit that has none.
    skipped : tuple of SkippedParameters
        What could not be told, and why.
    """

    results: tuple[CalibrationResult, ...] = ()
    data: tuple[object, ...] = ()
    skipped: tuple[SkippedParameters, ...] = ()

    def __add__(self, other: "FamilyResult") -> "FamilyResult":
        """Both together."""
        return FamilyResult(
            results=self.results + other.results,
            data=self.data + other.data,
            skipped=self.skipped + other.skipped,
        )

    def for_language(self, language: str) -> "FamilyResult":
        """Return the same with the language in brackets behind every parameter's name."""
        return replace(self, results=tuple(fit.for_language(language) for fit in self.results))


def catch_unidentified(make: Callable[[], T]) -> T | FitFailure:
    """Return what ``make`` returns, or why it could not, whatever went wrong."""
    try:
        return make()
    except PrefcalError as error:
        return FitFailure(reason=str(error), error=error)
    except Exception as error:
        LOG.debug("an unexpected error", exc_info=True)
        return FitFailure(reason=_unexpected(error), error=error)


def try_fit(names: Iterable[str], make: Callable[[], CalibrationResult], data: object = None) -> FamilyResult:
    """Make a fit, or say why it cannot be made; one whose intervals cannot be computed is none.

    ``data`` is what it is fitted to, for its checks: a value, or a function without arguments that returns it.
    """
    made = catch_unidentified(lambda: _with_intervals(make()))
    if isinstance(made, FitFailure):
        return FamilyResult(skipped=(made.skipped(names),))
    return FamilyResult(results=(made,), data=(data() if callable(data) else data,))


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
