"""Queries in words, and titles and texts of documents."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.texts import AskedTopic, DocumentText, read_document_texts, read_ranked_topics


def written(folder, content):
    path = folder / "file.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def faults_of(read, path):
    with pytest.raises(InputError) as caught:
        read(path)
    return [f"{fault.line}: {fault.problem}" for fault in caught.value.faults]


@pytest.mark.parametrize("header", ["", "topic\ttext\n", "topic\ttext\tasked_at\n"])
def test_topics_have_a_text_and_may_have_a_day(tmp_path, header):
    """A timestamp becomes its UTC day; the third field may be missing or empty, line by line."""
    path = written(
        tmp_path, header + "H1\tmoon  landings\t2015-06-01T23:00:00-02:00\nH2\t運河\n\nH3\tthe “tower”\t\n"
    )

    assert read_ranked_topics(path) == {
        "H1": AskedTopic(text="moon  landings", asked_at="2015-06-02"),
        "H2": AskedTopic(text="運河"),
        "H3": AskedTopic(text="the “tower”"),
    }


def test_every_fault_of_topics_is_named_at_once(tmp_path):
    """With its line."""
    path = written(tmp_path, b"H1\ta\nH2 b\nH1\tc\nH3\t \nH4\td\t1999\nH5\te\t\tf\nH6\t\xff\n")

    assert faults_of(read_ranked_topics, path) == [
        "2: 2 or 3 fields expected, got 1",
        "3: duplicate topic H1",
        "4: topic H3 has no text",
        "5: asked_at is no date: '1999'",
        "6: 2 or 3 fields expected, got 4",
        "7: the line is not UTF-8",
    ]


def test_a_file_without_topics_is_a_fault(tmp_path):
    """There would be nothing to ask anybody."""
    assert faults_of(read_ranked_topics, written(tmp_path, "topic\ttext\n")) == ["1: there are no topics"]


@pytest.mark.parametrize("header", ["", "docid\ttitle\ttext\n"])
def test_documents_have_a_title_and_a_text(tmp_path, header):
    """Either may be empty; nothing is quoted."""
    path = written(
        tmp_path, header + 'd1\tA "title"\t text, <b>as it is</b> \nd2\t\tonly text\nd3\tonly title\t\n'
    )

    assert read_document_texts(path) == {
        "d1": DocumentText(title='A "title"', text="text, <b>as it is</b>"),
        "d2": DocumentText(title="", text="only text"),
        "d3": DocumentText(title="only title", text=""),
    }


def test_every_fault_of_documents_is_named_at_once(tmp_path):
    """With its line."""
    path = written(tmp_path, b"d1\tt\ta\nd2\tb\nd1\tt\tc\nd3\tt\t\xff\n")

    assert faults_of(read_document_texts, path) == [
        "2: 3 fields expected, got 2",
        "3: duplicate document d1",
        "4: the line is not UTF-8",
    ]


@given(st.binary(max_size=40), st.sampled_from([read_ranked_topics, read_document_texts]))
def test_any_bytes_give_values_or_one_clean_error(tmp_path_factory, content, read):
    """A damaged file never ends in a traceback."""
    path = tmp_path_factory.mktemp("texts") / "texts.tsv"
    path.write_bytes(content)
    with suppress(InputError):
        read(path)


def test_topics_and_texts_may_be_json_lines(tmp_path):
    """BEIR's queries and corpus, and the topics of tracks."""
    path = tmp_path / "given.jsonl"
    path.write_text(
        '{"_id": "q1", "text": "a  query", "metadata": {}}\n\n{"id": 2, "narrative": "I want\\nto know"}\n'
    )
    assert {name: topic.text for name, topic in read_ranked_topics(path).items()} == {
        "q1": "a query",
        "2": "I want to know",
    }
    path.write_text('[{"_id": "d1", "title": "T", "text": "x"}, {"docid": "d2", "title": "alone"}]')
    found = read_document_texts(path)
    assert {name: (one.title, one.text) for name, one in found.items()} == {
        "d1": ("T", "x"),
        "d2": ("", "alone"),
    }


def test_json_lines_without_an_id_or_a_text_are_faults(tmp_path):
    """Each with its members."""
    path = tmp_path / "given.jsonl"
    path.write_text('{"text": "x"}\n{"_id": "a", "text": "x"}\nno\n{"_id": "a", "text": "y"}\n')
    with pytest.raises(InputError) as raised:
        read_document_texts(path)
    assert [str(fault).partition("given.jsonl:")[2] for fault in raised.value.faults] == [
        '1: no id and text: this has text; write {"_id": ID, "text": TEXT} on one line',
        '3: the line is not JSON; write {"_id": ID, "text": TEXT} on one line',
        "4: duplicate document a; delete one of the two lines",
    ]
