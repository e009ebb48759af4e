"""Do texts differ in how far they are read, whoever reads them?

The check is the score test of a random effect (Commenges and Andersen 1995) on residuals of stops, by texts.
"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.checks.patience.careless_stops import stops_in_earnest
from calibration.checks.patience.patience_differs import stop_residuals
from calibration.inference.clusters import p_shared_effect
from calibration.inference.formatting import format_p
from calibration.models.patience.stops import Stops, StopsFit


def check_texts(fit: StopsFit, stops: Stops) -> Finding | None:
    """Test whether texts differ; the interval allows for it."""
    patience = float(fit.estimates[0])
    if np.isinf(patience):
        return None
    stops = stops_in_earnest(stops, patience)
    texts = int(stops.text.max()) + 1
    if not 2 <= texts < len(stops.text):
        return None
    p_value = p_shared_effect(stop_residuals(stops), stops.text)
    return Finding(
        name="texts_differ",
        p_value=p_value,
        sentence=f"Some texts are read further than others, whoever reads them ({format_p(p_value)}): the interval allows for {texts} texts drawn from "
        "many, like people, and L is that of such texts on average. Use more texts.",
    )
