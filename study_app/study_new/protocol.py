"""The keys that a new study file writes for each kind of task, each with what it means and where its number comes from."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticUndefined

from study_app.protocol.domain import MIN_VALIDATIONS
from study_app.study.entries import DEFAULT_CRITERIA, KINDS

SUMMARIES = "Kato et al. 2016"
"""Two-layered Summaries for Mobile Search: Does the Evaluation Measure Reflect User Preferences?, EVIA 2016."""
STREAMS = "Baruah et al. 2015"
"""Evaluating Streams of Evolving News Events, SIGIR 2015."""

INTRODUCED = {
    "instructions": "prefcal's own words before the task; or your own text, or null for no such page",
    "example": "a worked example on that page",
    "check": "null: prefcal's own questions, with two tries; [] for none; or a list of your own",
}
JUDGED = {
    "criteria": "stand under the four options",
    "compare": "measures that the report is to compare, as `prefcal agree` or `prefcal measures` writes them",
    "primary": "two of them: the comparison that this study is made for",
}
REPEATED = {
    "validation_swapped": "repeats have their sides swapped: tells a preference from a habit",
    "min_consistency": f"a worker with a smaller share of consistent repeats is left out of analyses ({SUMMARIES}, 4.2)",
}

COMMENTS: Mapping[str, Mapping[str, str]] = {
    "intent_votes": {
        **INTRODUCED,
        "votes_per_query": f"so many workers vote on a query ({SUMMARIES}, 4.1); null is no limit",
        "queries_per_worker": f"a worker votes on so many ({SUMMARIES}, 4.1)",
    },
    "iunit_importance": {
        **INTRODUCED,
        "assessors_per_iunit": f"so many workers rate an iUnit for an intent ({SUMMARIES}, 4.1)",
        "intents_per_worker": "a worker rates the iUnits for so many intents, each with all of its query",
        "iunits_per_page": "so many on a page",
    },
    "summary_pairs": {
        **INTRODUCED,
        "search_seconds": f"the pairs cannot be reached sooner: three minutes of own search ({SUMMARIES}, 4.2)",
        "min_search_seconds": f"a shorter mean search leaves the worker out of analyses ({SUMMARIES}, 4.2)",
        "workers_per_query": f"so many workers judge a query ({SUMMARIES}, 4.2); null is no limit",
        "queries_per_worker": f"a worker judges the pairs of so many ({SUMMARIES}, 4.2)",
        "pairs": f"all pairs of a query, or a number: those judged least so far ({SUMMARIES}, 4.2)",
        "validation_pairs": f"so many of these are shown once more ({SUMMARIES}, 4.2)",
        **REPEATED,
        **JUDGED,
    },
    "stream_pairs": {
        **INTRODUCED,
        "days": "the first and the last day; what is pushed on other days is not shown",
        "judgments_per_pair": "so many workers judge a pair; null is no limit",
        "pairs_per_worker": "a worker judges so many, of one profile as far as there is room",
        "reveal_silent_days": "true: days without anything relevant say so; random: for half of the workers",
        "validation_pairs": "so many of a worker's pairs are shown once more",
        **REPEATED,
        **JUDGED,
    },
    "stream_visits": {
        **INTRODUCED,
        "days": "so many days of the event a worker follows it",
        "clock_factor": "seconds of the event in one second on the clock: 24 shows a day in an hour",
        "topics_per_worker": "a worker follows so many events side by side",
        "workers_per_stream": "so many follow one system's stream of an event; null is no limit",
        "ask_per_visit": f"after a visit: of so many updates, was this still of use? ({STREAMS}, 3: lateness)",
        "idle_seconds": "a visit without any sign of life for so long is over",
        "updates_per_page": "the older ones of a visit are one tap away",
    },
    "ranked_pairs": {
        **INTRODUCED,
        "depth": "so many entries of each list are shown",
        "judgments_per_pair": "so many workers judge a pair; null is no limit",
        "queries_per_worker": "a worker judges the pairs of so many queries",
        "pairs": "all pairs of a query, or a number: those judged least so far",
        "validation_pairs": "so many of these are shown once more",
        **REPEATED,
        **JUDGED,
    },
}
"""Kind of task -> key -> comment, in the order in which they are written."""


def protocol_values(kind: str, language: str) -> dict[str, Any]:
    """Return every key of a kind that is written, with its default; days are not in it where they have none."""
    fields = KINDS[kind].model_fields
    values = {key: fields[key].default for key in COMMENTS[kind]}
    values["instructions"] = "standard"
    if values.get("validation_pairs") == 0:  # without repeats nobody could be told to be careless
        values["validation_pairs"] = MIN_VALIDATIONS
    if (kind, language) in DEFAULT_CRITERIA:
        values["criteria"] = list(DEFAULT_CRITERIA[kind, language])
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not PydanticUndefined
    }
