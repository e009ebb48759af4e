"""Fit everything the tables allow, into one user model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version

import numpy as np
import pandas as pd

from calibration.exclusion import counted_tables, left_out
from calibration.intents import IntentFit, fit_intents
from calibration.patience import fit_patience
from calibration.results import LEVEL, CalibrationResult, NotIdentifiedError, Skipped, info
from calibration.user_model import PARAMETERS, Diagnostic, UserModel, plain_name


@dataclass(frozen=True, slots=True, kw_only=True)
class UserModelFit:
    """A user model and how it came about.

    Attributes
    ----------
    model : UserModel
        What user-model.json holds.
    results : tuple of CalibrationResult
        The fits behind its parameters, for draws, other levels and other intervals.
    intents : IntentFit or None
        The fit behind its intents.
    skipped : tuple of Skipped
        What the tables cannot tell, and why.
    """

    model: UserModel
    results: tuple[CalibrationResult, ...]
    intents: IntentFit | None
    skipped: tuple[Skipped, ...]


def fit_user_model(
    tables: Mapping[str, pd.DataFrame],
    *,
    seed: int,
    exclude: bool = True,
    level: float = LEVEL,
    study: str | None = None,
    tables_sha256: str | None = None,
) -> UserModelFit:
    """Fit every parameter that the tables allow.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.table_files.read_tables` returns them.
    seed : int
        Of every resampling: the same tables and seed give the same model.
    exclude : bool
        Leave excluded workers out of every table.
    level : float
        Confidence level of the intervals.
    study, tables_sha256 : str, optional
        What the model says it was fitted to.

    Returns
    -------
    UserModelFit
        What the tables cannot tell is absent from the model and stands in ``skipped``.
    """
    counted = counted_tables(tables, exclude=exclude)
    skipped: list[Skipped] = []
    intents = _intents(counted, seed, skipped)
    patience = fit_patience(counted, seed=seed, voted=intents.probabilities if intents else None)
    notes = _notes_on_workers(tables, exclude=exclude)
    results = tuple(replace(fit, diagnostics=(*fit.diagnostics, *notes)) for fit in patience.results)
    parameters = {name: entry for fit in results for name, entry in fit.entries(level).items()}
    model = UserModel(
        study=study,
        tables_sha256=tables_sha256,
        prefcal_version=version("prefcal"),
        seed=seed,
        parameters=dict(sorted(parameters.items(), key=lambda item: _place(item[0]))),
        intents=intents.entries(level) if intents else {},
    )
    return UserModelFit(model=model, results=results, intents=intents, skipped=(*patience.skipped, *skipped))


def _intents(tables: Mapping[str, pd.DataFrame], seed: int, skipped: list[Skipped]) -> IntentFit | None:
    if "intent_votes" not in tables:
        skipped.append(Skipped(names=("intents",), reason="there is no table intent_votes"))
        return None
    try:
        return fit_intents(
            tables["intent_votes"], tables.get("intents"), rng=np.random.default_rng([seed, 1])
        )
    except NotIdentifiedError as error:
        skipped.append(Skipped(names=("intents",), reason=str(error)))
        return None


def _notes_on_workers(tables: Mapping[str, pd.DataFrame], *, exclude: bool) -> tuple[Diagnostic, ...]:
    why = left_out(tables.get("workers"), exclude=exclude).value_counts()
    return tuple(
        info(f"{reason}_workers", f"{count} {reason} workers are left out of every table.")
        for reason, count in sorted(why.items())
    )


def _place(name: str) -> tuple[int, str]:
    return list(PARAMETERS).index(plain_name(name)), name
