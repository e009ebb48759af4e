"""Pictures to display: PNG, JPEG or WebP without the maker's metadata.

Nothing is encoded anew, so that people judge the pixels that a system made. Of the parts of a file those stay that say how it looks, its colour
profile among them; texts, comments, EXIF, XMP, thumbnails, times and whatever follows the end are left out. Of EXIF a JPEG keeps which side is
up, in an entry of its own. Size and motion are looked at before anything is decoded; then Pillow decodes the picture once, so that
one which is damaged is known before anybody is to look at it.
"""

import hashlib
import re
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from types import MappingProxyType

from PIL import Image

from study_app.tasks.reading.media_files import MediaError, check_size

MAX_BYTES = 5_000_000
"""Largest file of a picture, in bytes."""
MAX_PIXELS = 4_096
"""Largest side of a picture, in pixels."""
FORMS = "PNG, JPEG or WebP"
SAVE = f"save it as {FORMS}"
ORIENTATION = 0x0112
"""EXIF tag of the orientation.

1 is upright; 2 to 8 are turned or mirrored, from 5 on with sides swapped.
"""


class PictureError(MediaError):
    """A picture that cannot be shown."""


@dataclass(frozen=True)
class Picture:
    """Picture ready for display; ``width`` and ``height`` are those on a page."""

    content: bytes
    mime: str
    width: int
    height: int

    @cached_property
    def sha256(self) -> str:
        """The hash of the bytes that are shown: the picture's address."""
        return hashlib.sha256(self.content).hexdigest()


def is_picture(head: bytes) -> bool:
    """Return whether a file's first bytes are those of a displayable picture."""
    return _form_of(head) is not None


def check_bytes(number: int) -> None:
    """Raise `MediaError` for a file of so many bytes if it is empty or too large."""
    check_size(number, most=MAX_BYTES, thing="picture", smaller="save it smaller, or as JPEG or WebP")


def stripped(data: bytes) -> tuple[bytes, str, int]:
    """Return a file's bytes without metadata, its format, and its orientation.

    The format has Pillow's name, the orientation is that of EXIF.

    Raises
    ------
    MediaError
        Where the file is empty, too large, of another form, or cut off, has too many pixels, moves, or is turned by its metadata
        where browsers do not agree on that.
    """
    check_bytes(len(data))
    form = _form_of(data)
    if form is None:
        raise PictureError(f"the file is {_called(data)}, not {FORMS}", SAVE)
    try:
        parts, orientation = _STRIPPERS[form](data)
    except (struct.error, IndexError):
        raise _damaged() from None
    return parts, form, orientation


def read_picture(data: bytes) -> Picture:
    """Return the picture of a file, decoded once as a check.

    It raises `MediaError` as `stripped` does, and for a damaged picture.
    """
    content, form, orientation = stripped(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with Image.open(BytesIO(content), formats=[form]) as image:
                image.load()
                width, height = image.size
        except (
            OSError,
            SyntaxError,
            ValueError,
            ArithmeticError,
            LookupError,
            struct.error,
            zlib.error,
            Warning,
            EOFError,
            Image.DecompressionBombError,
        ):  # fmt: skip - what Pillow raises on files that are damaged
            raise _damaged() from None
    if orientation > 4:
        width, height = height, width
    return Picture(content=content, mime=Image.MIME[form], width=width, height=height)


def _damaged() -> PictureError:
    return PictureError("the picture is damaged, or cut off", "export it again")


def _form_of(head: bytes) -> str | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    return "WEBP" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def _called(head: bytes) -> str:
    """Return the format of a file that is no displayable picture, in words."""
    start = head[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"<svg", b"<?xml", b"<!")) and b"<svg" in head[:4_000]:
        return "an SVG, which can run scripts"
    known = {b"GIF8": "a GIF", b"BM": "a BMP", b"II*\0": "a TIFF", b"MM\0*": "a TIFF", b"%PDF": "a PDF"}
    name = next((name for first, name in known.items() if head.startswith(first)), None)
    return name or ("an AVIF or HEIC" if head[4:8] == b"ftyp" else "something else")


def _check_size(width: int, height: int) -> None:
    if not (width and height):
        raise _damaged()
    if max(width, height) > MAX_PIXELS:
        raise PictureError(
            f"the picture has {width} x {height} pixels, and {MAX_PIXELS} a side are the most",
            "make it smaller",
        )


def _moves() -> PictureError:
    return PictureError("the picture moves", "choose one of its pictures, and save that")


def _check_upright(exif: bytes) -> None:
    if _orientation(exif) > 1:
        raise PictureError(
            "the picture is turned by its metadata, which not all browsers do",
            "save it as it is to stand, or as JPEG",
        )


def _orientation(exif: bytes) -> int:
    """Return the EXIF orientation, from 1 to 8; 1 too where none can be read."""
    entries = Image.Exif()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            entries.load(exif)
            value = entries.get(ORIENTATION, 1)
        except (OSError, SyntaxError, ValueError, LookupError, TypeError, struct.error):
            return 1
    return value if value in range(1, 9) else 1


_PNG_PARTS = frozenset(
    (b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"IDAT", b"IEND")
)


