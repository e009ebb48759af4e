"""Tables read as categories, as `prefcal fit` reads the long ones, and as texts: the same fits."""

from pathlib import Path

import numpy as np

from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import fit_user_model
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.files import read_tables, write_tables


def test_a_fit_is_the_same_whether_texts_are_held_as_categories_or_not(tmp_path: Path) -> None:
    """Names come in no order of the alphabet, so that the first one seen is not the first category."""
    study = simulate_study(SimulatedStudy(workers=40), np.random.default_rng(1))
    write_tables({name: rows.iloc[::-1].reset_index(drop=True) for name, rows in study.items()}, tmp_path)
    options = FitOptions(checks=False, resamples=20)
    texts, categories = (
        fit_user_model(read_tables(tmp_path, compact=names), seed=1, options=options)
        for names in ((), ("activity", "preferences", "reads"))
    )
    assert texts.model == categories.model
    assert texts.quality.to_dict() == categories.quality.to_dict()
    assert texts.careless.equals(categories.careless)
