"""A study of pictures small enough to look at: 2 topics, 3 systems. Names are easy to search for.

Every picture is drawn here: bars on a ground of the system's colour, as many as the topic's number. `picgamma` has none of the second topic.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from PIL import ExifTags, Image, ImageDraw, PngImagePlugin

MAKER = "PICMAKER-SECRET"
"""Stands in what a file says of its maker, in every form."""
SYSTEMS = {"picalpha": (20, 90, 160), "picbeta": (160, 70, 20), "picgamma": (40, 120, 60)}
TOPICS = {"PT-1": "rain in each month", "PT-2": "how a tram works"}
ORIENTATION = int(ExifTags.Base.Orientation)


def drawn(
    colour: tuple[int, int, int] = (20, 90, 160),
    *,
    bars: int = 1,
    size: tuple[int, int] = (120, 80),
    mode: str = "RGB",
) -> Image.Image:
    """Return a picture of so many bars."""
    image = Image.new("RGB", size, colour)
    pen = ImageDraw.Draw(image)
    for number in range(bars):
        x = 10 + 20 * number
        pen.rectangle((x, size[1] // 3 + 5 * number, x + 10, size[1] - 8), fill=(250, 240, 200))
    return image.convert(mode)


def file_of(image: Image.Image, form: str = "PNG", *, orientation: int = 1, **options: Any) -> bytes:
    """Return a file of a picture, with its maker's name wherever the form has a place for it."""
    exif = Image.Exif()
    exif[ExifTags.Base.Software] = MAKER
    if orientation != 1:
        exif[ORIENTATION] = orientation
    if form == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Software", MAKER)
        text.add_itxt("Title", MAKER, zip=False)
        options = {"pnginfo": text, **options}
    elif form == "JPEG":
        options = {"comment": MAKER.encode(), **options}
    else:
        options = {"xmp": MAKER.encode(), **options}
    stream = io.BytesIO()
    image.save(stream, form, exif=exif, **options)
    return stream.getvalue() + (MAKER.encode() if form == "JPEG" else b"")


def picture_task(**changes: Any) -> dict[str, Any]:
    """Return an image_pairs task, without validation."""
    return {
        "kind": "image_pairs",
        "name": "pictures",
        "language": "en",
        "collection": {"topics": "topics.tsv"},
        "systems": {name: f"{name}.jsonl" for name in SYSTEMS},
        **changes,
    }


def lines_of(system: str) -> list[dict[str, str]]:
    """Return the lines of a system's file."""
    return [
        {"topic": topic, "image": f"{system}/{topic}.png", "alt": f"{number} pale bars, drawn for {topic}"}
        for number, topic in enumerate(TOPICS, start=1)
        if (system, topic) != ("picgamma", "PT-2")
    ]


def write_large_study(folder: Path, topics: int, **changes: Any) -> Path:
    """Write a study in which each system has a picture of so many topics, of bars in another number each."""
    names = {f"PT-{number}": f"wish {number} of many people" for number in range(1, topics + 1)}
    files, lines = {}, {}
    for place, (system, colour) in enumerate(SYSTEMS.items()):
        lines[system] = [
            {"topic": topic, "image": f"{system}/{topic}.png", "alt": f"bars for {topic} by hand {place}"}
            for topic in names
        ]
        files |= {
            line["image"]: file_of(drawn(colour, bars=number % 6, size=(160, 100 + number)))
            for number, line in enumerate(lines[system])
        }
    files["topics.tsv"] = "".join(f"{name}\t{words}\n" for name, words in names.items()).encode()
    return write_picture_study(folder, files=files, lines=lines, **changes)


def write_picture_study(
    folder: Path,
    *,
    task: dict[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
    lines: Mapping[str, list[dict[str, Any]]] | None = None,
    **study: Any,
) -> Path:
    """Write topics, pictures, a file a system and study.yaml into ``folder``; returns the study file.

    ``task`` changes keys of its only task, ``files`` what stands in files, ``lines`` the lines of systems, further arguments keys of the study.
    """
    rows = "".join(f"{topic}\t{text}\n" for topic, text in TOPICS.items())
    (folder / "topics.tsv").write_text(rows, encoding="utf-8")
    for name, colour in SYSTEMS.items():
        (folder / name).mkdir(exist_ok=True)
        for number, line in enumerate(lines_of(name), start=1):
            (folder / line["image"]).write_bytes(file_of(drawn(colour, bars=number)))
        given = (lines or {}).get(name, lines_of(name))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in given))
    for name, data in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    whole = {
        "study": "small",
        "title": "A small study",
        "consent": "Please take part.",
        "tasks": [picture_task(**(task or {}))],
        **study,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path
