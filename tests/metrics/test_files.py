"""What is being written: for its owner alone, under a name that nobody can guess, and cleared when its writer was killed."""

import os
import stat
import subprocess
import sys

import pytest

from metrics.errors import InputError
from metrics.files import relative_path, temporary_path, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from metrics.files import temporary_path
with temporary_path(Path(sys.argv[1])) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_command_left_is_cleared_at_the_next_run(tmp_path):
    """Nobody else could have read it meanwhile."""
    path = tmp_path / "scores.csv"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    [left] = tmp_path.iterdir()
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    assert [file.read_text() for file in left.iterdir()] == ["half"]
    write_atomically(path, "whole")
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


def test_what_somebody_is_writing_now_is_left_alone(tmp_path):
    """Two commands may write the same file at the same time: the later one wins, and neither fails."""
    path = tmp_path / "scores.csv"
    with temporary_path(path) as part:
        part.write_text("first")
        write_atomically(path, "second")
        part.replace(path)
    assert path.read_text() == "first"
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


def test_a_link_laid_in_wait_is_not_followed(tmp_path):
    """Somebody who may write into the folder cannot have another file overwritten, or another folder cleared."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").write_text("kept")
    (tmp_path / ".scores.csv.x.part").symlink_to(mine)
    write_atomically(tmp_path / "scores.csv", "whole")
    assert (mine / "kept").read_text() == "kept"


def test_a_result_has_the_rights_that_its_writer_gives_and_a_private_one_its_own(tmp_path):
    """The umask says who may read results; lists with platform ids are for their owner."""
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "result", "x")
        write_atomically(tmp_path / "private", "x", private=True)
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"result": 0o640, "private": 0o600}


@pytest.mark.parametrize(
    ("path", "folder", "shown"),
    [
        ("/home/ann/study/run.xml", "/home/ann/results", "../study/run.xml"),
        ("/home/ann/results/run.xml", "/home/ann/results", "run.xml"),
        ("/home/ann/study/run.xml", "/data/results", "../../home/ann/study/run.xml"),
    ],
)
def test_a_result_says_where_its_sources_lie_from_its_own_place(path, folder, shown):
    """So that no folder above both is named in a file that goes to others."""
    assert relative_path(path, folder) == shown


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    """With the name of the file, not of what would have been renamed."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"file/result:1: cannot be written"):
        write_atomically(tmp_path / "file" / "result", "x")