def _png(data: bytes) -> tuple[bytes, int]:
    """Return a PNG of the chunks that determine its look.

    The source is W3C PNG, third edition, 5 and 11.
    """
    kept, offset = [data[:8]], 8
    while True:
        length, name = struct.unpack_from(">I4s", data, offset)
        end = offset + length + 12
        body, check = data[offset + 8 : end - 4], data[end - 4 : end]
        if len(body) != length or zlib.crc32(body, zlib.crc32(name)) != int.from_bytes(check):
            raise _damaged()
        if name == b"acTL":
            raise _moves()
        if name == b"IHDR":
            _check_size(*struct.unpack_from(">II", body))
        if name == b"eXIf":
            _check_upright(body)
        if name in _PNG_PARTS:
            kept.append(data[offset:end])
        if name == b"IEND":
            return b"".join(kept), 1
        offset = end


_MARKER = re.compile(rb"\xff+([\x01-\xcf\xd8-\xfe])")
"""Marker of a JPEG segment.

It matches neither a byte of data, which has 0 behind it, nor a restart in the middle of data.
"""
_END, _SCAN, _FRAMES, _OTHER_TABLES = 0xD9, 0xDA, range(0xC0, 0xD0), {0xC4, 0xC8, 0xCC}
_USUAL_FRAMES = {0xC0, 0xC1, 0xC2}
_APPLICATIONS, _COMMENT, _JFIF, _EXIF, _COLOURS, _ADOBE = range(0xE0, 0xF0), 0xFE, 0xE0, 0xE1, 0xE2, 0xEE


def _jpeg(data: bytes) -> tuple[bytes, int]:
    """Return a JPEG of its first picture's segments, and its orientation.

    The source is ITU T.81, B; the EXIF orientation is kept.
    """
    kept, offset, in_scan, orientation = list[bytes](), 2, False, 1
    while match := _MARKER.search(data, offset):
        if in_scan:
            kept.append(data[offset : match.start()])
        marker, offset = match[1][0], match.end()
        if marker == _END:
            upright = b"" if orientation == 1 else _segment(_EXIF, _turned(orientation))
            return b"".join([b"\xff\xd8", upright, *kept, b"\xff\xd9"]), orientation
        (length,) = struct.unpack_from(">H", data, offset)
        body = data[offset + 2 : offset + length]
        if len(body) != length - 2:
            raise _damaged()
        if marker in _FRAMES and marker not in _OTHER_TABLES:
            if marker not in _USUAL_FRAMES or body[0] != 8:
                raise PictureError("no browser shows a JPEG of this kind", f"{SAVE} once more")
            height, width = struct.unpack_from(">HH", body, 1)
            _check_size(width, height)
        if marker == _EXIF and body.startswith(b"Exif\0\0"):
            orientation = _orientation(body)
        kept.extend(_segment(marker, part) for part in _jpeg_parts(marker, body))
        in_scan, offset = marker == _SCAN, offset + length
    raise _damaged()


def _jpeg_parts(marker: int, body: bytes) -> Iterator[bytes]:
    """Yield the kept parts of a segment.

    Application segments are kept if decoders find the colours by them.
    """
    if marker == _JFIF and body.startswith(b"JFIF\0"):
        yield body[:12] + b"\0\0"  # without the thumbnail
    elif marker == _ADOBE and body.startswith(b"Adobe"):
        yield body[:12]
    elif (marker == _COLOURS and body.startswith(b"ICC_PROFILE\0")) or (
        marker not in _APPLICATIONS and marker != _COMMENT
    ):
        yield body


def _segment(marker: int, body: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body


def _turned(orientation: int) -> bytes:
    """Return EXIF that has nothing but an orientation."""
    entries = Image.Exif()
    entries[ORIENTATION] = orientation
    return entries.tobytes()


_WEBP_PARTS = frozenset((b"VP8X", b"ICCP", b"ALPH", b"VP8 ", b"VP8L"))
_MOTION, _METADATA = 0x02, 0x04 | 0x08
"""Bits of VP8X: the picture moves; it has XMP or EXIF."""


def _webp(data: bytes) -> tuple[bytes, int]:
    """Return a WebP of the chunks that say how it looks (RFC 9649, 2)."""
    (size,) = struct.unpack_from("<I", data, 4)
    kept, offset, whole = list[bytes](), 12, size + 8
    while offset < whole:
        name, length = struct.unpack_from("<4sI", data, offset)
        body = data[offset + 8 : offset + 8 + length]
        if len(body) != length or offset + 8 + length > whole:
            raise _damaged()
        if name in {b"ANIM", b"ANMF"} or (name == b"VP8X" and body[0] & _MOTION):
            raise _moves()
        if name == b"EXIF":
            _check_upright(body)
        if name == b"VP8X":
            body = bytes((body[0] & ~_METADATA,)) + body[1:]
        if name in _WEBP_PARTS:
            _check_webp_size(name, body)
            kept.append(name + struct.pack("<I", length) + body + b"\0" * (length % 2))
        offset += 8 + length + length % 2
    content = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(content)) + content, 1


def _check_webp_size(name: bytes, body: bytes) -> None:
    """Refuse a chunk with too many pixels.

    Sources are RFC 9649, 2.7; RFC 6386, 9.1; RFC 9649, 3.4.
    """
    if name == b"VP8X":
        _check_size(*(int.from_bytes(body[start : start + 3], "little") + 1 for start in (4, 7)))
    elif name == b"VP8 ":
        width, height = struct.unpack_from("<HH", body, 6)
        _check_size(width & 0x3FFF, height & 0x3FFF)
    elif name == b"VP8L":
        (bits,) = struct.unpack_from("<I", body, 1)
        _check_size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)


_STRIPPERS: Mapping[str, Callable[[bytes], tuple[bytes, int]]] = MappingProxyType(
    {"PNG": _png, "JPEG": _jpeg, "WEBP": _webp}
)
