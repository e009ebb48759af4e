"""Scores as `prefcal score --format csv` prints them, and the files of two small events as its options."""

import csv
import io

from tests.metrics.event_files import write_events

EVENT_OPTIONS = {
    "topics": "--topics-file",
    "nuggets": "--nuggets",
    "matches": "--matches",
    "updates": "--updates",
}


def score_rows(ended):
    """Return the rows of a csv output, of a command that ended well."""
    assert ended.code == 0, ended.err
    return list(csv.DictReader(io.StringIO(ended.out)))


def table(ended):
    """Return the rows of a csv output by (topic, metric)."""
    return {(row["topic"], row["metric"]): row for row in score_rows(ended)}


def values(ended):
    """Return the values of a csv output by (topic, metric)."""
    return {key: float(row["value"]) for key, row in table(ended).items()}


def event_options(folder, **changed):
    """Write the judgments of two small events; return them as options."""
    paths = write_events(folder, **changed)
    return [part for name, option in EVENT_OPTIONS.items() for part in (option, paths[name])]
