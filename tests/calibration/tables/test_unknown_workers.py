"""Who judged is not known: a state of the table preferences, kept from import to fit, and never half of it."""

import numpy as np
import pandas as pd
import pytest

from calibration.fit.user_model_fit import fit_user_model
from calibration.interchange.plain_files import preference_lines
from calibration.interchange.preferences import PreferenceColumns, read_foreign_preferences
from calibration.raters.position_bias import fit_position_bias
from calibration.raters.preferences import fit_rater_agreement
from calibration.tables.files import check_frame, read_tables, write_tables
from calibration.tables.preferences import WORKERS_UNKNOWN, knows_workers
from calibration.tables.suspicions import suspicions
from calibration.tables.tables import TABLES
from metrics.errors import InputError

COLUMNS = ["judgment", "worker", "task", "topic", "pair", "system_left", "system_right", "choice"]


def votes(topics=4, each=3):
    """Return a table of preferences without column worker: some repeat each other to the letter."""
    choices = ["left", "right", "left", "equally_good"]
    return pd.DataFrame(
        [
            {
                "judgment": f"J{topic}{number}",
                "task": "t",
                "topic": f"q{topic}",
                "pair": f"q{topic}/A/B",
                "system_left": "AB"[number % 2],
                "system_right": "BA"[number % 2],
                "choice": choices[(topic + number * number) % 4],
            }
            for topic in range(topics)
            for number in range(each)
        ]
    )


@pytest.mark.parametrize("compact", [(), ("preferences",)])
def test_a_table_without_workers_is_read_and_written_without_them(tmp_path, compact):
    """No empty column appears on the way, which would look as if somebody had forgotten to fill it in."""
    write_tables({"preferences": votes()}, tmp_path, parquet=True)
    read = read_tables(tmp_path, compact=compact)["preferences"]

    assert "worker" not in (tmp_path / "preferences.csv").read_text().splitlines()[0].split(",")
    assert "worker" not in pd.read_parquet(tmp_path / "preferences.parquet").columns
    assert list(read.columns)[:2] == ["judgment", "worker"]
    assert not knows_workers(read)
    assert list(suspicions(tmp_path, {"preferences": read})) == []


@pytest.mark.parametrize("compact", [(), ("preferences",)])
def test_a_column_that_is_empty_everywhere_says_nothing_either(tmp_path, compact):
    """A spreadsheet keeps the header of a column that was cleared."""
    votes().assign(worker="").to_csv(tmp_path / "preferences.csv", index=False)

    assert not knows_workers(read_tables(tmp_path, compact=compact)["preferences"])


@pytest.mark.parametrize("compact", [(), ("preferences",)])
def test_a_column_with_some_empty_cells_is_a_fault_with_each_line(tmp_path, compact):
    """Half of the people are no sample of all of them."""
    worker = ["w1", "", "w2", " ", *["w3"] * 8]
    votes().assign(worker=worker).to_csv(tmp_path / "preferences.csv", index=False)

    with pytest.raises(InputError) as raised:
        read_tables(tmp_path, compact=compact)
    assert [fault.line for fault in raised.value.faults] == [3, 5]
    assert "worker is empty here, and filled in on other rows" in str(raised.value.faults[0])
    assert "leave the whole column out" in str(raised.value.faults[0])


def test_a_column_that_looks_like_workers_is_not_passed_over():
    """A misspelt header must not turn a known crowd into an unknown one."""
    with pytest.raises(InputError, match="column 'worker' is missing, and column 'worker_id' looks like it"):
        check_frame(votes().assign(worker_id="w"), TABLES["preferences"])


def test_import_without_workers_makes_such_a_table(tmp_path):
    """And repeats no longer look like copies: two people may say the same."""
    path = tmp_path / "votes.csv"
    path.write_text("q,a,b,best\n1,x,y,x\n1,x,y,x\n1,y,x,x\n", encoding="utf-8")
    imported = read_foreign_preferences(
        path, PreferenceColumns(topic="q", left="a", right="b", choice="best")
    )

    assert not knows_workers(imported.preferences)
    assert imported.warnings == ()
    assert len(imported.preferences) == 3


def test_what_is_about_people_is_refused_by_name_and_the_rest_is_told():
    """Agreement among raters and a lean to a side have intervals over topics; nobody's consistency is known."""
    tables = {"preferences": check_frame(votes(topics=12), TABLES["preferences"])}
    found = fit_user_model(tables, seed=1)

    reasons = {name: one.reason for one in found.skipped for name in one.names}
    quality = {name: one.reason for one in found.quality.skipped for name in one.names}
    assert quality["consistency_share"] == WORKERS_UNKNOWN
    assert "there is no table" in reasons["patience_chars_preferences"]
    entries = found.quality.entries()
    assert {entries[name].workers for name in ("preference_fleiss_kappa", "left_share")} == {None}
    assert entries["left_share"].method.endswith("clustered by topic")
    assert not any("worker" in note.sentence for entry in entries.values() for note in entry.diagnostics)


def test_intervals_over_topics_do_not_depend_on_invented_workers():
    """A lean and a kappa are those of a crowd in which everybody judged a single topic."""
    unknown = check_frame(votes(topics=12), TABLES["preferences"])
    invented = unknown.assign(worker=[f"w{row}" for row in range(len(unknown))])
    rng = np.random.default_rng
    kappas = [fit_rater_agreement(frame, rng=rng(1)).conf_int() for frame in (unknown, invented)]

    assert kappas[0] == kappas[1]
    assert fit_position_bias(unknown).conf_int() != {}


def test_lines_without_workers_are_only_written_winner_first():
    """Lines of five fields name a worker, and nobody is made up."""
    frame = check_frame(votes(), TABLES["preferences"])
    with pytest.raises(InputError, match="who judged is not known"):
        preference_lines(frame)
    assert {len(line.split("\t")) for line in preference_lines(frame, winner_first=True).splitlines()} == {3}
