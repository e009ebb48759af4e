"""Whose rows count: one rule for every table."""

import pandas as pd
import pytest

from calibration.tables.files import check_frame
from calibration.tables.preferences import FOLLOWING, counted_tables, exclusions
from calibration.tables.tables import TABLES

WORKERS = check_frame(
    pd.DataFrame(
        [
            {"worker": "good", "excluded": "false"},
            {"worker": "unsaid"},
            {"worker": "bad", "excluded": "true"},
            {"worker": "gone", "withdrawn_at": "2026-03-01T10:00:00Z"},
            {"worker": "both", "excluded": "true", "withdrawn_at": "2026-03-01T10:00:00Z"},
        ]
    ),
    TABLES["workers"],
)
ALL = ["good", "unsaid", "bad", "gone", "both", "stranger"]
OF_WORKERS = [name for name, table in TABLES.items() if "worker" in table.column_names and name != "workers"]


def test_each_worker_who_does_not_count_has_one_reason():
    """With the rules switched off, who withdrew is still out."""
    assert exclusions(WORKERS).to_dict() == {"bad": "excluded", "gone": "withdrawn", "both": "excluded"}
    assert exclusions(WORKERS, exclude=False).to_dict() == {"gone": "withdrawn", "both": "withdrawn"}


def test_without_a_workers_table_everybody_counts():
    """Logs from elsewhere need none."""
    assert exclusions(None).empty


@pytest.mark.parametrize("name", OF_WORKERS)
def test_every_table_is_filtered(name):
    """One left out of the filter would move its parameter; a worker in no workers row counts."""
    rows = pd.DataFrame({column: [None] * len(ALL) for column in TABLES[name].column_names}).assign(
        worker=ALL
    )
    counted = counted_tables({"workers": WORKERS, name: rows})[name]

    stays = ["gone"] if name in FOLLOWING else []
    assert counted["worker"].to_list() == ["good", "unsaid", *stays, "stranger"]
    assert counted.index.to_list() == list(range(len(counted)))


def test_a_withdrawn_worker_who_was_also_excluded_stays_nowhere():
    """The follow of a worker who merely withdrew is cut at the withdrawal; an excluded one is not trusted at all."""
    follows = pd.DataFrame({"worker": ["both", "gone"]})

    assert counted_tables({"workers": WORKERS, "follows": follows})["follows"]["worker"].to_list() == ["gone"]


def test_tables_without_workers_are_as_they_were():
    """Positions and intents belong to nobody."""
    positions = pd.DataFrame({"topic": ["q"]})

    assert counted_tables({"workers": WORKERS, "positions": positions})["positions"] is positions


def test_complete_only_keeps_who_is_known_to_have_finished():
    """In every table alike; a stranger to the workers table is not known to have finished, nor is who withdrew."""
    finished = {"completed_at": "2026-03-02T10:00:00Z"}
    rows = [
        {"worker": "done"} | finished,
        {"worker": "half"},
        {"worker": "bad", "excluded": "true"} | finished,
    ]
    workers = check_frame(pd.DataFrame(rows), TABLES["workers"])
    reads = pd.DataFrame({"worker": ["done", "half", "bad", "stranger"]})
    counted = counted_tables({"workers": workers, "reads": reads, "visits": reads}, complete_only=True)

    assert counted["reads"]["worker"].to_list() == counted["visits"]["worker"].to_list() == ["done"]
    assert exclusions(workers, complete_only=True).to_dict() == {"half": "incomplete", "bad": "excluded"}
