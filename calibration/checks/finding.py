"""Finding of a check about a fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from scipy.special import chdtrc

from calibration.inference.uncertainty import Interval, finite_or_none
from calibration.user_model.model import Diagnostic, OtherLaw

REJECTED = 0.05
"""Largest p-value that rejects.

`calibration.checks.registry` decides which findings warn, with all tests of a model.
"""
NEARLY = 1.92
"""Largest loss of log-likelihood against the best law without rejection.

It is half the chi-squared with one degree of freedom that chance exceeds once in twenty.
"""
Explains: TypeAlias = Literal["better", "as well"]
"""Explanation of the data by another law, "better" than the fit's or "as well"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Result of one check of a fit and its data, which changes no number.

    Attributes
    ----------
    name : str
        Stable name of the cause.
    sentence : str
        The cause, how many people or rows it rests on, and how the number would move. It accuses nobody.
    p_value : float or None
        How often a right model would show as much. None for a fact that no test decides, such as few people: then
        ``severity`` holds as it is.
    severity : {'warning', 'info'}
        Of a test `calibration.checks.registry.run_checks` decides it, by Holm's correction over the tests of its model.
    parameters : tuple of str
        Names of the parameters that it concerns, as the fit has them; all of the fit's by default.
    sensitivity : mapping of str to tuple of OtherLaw
        Parameter -> its value under other laws, or without some people, that the data do not reject against the best.
    explains : str
        What the cause would explain, such as `visits vary too little`. Of rejected causes that would explain the same
        thing, only that with the largest ``gain`` warns. Empty where it has no rival.
    gain : float
        How much better than the model the cause explains the data: a difference of log-likelihoods.
    people : mapping of str to float
        Worker -> how likely of the class that it found; empty where it found none.
    """

    name: str
    sentence: str
    p_value: float | None = None
    severity: Literal["warning", "info"] = "info"
    parameters: tuple[str, ...] = ()
    sensitivity: Mapping[str, tuple[OtherLaw, ...]] = field(default_factory=dict)
    explains: str = ""
    gain: float = 0.0
    people: Mapping[str, float] = field(default_factory=dict)

    @property
    def diagnostic(self) -> Diagnostic:
        """Diagnostic that stands beside a parameter."""
        return Diagnostic(name=self.name, severity=self.severity, sentence=self.sentence)


def warn_if(is_so: object, name: str, sentence: str) -> Finding | None:
    """Return a warning of a fact that no test decides, or None where it is not so."""
    return Finding(name=name, severity="warning", sentence=sentence) if is_so else None


def note_if(is_so: object, name: str, sentence: str) -> Finding | None:
    """Return a note of a fact, or None where it is not so."""
    return Finding(name=name, sentence=sentence) if is_so else None


def explains_at(p_value: float) -> Explains:
    """Return how another law explains the data, given p of the model beside it."""
    return "better" if p_value < REJECTED else "as well"


def edge_p(ratio: float) -> float:
    """Return p of a likelihood ratio at the edge of a range.

    Half of its law is 0 and half is chi-squared with one degree of freedom (Self and Liang 1987).
    """
    return float(chdtrc(1, max(ratio, 0.0))) / 2


def merged(
    sensitivities: Iterable[Mapping[str, Iterable[OtherLaw]]],
) -> dict[str, tuple[OtherLaw, ...]]:
    """Return the laws of several sensitivities by parameter, in their order."""
    together: dict[str, tuple[OtherLaw, ...]] = {}
    for sensitivity in sensitivities:
        for name, laws in sensitivity.items():
            together[name] = (*together.get(name, ()), *laws)
    return together


def other_laws(
    law: str, explains: Explains, estimates: Mapping[str, float], intervals: Iterable[Interval]
) -> dict[str, tuple[OtherLaw, ...]]:
    """Return estimates with intervals under a law, as the sensitivity of a finding."""
    return {
        name: (OtherLaw(law=law, estimate=finite_or_none(value), low=low, high=high, explains=explains),)
        for (name, value), (low, high) in zip(estimates.items(), intervals, strict=True)
    }
