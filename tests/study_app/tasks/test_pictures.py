"""A picture is shown with its own pixels and nothing else of its file; what cannot be shown is refused with its cure."""

import io
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from study_app.tasks.reading.media_files import MediaError
from study_app.tasks.reading.pictures import MAX_BYTES, is_picture, read_picture
from tests.study_app.small_pictures import MAKER, ORIENTATION, drawn, file_of

COLOURS = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
FILES = {
    **{f"PNG {mode}": file_of(drawn(mode=mode), icc_profile=COLOURS) for mode in ("RGB", "RGBA", "L", "LA", "P", "1")},
    "JPEG": file_of(drawn(), "JPEG", icc_profile=COLOURS),
    "JPEG progressive": file_of(drawn(), "JPEG", progressive=True, orientation=6),
    "JPEG CMYK": file_of(drawn(mode="CMYK"), "JPEG"),
    "WEBP": file_of(drawn(mode="RGBA"), "WEBP", icc_profile=COLOURS),
    "WEBP lossless": file_of(drawn(), "WEBP", lossless=True),
}  # fmt: skip


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def refusal(data: bytes) -> str:
    with pytest.raises(MediaError) as caught:
        read_picture(data)
    return str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_every_pixel_is_as_it_was_and_nothing_tells_the_maker(name):
    """Texts, comments, EXIF, XMP and what follows the end are gone; colours are those of the same profile."""
    before, picture = FILES[name], read_picture(FILES[name])
    assert MAKER.encode() in before
    assert MAKER.encode() not in picture.content
    assert opened(picture.content).convert("RGBA").tobytes() == opened(before).convert("RGBA").tobytes()
    assert opened(picture.content).info.get("icc_profile") == opened(before).info.get("icc_profile")


@pytest.mark.parametrize("name", FILES)
def test_what_was_stripped_has_nothing_left_to_strip(name):
    """So that its hash is the same wherever it comes from."""
    picture = read_picture(FILES[name])
    assert read_picture(picture.content) == picture


def test_two_files_that_differ_in_metadata_alone_are_one_picture():
    """Their address does not tell which of two systems made them."""
    plain = io.BytesIO()
    drawn().save(plain, "PNG")
    assert read_picture(plain.getvalue()).sha256 == read_picture(file_of(drawn())).sha256


@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_photograph_keeps_which_side_is_up(orientation):
    """As its only metadata; width and height are those in which it is seen."""
    picture = read_picture(file_of(drawn(size=(120, 80)), "JPEG", orientation=orientation))
    assert dict(opened(picture.content).getexif()) == {ORIENTATION: orientation}
    assert (picture.width, picture.height) == ((80, 120) if orientation > 4 else (120, 80))


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_other_forms_are_not_turned_by_metadata(form):
    """Not every browser would do it."""
    assert (
        "turned by its metadata, which not all browsers do; save it as it is to stand, or as JPEG"
        in refusal(file_of(drawn(), form, orientation=6))
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty; export the picture again"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "an SVG, which can run scripts, not PNG, JPEG or WebP"),
        (b"<?xml version='1.0'?>\n<!-- x --><svg/>", "an SVG, which can run scripts"),
        (b"GIF89a\1\0\1\0", "the file is a GIF, not PNG, JPEG or WebP; save it as PNG, JPEG or WebP"),
        (b"\0\0\0\x1cftypavif", "the file is an AVIF or HEIC, not PNG"),
        (b"just words", "the file is something else, not PNG, JPEG or WebP"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * MAX_BYTES, "the file has 5.0 MB, and 5 MB are the most; save it smaller"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_called_by_its_name(data, said):
    """By its first bytes, whatever its name ends with."""
    assert said in refusal(data)


@pytest.mark.parametrize("name", FILES)
def test_a_picture_that_is_cut_off_is_damaged(name):
    """In the middle, and just before its end."""
    whole = read_picture(FILES[name]).content
    for end in (len(whole) // 2, len(whole) - 3, 20):
        assert refusal(whole[:end]) == "the picture is damaged, or cut off; export it again"


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_what_moves_is_refused(form):
    """Time to look at it would mean something else."""
    stream = io.BytesIO()
    drawn().save(stream, form, save_all=True, append_images=[drawn(bars=3)], duration=100)
    assert refusal(stream.getvalue()) == "the picture moves; choose one of its pictures, and save that"


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("size", [(4097, 10), (10, 4097)])
def test_a_side_of_more_than_4096_pixels_is_refused(form, size):
    """And one of 4,096 is not."""
    stream = io.BytesIO()
    Image.new("RGB", size).save(stream, form)
    assert f"the picture has {size[0]} x {size[1]} pixels, and 4096 a side are the most" in refusal(
        stream.getvalue()
    )
    stream = io.BytesIO()
    Image.new("RGB", (min(size[0], 4096), min(size[1], 4096))).save(stream, form)
    assert read_picture(stream.getvalue()).width == min(size[0], 4096)


def bomb(form: str) -> bytes:
    """Return a small file that says it has a side of thousands of millions or tens of thousands of pixels."""
    if form == "PNG":
        head = b"IHDR" + struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    data = bytearray(read_picture(file_of(drawn(), form)).content)
    place = data.index(b"\xff\xc0") + 5 if form == "JPEG" else data.index(b"\x9d\x01\x2a") + 3
    data[place : place + 4] = b"\xff\xff\xff\xff" if form == "JPEG" else b"\xff\x3f\xff\x3f"
    return bytes(data)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_bomb_is_refused_before_anything_is_decoded(form, monkeypatch):
    """Its pixels would need gigabytes."""
    data = bomb(form)
    monkeypatch.setattr(Image, "open", lambda *_args, **_more: pytest.fail("it was opened"))
    assert "pixels, and 4096 a side are the most" in refusal(data)


def test_a_jpeg_that_browsers_do_not_show_is_refused():
    """Such as a lossless one: Pillow might open it."""
    data = bytearray(read_picture(file_of(drawn(), "JPEG")).content)
    data[data.index(b"\xff\xc0") + 1] = 0xC3
    assert "no browser shows a JPEG of this kind" in refusal(bytes(data))


@settings(max_examples=300)
@given(st.data())
def test_whatever_bytes_there_are_a_picture_or_a_sentence_comes_out(data):
    """Nothing else is raised, and what passes can be shown."""
    broken = bytearray(data.draw(st.sampled_from(list(FILES.values()))))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(broken) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert"])):
            case "change":
                broken[place] = data.draw(st.integers(0, 255))
            case "cut":
                del broken[max(1, place) :]
            case "insert":
                broken[place:place] = data.draw(st.binary(min_size=1, max_size=6))
    try:
        picture = read_picture(bytes(broken))
    except MediaError:
        return
    sizes = {(picture.width, picture.height), (picture.height, picture.width)}
    assert opened(picture.content).size in sizes


def test_the_first_bytes_tell_a_picture():
    """As far as they are there."""
    assert all(is_picture(data[:16]) for data in FILES.values())
    assert not any(is_picture(head) for head in (b"", b"RIFF", b"\x89PN", b"{", b"GIF89a"))
