"""What a system shows of a topic: stored and read again, known by what is visible, and what it asks of a reader."""

import hashlib
import json
from dataclasses import replace

import pytest

from study_app.protocol.sides import LOOK_SECONDS, Block, ListPlace, Media, Side, text_block

PICTURE = Media(
    sha256="5e", source_sha256="a0", mime="image/png", path="runs/good/q1.png", width=640, height=480
)
LINK = text_block(
    "two words",
    key="f1",
    id="i1",
    kind="link",
    inside=(
        text_block("one two three", key="s1.0", id="u2", kind="iunit", url="https://example.org/"),
        Block(key="s1.1", id="p1", kind="media", media=PICTURE, alt="a chart"),
    ),
)
SIDE = Side(
    (
        text_block(
            "five", key="f0", id="u0", kind="iunit", html="<b>five</b>", list_place=ListPlace(1, "ol", 5)
        ),
        LINK,
        text_block("text", key="f2", id="d1", kind="link", title="A title", window="2001", at=125.5),
    )
)


def changed(place: int, **fields: object) -> Side:
    """Return the side with other fields of one block."""
    return Side(
        tuple(
            replace(block, **fields) if number == place else block for number, block in enumerate(SIDE.blocks)
        )
    )


def test_a_side_is_the_same_after_it_was_stored():
    """Its JSON goes through the database as text, where tuples become lists."""
    assert Side.of(json.loads(json.dumps(SIDE.json()))) == SIDE
    assert Side.of(Side(()).json()) == Side(())


def test_json_says_only_what_differs_from_the_defaults():
    """A plain text is five or six fields, not fifteen."""
    plain = Side((text_block("one two", key="r1", id="d", kind="iunit"),))

    assert plain.json() == {
        "blocks": [{"key": "r1", "id": "d", "kind": "iunit", "text": "one two", "words": 2, "chars": 6}]
    }


def test_items_are_blocks_in_reading_order_each_layer_after_its_link():
    """Their length is words, in Japanese characters; a picture counts as what is read in five seconds."""
    assert [(item.key, item.id, item.kind, item.layer, item.weight) for item in SIDE.items("en")] == [
        ("f0", "u0", "iunit", None, 1),
        ("f1", "i1", "link", None, 2),
        ("s1.0", "u2", "iunit", "f1", 3),
        ("s1.1", "p1", "media", "f1", 20),
        ("f2", "d1", "link", None, 3),
    ]
    assert [item.weight for item in SIDE.items("ja")] == [4, 8, 11, 30, 10]
    assert [item.words for item in SIDE.items("ja")] == [1, 2, 3, 0, 3]


def test_the_seconds_of_a_side_are_those_of_all_its_layers():
    """4 words a second, 6 Japanese characters a second, 5 s for a picture."""
    assert SIDE.seconds("en") == pytest.approx(9 / 4 + 5)
    assert SIDE.seconds("ja") == pytest.approx(33 / 6 + 5)


def test_a_sound_asks_for_as_long_as_it_lasts():
    """Stored and read again too; what is not known of it is not stored, and how long it lasts makes no other side of it."""
    sound = Media(sha256="5e", source_sha256="5e", mime="audio/wav", path="bell.wav", seconds=20.5)
    side = Side((Block(key="m1", id="5e", kind="media", media=sound),))
    assert (side.seconds("en"), side.seconds("ja")) == (20.5, 20.5)
    assert Side.of(json.loads(json.dumps(side.json()))) == side
    assert side.json()["blocks"][0]["media"].keys() == {"sha256", "source_sha256", "mime", "path", "seconds"}
    unsaid = Side((Block(key="m1", id="5e", kind="media", media=replace(sound, seconds=None)),))
    assert unsaid.seconds("en") == LOOK_SECONDS
    assert unsaid.digest("t") == side.digest("t")


def test_texts_are_words_and_media_are_pictures():
    """The language of a study is told by words; a picture has none, its alternative text is not read by all."""
    assert list(SIDE.texts()) == ["five", "two words", "one two three", "text"]
    assert list(SIDE.media()) == [PICTURE]


def test_a_digest_is_the_same_in_every_process():
    """Another computation of it: SHA-256 of the topic and all that is visible as JSON with sorted keys."""
    side = Side((text_block("one", key="r1", id="d", kind="iunit"),))
    whole = '["q1", [{"kind": "iunit", "text": "one"}]]'

    assert side.digest("q1") == hashlib.sha256(whole.encode()).hexdigest()


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        (0, {"text": "six"}),
        (0, {"html": "<i>five</i>"}),
        (0, {"list_place": ListPlace(1, "ul", 5)}),
        (0, {"kind": "link"}),
        (1, {"inside": LINK.inside[:1]}),
        (1, {"inside": (replace(LINK.inside[0], url=None), LINK.inside[1])}),
        (1, {"inside": (LINK.inside[0], replace(LINK.inside[1], media=replace(PICTURE, sha256="5f")))}),
        (2, {"at": 180.0}),
        (2, {"title": "Another"}),
        (2, {"window": "2002"}),
    ],
)
def test_what_looks_otherwise_has_another_digest(place, fields):
    """All that somebody can see of a side is in it."""
    assert changed(place, **fields).digest("q1") != SIDE.digest("q1")


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        (0, {"id": "u9"}),
        (0, {"words": 9, "chars": 9}),
        (1, {"inside": (replace(LINK.inside[0], id="x"), replace(LINK.inside[1], alt="else"))}),
        (1, {"inside": (LINK.inside[0], replace(LINK.inside[1], media=replace(PICTURE, path="b.png")))}),
        (2, {"at": 126}),
    ],
)
def test_what_looks_the_same_has_one_digest(place, fields):
    """Neither ids nor files nor seconds within a minute are seen."""
    assert changed(place, **fields).digest("q1") == SIDE.digest("q1")


def test_a_digest_belongs_to_a_topic():
    """Two systems that are empty for two topics do not show the same of one."""
    assert Side(()).digest("q1") != Side(()).digest("q2")


def test_a_side_is_visible_where_any_layer_of_it_is():
    """A block without words and without a picture shows nothing."""
    nothing = Block(key="f0", id="u0", kind="iunit", text=" ")

    assert not Side(()).is_visible
    assert not Side((nothing,)).is_visible
    assert Side((nothing, replace(nothing, inside=(replace(nothing, media=PICTURE),)))).is_visible
