"""Older forms of the files of `prefcal agree`, brought into today's: a folder can be reported years later.

The first form knew summaries and scores from elsewhere only: no families, no conversions, one curve over patience.
"""

import numpy as np
import pandas as pd

from calibration.agree.folder import AGREEMENT, COMPARISONS, CURVE
from calibration.agree.judged_task import why_no_ceiling
from calibration.agree.measures.variants import Role
from calibration.agree.task_agreement import CEILING_COLUMNS

SUMMARIES, SCORES = "summaries", "scores"
"""Families that the first form knew."""
RANKED = "ranked"


def with_every_column(name: str, frame: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return a file's rows with the columns of today's form; None where there is no file.

    Parameters
    ----------
    name : str
        ``agreement.csv``, ``comparisons.csv`` or ``curve.csv``; others are returned as they are.
    frame : DataFrame or None
        Its rows.
    """
    if frame is None:
        return None
    if name == CURVE and "over" not in frame.columns:
        frame = frame.rename(columns={"patience_chars": "value"}).assign(measure="M", over="patience_chars")
    if name == AGREEMENT and "family" not in frame.columns:
        frame = frame.assign(family=np.where(frame["role"] == Role.SCORES, SCORES, SUMMARIES))
    if name == COMPARISONS and "standing" not in frame.columns:
        frame = frame.assign(standing="family")
    if name == COMPARISONS and "named" not in frame.columns:
        frame = frame.assign(named="unknown")
    if name == AGREEMENT:
        frame = _with_reasons(frame)
    missing: dict[str, object] = {
        "converted": False,
        "alpha": np.nan,
        "lateness": np.nan,
        "patience_chars": np.nan,
        "draw_low": np.nan,
        "draw_high": np.nan,
    }
    files: dict[str, dict[str, object]] = {AGREEMENT: missing, CURVE: {"converted": False}}
    wanted = files.get(name, {})
    return frame.assign(**{column: value for column, value in wanted.items() if column not in frame.columns})


def _with_reasons(agreement: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with why they have no ceiling; older ones had one from however few pairs."""
    if "no_ceiling" in agreement.columns:
        return agreement.assign(no_ceiling=agreement["no_ceiling"].astype(object).fillna(""))
    counts = zip(agreement["pairs"] - agreement["vote_ties"], agreement["queries"], strict=True)
    reasons = [why_no_ceiling(decided=one, voted_twice=one, queries=queries) for one, queries in counts]
    agreement = agreement.assign(no_ceiling=reasons)
    ceilings = agreement.columns.intersection(CEILING_COLUMNS)
    agreement.loc[agreement["no_ceiling"] != "", ceilings] = np.nan
    return agreement
