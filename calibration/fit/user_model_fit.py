"""Fit of every parameter that tables allow, into one user model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, takewhile
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from calibration.checks.registry import CHECKS, ModelChecks
from calibration.checks.same_answers import one_cluster
from calibration.checks.tables import check_tables
from calibration.fit.families import (
    FAMILIES,
    FAMILY_NAMES,
    FitInputs,
    FitOptions,
    patience,
)
from calibration.fit.findings import ReportedFinding, checked, reported
from calibration.fit.patience import NAME as PATIENCE_NAME
from calibration.fit.people import PeopleFindings, counted_people
from calibration.fit.visits import noted_on_visits, with_visits
from calibration.inference.attempts import FamilyResult, FitFailure, catch_unidentified
from calibration.inference.formatting import round_significant
from calibration.inference.results import CalibrationResult, SkippedParameters, info
from calibration.models.durations.fit import AWAY, DurationFit
from calibration.models.intents import IntentBallots, IntentFit, fit_intents
from calibration.raters.quality import QualityReport, quality_report
from calibration.tables.people import people_tables
from calibration.tables.preferences import counted_tables, exclusions
from calibration.tables.study_json import StudyRecord
from calibration.user_model.model import (
    LOG_SPEED,
    PARAMETERS,
    PUSH_WEIGHTS,
    QUANTILES,
    Diagnostic,
    JointEntry,
    JointScale,
    UserModel,
    plain_name,
)
from metrics.arrays import Floats
from metrics.errors import PrefcalError
from metrics.results import HasSummary, Overview

IMPORTANCE = "importance"
"""Name prefix of measures of ratings, not of preferences."""
SIGNED = frozenset(PUSH_WEIGHTS)
"""Parameters that may be negative."""
CLEAR_OF_ZERO = 2.0
"""Standard errors from 0 beyond which the sign of an estimate is known."""
Track: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
"""Progress callback around the names of steps."""


def joint_entry(fit: CalibrationResult) -> JointEntry | None:
    """Return the covariance entry of a fit for joint draws, or None.

    The result is None without a covariance, or with nothing to join.

    Mean and deviation of one fit correlate strongly, so their marginal intervals cannot be drawn from. A block has the
    covariance of the logarithms; `LOG_SPEED` is one already and stands in it as it is. Parameters that may be negative
    and whose sign the data leave open have no logarithm worth speaking of: their block is on the identity scale.

    With x = exp(l), d l = d x / x: the covariance of the logarithms is the one on the natural scale divided by both
    estimates (delta method).

    Parameters
    ----------
    fit : CalibrationResult
        With two parameters or more. An estimate of 0, where there is no logarithm, or of infinity has no error of this
        kind: then there is no block.
    """
    if len(fit.parameters) < 2 or not fit.uncertainty:
        return None
    places = [index for index, name in enumerate(fit.parameters) if plain_name(name) not in QUANTILES]
    names = tuple(name for name in fit.parameters if plain_name(name) not in QUANTILES)
    estimates, natural = fit.estimates[places], fit.natural_cov[np.ix_(places, places)]
    signed = {plain_name(name) for name in names} <= SIGNED
    if signed and (estimates < CLEAR_OF_ZERO * np.sqrt(np.diag(natural))).any():
        return _block(names, natural, "identity")
    of = np.array([1.0 if plain_name(name) == LOG_SPEED else fit.parameters[name] for name in names])
    with np.errstate(divide="ignore", invalid="ignore"):
        return _block(names, natural / np.outer(of, of), "log")


def _block(names: tuple[str, ...], covariance: Floats, scale: JointScale) -> JointEntry | None:
    if not np.isfinite(covariance).all():
        return None
    rows = tuple(tuple(round_significant(cell) for cell in row) for row in covariance.tolist())
    return JointEntry(names=names, scale=scale, covariance=rows)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UserModelFit(HasSummary):
    """User model with its fits, printed as the first lines of its `summary`.

    Attributes
    ----------
    model : UserModel
        What user-model.json holds.
    results : mapping of str to CalibrationResult
        The first parameter of each fit -> the fit, for draws, other levels, other intervals and plots.
    intents : IntentFit or None
        The fit behind its intents.
    quality : QualityReport
        Agreement among raters, consistency and position bias.
    skipped : tuple of SkippedParameters
        What the tables cannot tell, and why.
    findings : tuple of ReportedFinding
        What is said of all numbers, warnings first: rows of quality.json.
    careless : DataFrame
        Who may be careless, by what they answered: one row each with worker, answers and probability.

    Examples
    --------
    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {"worker": list("abcdef"), "topic": "t1", "intent": ["i1"] * 4 + ["i2"] * 2}
    ... )
    >>> fitted = prefcal.fit({"intent_votes": votes})
    >>> list(fitted.results), len(fitted.model.intents)
    ([], 1)
    """

    model: UserModel
    results: Mapping[str, CalibrationResult]
    intents: IntentFit | None
    quality: QualityReport
    skipped: tuple[SkippedParameters, ...]
    findings: tuple[ReportedFinding, ...]
    careless: pd.DataFrame

    @property
    def params(self) -> "pd.Series[float]":
        """Estimates by name, as a series; `inf` where infinite."""
        return self.model.params

    def frame(self) -> pd.DataFrame:
        """Return one row per parameter, with interval and sample size.

        The columns are estimate, low, high, level, unit, method, workers and rows.
        """
        return self.model.frame()

    def overview(self) -> Overview:
        """Return every parameter with its interval, and the skipped ones with reasons."""
        known = self.model.overview()
        return known._replace(
            sentences=[*known.sentences, *(f"not identified: {parameters}" for parameters in self.skipped)]
        )

    def summary(self) -> str:
        """Return the overview as text."""
        return "\n".join(
            [self.model.summary(), *(f"not identified: {parameters}" for parameters in self.skipped)]
        )

    @property
    def drawable(self) -> dict[str, CalibrationResult | IntentFit]:
        """Fits to plot, by family name in file names.

        The source of `patience_chars` is plotted for it.
        """
        fits = {
            _stem(fit.parameters): fit
            for name, fit in self.results.items()
            if plain_name(name) != PATIENCE_NAME
        }
        return {**fits, **({"intents": self.intents} if self.intents else {})}


def fit_user_model(
    tables: Mapping[str, pd.DataFrame],
    *,
    seed: int,
    options: FitOptions | None = None,
    record: StudyRecord | None = None,
    tables_sha256: str | None = None,
    track: Track = iter,
) -> UserModelFit:
    """Fit every parameter that the tables identify.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them.
    seed : int
        Of every resampling: the same tables and seed give the same model. Each family draws from a stream of its own,
        so that another table does not move its numbers.
    options : FitOptions, optional
        Whose rows count, and how; the usual choices by default.
    record : StudyRecord, optional
        study.json: the study's name, its clock, how its visits were cut.
    tables_sha256 : str, optional
        What the model says it was fitted to.
    track : callable, optional
        Shows progress over the names of the families, as `tqdm` does.

    Returns
    -------
    UserModelFit
        What the tables cannot tell is absent from the model and stands in ``skipped``.

    Raises
    ------
    NotIdentifiedError
        If visits are to be cut anew and there is no table activity.
    """
    options, tables = options or FitOptions(), people_tables(tables)
    counted, same = counted_people(tables, options)
    material, cut, found = _visits(FitInputs(tables=counted, record=record, options=options, seed=seed))
    intents, ballots, no_intents = _intents(material)
    found += no_intents
    lost = {name for one in found.skipped for name in one.names}
    for family in track([name for name, names in FAMILY_NAMES.items() if not lost & {*names}]):
        found = _family(family, material, intents) + found
    found = _with_intervals(found, options.level)
    notes = _notes_on_workers(tables, options)
    everyone = counted_tables(tables, exclude=False, complete_only=options.complete_only)
    is_one = options.same_answers == "one-cluster"
    quality = quality_report(
        one_cluster(everyone, same) if is_one else everyone,
        seed=seed,
        level=options.level,
        exclude=options.exclude,
    )
    of_tables = catch_unidentified(lambda: check_tables(counted)) if options.checks else {}
    people = PeopleFindings(
        of_tables={} if isinstance(of_tables, FitFailure) else of_tables,
        same=same,
        is_one=is_one,
        as_one={} if is_one or not same else _as_one(tables, seed, options, record),
    )
    findings = []

    def said_of(fit: CalibrationResult, data: object, table: str | None = None) -> CalibrationResult:
        if not options.checks:
            return fit
        names = (table,) if table else CHECKS.get(type(fit), ModelChecks()).tables
        fit, of_fit = checked(fit, data, *people.of(fit, names))
        findings.extend(of_fit)
        return fit

    fits = zip(noted_on_visits(material, found.results, cut), found.data, strict=True)
    results = [said_of(fit, data).with_diagnostics(*notes) for fit, data in fits]
    measures = tuple(
        said_of(fit, data, "importance" if IMPORTANCE in next(iter(fit.parameters)) else "preferences")
        for fit, data in zip(quality.results, quality.data, strict=True)
    )
    quality = replace(quality, results=measures)
    if intents is not None and options.checks:
        of_people = people.of(intents.result, CHECKS[IntentFit].tables)
        intents, of_intents = checked(intents, ballots, *of_people)
        findings += of_intents
    model = _model(results, intents, material, tables_sha256)
    said = [(tuple(fit.parameters), fit.diagnostics) for fit in results]
    said += [(("intents",), intents.result.diagnostics)] if intents else []
    said += [(tuple(one.parameters), one.diagnostics) for one in quality.results]
    return UserModelFit(
        model=model,
        results={next(iter(fit.parameters)): fit for fit in results},
        intents=intents,
        quality=quality,
        skipped=tuple(sorted(found.skipped, key=lambda one: _place(one.names[0]))),
        findings=reported(said, findings),
        careless=people.careless,
    )


def _as_one(
    tables: Mapping[str, pd.DataFrame], seed: int, options: FitOptions, record: StudyRecord | None
) -> dict[str, CalibrationResult]:
    """Return fits with each group of workers as one person, by first parameter.

    A group has the same answers.
    """
    again = replace(options, same_answers="one-cluster", checks=False)
    made = catch_unidentified(lambda: fit_user_model(tables, seed=seed, options=again, record=record))
    if isinstance(made, FitFailure):
        return {}
    fits = [*made.results.values(), *made.quality.results, *([made.intents.result] if made.intents else [])]
    return {next(iter(fit.parameters)): fit for fit in fits}


def _model(
    results: Sequence[CalibrationResult], intents: IntentFit | None, material: FitInputs, digest: str | None
) -> UserModel:
    level = material.options.level
    entries = dict(chain.from_iterable(fit.entries(level).items() for fit in results))
    blocks = [block for block in map(joint_entry, results) if block]
    return UserModel(
        study=material.record.study if material.record else None,
        tables_sha256=digest,
        prefcal_version=version("prefcal"),
        seed=material.seed,
        parameters=dict(sorted(entries.items(), key=lambda item: _place(item[0]))),
        joint=tuple(sorted(blocks, key=lambda block: _place(block.names[0]))),
        intents=intents.entries(level) if intents else {},
        intents_diagnostics=intents.result.diagnostics if intents else (),
        laws={what: fit.law for what, fit in _durations(results) if fit.law != "lognormal"},
    )


def _durations(
    results: Iterable[CalibrationResult],
) -> Iterator[tuple[Literal["away", "session"], DurationFit]]:
    """Yield the fits of times away and of sessions."""
    for fit in results:
        if isinstance(fit, DurationFit):
            yield "away" if AWAY[0] in fit.parameters else "session", fit


def _visits(material: FitInputs) -> tuple[FitInputs, tuple[Diagnostic, ...], FamilyResult]:
    """Cut visits if asked for or needed; skip their families on unexpected errors.

    Parameters that rest on visits are lost when an unexpected error occurs.
    """
    made = catch_unidentified(lambda: with_visits(material))
    if not isinstance(made, FitFailure):
        return *made, FamilyResult()
    if isinstance(made.error, PrefcalError):
        raise made.error
    return (
        material,
        (),
        FamilyResult(skipped=(made.skipped(FAMILY_NAMES["away"]), made.skipped(FAMILY_NAMES["session"]))),
    )


def _family(family: str, material: FitInputs, intents: IntentFit | None) -> FamilyResult:
    """Fit one family, and contain its errors."""
    made = catch_unidentified(
        lambda: patience(material, intents) if family == "patience" else FAMILIES[family](material)
    )
    return (
        FamilyResult(skipped=(made.skipped(FAMILY_NAMES[family]),)) if isinstance(made, FitFailure) else made
    )


def _intents(material: FitInputs) -> tuple[IntentFit | None, IntentBallots | None, FamilyResult]:
    """Fit probabilities of intents; return them with their ballots."""
    fit = catch_unidentified(lambda: _fitted_intents(material))
    if isinstance(fit, FitFailure):
        return None, None, FamilyResult(skipped=(fit.skipped(("intents",)),))
    return (*fit, FamilyResult())


def _fitted_intents(material: FitInputs) -> tuple[IntentFit, IntentBallots]:
    data = IntentBallots(votes=material.table("intent_votes"), offered=material.tables.get("intents"))
    fit = fit_intents(data, rng=material.rng("intents"))
    fit.entries(material.options.level)  # so that an interval that cannot be computed is this fit's fault
    return fit, data


def _with_intervals(fits: FamilyResult, level: float) -> FamilyResult:
    """Return the result without fits whose model entries cannot be computed.

    Those are skipped with the reason.
    """
    kept = FamilyResult(skipped=fits.skipped)
    for fit, data in zip(fits.results, fits.data, strict=True):
        entries = catch_unidentified(lambda: (fit.entries(level), joint_entry(fit)))  # noqa: B023 - called at once
        kept += (
            FamilyResult(skipped=(entries.skipped(fit.parameters),))
            if isinstance(entries, FitFailure)
            else FamilyResult(results=(fit,), data=(data,))
        )
    return kept


def _notes_on_workers(tables: Mapping[str, pd.DataFrame], options: FitOptions) -> tuple[Diagnostic, ...]:
    why = exclusions(tables.get("workers"), exclude=options.exclude, complete_only=options.complete_only)
    return tuple(
        info(f"{reason}_workers", f"{count} {reason} workers are left out of every table.")
        for reason, count in sorted(why.value_counts().items())
    )


def _stem(names: Iterable[str]) -> str:
    """Return the common part of parameter names.

    For example: away_mean_seconds and away_sd_seconds -> away; [ja] -> _ja.
    """
    plain = [plain_name(name) for name in names]
    language = next(iter(names)).removeprefix(plain[0]).strip("[]")
    words = zip(*(name.split("_") for name in plain), strict=False)
    common = "_".join(word for word, *_ in takewhile(lambda column: len(set(column)) == 1, words))
    return f"{common}_{language}" if language else common


def _place(name: str) -> tuple[int, str]:
    plain = plain_name(name)
    return list(PARAMETERS).index(plain) if plain in PARAMETERS else len(PARAMETERS), name
