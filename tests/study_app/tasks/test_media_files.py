"""`media_files` guards whatever a line names, sounds as well as pictures: where it lies, how large it is, and that it stays the same."""

import hashlib
from functools import partial

import pytest

from metrics.errors import InputError
from study_app.protocol.sides import Media
from study_app.tasks.reading.media_files import MediaError, check_size, media_bytes, media_reader

check = partial(check_size, most=1_000_000, thing="sound", smaller="save it as Opus")


@pytest.fixture
def listing(tmp_path):
    """Return a file in a folder of its own, which has a sound beside it and one outside."""
    (tmp_path / "study").mkdir()
    (tmp_path / "out.wav").write_bytes(b"elsewhere")
    (tmp_path / "study" / "in.wav").write_bytes(b"a tone")
    (tmp_path / "study" / "link.wav").symlink_to(tmp_path / "out.wav")
    (tmp_path / "study" / "empty.wav").write_bytes(b"")
    (tmp_path / "study" / "long.wav").write_bytes(b"\0" * 1_200_000)
    return tmp_path / "study" / "bells.jsonl"


def test_a_file_in_the_folder_is_read(listing):
    """As it is."""
    assert media_bytes(listing, "in.wav", check) == b"a tone"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("../out.wav", "the file lies outside the folder of bells.jsonl; copy it"),
        ("link.wav", "the file lies outside the folder of bells.jsonl; copy it"),
        ("none.wav", "there is no such file; write its path as seen from the folder of bells.jsonl"),
        ("empty.wav", "the file is empty; export the sound again"),
        ("long.wav", "the file has 1.2 MB, and 1 MB are the most; save it as Opus"),
    ],
)
def test_another_is_refused_with_place_and_cure(listing, written, said):
    """In the words of its kind."""
    with pytest.raises(MediaError) as caught:
        media_bytes(listing, written, check)
    assert str(caught.value).startswith(said)


def test_a_file_that_changed_is_not_loaded(listing):
    """Nor one that has gone."""
    sha256 = hashlib.sha256(b"a tone").hexdigest()
    media = Media(sha256=sha256, source_sha256=sha256, mime="audio/wav", path="in.wav", seconds=1)
    read = media_reader(listing, media, lambda written: media_bytes(listing, written, check), "sound")
    assert read() == b"a tone"
    for change in (b"another", None):
        path = listing.parent / "in.wav"
        path.unlink() if change is None else path.write_bytes(change)
        with pytest.raises(InputError, match="the sound has changed since it was checked; load the study"):
            read()
