"""Readers of files, one format family a module.

No other module of the package parses files.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "read_answer_collection",
    "read_answer_run",
    "read_events",
    "read_lengths",
    "read_push_collection",
    "read_push_run",
    "read_ranked_collection",
    "read_ranked_run",
    "read_summary_collection",
    "read_summary_run",
    "read_trails",
    "read_update_run",
]

if TYPE_CHECKING:
    from metrics.readers.answer_judgments import read_answer_collection
    from metrics.readers.answers import read_answer_run
    from metrics.readers.mobileclick import read_summary_collection
    from metrics.readers.mobileclick_runs import read_summary_run
    from metrics.readers.push import read_push_collection, read_push_run
    from metrics.readers.ranked import read_ranked_collection, read_ranked_run
    from metrics.readers.tempsum import read_events, read_lengths, read_update_run
    from metrics.readers.trails import read_trails
else:
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        ".answer_judgments",
        ".answers",
        ".mobileclick",
        ".mobileclick_runs",
        ".push",
        ".ranked",
        ".tempsum",
        ".trails",
    )
