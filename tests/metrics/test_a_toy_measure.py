"""A measure that no other file knows is scored, listed, read by name, and held against preferences.

What stands between the two lines of dashes is all that a measure is: how many iUnits a reader meets, worth one each.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import prefcal
from metrics import registry
from study_app.cli import cli
from tests.metrics.two_layered_files import write_collection, write_run

# --------------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Declare the measure, for as long as a test lasts."""
    monkeypatch.setattr(registry, "_known", dict(registry.all_measures()))

    @prefcal.measure
    class CountedM(prefcal.MMeasure):
        """M-measure whose interest does not fade before L characters, and ends there."""

        name = "CountedM"
        source = "this test"
        definition = "Importance of the iUnits that end within `patience` characters."

        def discount(self, offset_chars):
            return (np.asarray(offset_chars) <= self.patience).astype(np.float64)

    return CountedM


# --------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def scored(tmp_path):
    """Return the scores of the sample run by some measures, as rows of topic, metric and value."""
    collection = prefcal.read_summary_collection(write_collection(tmp_path))
    run = prefcal.read_summary_run(write_run(tmp_path), collection)
    return lambda *measures: prefcal.score_summaries(collection, [run], list(measures))


def test_a_toy_measure_is_scored_beside_the_others(scored, counted):
    """Q1: intent I1 meets U1 (4) within 10 characters, I2 nothing: .75 * 4; Q2 has one intent, and U4 (4)."""
    rows = scored(counted(patience=10), prefcal.MMeasure()).set_index(["metric", "topic"])["value"]

    assert rows["CountedM@10", "Q1"] == pytest.approx(3)
    assert rows["CountedM@10", "Q2"] == pytest.approx(4)
    assert {"CountedM@10", "M@1500"} <= set(rows.index.get_level_values("metric"))


def test_a_toy_measure_is_read_by_name_and_listed(counted):
    """As `prefcal measures` prints it, and as study files and commands write it."""
    assert prefcal.measure("CountedM(patience=9)") == counted(patience=9)
    listing = CliRunner().invoke(cli, ["measures", "--format", "json"]).output
    assert "CountedM" in {entry["measure"] for entry in json.loads(listing)}
