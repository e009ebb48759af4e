"""Answers travel compressed to whoever accepts that, and are the same without."""

import gzip

import pytest

ACCEPTS = {"Accept-Encoding": "gzip, deflate"}


@pytest.fixture
def get(campaign):
    """Ask a served study for a path; returns the whole answer."""
    client = campaign().app.test_client()

    def get(path, **headers):
        with client.get(path, headers=headers) as answer:
            answer.get_data()
            return answer

    return get


@pytest.mark.parametrize("path", ["/s/small", "/static/style.css", "/static/js/outbox.js"])
def test_who_accepts_compressed_pages_and_files_gets_the_same_bytes_in_fewer(get, path):
    """A page on a train is its bytes."""
    plain, packed = get(path), get(path, **ACCEPTS)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert int(packed.headers["Content-Length"]) == len(packed.data) < 0.8 * len(plain.data)


def test_caches_are_told_that_there_are_two_forms(get):
    """Otherwise one between here and the worker could hand on what a browser cannot read."""
    assert "Accept-Encoding" in get("/static/style.css").headers["Vary"]


def test_an_unchanged_file_is_not_sent_again_in_either_form(get):
    """The tag that came with the compressed form stands for the same content."""
    tag = get("/static/style.css", **ACCEPTS).headers["ETag"]
    again = get("/static/style.css", **ACCEPTS, **{"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")


def test_a_part_of_a_file_is_a_part_of_the_file(get):
    """Bytes are counted in the file as it is."""
    part = get("/static/style.css", **ACCEPTS, Range="bytes=0-999")
    assert part.status_code == 206
    assert get("/static/style.css").data.startswith(part.data)


def test_what_machines_ask_for_stays_as_it_is(get):
    """A few bytes would only become more."""
    assert "Content-Encoding" not in get("/healthz", **ACCEPTS).headers
