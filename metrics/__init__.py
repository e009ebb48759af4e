"""Effectiveness measures of summaries, streams, pushes, ranked lists and answers.

Knows neither `calibration` nor `study_app`. Readers of files live in `metrics.readers`, one measure family in
each other module; this package hands out what each of them does.
"""

from typing import TYPE_CHECKING

from metrics import agreement, answers, msu, push, ranked, readers, summaries, sweep, updates
from metrics.lazy_names import lazily

__all__ = [
    "Event",
    "EventCollection",
    "Fault",
    "InputError",
    "Match",
    "Measure",
    "Nugget",
    "Update",
    "UpdateRun",
    "all_measures",
    "measure",
]
__all__ += agreement.__all__
__all__ += answers.__all__
__all__ += msu.__all__
__all__ += push.__all__
__all__ += ranked.__all__
__all__ += readers.__all__
__all__ += summaries.__all__
__all__ += sweep.__all__
__all__ += updates.__all__

if TYPE_CHECKING:
    from metrics.agreement import *  # noqa: F403 - as below, all that each hands out
    from metrics.answers import *  # noqa: F403
    from metrics.errors import Fault, InputError
    from metrics.events import Event, EventCollection, Match, Nugget, Update, UpdateRun
    from metrics.msu import *  # noqa: F403
    from metrics.push import *  # noqa: F403
    from metrics.ranked import *  # noqa: F403
    from metrics.readers import *  # noqa: F403
    from metrics.registry import Measure, all_measures, measure
    from metrics.summaries import *  # noqa: F403
    from metrics.sweep import *  # noqa: F403
    from metrics.updates import *  # noqa: F403
else:
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        ".errors",
        ".registry",
        ".events",
        ".summaries",
        ".push",
        ".updates",
        ".msu",
        ".ranked",
        ".answers",
        ".agreement",
        ".readers",
        ".sweep",
    )
