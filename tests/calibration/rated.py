"""Small tables of ratings and judgments, made by hand."""

import pandas as pd

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def judgments(*rows: tuple, topic: str = "q") -> pd.DataFrame:
    """Return table preferences of rows (worker, left, right, choice[, number of the row it repeats])."""
    return check_frame(
        pd.DataFrame(
            [
                {
                    "judgment": f"j{number}",
                    "worker": worker,
                    "task": "t",
                    "topic": topic,
                    "pair": "/".join(sorted((left, right))),
                    "system_left": left,
                    "system_right": right,
                    "choice": choice,
                    "validation_of": f"j{repeats[0]}" if repeats else None,
                }
                for number, (worker, left, right, choice, *repeats) in enumerate(rows)
            ]
        ),
        TABLES["preferences"],
    )


def importance(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    """Return table importance of rows (worker, topic, iunit, rating), of one intent ``i``."""
    frame = pd.DataFrame(rows, columns=["worker", "topic", "iunit", "rating"])
    return check_frame(frame.assign(intent="i"), TABLES["importance"])
