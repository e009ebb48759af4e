"""Files of which no line can be read: every reader says the same of them."""

import gzip
import io
import zipfile

import pytest

from metrics.errors import FaultLog, InputError
from metrics.readers.columns import read_columns
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.readers.push import read_push_run
from metrics.readers.ranked import read_ranked_run, read_windows
from metrics.readers.score_rows import read_score_rows
from metrics.readers.tempsum import read_lengths, read_update_run
from metrics.readers.texts import (
    read_answers,
    read_document_texts,
    read_profiles,
    read_ranked_topics,
    read_texts,
)
from metrics.readers.trails import read_trails
from metrics.readers.trees import read_json, read_xml
from tests.metrics.fault_places import is_placed
from tests.metrics.two_layered_files import write_collection


def zipped(name):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, "1\tx\n")
    return stream.getvalue()


WHOLE = {
    "cut zip": (b"PK\x03\x04", "this is a zip archive"),
    "zip": (zipped("run.txt"), "this is a zip archive"),
    "Excel": (zipped("xl/workbook.xml"), "this is a spreadsheet"),
    "old Excel": (bytes.fromhex("d0cf11e0a1b11ae1"), "this is a spreadsheet"),
    "cut gzip": (gzip.compress(b"1\tx\n" * 100)[:-9], "the gzip data are damaged"),
    "packed zip": (gzip.compress(zipped("run.txt")), "this is a zip archive"),
}
READERS = {
    "answers": read_answers,
    "columns": lambda path: read_columns(["topic", "grade"], FaultLog(path)),
    "document texts": read_document_texts,
    "json": lambda path: read_json(FaultLog(path)),
    "lengths": lambda path: read_lengths(path, ["TS14.1"]),
    "profiles": read_profiles,
    "push run": read_push_run,
    "ranked run": lambda path: read_ranked_run(path, ["1"]),
    "ranked topics": read_ranked_topics,
    "scores": read_score_rows,
    "summary run": None,
    "texts": read_texts,
    "trails": read_trails,
    "update run": read_update_run,
    "windows": read_windows,
    "xml": read_xml,
}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return read_summary_collection(write_collection(tmp_path_factory.mktemp("collection")))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_file_that_is_no_text_is_one_fault_without_a_line(tmp_path, collection, reader, kind):
    """No line of an archive is wrong: it has to be unpacked, whatever was to be read."""
    content, problem = WHOLE[kind]
    path = tmp_path / "file"
    path.write_bytes(content)
    read = READERS[reader] or (lambda path: read_summary_run(path, collection))
    with pytest.raises(InputError) as caught:
        read(path)
    [fault] = caught.value.faults
    assert (fault.problem, fault.path, fault.line) == (problem, str(path), None)
    assert is_placed(fault)
