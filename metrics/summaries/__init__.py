"""Two-layered summaries: U-measure, M-measure, and the trailtexts behind them."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "Collection",
    "IUnit",
    "Link",
    "MMeasure",
    "Query",
    "Run",
    "Summary",
    "UMeasure",
    "score_intents",
    "score_summaries",
    "summary_positions",
]

if TYPE_CHECKING:
    from metrics.summaries.score import MMeasure, UMeasure, score_intents, score_summaries, summary_positions
    from metrics.summaries.two_layered import Collection, IUnit, Link, Query, Run, Summary
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".two_layered", ".score")
