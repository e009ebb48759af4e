"""Fit everything the tables allow, into one user model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, takewhile
from typing import TypeAlias

import pandas as pd

from calibration.fit.checks import tested, tested_intents
from calibration.fit.families import FAMILIES, patience
from calibration.fit.joint import joint_entry
from calibration.fit.material import Found, Material
from calibration.fit.naive import NaiveEstimate, naive_estimates
from calibration.fit.options import FitOptions
from calibration.fit.visits import noted_on_visits, with_visits
from calibration.inference.results import CalibrationResult, NotIdentifiedError, Skipped, info
from calibration.intents.fit import IntentFit, fit_intents
from calibration.patience.fit import NAME as PATIENCE
from calibration.raters.quality import QualityReport, quality_report
from calibration.tables.exclusion import counted_tables, left_out
from calibration.tables.study import StudyRecord
from calibration.user_model.model import PARAMETERS, Diagnostic, UserModel, plain_name

Track: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
"""Goes through the names of steps, showing how far it has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserModelFit:
    """A user model and how it came about.

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
    skipped : tuple of Skipped
        What the tables cannot tell, and why.
    naive : tuple of NaiveEstimate
        What naive code would have found; empty unless asked for.
    """

    model: UserModel
    results: Mapping[str, CalibrationResult]
    intents: IntentFit | None
    quality: QualityReport
    skipped: tuple[Skipped, ...]
    naive: tuple[NaiveEstimate, ...] = ()

    @property
    def drawable(self) -> dict[str, CalibrationResult | IntentFit]:
        """What a family is called in file names -> its fit; `patience_chars` is drawn by its source."""
        fits = {_stem(fit.params): fit for name, fit in self.results.items() if plain_name(name) != PATIENCE}
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
    """Fit every parameter that the tables allow.

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
    options = options or FitOptions()
    counted = counted_tables(tables, exclude=options.exclude, complete_only=options.complete_only)
    material, cut = with_visits(Material(tables=counted, record=record, options=options, seed=seed))
    intents, found = _intents(material)
    for family in track([*FAMILIES, "patience"]):
        found = (patience(material, intents) if family == "patience" else FAMILIES[family](material)) + found
    notes = _notes_on_workers(tables, options)
    results = [tested(fit, material).noted(*notes) for fit in noted_on_visits(material, found.results, cut)]
    model = _model(results, intents, material, tables_sha256)
    return UserModelFit(
        model=model,
        results={next(iter(fit.params)): fit for fit in results},
        intents=intents,
        quality=quality_report(
            counted_tables(tables, exclude=False, complete_only=options.complete_only),
            seed=seed,
            level=options.level,
            exclude=options.exclude,
        ),
        skipped=tuple(sorted(found.skipped, key=lambda one: _place(one.names[0]))),
        naive=naive_estimates(material, list(model.parameters)) if options.compare else (),
    )


def _model(
    results: Sequence[CalibrationResult], intents: IntentFit | None, material: Material, digest: str | None
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
    )


def _intents(material: Material) -> tuple[IntentFit | None, Found]:
    try:
        votes, offered = material.table("intent_votes"), material.tables.get("intents")
        fit = fit_intents(votes, offered, rng=material.rng("intents"))
    except NotIdentifiedError as error:
        return None, Found(skipped=(Skipped(names=("intents",), reason=str(error)),))
    return tested_intents(fit, material), Found()


def _notes_on_workers(tables: Mapping[str, pd.DataFrame], options: FitOptions) -> tuple[Diagnostic, ...]:
    why = left_out(tables.get("workers"), exclude=options.exclude, complete_only=options.complete_only)
    return tuple(
        info(f"{reason}_workers", f"{count} {reason} workers are left out of every table.")
        for reason, count in sorted(why.value_counts().items())
    )


def _stem(names: Iterable[str]) -> str:
    """Return what parameters have in common: away_mean_seconds and away_sd_seconds -> away; [ja] -> _ja."""
    plain = [plain_name(name) for name in names]
    language = next(iter(names)).removeprefix(plain[0]).strip("[]")
    words = zip(*(name.split("_") for name in plain), strict=False)
    common = "_".join(word for word, *_ in takewhile(lambda column: len(set(column)) == 1, words))
    return f"{common}_{language}" if language else common


def _place(name: str) -> tuple[int, str]:
    plain = plain_name(name)
    return list(PARAMETERS).index(plain) if plain in PARAMETERS else len(PARAMETERS), name
