"""Repeats that are answered alike no more often than by habit are named."""

import numpy as np
import pandas as pd
import pytest

import prefcal
from calibration.checks.inconsistent import check_repeats
from calibration.raters.consistency import fit_consistency
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def repeated(alike: float, *, seed: int = 1, people: int = 12, repeats: int = 5) -> pd.DataFrame:
    """Draw preferences with repeats, the sides swapped, that are for the same system with this probability."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for pair in range(20):
            side = rng.choice(["left", "right"])
            rows.append((f"J{person}-{pair}", f"W{person}", "t", f"Q{pair}", "A", "B", side, None))
            if pair < repeats:
                same = rng.random() < alike
                again = side if not same else ("left" if side == "right" else "right")
                rows.append(
                    (f"R{person}-{pair}", f"W{person}", "t", f"Q{pair}", "B", "A", again, f"J{person}-{pair}")
                )
    names = ["judgment", "worker", "task", "topic", "system_left", "system_right", "choice", "validation_of"]
    return check_frame(pd.DataFrame(rows, columns=names), TABLES["preferences"])


def said(alike: float, **study: int) -> bool:
    preferences = repeated(alike, **study)
    fit = fit_consistency(preferences, rng=np.random.default_rng(1), resamples=50)
    return check_repeats(fit, preferences) is not None


@pytest.mark.parametrize("alike", [0.0, 0.2, 0.5])
def test_repeats_at_or_below_chance_are_named(alike):
    """All contradicted, most, or by lot."""
    assert sum(said(alike, seed=seed) for seed in range(20)) >= 18


@pytest.mark.parametrize("alike", [0.75, 0.9, 1.0])
def test_people_who_look_are_not(alike):
    """Even if every fourth repeat is answered otherwise."""
    assert sum(said(alike, seed=seed) for seed in range(20)) <= 1


def test_few_repeats_that_leave_it_open_are_not_named():
    """Of three people with one repeat each nothing is known."""
    assert sum(said(0.8, seed=seed, people=3, repeats=1) for seed in range(20)) <= 2


def test_fit_warns_of_them():
    """Beside the consistency in quality.json, and as a finding."""
    fitted = prefcal.fit({"preferences": repeated(0.0)})
    (row,) = [finding for finding in fitted.findings if finding.name == "inconsistent"]

    assert row.severity == "warning"
    assert row.sentence.startswith(
        "0 of 60 repeats are answered alike, less often than by habit alone (kappa -"
    )
    assert "inconsistent" in {note.name for note in fitted.quality.entries()["consistency_kappa"].diagnostics}
