"""Folders appear whole or not at all, and replace only what an export wrote."""

import stat

import pandas as pd
import pytest

from calibration.tables.files import read_table, write_tables
from calibration.tables.fresh_folder import OLD, fresh_folder
from calibration.tables.tables import TABLES
from metrics.errors import InputError
from study_app.export.folder import TableStream


def fill(folder, text="new", ours=("a.csv", "raw/b.csv")):
    with fresh_folder(folder, is_ours=ours.__contains__) as new:
        (new / "a.csv").write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_with_all_its_parents(tmp_path):
    """`prefcal export results/2026/tables` needs no mkdir."""
    fill(tmp_path / "results" / "tables")

    assert (tmp_path / "results" / "tables" / "a.csv").read_text() == "new"
    assert names(tmp_path / "results") == ["tables"]


def test_an_earlier_export_is_replaced_as_a_whole(tmp_path):
    """What the new one does not write is gone: no table of another day is left among the new ones."""
    folder = tmp_path / "tables"
    (folder / "raw").mkdir(parents=True)
    (folder / "a.csv").write_text("old")
    (folder / "raw" / "b.csv").write_text("old")

    fill(folder)

    assert names(folder) == ["a.csv"]
    assert names(tmp_path) == ["tables"]


def test_a_failure_leaves_everything_as_it_was(tmp_path):
    """Half a folder of tables would be taken for a whole one."""
    folder = tmp_path / "tables"
    fill(folder, "old")

    def fail():
        with fresh_folder(folder, is_ours={"a.csv"}.__contains__) as new:
            (new / "a.csv").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()

    assert (folder / "a.csv").read_text() == "old"
    assert names(tmp_path) == ["tables"]


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(tmp_path):
    """Even when the failure comes between moving the old away and the new in."""
    folder = tmp_path / "tables"
    fill(folder, "old")

    with (
        pytest.raises(InputError, match="cannot be written"),
        fresh_folder(folder, is_ours={"a.csv"}.__contains__) as new,
    ):
        new.rmdir()

    assert (folder / "a.csv").read_text() == "old"
    assert names(tmp_path) == ["tables"]


def test_an_export_is_for_its_owner_alone(tmp_path):
    """It holds what people answered and when; whoever shares it says so with chmod."""
    fill(tmp_path / "tables")

    assert stat.S_IMODE((tmp_path / "tables").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "tables" / "a.csv").stat().st_mode) == 0o600


def test_an_export_that_a_kill_took_away_is_put_back_and_the_rest_cleared(tmp_path):
    """Between moving the old away and the new in; the next run finds it, whatever becomes of its own work."""
    room = tmp_path / ".tables.x1.part"
    (room / "tables").mkdir(parents=True)
    (room / OLD).mkdir()
    (room / OLD / "a.csv").write_text("old")

    with pytest.raises(RuntimeError), fresh_folder(tmp_path / "tables", is_ours={"a.csv"}.__contains__):
        raise RuntimeError

    assert (tmp_path / "tables" / "a.csv").read_text() == "old"
    assert names(tmp_path) == ["tables"]


@pytest.mark.parametrize("other", ["thesis.tex", "raw/a.csv"])
def test_a_folder_with_anything_else_is_not_touched(tmp_path, other):
    """A mistyped folder name must never cost somebody their files."""
    folder = tmp_path / "tables"
    (folder / other).parent.mkdir(parents=True)
    (folder / other).write_text("years of work")

    with pytest.raises(InputError, match=other):
        fill(folder)

    assert (folder / other).read_text() == "years of work"
    assert names(tmp_path) == ["tables"]


def test_a_file_is_no_folder(tmp_path):
    """Nor may it be replaced by one."""
    (tmp_path / "tables").write_text("a file")

    with pytest.raises(InputError, match="this is a file"):
        fill(tmp_path / "tables")


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path):
    """Below a file there can be no folder."""
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match="cannot be written"):
        fill(tmp_path / "file" / "tables")


def searches(*seconds):
    return pd.DataFrame([("ann", "MC-1", value) for value in seconds], columns=["worker", "topic", "seconds"])


def test_a_table_in_pieces_equals_the_table_as_a_whole(tmp_path):
    """Readers cannot tell, neither from the CSV nor from the Parquet."""
    table = TABLES["searches"]
    with TableStream(tmp_path, table) as stream:
        for piece in (searches(1.5, 2.5), searches(), searches(3)):
            stream.append(piece)
    write_tables({"searches": searches(1.5, 2.5, 3)}, tmp_path / "whole", parquet=True)

    assert stream.rows == 3
    assert (tmp_path / "searches.csv").read_bytes() == (tmp_path / "whole" / "searches.csv").read_bytes()
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "searches.parquet", table),
        read_table(tmp_path / "whole" / "searches.parquet", table),
    )


def test_a_table_without_rows_has_its_header(tmp_path):
    """Empty and missing are different things."""
    with TableStream(tmp_path, TABLES["reads"]):
        pass

    assert read_table(tmp_path / "reads.csv", TABLES["reads"]).empty
    assert read_table(tmp_path / "reads.parquet", TABLES["reads"]).empty


def test_a_bad_piece_is_refused(tmp_path):
    """What is written passes `prefcal check`."""
    with TableStream(tmp_path, TABLES["searches"]) as stream, pytest.raises(InputError, match="seconds"):
        stream.append(searches(-1))


def test_a_table_with_rules_over_all_rows_cannot_come_in_pieces(tmp_path):
    """Nobody would see that a key stands in two of them."""
    with pytest.raises(ValueError, match="preferences"):
        TableStream(tmp_path, TABLES["preferences"])
