"""Pictures are loaded with their study, served by their hash and by nothing else, and kept as long as a study shows them."""

import hashlib
import io
import os
import re

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import delete, func, select, text, update
from werkzeug.test import Client

from metrics.errors import InputError
from study_app.estimate.content import read_whole_study
from study_app.preview.app import Preview
from study_app.services.researcher.load import load_study
from study_app.store import media
from study_app.store.backups.backup import back_up, restore
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.media import MediaReader
from study_app.store.models import StoredMedia, StoredSummary
from tests.postgres_server import binaries
from tests.study_app.conftest import Campaign
from tests.study_app.small_pictures import (
    MAKER,
    SYSTEMS,
    TOPICS,
    drawn,
    file_of,
    lines_of,
    write_picture_study,
)


@pytest.fixture
def served(tmp_path, new_url):
    """Load and serve the small study of pictures with some changes."""
    made = []

    def serve(**changes):
        made.append(Campaign(tmp_path, new_url(tmp_path)))
        made[-1].load_file(write_picture_study(tmp_path, **changes))
        return made[-1].serve()

    yield serve
    for one in made:
        one.database.engine.dispose()


def hashes(study):
    """Return the pictures that are stored."""
    return {sha256 for (sha256,) in study.rows(select(StoredMedia.sha256))}


def shown_in(study):
    """Return the pictures that stored sides show."""
    contents = study.rows(select(StoredSummary.content))
    return {block["media"]["sha256"] for (content,) in contents for block in content["blocks"]}


def pictures_on(page):
    """Return the img elements of a pair page."""
    return page.html.select("section.picture[data-side] img")


