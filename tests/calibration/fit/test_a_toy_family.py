"""A family of parameters that no other file knows goes through fit, model file, command line, draws and report.

What stands between the two lines of dashes is all that a family is: how many seconds a read takes, its mean over workers.
"""

import re
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibration.fit.user_model_fit
import calibration.user_model.model
from calibration.fit.families import FAMILIES, FAMILY_NAMES, FitInputs
from calibration.inference.attempts import FamilyResult, try_fit
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import Scale, StudentT
from calibration.models.reading.law import SimulatedReaders, simulate_reads
from calibration.tables.files import write_tables
from calibration.user_model.model import PARAMETERS, read_user_model
from study_app.cli import cli
from tests.study_app.prefcal_command import without_pdf

# --------------------------------------------------------------------------------------------------------------------

NAME = "read_mean_seconds"
UNIT = "seconds"


def fit_read_mean(reads: pd.DataFrame) -> CalibrationResult:
    """Return the mean over workers of how long each takes for a read."""
    means = reads.groupby("worker")["dwell_seconds"].mean().to_numpy()
    log_mean = np.log(means.mean(keepdims=True))
    variance = means.var(ddof=1) / len(means) / means.mean() ** 2
    error = StudentT(centre=log_mean, cov=np.array([[variance]]), df=len(means) - 1, scale=Scale.LOG)
    return CalibrationResult(
        parameters={NAME: float(means.mean())},
        unit=UNIT,
        method="mean over workers",
        uncertainty={"workers": error},
        n_workers=len(means),
        n_rows=len(reads),
    )


def read_mean(material: FitInputs) -> FamilyResult:
    return try_fit((NAME,), lambda: fit_read_mean(material.table("reads")))


# --------------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _entered(monkeypatch):
    """Enter the family where the recipe of CONTRIBUTING.md says: its name and unit, and the line that fits it."""
    parameters = MappingProxyType({**PARAMETERS, NAME: UNIT})
    monkeypatch.setattr(calibration.user_model.model, "PARAMETERS", parameters)
    monkeypatch.setattr(calibration.fit.user_model_fit, "PARAMETERS", parameters)
    monkeypatch.setattr(calibration.fit.user_model_fit, "FAMILIES", {**FAMILIES, "read": read_mean})
    monkeypatch.setattr(calibration.fit.user_model_fit, "FAMILY_NAMES", {**FAMILY_NAMES, "read": (NAME,)})


@pytest.fixture(scope="module")
def reads():
    return simulate_reads(SimulatedReaders(), np.random.default_rng(3), workers=20, items=12)


@pytest.fixture
def tables(reads, tmp_path):
    write_tables({"reads": reads}, tmp_path / "tables")
    return tmp_path / "tables"


def test_a_toy_family_is_fitted_printed_kept_in_the_model_and_reported(tables, reads, monkeypatch):
    """The command line prints it with the others, the file gives it back with its interval, the report has its row."""
    without_pdf(monkeypatch)
    results, runner = tables.parent, CliRunner()

    fitted = runner.invoke(cli, ["fit", str(tables), "-o", str(results / "user-model.json")])
    reported = runner.invoke(cli, ["report", str(results)])

    assert (fitted.exit_code, reported.exit_code) == (0, 0), fitted.output + reported.output
    entry = read_user_model(results / "user-model.json").parameters[NAME]
    assert entry.estimate == pytest.approx(reads.groupby("worker")["dwell_seconds"].mean().mean())
    assert entry.interval[0] < entry.estimate < entry.interval[1]
    assert re.search(rf"^{NAME} +[\d.]+ s ", fitted.output, re.MULTILINE)
    assert NAME in (results / "report.html").read_text(encoding="utf-8")


def test_a_toy_family_that_cannot_be_told_is_left_out_with_its_reason(tmp_path):
    """Without its table there is no number, and a line says why."""
    fit = calibration.fit.user_model_fit.fit_user_model({}, seed=1)

    assert NAME not in fit.model.parameters
    assert "there is no table reads" in [one.reason for one in fit.skipped if one.names == (NAME,)]


def test_a_toy_family_is_drawn_with_its_uncertainty(tables, tmp_path):
    """Whoever scores under the model can carry its error."""
    fit = calibration.fit.user_model_fit.fit_user_model({"reads": pd.read_csv(tables / "reads.csv")}, seed=1)

    drawn = fit.results[NAME].draw_parameters(4_000, np.random.default_rng(1))[NAME]

    low, high = fit.results[NAME].conf_int()[NAME]
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx([low, high], rel=0.03)
