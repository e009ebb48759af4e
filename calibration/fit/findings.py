"""Findings of all checks of a fit, by parameter and as rows of quality.json."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from calibration.checks.finding import Finding, merged
from calibration.checks.registry import run_checks
from calibration.fit.families import FAMILY_NAMES
from calibration.inference.formatting import round_significant
from calibration.inference.results import CalibrationResult
from calibration.models.intents import IntentFit
from calibration.user_model.model import Diagnostic, OtherLaw, plain_name

AnyFit = TypeVar("AnyFit", CalibrationResult, IntentFit)
OTHER_FAMILY = "quality"
"""Family of measures that are no parameter of a user model.

They are agreement among raters, consistency and position bias.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFinding:
    """Finding as a row of quality.json.

    Attributes
    ----------
    family : str
        away, session, reading, lateness, push, patience, persistence, intents or quality.
    parameters : tuple of str
        Which numbers it concerns.
    name : str
        Stable name of the cause.
    severity : {'warning', 'info'}
        A warning says that the number should not be used without a second look.
    sentence : str
        For people.
    p_value : float or None
        Of its test; None for a fact that no test decides.
    """

    family: str
    parameters: tuple[str, ...]
    name: str
    severity: Literal["warning", "info"]
    sentence: str
    p_value: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        return {
            "family": self.family,
            "parameters": list(self.parameters),
            "name": self.name,
            "severity": self.severity,
            "sentence": self.sentence,
            "p_value": None if self.p_value is None else round_significant(self.p_value),
        }


def checked(fit: AnyFit, data: object, *of_tables: Finding) -> tuple[AnyFit, list[Finding]]:
    """Return a fit with its checks' diagnostics, and their findings.

    Checks do not change its numbers.

    Parameters
    ----------
    fit : CalibrationResult or IntentFit
        Any fit.
    data : object
        What it was fitted to.
    *of_tables : Finding
        What is said of the tables that it rests on.
    """
    findings = run_checks(fit, data, *of_tables)
    said = fit.with_diagnostics(*(finding.diagnostic for finding in findings))
    return said.with_sensitivity(_sensitivity(findings)), findings


def _sensitivity(findings: Iterable[Finding]) -> dict[str, tuple[OtherLaw, ...]]:
    """Return the other laws of all findings by parameter."""
    laws = merged(finding.sensitivity for finding in findings)
    return {name: tuple(map(shortened, each)) for name, each in laws.items()}


def shortened(law: OtherLaw) -> OtherLaw:
    """Round a law's numbers to ten digits, as those of parameters."""
    ends = {name: getattr(law, name) for name in ("estimate", "low", "high")}
    return law.model_copy(
        update={name: None if end is None else round_significant(end) for name, end in ends.items()}
    )


def reported(
    results: Iterable[tuple[Sequence[str], Sequence[Diagnostic]]], findings: Iterable[Finding]
) -> tuple[ReportedFinding, ...]:
    """Return every diagnostic once with its parameters, warnings first.

    A diagnostic lists all parameters that it concerns.

    Parameters
    ----------
    results : iterable of (sequence of str, sequence of Diagnostic)
        Names of the parameters of each fit, and what is said of them.
    findings : iterable of Finding
        Of all checks; they have the p-values.
    """
    p_values = {finding.sentence: finding.p_value for finding in findings}
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for names, diagnostics in results:
        for note in diagnostics:
            key = (family_of(names), note.name, note.severity, note.sentence)
            rows.setdefault(key, []).extend(names)
    made = [
        ReportedFinding(
            family=family,
            parameters=tuple(dict.fromkeys(names)),
            name=name,
            severity="warning" if severity == "warning" else "info",
            sentence=sentence,
            p_value=p_values.get(sentence),
        )
        for (family, name, severity, sentence), names in rows.items()
    ]
    return tuple(sorted(made, key=lambda row: row.severity != "warning"))


def family_of(names: Sequence[str]) -> str:
    """Return the family of some parameters, or `quality` for other measures."""
    if names == ("intents",):
        return "intents"
    first = plain_name(next(iter(names)))
    return next((family for family in _families(first)), OTHER_FAMILY)


def _families(name: str) -> Iterator[str]:
    yield from (family for family, names in FAMILY_NAMES.items() if name in names)
    yield from (family for family in FAMILY_NAMES if name.startswith(family))


def rows_of(findings: Sequence[ReportedFinding]) -> dict[str, object]:
    """Return the rows of key ``findings`` of quality.json."""
    return {"findings": [finding.to_dict() for finding in findings]}
