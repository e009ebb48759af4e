"""The report on care and consent: what is in it, what is not and why."""

import json

import numpy as np
import pandas as pd

from calibration.raters.quality import quality_report
from calibration.raters.simulate import Assessors, Crowd, simulate_importance, simulate_judgments
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def tables() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(1)
    crowd = Crowd(per_pair=4, care=0.7, care_spread=0.3, repeats=3)
    return {
        "preferences": simulate_judgments(4, 6, crowd, rng),
        "importance": simulate_importance(4, 6, Assessors(), rng),
    }


def test_everything_that_the_tables_tell_is_in_it_once():
    """Three and four categories, consistency, sides, importance; ready for JSON."""
    report = quality_report(tables(), seed=1)

    assert list(report.to_dict()["measures"]) == [
        "preference_fleiss_kappa",
        "preference_krippendorff_alpha",
        "preference_fleiss_kappa_4",
        "preference_krippendorff_alpha_4",
        "consistency_share",
        "consistency_kappa",
        "identical_share",
        "identical_kappa",
        "left_share",
        "importance_weighted_kappa",
        "importance_alpha",
        "importance_alpha_ordinal",
    ]
    assert report.skipped == ()
    assert report.to_dict()["details"]["left_share"]["log_odds_se"] > 0
    json.dumps(report.to_dict(0.9), allow_nan=False)


def test_the_same_seed_gives_the_same_report():
    """To the byte."""
    texts = {json.dumps(quality_report(tables(), seed=3).to_dict()) for _ in range(2)}

    assert len(texts) == 1


def test_what_is_missing_is_named_with_the_reason():
    """No table, or a table that cannot tell."""
    rows = tables()["preferences"]
    report = quality_report({"preferences": rows[rows["validation_of"].isna()]}, seed=1)

    assert [str(one) for one in report.skipped] == [
        "consistency_share, consistency_kappa, identical_share, identical_kappa: no pair was shown twice to the same worker",
        "importance_weighted_kappa, importance_alpha: there is no table importance",
        "importance_alpha_ordinal: there is no table importance",
    ]


def test_excluded_workers_are_left_out_and_their_effect_is_said():
    """Exclusion on what is measured flatters it, so both numbers stand in the report."""
    everything = tables()
    workers = pd.DataFrame({"worker": ["W0"], "excluded": [True]})
    everything["workers"] = check_frame(workers, TABLES["workers"])

    without = quality_report(everything, seed=1)
    included = quality_report(everything, seed=1, exclude=False)

    assert without.results[0].n_workers == included.results[0].n_workers - 1
    notes = {note.name: note.sentence for note in without.results[0].diagnostics}
    assert f"{included.results[0].estimates[0]:.3f}" in notes["with_excluded_workers"]
    assert "with_excluded_workers" not in [note.name for note in included.results[0].diagnostics]
