"""Are some items read at a speed of their own, by everybody?"""

import math

from calibration.checks.finding import Finding
from calibration.checks.reading.lengths import length_slope
from calibration.inference.formatting import format_p
from calibration.models.reading.fit import MU, ReadingSpeedFit
from calibration.models.reading.items import item_effects
from calibration.models.reading.mixture import reading_sample
from calibration.models.reading.rows import TimedReads

FEW_ITEMS = 10


def check_items(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Test by F whether items differ beyond their lengths.

    The interval of mu allows for such differences.
    """
    medians = reading_sample(data).medians
    slope, _ = length_slope(data, medians)
    effects = item_effects(data, medians, 0.0 if math.isnan(slope) else slope)
    if math.isnan(effects.p_value):
        return None
    return Finding(
        name="items_differ",
        p_value=effects.p_value,
        parameters=(MU,),
        sentence=f"The {effects.items} items are read at speeds of their own, that differ by a factor of {math.exp(effects.spread):.2f} "
        f"(one standard deviation, {format_p(effects.p_value)}): the interval of mu allows for other items, and more workers with the same "
        "items would not make it much shorter.",
    )


def check_item_number(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Warn if items shared by workers are too few to show how much they differ."""
    items = round(fit.details["shared_items"])
    if not 0 < items < FEW_ITEMS:
        return None
    return Finding(
        name="few_items",
        severity="warning",
        parameters=(MU,),
        sentence=f"{items} items that several workers read are few to tell how much items differ.",
    )
