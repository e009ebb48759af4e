"""What the numbers of a study allow the report to say: from how many pairs, queries and systems on, and in which words."""

import math
from collections.abc import Iterator

from calibration.agree.too_few import decided, tells
from study_app.report.results import Row, TaskResult
from study_app.report.wording import counted, decimal, percent, percent_interval

FEWEST_FOR_BAND = 5
"""Queries from which a curve has a band: from fewer, it is narrow wherever these few happen to be alike."""
FEWEST_RANKED = 6
"""Systems from which a rank correlation is put into words: of four, one in 24 orders is the very same by chance."""

HATCHED = "Hatched: from the agreement of a second panel to that of a perfect measure."
"""How a figure with a ceiling is read."""

TOO_FEW = "too few to say"


def ceiling(row: Row) -> tuple[float, float]:
    """Return the agreement of a second panel and of a perfect measure; NaN where the votes do not tell them."""
    return float(row["ceiling"]), float(row["perfect"])


def finding(result: TaskResult) -> str:
    """Say the agreement of the measure asked about with its interval, and that of a second panel where both have one.

    That it is more or fewer is claimed only where the two intervals do not meet.
    """
    row = result.row(result.asked)
    if not tells(row):
        return (
            f"Too few to say how well {result.asked} agrees with the preferences:"
            f" {counted(decided(row), 'decided pair')}, {result.topics_counted}"
        )
    agreement = f"{percent(row['agreement'])} of the pairs ({percent_interval(row['low'], row['high'])})"
    sentence = f"{result.asked} agrees with the preferences on {agreement}"
    if math.isnan(row["ceiling"]) or math.isnan(row["low"]):
        return sentence
    panel = f"a second panel would on {percent(row['ceiling'])}"
    if row["high"] < row["ceiling_low"] or row["low"] > row["ceiling_high"]:
        word = "fewer" if row["high"] < row["ceiling_low"] else "more"
        return f"{sentence}, {word} than {panel}"
    return f"{sentence}; {panel} ({percent_interval(row['ceiling_low'], row['ceiling_high'])})"


def ranked_alike(one: str, other: str, tau: float, interval: tuple[float, float], systems: int) -> str:
    """Say how alike two measures rank systems: in words only where both ends of the interval have the same words.

    Parameters
    ----------
    one, other : str
        The measures.
    tau : float
        Kendall's tau-b.
    interval : (float, float)
        Of tau; NaN where there is none.
    systems : int
        How many are ranked.
    """
    value = "no τ" if math.isnan(tau) else f"τ = {decimal(tau)}"
    if systems < FEWEST_RANKED:
        return f"{one} and {other}, {counted(systems, 'system')}, {TOO_FEW}: {value}"
    if math.isnan(interval[0]) or math.isnan(interval[1]):
        return f"{one} and {other} over {counted(systems, 'system')}: {value}, no interval"
    value += f" ({decimal(interval[0])} to {decimal(interval[1])})"
    words = {_alike(end) for end in interval}
    if len(words) > 1:
        return f"{one} and {other} over {counted(systems, 'system')}: {value}"
    return f"{one} and {other} rank systems {words.pop()}: {value}"


def over_few(systems: int) -> str:
    """Return what is put behind a rank correlation over too few systems; nothing behind others."""
    return f" ({counted(systems, 'system')}, {TOO_FEW})" if systems < FEWEST_RANKED else ""


def _alike(tau: float) -> str:
    words = ((0.7, "much alike"), (0.3, "somewhat alike"), (-0.3, "almost unrelatedly"))
    return next((word for least, word in words if tau >= least), "in opposite orders")


def beyond_perfect(result: TaskResult) -> Iterator[str]:
    """Yield which measures lie above a perfect one, and that only chance can put them there; nothing without any."""
    row = result.row(result.main)
    above = [name for name in result.fair_measures if result.row(name)["agreement"] > row["perfect"]]
    if not above:
        return
    which = above[0] if len(above) == 1 else counted(len(above), "measure")
    yield (
        f"{which} came out above the perfect measure. That happens by chance, in these votes or in the estimate of the"
        " ceiling, whose interval does not hold the error of its model; it is no finding."
    )