@pytest.mark.both_databases
def test_a_picture_is_served_by_its_hash_and_kept_by_browsers(served):
    """Same bytes, type, length; immutable, with a tag, not sniffed, not compressed, nothing of it for other sites."""
    study = served()
    ann = study.arrive().send()
    left, right = pictures_on(ann)
    answer = ann.client.get(left["src"], headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert left["src"] == f"/m/{hashlib.sha256(answer.data).hexdigest()}" != right["src"]
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["Content-Length"] == str(len(answer.data))
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "img-src 'self'; media-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "Content-Encoding" not in answer.headers
    assert "Content-Disposition" not in answer.headers
    assert "Set-Cookie" not in answer.headers


def test_a_picture_that_a_browser_has_is_not_sent_again(served):
    """304 for its tag; HEAD says what GET would; parts can be asked for."""
    study = served()
    ann = study.arrive().send()
    address = pictures_on(ann)[0]["src"]
    whole = ann.client.get(address)
    again = ann.client.get(address, headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Cache-Control"] == whole.headers["Cache-Control"]
    head = ann.client.head(address)
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]
    part = ann.client.get(address, headers={"Range": "bytes=0-7"})
    assert (part.status_code, part.data) == (206, b"\x89PNG\r\n\x1a\n")
    assert ann.client.post(address).status_code == 405


@pytest.mark.parametrize(
    "place", ["/m/" + "0" * 64, "/m/", "/m/..%2f..%2fetc%2fpasswd", "/m/picalpha", "/m/study.yaml", "/m/%00"]
)
def test_nothing_else_is_served(served, place):
    """Neither files nor names, and no browser keeps that there was nothing."""
    answer = served().app.test_client().get(place)
    assert answer.status_code == 404
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_pair_page_shows_both_pictures_with_size_and_words_and_no_name(served):
    """Neither systems, nor files, nor makers reach a browser, on the page or in a picture."""
    study = served()
    ann = study.arrive().send()
    seen = set()
    for _ in range(4):
        for picture in pictures_on(ann):
            assert (picture["width"], picture["height"]) == ("120", "80")
            assert re.fullmatch(r"[12] pale bars, drawn for PT-[12]", picture["alt"])
            assert picture.find_parent("details")["data-item"] == "m1"
            body = ann.client.get(picture["src"]).data
            assert MAKER.encode() not in body
            seen.add(picture["src"])
        for name in (*SYSTEMS, ".png", ".jsonl", *TOPICS):
            assert name not in re.sub(r"drawn for PT-\d", "", ann.response.text)
        ann.send(choice="left")
    assert len(seen) == len(hashes(study)) == 5


def test_a_picture_that_nobody_described_says_so_in_the_language_of_the_page(served):
    """An empty alt would hide from a screen reader that there is anything."""
    bare = {name: [{**line, "alt": ""} for line in lines_of(name)] for name in SYSTEMS}
    ann = served(lines=bare, task={"language": "ja"}).arrive().send()
    assert {picture["alt"] for picture in pictures_on(ann)} == {"説明のない画像"}


def test_what_was_answered_and_seen_is_logged(served):
    """By the key of the picture on its side."""
    study = served()
    ann = study.arrive().send()
    event = {
        "n": 1,
        "kind": "see",
        "ms": 10,
        "wall": 1_772_366_400_010,
        "side": "left",
        "item": "m1",
        "share": 1,
    }
    batch = {"page": ann.page_token, "sent_ms": 20, "sent_wall_ms": 1_772_366_400_020, "events": [event]}
    assert ann.client.post(f"/e/{ann.token}", json=batch).json == {"upto": 1}


@pytest.mark.both_databases
def test_loading_again_changes_nothing_and_a_changed_picture_is_a_change(served, tmp_path):
    """Pictures are part of what a study is: their files have only their names."""
    study = served()
    assert study.load_file(write_picture_study(tmp_path)).outcome == "unchanged"
    path = write_picture_study(tmp_path, files={"picbeta/PT-1.png": file_of(drawn((1, 1, 1)))})
    report = study.load_file(path)
    assert report.outcome == "changed"
    assert report.changes == ("pictures: pictures or sounds of system picbeta have changed",)
    assert hashes(study) == shown_in(study)


def test_a_changed_picture_harms_answers_and_changed_metadata_do_not(served, tmp_path):
    """Those who judged the one before saw something else; of metadata they saw nothing."""
    study = served()
    study.arrive().send().send(choice="left")
    before = study.everything()
    path = write_picture_study(tmp_path, files={"picbeta/PT-1.png": file_of(drawn((1, 1, 1)))})
    with pytest.raises(
        InputError,
        match=r"study\.yaml:\d+: pictures: topic PT-1, system picbeta: a picture .* would corrupt answers",
    ):
        study.load_file(path)
    assert study.everything() == before
    plain = io.BytesIO()
    drawn(SYSTEMS["picbeta"], bars=1).save(plain, "PNG")
    assert MAKER.encode() not in plain.getvalue()
    path = write_picture_study(tmp_path, files={"picbeta/PT-1.png": plain.getvalue()})
    assert study.load_file(path).outcome == "unchanged"


@pytest.mark.both_databases
def test_a_picture_stays_as_long_as_a_study_shows_it(served, tmp_path):
    """Two studies share what is the same; what no study shows any more is deleted."""
    study = served()
    first = hashes(study)
    study.load_file(write_picture_study(tmp_path, study="other"))
    assert hashes(study) == first
    new = {f"{name}/PT-1.png": file_of(drawn((number, 1, 1))) for number, name in enumerate(SYSTEMS)}
    study.load_file(write_picture_study(tmp_path, files=new))
    assert first < hashes(study)
    assert len(hashes(study)) == 5 + 3
    study.load_file(write_picture_study(tmp_path, files=new, study="other"))
    assert hashes(study) == shown_in(study)
    assert len(hashes(study)) == 5


def test_a_picture_that_changes_while_a_study_is_loaded_leaves_nothing_behind(tmp_path, new_url):
    """Nothing of the study is stored then."""
    path, study = write_picture_study(tmp_path), Campaign(tmp_path, new_url(tmp_path))
    study.load_file(write_picture_study(tmp_path))
    study.serve()
    before = study.everything()
    content = read_whole_study(
        write_picture_study(tmp_path, study="other", files={"picbeta/PT-1.png": file_of(drawn((7, 7, 7)))})
    )
    (tmp_path / "picbeta/PT-1.png").write_bytes(b"gone")
    with (
        pytest.raises(InputError, match="has changed since it was checked"),
        transaction(study.database, write=True) as session,
    ):
        load_study(session, content, now=study.clock())
    assert study.everything() == before
    assert path.exists()
    study.database.engine.dispose()


@pytest.mark.both_databases
def test_db_check_finds_a_picture_that_is_not_there_or_another(served):
    """With system and topic, so that it can be found."""
    study = served()
    assert check_database(study.database) == []
    some = sorted(hashes(study))
    with transaction(study.database, write=True) as session:
        session.execute(update(StoredMedia).where(StoredMedia.sha256 == some[0]).values(bytes=b"another"))
        session.execute(text("DELETE FROM media WHERE sha256 = :sha256"), {"sha256": some[1]})
    found = [str(fault) for fault in check_database(study.database)]
    assert len(found) == 2
    assert re.match(r"summary \d: what pic\w+ shows of topic PT-\d is not there; restore a backup", found[0])
    assert found[1].startswith(
        f"media {some[0][:12]}: its bytes are not those that were loaded; restore a backup"
    )


@pytest.mark.both_databases
def test_a_backup_has_the_pictures(served, tmp_path, monkeypatch):
    """To the byte, on either database."""
    if (folder := binaries()) is not None:
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    study = served()
    before = sorted(study.rows(select(StoredMedia.sha256, StoredMedia.bytes)))
    back_up(study.database, tmp_path / "backup")
    other = open_database(f"sqlite:///{tmp_path / 'restored.sqlite3'}")
    restore(other, tmp_path / "backup")
    assert check_database(other) == []
    with transaction(other, write=False) as session:
        after = sorted(tuple(row) for row in session.execute(select(StoredMedia.sha256, StoredMedia.bytes)))
    other.engine.dispose()
    assert after == [tuple(row) for row in before]


def test_a_preview_shows_pictures_from_their_files(tmp_path):
    """Its copies of the study have none: there is one for every page that is opened."""
    (tmp_path / "copies").mkdir()
    path = write_picture_study(tmp_path)
    preview = Preview(read_whole_study(path), tmp_path / "copies")
    client = Client(preview)
    number = next(place for place, one in enumerate(preview.stations) if one.name == "First pair")
    page = client.get(f"/open/{number}", follow_redirects=True).text
    addresses = re.findall(r'src="(/m/[0-9a-f]{64})"', page)
    assert len(addresses) == 2
    for address in addresses:
        assert hashlib.sha256(client.get(address).data).hexdigest() == address[3:]
    assert client.get("/m/" + "0" * 64).status_code == 404
    for name in SYSTEMS:
        (tmp_path / name / "PT-1.png").write_bytes(b"changed")
        (tmp_path / name / "PT-2.png").write_bytes(b"changed")
    assert client.get(addresses[0]).status_code == 404
    for copy in (tmp_path / "copies").glob("*.sqlite3"):
        database = open_database(f"sqlite:///{copy}")
        with transaction(database, write=False) as session:
            assert session.scalar(select(func.count()).select_from(StoredMedia)) == 0
        database.engine.dispose()


def test_a_replay_shows_the_pictures_that_stood_there(served):
    """In its frame, which may load them from this server."""
    study = served()
    ann = study.arrive().send()
    batch = {"page": ann.page_token, "sent_ms": 20, "sent_wall_ms": 1_772_366_400_020, "events": [
        {"n": 1, "kind": "open", "ms": 1, "wall": 1_772_366_400_001, "layout": "stacked", "width": 390, "height": 844, "restored": False},
        {"n": 2, "kind": "see", "ms": 9, "wall": 1_772_366_400_009, "side": "right", "item": "m1", "share": 1},
        {"n": 3, "kind": "layer", "ms": 12, "wall": 1_772_366_400_012, "side": "right", "item": "m1", "open": True},
    ]}  # fmt: skip
    assert ann.client.post(f"/e/{ann.token}", json=batch).json == {"upto": 3}
    shown = [picture["src"] for picture in pictures_on(ann)]
    console = study.console()
    ((pseudonym,),) = study.rows(text("SELECT pseudonym FROM worker"))
    ((key,),) = study.rows(text("SELECT key FROM page_load"))
    answer = console.get(f"/r/small/people/{pseudonym}/replay/{key}/page?at=15")
    assert answer.status_code == 200
    assert re.findall(r'src="(/m/[0-9a-f]{64})"', answer.text) == shown
    assert "img-src 'self'" in answer.headers["Content-Security-Policy"]
    assert re.search(r"<details data-item=\"m1\"[^>]*data-shown=\"1\"[^>]*open", answer.text)


def test_pictures_stay_in_memory_for_a_while_and_as_far_as_there_is_room(served, monkeypatch):
    """Those asked for last; one that no study shows any more is looked for again and not found."""
    study = served()
    reader, some = MediaReader(study.database), sorted(hashes(study))
    first = {sha256: reader.read(sha256) for sha256 in some}
    with transaction(study.database, write=True) as session:
        session.execute(delete(StoredMedia))
    assert {sha256: reader.read(sha256) for sha256 in some} == first
    monkeypatch.setattr(media, "KEPT_SECONDS", 0)
    assert reader.read(some[0]) is None
    monkeypatch.setattr(media, "KEPT_SECONDS", 60)
    assert reader.read(some[0]) is None
    assert reader.read(some[1]) == first[some[1]]


def test_memory_has_no_more_than_its_share_of_pictures(served, monkeypatch):
    """The one that was read first makes room."""
    study = served()
    reader, some = MediaReader(study.database), sorted(hashes(study))
    sizes = [len(reader.read(sha256)[1]) for sha256 in some]
    reader = MediaReader(study.database)
    monkeypatch.setattr(media, "KEPT_BYTES", sum(sizes[:3]))
    read = [reader.read(sha256) for sha256 in some[:4]]
    with transaction(study.database, write=True) as session:
        session.execute(delete(StoredMedia))
    assert reader.read(some[3]) == read[3]
    assert reader.read(some[0]) is None


def test_words_for_a_picture_are_words(served):
    """Whatever stands in them, nothing of it runs or leads anywhere."""
    hostile = {
        name: [{**line, "alt": f'"><script>{name[3]}</script>&amp;'} for line in lines_of(name)]
        for name in SYSTEMS
    }
    ann = served(lines=hostile).arrive().send()
    assert all(picture["alt"].endswith("</script>&amp;") for picture in pictures_on(ann))
    assert ann.html.select("section.picture script") == []


def test_the_console_counts_what_was_judged_of_pictures(served):
    """By topic and couple, as of any pairs; who is preferred stays closed."""
    study = served()
    study.arrive().send().send(choice="left")
    page = BeautifulSoup(study.console().get("/r/small/material").text, "lxml")
    rows = {
        row.th.get_text(strip=True): row.get_text(" ", strip=True) for row in page.select("table tbody tr")
    }
    assert any("rain in each month" in name or "PT-1" in name for name in rows)
    assert "picalpha" in page.get_text()
