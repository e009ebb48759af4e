"""Which reads are incomplete: left out, of ranked lists, or interrupted?"""

from calibration.checks.finding import Finding, note_if, warn_if
from calibration.models.reading.fit import ReadingSpeedFit
from calibration.models.reading.rows import TimedReads
from metrics.errors import percent

MANY_CUT = 0.5


def check_rows_left_out(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Report the number of rows left out, by reason."""
    shown = ", ".join(f"{count} {why}" for why, count in data.left_out.items())
    return note_if(data.left_out, "reads_not_used", f"Reads left out: {shown}.")


def check_lists(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Note that all reads are entries of ranked lists."""
    return warn_if(
        data.of_lists,
        "from_lists",
        "All reads are entries of ranked lists, which people scan to compare two lists: this is how fast they judged "
        "such lists, and not how fast they read a text.",
    )


def check_interrupted(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Warn if many reads were cut by the end of their visit."""
    share = float(data.cut.mean())
    sentence = f"{percent(share)} of the reads were interrupted by the end of the visit: slow reading is extrapolated."
    return warn_if(share > MANY_CUT, "many_interrupted", sentence)
