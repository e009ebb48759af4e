"""Texts of cited documents are picked from a corpus of any form, and no other line of it is looked at."""

import bz2
import json

import pytest

from metrics.errors import InputError
from metrics.readers.texts import DocumentText, read_cited_texts


def write(folder, *objects):
    """Write JSON lines."""
    path = folder / "corpus.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in objects))
    return path


def test_ids_are_found_in_every_form_of_an_object(tmp_path):
    """MS MARCO segments, BEIR, numbers, ids that JSON escapes; an id within another member is none."""
    path = write(
        tmp_path,
        {"docid": "d#1", "title": "A  title", "segment": "One.\nTwo."},
        {"text": 'It says "id": 7 and more.', "metadata": {"id": "zz"}, "_id": "b1"},
        {"id": 7, "contents": "Seven."},
        {"_id": "日本", "text": "Japan."},
        {"_id": "other", "metadata": {"id": "d#9"}, "text": "Not it."},
        "{no JSON, and not looked at}",
    )
    assert read_cited_texts(path, {"d#1", "b1", "7", "日本", "d#9"}) == {
        "d#1": DocumentText(title="A title", text="One.\nTwo."),
        "b1": DocumentText(title="", text='It says "id": 7 and more.'),
        "7": DocumentText(title="", text="Seven."),
        "日本": DocumentText(title="", text="Japan."),
    }


def test_lines_with_tabs_and_packed_files_are_read(tmp_path):
    """With or without titles."""
    path = tmp_path / "corpus.tsv.bz2"
    path.write_bytes(bz2.compress(b"a\tTitle\tText\nb\tText alone\nc\n\nd\tx\ty\n"))
    assert read_cited_texts(path, {"a", "b", "c"}) == {
        "a": DocumentText(title="Title", text="Text"),
        "b": DocumentText(title="", text="Text alone"),
    }


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        (
            [{"_id": "a", "text": "x"}, {"_id": "a", "text": "y"}, {"_id": "a", "text": "z"}],
            "2: document a has another text above (and 1 fault more of this kind); delete one of the two lines",
        ),
        (['{"_id": "a", "text": '], "1: the line is not JSON; write"),
    ],
)
def test_what_is_wrong_with_a_cited_document_is_one_line_a_kind(tmp_path, objects, said):
    """Lines about other documents may be anything."""
    path = write(tmp_path, *objects)
    with pytest.raises(InputError) as caught:
        read_cited_texts(path, {"a"})
    [fault] = caught.value.faults
    assert str(fault).startswith(f"{path}:{said}")
    assert read_cited_texts(path, {"b"}) == {}


def test_a_corpus_that_is_not_there_is_a_fault(tmp_path):
    """Or one that is no text."""
    with pytest.raises(InputError, match="there is no such file; check the path"):
        read_cited_texts(tmp_path / "none.jsonl", {"a"})
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    with pytest.raises(InputError, match="cannot be read"):
        read_cited_texts(tmp_path / "broken.gz", {"a"})
