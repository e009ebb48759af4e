"""Files that are no text, not plain, or another sort of text: every reader names what it is and what to do."""

import bz2
import gzip
import io
import lzma
import tarfile

import pytest

from calibration.interchange.plain_files import read_preference_lines
from calibration.interchange.preferences import ImportRules, PreferenceColumns, read_foreign_preferences
from calibration.tables.files import read_tables
from calibration.user_model.model import read_user_model
from metrics.errors import FaultLog, InputError
from metrics.readers.answers import read_answers
from metrics.readers.any_table import TableRules
from metrics.readers.columns import read_columns, read_csv_columns
from metrics.readers.push import read_push_run
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from metrics.readers.score_rows import read_score_rows
from metrics.readers.tempsum import read_lengths, read_update_run
from metrics.readers.texts import read_document_texts, read_profiles, read_ranked_topics, read_texts
from metrics.readers.trees import read_json, read_xml
from study_app.study.file import read_study_file
from study_app.study.platform_list import read_platform_list
from study_app.study.platforms import PLATFORMS
from study_app.tasks.kinds import KINDS


def tar():
    """Return a tar archive with one file in it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("run.txt"), io.BytesIO(b""))
    return buffer.getvalue()


NO_TEXTS = {
    "packed with Zstandard": b"\x28\xb5\x2f\xfd" + bytes(20),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c" + bytes(20),
    "a tar archive": tar(),
    "a Parquet file": b"PAR1" + bytes(20) + b"PAR1",
    "an SQLite database": b"SQLite format 3\x00" + bytes(20),
    "a PDF": b"%PDF-1.7\n",
    "text in UTF-16": "\ufeffq1 0 d1 1\n".encode("utf-16-le"),
    "text in UTF-32": "q1 0 d1 1\n".encode("utf-32"),
}
JSON = b'[{"id": 1, "data": {"query": "q1"}}]'
COLUMNS = PreferenceColumns(topic="q", worker="w", left="a", right="b", choice="c")


def read_table(path):
    """Read a file as table preferences of a study."""
    path.rename(path.parent / "preferences.csv")
    return read_tables(path.parent)


TABLES = {
    "qrels": lambda path: read_ranked_collection(qrels=path),
    "ranked run": lambda path: read_ranked_run(path, ["q1"]),
    "push run": read_push_run,
    "update run": read_update_run,
    "lengths": lambda path: read_lengths(path, ["1"]),
    "tweets": read_texts,
    "preference lines": read_preference_lines,
    "foreign preferences": lambda path: read_foreign_preferences(path, COLUMNS),
    "scores": read_score_rows,
    "table": read_table,
    "platform list": lambda path: read_platform_list(path, PLATFORMS["prolific"], named={}),
}
READERS = {
    **TABLES,
    "answers": read_answers,
    "documents": read_document_texts,
    "topics": read_ranked_topics,
    "profiles": read_profiles,
    "json": lambda path: read_json(FaultLog(path)),
    "study file": lambda path: read_study_file(path, KINDS),
    "user model": read_user_model,
    "xml": read_xml,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", NO_TEXTS)
def test_every_reader_says_what_a_file_is_that_is_no_text_in_utf_8(tmp_path, reader, what):
    """One line, not what its bytes look like as fields."""
    path = tmp_path / "given"
    path.write_bytes(NO_TEXTS[what])
    with pytest.raises(InputError) as raised:
        READERS[reader](path)

    (fault,) = raised.value.faults
    assert f"this is {what}" in str(fault)


@pytest.mark.parametrize("reader", TABLES.keys() - {"foreign preferences"})
@pytest.mark.parametrize(
    "data", [JSON, b'{"a": 1}\n{"a": 2}\n', b'[\n  {\n "a": 1}]', b'["q1", "d1"]', b"[[1, 2]]"]
)
def test_every_reader_of_tables_and_lines_says_that_a_file_is_json(tmp_path, reader, data):
    """As it says of XML and of spreadsheets."""
    path = tmp_path / "given"
    path.write_bytes(data)
    with pytest.raises(InputError) as raised:
        TABLES[reader](path)

    (fault,) = raised.value.faults
    assert "this is JSON" in str(fault)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read_alike(tmp_path, pack):
    """TREC's past runs are gzip, bzip2 and xz; the name of the run is that of the file within."""
    path = tmp_path / f"run.txt.{ {gzip.compress: 'gz', bz2.compress: 'bz2', lzma.compress: 'xz'}[pack] }"
    path.write_bytes(pack(b"\xef\xbb\xbfq1 Q0 d1 1 2 t\n"))
    run = read_ranked_run(path, ["q1"])

    assert (run.name, run.rankings) == ("run", {"q1": ("d1",)})


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_damaged_packed_data_are_a_fault(tmp_path, pack):
    """A broken download must not end in a traceback."""
    path = tmp_path / "run"
    for damaged in (pack(b"q1 Q0 d1 1 2 t\n" * 99)[:-9], pack(b"q1 Q0 d1 1 2 t\n" * 99)[:20] + bytes(40)):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="data are damaged; pack the file again"):
            read_ranked_run(path, ["q1"])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("reader", ["table", "platform list"])
def test_a_packed_file_that_is_read_plain_alone_is_called_so(tmp_path, pack, reader):
    """Tables are kept with a digest, and lists come from a platform."""
    path = tmp_path / "given"
    path.write_bytes(pack(b"worker,topic\n"))
    with pytest.raises(
        InputError, match=r"this is packed with (gzip|bzip2|xz); unpack it, and name a file of it"
    ):
        READERS[reader](path)


def test_the_first_line_that_excel_writes_is_skipped(tmp_path):
    """It says what separates the fields; what the reader was told goes before it."""
    path = tmp_path / "survey.csv"
    path.write_bytes(b"\xef\xbb\xbfsep=;\r\nq;w;a;b;c\r\nq1;u1;s1;s2;left\r\n")
    found = read_csv_columns(path, ["q", "c"], FaultLog(path))
    assert (found.lines, found.cells) == ((3,), {"q": ("q1",), "c": ("left",)})
    imported = read_foreign_preferences(path, COLUMNS, ImportRules(table=TableRules(delimiter=";")))
    assert imported.preferences["system_left"].tolist() == ["s1"]
    with pytest.raises(InputError, match="give --delimiter ';'"):
        read_foreign_preferences(path, COLUMNS)

    path.write_bytes(b"sep=\t\nq1\td1\n")
    assert read_columns(("topic", "docid"), FaultLog(path)).lines.tolist() == [2]
    assert read_texts(path) == {"q1": "d1"}


def test_a_table_of_a_study_that_excel_saved_is_told_so(tmp_path):
    """Its lines and columns must stay as the digest has them."""
    (tmp_path / "preferences.csv").write_bytes(b"sep=;\nworker;topic\n")
    with pytest.raises(InputError, match="the first line is Excel's: 'sep=;'; delete it"):
        read_tables(tmp_path)


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("first", ["", "sep={}\n"])
def test_a_platforms_list_with_semicolons_is_read(tmp_path, separator, first):
    """Spreadsheets of many countries save a CSV so."""
    lines = [["Submission id", "Participant id", "Status"], ["s1", "p1", "APPROVED"]]
    path = tmp_path / "prolific.csv"
    path.write_text(first.format(separator) + "".join(separator.join(line) + "\n" for line in lines))
    found = read_platform_list(path, PLATFORMS["prolific"], named={})
    assert [(one.worker, one.paid) for one in found.submissions] == [("p1", True)]
