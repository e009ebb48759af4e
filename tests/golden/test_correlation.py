"""Reference values of correlation, from the command line; `tests/metrics/agreement/test_correlation.py` has them from Python.

`gold/correlation` says how they were made: tau-b by scipy, the tau_AP family by definition. Tolerance 1e-9.
"""

import csv
import io
import json
import math

import pytest

from tests.study_app.prefcal_command import run_here

PRINTED = {
    "none": {
        "tau-b": "kendall_tau_b",
        "tau-AP": "tau_ap_y_given_x",
        "tau-AP-sym": "tau_ap_symmetric",
    },
    "y": {"tau-b": "kendall_tau_b", "tau-AP": "tau_ap_a", "tau-AP-sym": "tau_ap_b"},
    "both": {"tau-b": "kendall_tau_b", "tau-AP": None, "tau-AP-sym": "tau_ap_b"},
}
"""Ties of a case -> what is printed -> what gold calls it; None: undefined with ties in the reference."""


@pytest.mark.parametrize("number", range(4))
def test_the_command_line(shared, tmp_path, monkeypatch, capsys, number):
    """Without ties, with ties under test, and with ties anywhere."""
    case = json.loads((shared / "gold/correlation/cases.json").read_text(encoding="utf-8"))[number]
    rows = "".join(f"{x!r},{y!r}\n" for x, y in zip(case["x"], case["y"], strict=True))
    (tmp_path / "scores.csv").write_text("x,y\n" + rows, encoding="utf-8")
    ended = run_here(
        monkeypatch, capsys, "correlate", tmp_path / "scores.csv", "--x=x", "--y=y", "--format=csv"
    )
    found = {row["metric"]: float(row["value"]) for row in csv.DictReader(io.StringIO(ended.out))}
    wanted = {
        metric: math.nan if name is None else case["expected"][name]
        for metric, name in PRINTED[case["ties"]].items()
    }
    assert {metric: found[metric] for metric in wanted} == pytest.approx(wanted, abs=1e-9, nan_ok=True)
